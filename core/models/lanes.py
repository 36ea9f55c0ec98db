"""Forward passes side by side, each on one thread, so that no result hangs on how many threads there are.

A matrix product that several threads share is cut, and so rounded, by their number: the same pair then
reads a little different on two cores and on one. Here a product is never shared. What is shared are the
texts: every lane is a thread that torch uses alone, and takes the next group of texts.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

LEAST_TOKENS = 256  # fewer in one pass leave a core waiting for memory
T = TypeVar("T")
R = TypeVar("R")


class Lanes:
    """As many threads as torch has when this is made, each of which it uses alone."""

    def __init__(self) -> None:
        self.count = torch.get_num_threads()
        ready = threading.Barrier(self.count)

        def alone() -> None:
            torch.get_num_threads()  # a thread takes the common number at its first use, and once
            torch.set_num_threads(1)
            ready.wait()  # so that every lane has started when the first one works

        self._pool = ThreadPoolExecutor(self.count, thread_name_prefix="lane", initializer=alone)
        list(self._pool.map(abs, range(self.count)))
        # A lane's own number stays; threads that others start later have what they would have had.
        torch.set_num_threads(self.count)

    def work(self, one: Callable[[T], R], many: Sequence[T]) -> list[R]:
        """What ``one`` gives for each, in order; the first exception is raised."""

        def inferred(item: T) -> R:
            with torch.inference_mode():
                return one(item)

        return list(self._pool.map(inferred, many))

    def close(self) -> None:
        """Let the threads end."""
        self._pool.shutdown()


_made: list[Lanes] = []
_making = threading.Lock()
# The child of a fork has none of its parent's threads.
os.register_at_fork(after_in_child=_made.clear)


def lanes() -> Lanes:
    """The lanes of this process."""
    with _making:
        if not _made:
            _made.append(Lanes())
        return _made[0]


def share(lengths: Sequence[int], most_tokens: int) -> int:
    """Tokens in one group, so that every lane has one: ``most_tokens`` or fewer."""
    wanted = -(-sum(lengths) // lanes().count)
    return min(most_tokens, max(LEAST_TOKENS, wanted))
