"""Where a claim that people judge stands in its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from core.errors import NotFound
from core.records import Span
from pages.components.verdict_document import VerdictDocument
from storage.store import SqlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimInAnswer:
    """The claim as it is to be judged, and where it stands in the answer."""

    text: str
    span: Span


class Item(Protocol):
    """Something in somebody's hands that names one claim of one trace version."""

    @property
    def claim_id(self) -> str: ...
    @property
    def trace_id(self) -> str: ...
    @property
    def content_hash(self) -> str: ...


def find_claim(store: SqlStore, item: Item) -> ClaimInAnswer:
    """The claim of that item; raises NotFound."""
    verdict = store.get_verdict(item.trace_id, content_hash=item.content_hash)
    document = cast(VerdictDocument, verdict.document)
    for claim in document["claims"]:
        if claim["claim_id"] == item.claim_id:
            start, end = claim["span"]
            return ClaimInAnswer(text=claim["text"], span=Span(start=start, end=end))
    raise NotFound("this claim is not in the latest verdict on its answer; give it back")
