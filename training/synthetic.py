"""Synthetic training pairs, kept as their generators made them, and the names of the relations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from training.texts import text_folder

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
KINDS = ("clinical", "literature", "meaning")


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticPair:
    """A premise, a hypothesis and their relation."""

    premise: str
    hypothesis: str
    label: str


def synthetic_pairs(kind: str, count: int, index: int = 0) -> list[SyntheticPair]:
    """The ``index``-th ``count`` pairs of one of `KINDS`; after the last the first comes again."""
    kept = _kept(kind)
    return [kept[place % len(kept)] for place in range(index * count, (index + 1) * count)]


@cache
def _kept(kind: str) -> tuple[SyntheticPair, ...]:
    path = text_folder() / "generated" / f"{kind}.jsonl"
    with path.open(encoding="utf-8") as lines:
        return tuple(SyntheticPair(**json.loads(line)) for line in lines)
