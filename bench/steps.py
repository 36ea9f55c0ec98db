"""Long measurements say how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

Say = Callable[[str], None]


def progress(steps: range, total: int, what: str, say: Say) -> Iterator[int]:
    """The steps, saying every few seconds how far they are and how long it may still take."""
    began = told = time.perf_counter()
    for step in steps:
        yield step
        now, done = time.perf_counter(), min(step + steps.step, total)
        if now - told > 5 or done == total:
            told = now
            left = (now - began) / done * (total - done)
            say(f"  {done:,} of {total:,} {what}, about {left:.0f} s left")
