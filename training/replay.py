"""Written pairs that are read again beside other lessons, so that what they taught is not forgotten."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from training.authored_pass import authored_pass
from training.batches import Item, plan_batches
from training.data import Pair, load_sources

ROWS_PER_SOURCE = 1_500
AUTHORED_TO_GENERAL = 2


def replayed_batches(
    tokenizer: Any,
    *,
    without: Sequence[str],
    general: Path | None,
    positions: int,
    maximum_tokens: int,
    seed: int,
) -> Iterator[Sequence[Item]]:
    """Yield without end batches of at most `positions` word pieces, padding counted.

    The authored pairs, but of files whose names begin as one of `without`; for each
    `AUTHORED_TO_GENERAL` of them one human-labelled pair under `general` (which holds train/,
    binary/ and more/), where given.
    """
    rows = load_sources(general, ROWS_PER_SOURCE) if general else {}
    others = [pair for found in rows.values() for pair in found]
    index = 0
    while True:
        rng = random.Random(f"replay-{seed}-{index}")
        pairs: list[Pair] = authored_pass(seed, index, without)
        if others:
            pairs += rng.sample(others, min(len(others), len(pairs) // AUTHORED_TO_GENERAL))
        rng.shuffle(pairs)
        # A share at a time: a short run need not tokenise what it never reads.
        for start in range(0, len(pairs), 4_096):
            yield from plan_batches(
                pairs[start : start + 4_096],
                tokenizer,
                tokens_per_batch=positions,
                maximum_tokens=maximum_tokens,
                seed=f"replay-{seed}-{index}-{start}",
            )
        index += 1
