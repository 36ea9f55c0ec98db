"""What the answer cites for one claim, as chips: says it, says something else, leads to nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.records import (
    CitationFinding,
    CitationOutcome,
    CitedPlace,
    ClaimVerdict,
    Judged,
    Span,
    VerdictLabel,
)
from pages.widgets.offsets import Offsets

Json = Mapping[str, object]

# Never colour alone: a mark and words for each.
LOOKS: Mapping[CitationOutcome, tuple[str, str]] = {
    CitationOutcome.SAYS_IT: ("✓", "says it"),
    CitationOutcome.SAYS_OTHERWISE: ("⇄", "says something else"),
    CitationOutcome.RESOLVES_TO_NOTHING: ("✕", "leads to nothing"),
    CitationOutcome.SILENT: ("·", "leads there"),
    CitationOutcome.NOT_RESOLVABLE_HERE: ("⊘", "was not captured"),
}


def citation_chips(
    verdict: ClaimVerdict, names: Mapping[str, str], offsets: Mapping[str, Offsets]
) -> list[Json]:
    """A chip for each citation of a claim; places are in the browser's count of characters."""
    return [_chip(finding, names, offsets) for finding in verdict.citations]


def cited_spans(verdict: ClaimVerdict, source_id: str) -> Iterator[Span]:
    """Where the claim's citations lead in one source's text, and where they should have led."""
    for finding in verdict.citations:
        for place in _places(finding):
            if place.source_id == source_id and place.span is not None:
                yield place.span


def cited_wrongly(verdict: ClaimVerdict) -> str | None:
    """The headline of a claim whose citation blocks; None of any other."""
    wrong = [finding for finding in verdict.citations if finding.outcome.blocks]
    if not wrong:
        return None
    outcome, lead = verdict.outcome, "Not confirmed, and"
    if not isinstance(outcome, Judged):
        lead = "Not judged, and"
    elif verdict.verdict is VerdictLabel.SUPPORTED and outcome.support.supported:
        lead = "Supported, but"
    return f"{lead} {wrong[0].text} {LOOKS[wrong[0].outcome][1]}"


def _chip(
    finding: CitationFinding, names: Mapping[str, str], offsets: Mapping[str, Offsets]
) -> Json:
    mark, word = LOOKS[finding.outcome]
    places = _places(finding)
    sources = list(dict.fromkeys(place.source_id for place in places if place.source_id in names))
    return {
        "text": finding.text,
        "outcome": finding.outcome.value,
        "mark": mark,
        "word": word,
        "reason": finding.reason,
        "instead": finding.instead,
        "sources": sources,
        "called": [names[source_id] for source_id in sources],
        "places": [
            {
                "source": place.source_id,
                "start": offsets[place.source_id].of_point(place.span.start),
                "end": offsets[place.source_id].of_point(place.span.end),
            }
            for place in places
            if place.span is not None and place.source_id in offsets
        ],
    }


def _places(finding: CitationFinding) -> list[CitedPlace]:
    """Where a citation leads, then where it should have led."""
    return [place for place in (finding.resolves_to, finding.better) if place is not None]
