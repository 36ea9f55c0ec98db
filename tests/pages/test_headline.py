"""The line above a claim agrees with its verdict and its figures, over all combinations."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product

import pytest
from builders import probabilities
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.causes import told_apart
from core.config import Config
from core.records import (
    AttributionStatus,
    Check,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    ClaimVerdict,
    Decision,
    Judged,
    Outcome,
    Relation,
    Span,
    State,
    StatedAttribution,
    Support,
    VerdictLabel,
    state_of,
)
from core.verification.decision import decide_claim
from pages.widgets.claim_view import lay_out_claim
from pages.widgets.headline import headline, plain_reason
from pages.widgets.palette import Kind, claim_kind
from tests.verdicts import showcase

NAMES = {"chart": "the chart"}
SAYS_IT = re.compile(r"\b(supported|supports|true)\b", re.IGNORECASE)
VETO = Check(check="dose", outcome=Outcome.CONTRADICTS, veto=True, reason="It is 5 mg.")
SPAN = Span(start=0, end=3)


def judged_showcase() -> ClaimVerdict:
    return next(one for one in showcase().claims if isinstance(one.outcome, Judged))


def a_citation(outcome: CitationOutcome) -> CitationFinding:
    return CitationFinding(
        text="[7]",
        span=SPAN,
        covers=SPAN,
        kind=CitationKind.NUMBER,
        outcome=outcome,
        reason="why",
    )


def decided(
    support: Support,
    attribution: AttributionStatus,
    relation: Relation,
    *,
    veto: bool = False,
    identity: bool = False,
    citation: CitationOutcome | None = None,
    profile: str = "standard",
    credited: bool = True,
) -> ClaimVerdict:
    """What the gate says of the showcase's claim with these measurements."""
    base = judged_showcase()
    assert isinstance(base.outcome, Judged)
    claim = base.claim
    if credited:
        claim = replace(
            claim,
            stated=StatedAttribution(text="x", span=SPAN, family="patient_record", source_id=None),
        )
    reading = {
        Relation.ENTAILMENT: probabilities(0.8, 0.1, 0.1),
        Relation.NEUTRAL: probabilities(0.1, 0.8, 0.1),
        Relation.CONTRADICTION: probabilities(0.1, 0.1, 0.8),
    }[relation]
    outcome = replace(
        base.outcome,
        support=support,
        attribution=replace(base.outcome.attribution, status=attribution),
        entailment=replace(base.outcome.entailment, relation=relation, probabilities=reading),
        literals=replace(
            base.outcome.literals,
            relation=relation,
            identity_mismatches=("Ada",) if identity else (),
        ),
        checks=(VETO,) if veto else (),
    )
    cited = () if citation is None else (a_citation(citation),)
    return decide_claim(claim, outcome, Config(profile=profile), cited)


SUPPORTS = st.builds(
    Support,
    probability=st.floats(0, 1).map(lambda p: round(p, 4)),
    threshold=st.floats(0.01, 0.99),
    review_from=st.one_of(st.none(), st.floats(0, 1)),
)


@given(
    SUPPORTS,
    st.sampled_from(AttributionStatus),
    st.sampled_from(Relation),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, *CitationOutcome]),
    st.sampled_from([Config().profile, "strict"]),
    st.booleans(),
)
def test_a_claim_is_never_called_supported_or_true_below_its_threshold(
    support, attribution, relation, veto, identity, citation, profile, credited
) -> None:
    found = decided(
        support, attribution, relation, veto=veto, identity=identity, citation=citation,
        profile=profile, credited=credited,
    )  # fmt: skip

    line = headline(found, claim_kind(found), NAMES)

    if SAYS_IT.search(line):
        assert support.supported and found.verdict is VerdictLabel.SUPPORTED
        assert not veto and not identity
    if found.decision is Decision.ALLOW:
        assert line.startswith("Supported by ")
    if not support.supported:
        assert found.decision is Decision.BLOCK
    assert line and not line.endswith(".")


