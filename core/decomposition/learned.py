"""The fitted model of the decomposition: where to cut (III.2).

It was fitted by ``python -m training.decomposition_models``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Protocol

from core.decomposition.cuts import Cut, candidates
from core.decomposition.trees import Trees, read_trees
from core.records import Span

CUTS_FILE = "cut_weights.json"


class Chooser(Protocol):
    """Says where a sentence is cut."""

    def cuts(self, text: str, within: Span, scene: Mapping[str, float], at: int) -> Sequence[Cut]:
        """The cuts to make in a stretch of a text that stands ``at`` in the answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What was learned of claims read by hand."""

    cut: Trees

    def cuts(self, text: str, within: Span, scene: Mapping[str, float], at: int) -> Sequence[Cut]:
        """The cuts to make in a stretch of a text that stands ``at`` in the answer."""
        offered = candidates(text, within, scene)
        totals = self.cut.totals([cut.seen for cut in offered])
        return [
            cut for cut, total in zip(offered, totals, strict=True) if total >= self.cut.threshold
        ]


@lru_cache(maxsize=1)
def shipped() -> Learned:
    """The model that comes with the package."""
    return Learned(cut=_trees(CUTS_FILE))


def _trees(name: str) -> Trees:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return read_trees(text, name)
