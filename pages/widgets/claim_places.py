"""Where a claim that people judge stands in its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from core.records import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimInAnswer:
    """The claim as it is to be judged, and where it stands in the answer."""

    text: str
    span: Span


class Item(Protocol):
    """Something queued that says what is judged."""

    @property
    def text(self) -> str: ...
    @property
    def span(self) -> Span: ...


def claim_of(item: Item) -> ClaimInAnswer:
    """The claim of that item, as it was put in the queue: annotations on it are annotations on
    these words."""
    return ClaimInAnswer(text=item.text, span=item.span)
