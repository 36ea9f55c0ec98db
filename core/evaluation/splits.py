"""Splits by trace: claims of one answer never fall on both sides (IV.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol, TypeVar


class HasTrace(Protocol):
    """Anything that belongs to a trace."""

    @property
    def trace_id(self) -> str:
        """The trace's id."""
        ...


Row = TypeVar("Row", bound=HasTrace)


def split_by_trace(
    rows: Sequence[Row], *, validation_share: float, seed: int
) -> tuple[list[Row], list[Row]]:
    """Training and validation rows; a trace's side depends on its id and the seed alone."""
    train: list[Row] = []
    validation: list[Row] = []
    for row in rows:
        digest = hashlib.sha256(f"{seed}:{row.trace_id}".encode()).digest()
        place = int.from_bytes(digest[:8], "big") / 2**64
        (validation if place < validation_share else train).append(row)
    return train, validation


def shared_traces(left: Sequence[HasTrace], right: Sequence[HasTrace]) -> frozenset[str]:
    """The trace ids found on both sides of a split; a sound split shares none."""
    return frozenset(row.trace_id for row in left) & frozenset(row.trace_id for row in right)
