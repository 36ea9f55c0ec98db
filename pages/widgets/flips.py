"""The labelled claims that two thresholds or calibrators decide differently, each one a link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pages.widgets.frontend import nothing, view

_FLIPS = view("flips")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A claim that is decided otherwise from now on; ``query`` names it to the page that shows it."""

    claim_id: str
    trace_id: str
    text: str
    support: str
    should_block: bool
    now_blocked: bool
    query: Mapping[str, str]

    @property
    def better(self) -> bool:
        """Whether it is decided rightly from now on."""
        return self.should_block == self.now_blocked


def show_flips(flips: Sequence[Flip], *, page: str, key: str) -> Flip | None:
    """List the claims, each a link to that page; the one that was just opened."""
    data = {"page": page, "rows": [_row(flip) for flip in flips]}
    opened: object = _FLIPS(key=key, data=data, on_open_change=nothing).open
    return next((flip for flip in flips if flip.claim_id == opened), None)


def _row(flip: Flip) -> Mapping[str, object]:
    kind = "bad" if flip.should_block else "good"
    return {
        "id": flip.claim_id,
        "trace": flip.trace_id,
        "text": flip.text,
        "support": flip.support,
        "tone": "good" if flip.better else "bad",
        "mark": "✓" if flip.better else "✕",
        "effect": f"{kind} claim, now {'stopped' if flip.now_blocked else 'passed'}",
        "query": dict(flip.query),
    }
