"""What a claim denies, and what only sets a scene, is no credit that accuses an answer."""

from __future__ import annotations

import pytest

from core.attribution.attribute import attribute
from core.records import (
    AttributionStatus,
    Claim,
    ClaimType,
    RankedSource,
    Route,
    Span,
    StatedAttribution,
)

FAMILIES = {"chart": "patient_record", "trials": "registry", "a": "other", "b": "other"}


def status(
    text: str,
    credit: str | None,
    routed: str,
    *,
    family: str | None = None,
    source: str | None = None,
) -> AttributionStatus:
    span = Span(start=0, end=len(text))
    stated = (
        None
        if credit is None
        else StatedAttribution(text=credit, span=span, family=family, source_id=source)
    )
    claim = Claim(
        claim_id="t::c01", text=text, span=span, said=text, claim_type=ClaimType.FACTUAL,
        stated=stated, patient_specific=credit is None,
    )  # fmt: skip
    ranking = (RankedSource(source_id=routed, score=0.9, probabilities=None),)
    route = Route(
        source_id=routed,
        tool_name=routed,
        family=FAMILIES[routed],
        score=0.9,
        margin=0.1,
        ranking=ranking,
    )
    return attribute(claim, route, families=FAMILIES, supporters=frozenset({routed})).status


def test_a_kind_of_source_that_lacks_something_is_accused_of_nothing() -> None:
    said = "The registry shows {} active trial of the drug."

    for number, expected in (
        ("one", AttributionStatus.CONFLATION),
        ("no", AttributionStatus.UNAVAILABLE),
    ):
        found = status(said.format(number), "The registry shows", "chart", family="registry")
        assert found is expected


def test_credits_that_open_a_sentence_outright_accuse_of_what_is_denied_too() -> None:
    found = status(
        "The drug has no active trial.", "According to the registry", "chart", family="registry"
    )

    assert found is AttributionStatus.CONFLATION


def test_a_negated_verb_denies_as_well() -> None:
    said = "The registry shows a trial that {} begun."

    for verb, expected in (
        ("has", AttributionStatus.CONFLATION),
        ("hasn't", AttributionStatus.UNAVAILABLE),
    ):
        found = status(said.format(verb), "The registry shows", "chart", family="registry")
        assert found is expected


def test_what_is_denied_of_a_patient_belongs_to_no_source_alone() -> None:
    assert status("Ada has a trial.", None, "trials") is AttributionStatus.CONFLATION
    assert status("Ada has never had a trial.", None, "trials") is AttributionStatus.UNAVAILABLE


@pytest.mark.parametrize("lead", ["In the rows", "Within the last week", "on the page"])
def test_words_that_set_a_scene_are_no_credit_of_one_source(lead: str) -> None:
    claim = "Half of the usual volume is advised."

    assert status(claim, lead, "a", source="b") is AttributionStatus.UNAVAILABLE
    assert status(claim, "According to the plan", "a", source="b") is AttributionStatus.CONFLATION
    assert status(claim, "In b", "a", source="b") is AttributionStatus.CONFLATION  # its own name


def test_a_rate_is_no_credit_and_per_the_plan_is_one_wherever_it_stands() -> None:
    for words, expected in (
        ("per clip", AttributionStatus.UNAVAILABLE),
        ("per the plan", AttributionStatus.CONFLATION),
    ):
        assert status(f"It needs 23 ms {words}.", words, "a", source="b") is expected
