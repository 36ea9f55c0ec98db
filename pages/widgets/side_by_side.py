"""Which two sources stand side by side for a claim: the one that is credited, and the one that says it."""

from __future__ import annotations

from collections.abc import Mapping

from core.records import (
    Attribution,
    AttributionStatus,
    CitationFinding,
    CitedPlace,
    ClaimVerdict,
    Judged,
)
from pages.widgets.offsets import Offsets

Json = Mapping[str, object]


def lay_out_sides(
    verdict: ClaimVerdict, families: Mapping[str, str], offsets: Mapping[str, Offsets]
) -> Json | None:
    """The two panes of a claim; None where there is no second source to set beside the first.

    ``automatic`` where credit and support part: by the words of the answer (III.6) or by a citation.
    ``left_place`` and ``right_place`` are set where a citation names a place, in UTF-16 units.
    """
    judged = verdict.outcome
    if not isinstance(judged, Judged):
        return None
    routed = judged.route.source_id
    wrong = _cited_elsewhere(verdict)
    if wrong is not None and wrong.resolves_to is not None:
        better = wrong.better or CitedPlace(source_id=routed, span=None)
        if better != wrong.resolves_to:
            return {
                "automatic": True,
                "left": wrong.resolves_to.source_id,
                "left_place": _place(wrong.resolves_to, offsets),
                "right": better.source_id,
                "right_place": _place(better, offsets),
            }
    credited = credited_source(verdict, families)
    others = [each.source_id for each in judged.route.ranking if each.source_id != routed]
    left = credited or next(iter(others), None)
    if left is None:
        return None
    return {
        "automatic": credited is not None and is_conflation(verdict),
        "left": left,
        "left_place": None,
        "right": routed,
        "right_place": None,
    }


def is_conflation(verdict: ClaimVerdict) -> bool:
    """Whether the answer's words credit another source than the one that says the claim."""
    outcome = verdict.outcome
    return (
        isinstance(outcome, Judged) and outcome.attribution.status is AttributionStatus.CONFLATION
    )


def credited_source(verdict: ClaimVerdict, families: Mapping[str, str]) -> str | None:
    """The credited source that the claim was not checked against, the best ranked of its family."""
    judged = verdict.outcome
    if not isinstance(judged, Judged):
        return None
    stated = set(stated_sources(verdict, families)) - {judged.route.source_id}
    ranked = [each.source_id for each in judged.route.ranking]
    return next((each for each in (*ranked, *families) if each in stated), None)


def stated_sources(verdict: ClaimVerdict, families: Mapping[str, str]) -> list[str]:
    """The sources that the answer credits: the one it means, else all of the family."""
    stated_family = attribution_of(verdict).stated_family
    stated = verdict.claim.stated.source_id if verdict.claim.stated else None
    if not stated_family and not stated:
        return []
    return [
        source_id
        for source_id, family in families.items()
        if source_id == stated or (stated is None and family == stated_family)
    ]


def attribution_of(verdict: ClaimVerdict) -> Attribution:
    """What was made of the credit; of a claim that was not judged, who is credited and no more."""
    outcome = verdict.outcome
    if isinstance(outcome, Judged):
        return outcome.attribution
    stated = verdict.claim.stated
    return Attribution(
        status=AttributionStatus.NONE,
        stated_family=stated.family if stated else None,
        routed_family=None,
        reason="",
    )


def _cited_elsewhere(verdict: ClaimVerdict) -> CitationFinding | None:
    return next((each for each in verdict.citations if each.outcome.blocks), None)


def _place(place: CitedPlace, offsets: Mapping[str, Offsets]) -> Json | None:
    counted = offsets.get(place.source_id)
    if place.span is None or counted is None:
        return None
    start, end = counted.of_point(place.span.start), counted.of_point(place.span.end)
    return {"start": start, "end": end, "kind": "cited-place"}
