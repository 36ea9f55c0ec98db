"""What an answer cites, with where it leads, as JSON and back (formats.md, section 3)."""

from __future__ import annotations

from core.codec.fields import Fields
from core.records import (
    CitationFinding,
    CitationKind,
    CitationOutcome,
    CitedPlace,
    JsonObject,
    Span,
)


def citation_document(finding: CitationFinding) -> JsonObject:
    """One entry of a claim's ``citations``; spans are in the answer, places in a source's text."""
    return {
        "text": finding.text,
        "span": _span(finding.span),
        "covers": _span(finding.covers),
        "kind": finding.kind.value,
        "resolves_to": _place(finding.resolves_to),
        "outcome": finding.outcome.value,
        "reason": finding.reason,
        "better": _place(finding.better),
        "instead": finding.instead,
    }


def citation_from_fields(read: Fields) -> CitationFinding:
    """The finding that ``citation_document`` wrote; raises BadRecord naming the path of a wrong value."""
    return CitationFinding(
        text=read.string("text"),
        span=read.span("span"),
        # The published format asks for the mark alone.
        covers=read.optional_span("covers") or read.span("span"),
        kind=read.choice(CitationKind, "kind"),
        outcome=read.choice(CitationOutcome, "outcome"),
        reason=read.string("reason"),
        resolves_to=_placed(read.optional_object("resolves_to")),
        better=_placed(read.optional_object("better")),
        instead=read.optional_string("instead"),
    )


def _span(span: Span) -> list[int]:
    return [span.start, span.end]


def _place(place: CitedPlace | None) -> JsonObject | None:
    if place is None:
        return None
    return {
        "source_id": place.source_id,
        "span": None if place.span is None else _span(place.span),
    }


def _placed(read: Fields | None) -> CitedPlace | None:
    if read is None:
        return None
    return CitedPlace(source_id=read.string("source_id"), span=read.optional_span("span"))