@given(SUPPORTS, st.sampled_from(VerdictLabel), st.sampled_from(Decision), st.sampled_from(Kind))
def test_nor_of_a_verdict_that_another_version_stored(support, verdict, decision, kind) -> None:
    base = judged_showcase()
    assert isinstance(base.outcome, Judged)
    stored = replace(
        base,
        outcome=replace(base.outcome, support=support),
        verdict=verdict,
        decision=decision,
        citations=(a_citation(CitationOutcome.RESOLVES_TO_NOTHING),),
    )

    line = headline(stored, kind, NAMES)

    if SAYS_IT.search(line):
        assert support.supported and verdict is VerdictLabel.SUPPORTED


@given(SUPPORTS, st.sampled_from(Relation), st.booleans())
def test_the_line_names_the_state_and_goes_on_without_figures(support, relation, veto) -> None:
    found = decided(support, AttributionStatus.NONE, relation, veto=veto, credited=False)

    laid = lay_out_claim(0, found, claim_kind(found), NAMES, {}, {})

    if state_of(found) is State.NEEDS_REVIEW:
        assert (laid["word"], laid["headline"]) == ("needs a person", "Needs a person")
        assert laid["because"]
    assert "support 0" not in f"{laid['headline']} {laid['because']}".casefold()
    assert "threshold" not in f"{laid['headline']} {laid['because']}"
    assert laid["reasons"] == list(found.reasons)


@cases
def test_a_wrong_credit_is_called_true_only_where_its_source_says_it(
    supported: bool, veto: bool, begins: str
) -> None:
    low = 0.1 if veto else 0.53
    support = Support(probability=0.7 if supported else low, threshold=0.64)
    found = decided(support, AttributionStatus.CONFLATION, Relation.ENTAILMENT, veto=veto)
    assert isinstance(found.outcome, Judged)
    names = {found.outcome.route.source_id: "the source"}

    assert claim_kind(found) is Kind.CONFLATION
    assert headline(found, Kind.CONFLATION, names).startswith(begins)


@pytest.mark.parametrize("credited", [True, False])
def test_a_wrong_credit_is_told_once_and_what_is_implied_keeps_its_reason(credited: bool) -> None:
    high = Support(probability=0.7, threshold=0.64)
    found = decided(high, AttributionStatus.CONFLATION, Relation.ENTAILMENT, credited=credited)
    if not credited:
        found = replace(found, claim=replace(found.claim, stated=None))
    assert isinstance(found.outcome, Judged)
    names = dict.fromkeys((one.source_id for one in found.outcome.route.ranking), "the source")

    laid = lay_out_claim(0, found, claim_kind(found), names, {}, {})

    assert found.outcome.attribution.reason in found.reasons
    assert laid["headline"].startswith("True, but not in ")
    assert (found.outcome.attribution.reason in laid["reasons"]) is not credited
    assert (laid["credit"] is not None) is credited and laid["instead"] == "Says it"


def test_every_kind_has_a_line_for_every_verdict() -> None:
    base = judged_showcase()
    for kind, verdict in product(Kind, [None, *VerdictLabel]):
        assert headline(replace(base, verdict=verdict), kind, NAMES)


@given(st.floats(0, 1), st.floats(0, 1))
def test_two_numbers_that_differ_never_read_alike(one: float, other: float) -> None:
    first, second = told_apart(one, other)

    assert (first == second) == (one == other) or abs(one - other) < 1e-17
    if one < other:
        assert float(first) <= float(second)


@given(st.integers(0, 100))
def test_numbers_that_are_far_apart_stay_short(percent: int) -> None:
    assert told_apart(percent / 100, 0.645 if percent != 64 else 0.5)[
        0
    ] == f"{percent / 100:.2f}" or (percent in (64, 65))


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("TOOL may say this.", "TOOL #2 may say this."),
        ("TOOL #2 holds no output.", "TOOL #2 holds no output."),
        ("The quote is not in TOOL #1.", "The quote is not in TOOL #1."),
    ],
)
def test_a_reason_names_a_tool_that_was_called_twice_by_the_call_that_it_speaks_of(
    reason: str, told: str
) -> None:
    assert isinstance(outcome := judged_showcase().outcome, Judged)
    tool, names = (
        outcome.route.tool_name,
        {outcome.route.source_id: f"{outcome.route.tool_name} #2"},
    )

    found = plain_reason(reason.replace("TOOL", tool), outcome, names)

    assert found == told.replace("TOOL", tool)
