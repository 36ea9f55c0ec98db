"""III.7: the gate fails closed and says why."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_claim, a_premise, a_source, a_trace, an_nli_score, probabilities
from hypothesis import given
from hypothesis import strategies as st
from tables import cases
from verdicts import showcase

from core.binding.bind import Bond
from core.config import Config
from core.errors import ClaimError
from core.records import (
    Attribution,
    AttributionStatus,
    Check,
    CitationFinding,
    CitationKind,
    CitationOutcome,
    ClaimType,
    ClaimVerdict,
    Decision,
    Entailment,
    Features,
    Judged,
    Outcome,
    RankedSource,
    Relation,
    Route,
    SetAside,
    SourceStatus,
    Span,
    State,
    StatedAttribution,
    Support,
    Unjudged,
    VerdictLabel,
    answer_state,
    needs_review,
    state_of,
)
from core.verification.decision import decide_answer, decide_claim
from core.verification.reading import align_tokens, check_literals

CLAIM = a_claim("Felipe Costa takes salbutamol for asthma.")
RECORD = "name: Felipe Costa; drug: salbutamol; reason: asthma."


def _judged(
    *,
    relation: Relation = Relation.ENTAILMENT,
    probability: float = 0.9,
    threshold: float = 0.5,
    attribution: AttributionStatus = AttributionStatus.MATCH,
    claim: str = CLAIM.text,
    weights: tuple[float, ...] = (),
    confidence: float = 0.9,
) -> Judged:
    rest = round((1 - confidence) / 2, 4)
    of = {
        Relation.ENTAILMENT: probabilities(confidence, rest, rest),
        Relation.NEUTRAL: probabilities(rest, confidence, rest),
        Relation.CONTRADICTION: probabilities(rest, rest, confidence),
    }[relation]
    entailment = Entailment(relation=relation, probabilities=of)
    subject = a_claim(claim)
    return Judged(
        route=Route(
            source_id="chart",
            tool_name="load_patient_history",
            family="patient_record",
            score=0.7,
            margin=0.3,
            ranking=(RankedSource(source_id="chart", score=0.7),),
        ),
        premise=a_premise(RECORD),
        entailment=entailment,
        alignment=align_tokens(subject, an_nli_score(claim, *weights), Config()),
        literals=check_literals(
            subject,
            a_premise(RECORD),
            (RECORD,),
            (),
            entailment,
            Config(rescue_overlap_with_values=1, rescue_overlap_without_values=1),
        ),
        features=Features(categorical={}, numeric={}),
        support=Support(probability=probability, threshold=threshold),
        attribution=Attribution(
            status=attribution,
            stated_family="literature",
            routed_family="patient_record",
            reason="The answer credits literature.",
        ),
    )


def _credited(
    source_id: str | None, *also: str, family: str = "patient_record"
) -> StatedAttribution:
    return StatedAttribution(
        text="x", span=Span(start=0, end=1), family=family, source_id=source_id, also=also
    )


@pytest.mark.parametrize(
    ("stated", "family", "credited"),
    [
        pytest.param(_credited("chart"), "patient_record", True, id="the routed source"),
        pytest.param(_credited("letter", "chart"), "patient_record", True, id="of the same work"),
        pytest.param(_credited(None), "patient_record", True, id="its kind"),
        pytest.param(_credited("papers"), "literature", False, id="another that says it too"),
        pytest.param(_credited("letter"), "patient_record", False, id="another of its kind"),
        pytest.param(_credited(None, family="lab"), "lab", False, id="a kind that may hold it"),
        pytest.param(None, "patient_record", False, id="nothing: its kind is implied"),
    ],
)
def test_a_supported_claim_passes_and_is_said_to_be_as_credited_only_where_it_was(
    stated: StatedAttribution | None, family: str, credited: bool
) -> None:
    judged = _judged()
    judged = replace(judged, attribution=replace(judged.attribution, stated_family=family))

    found = decide_claim(replace(CLAIM, stated=stated), judged, Config())

    assert (found.verdict, found.decision) == (VerdictLabel.SUPPORTED, Decision.ALLOW)
    assert found.reasons[0].startswith("Supported by load_patient_history (patient record)")
    assert ("the source that the answer credits" in found.reasons[0]) is credited


def test_a_conflation_blocks_a_claim_that_stays_supported() -> None:
    found = decide_claim(CLAIM, _judged(attribution=AttributionStatus.CONFLATION), Config())

    assert (found.verdict, found.decision) == (VerdictLabel.SUPPORTED, Decision.BLOCK)
    assert found.reasons == ("The answer credits literature.",)


STRICT = Config(profile="strict")
MILLIGRAMS = ("250 mg", "100 mg", "150 mg")


@pytest.mark.parametrize("profile", ["standard", "strict"])
def test_a_value_that_no_check_finds_is_at_best_for_a_person_whatever_the_support(
    profile: str,
) -> None:
    claim = "Felipe Costa takes 250 mg salbutamol."
    judged = _judged(claim=claim, probability=0.99)

    found = decide_claim(a_claim(claim), judged, Config(profile=profile))

    assert (found.verdict, found.decision) == (VerdictLabel.UNSUPPORTED, Decision.BLOCK)
    assert "250 mg" in found.reasons[0] and needs_review(found)


def test_a_value_is_found_where_a_check_derives_it_and_open_where_none_does() -> None:
    claim = "Salbutamol was cut from 250 mg to 100 mg, by 150 mg."
    judged = _judged(claim=claim, probability=0.99)
    places = {word: Span(start=claim.index(word), end=claim.index(word) + 6) for word in MILLIGRAMS}
    derived = Check(check="value", outcome=Outcome.SUPPORTS, reason="stated", claim_span=None)

    def decided(*words: str) -> Decision:
        checks = tuple(replace(derived, claim_span=places[word]) for word in words)
        return decide_claim(a_claim(claim), replace(judged, checks=checks), Config()).decision

    assert decided("250 mg", "100 mg", "150 mg") is Decision.ALLOW
    assert decided("250 mg", "100 mg") is Decision.BLOCK


def test_what_the_binding_leaves_open_or_finds_otherwise_is_for_a_person() -> None:
    claim = "Salbutamol was cut from 250 mg to 100 mg, by 150 mg."
    judged = _judged(claim=claim, probability=0.99)
    places = {word: Span(start=claim.index(word), end=claim.index(word) + 6) for word in MILLIGRAMS}

    def decided(**bonds: str) -> ClaimVerdict:
        checks = tuple(
            Check(
                check=bond,
                outcome=Outcome.SUPPORTS if bond == Bond.SAME else Outcome.SILENT,
                reason="it is so",
                claim_span=places[f"{number.strip('_')} mg"],
            )
            for number, bond in bonds.items()
        )
        return decide_claim(a_claim(claim), replace(judged, checks=checks), Config())

    assert decided(_250="bound", _100="bound", _150="bound").decision is Decision.ALLOW
    for bond, told in (("open", "“150 mg”"), ("otherwise", "it is so")):
        found = decided(_250="bound", _100="bound", _150=bond)
        assert needs_review(found) and told in found.reasons[0]
    # Elsewhere informs: what the claim points to is no proof.
    assert decided(_250="bound", _100="bound", _150="elsewhere").decision is Decision.ALLOW


def test_a_value_that_is_nowhere_is_told_when_the_support_is_too_low() -> None:
    judged = _judged(claim="Felipe Costa takes 250 mg salbutamol.", probability=0.1)

    assert "250 mg" in decide_claim(CLAIM, judged, Config()).reasons[0]


def test_a_shown_contradiction_blocks_even_what_the_forest_supports() -> None:
    shown = Check(
        check="dose",
        outcome=Outcome.CONTRADICTS,
        veto=True,
        reason="The source gives 5 mg, not 50 mg.",
    )
    judged = _judged()
    low = replace(judged, support=Support(probability=0.1, threshold=0.5))

    found = decide_claim(CLAIM, replace(low, checks=(shown,)), Config())
    disputed = decide_claim(CLAIM, replace(judged, checks=(shown,)), Config())
    held = decide_claim(CLAIM, replace(judged, checks=(replace(shown, veto=False),)), Config())

    assert (found.verdict, found.decision) == (VerdictLabel.CONTRADICTED, Decision.BLOCK)
    assert found.reasons[0] == "The source gives 5 mg, not 50 mg."
    assert disputed.decision is Decision.BLOCK
    assert disputed.verdict not in (VerdictLabel.CONTRADICTED, VerdictLabel.SUPPORTED)
    (reason,) = disputed.reasons
    assert reason.startswith("Needs a person") and reason.endswith("gives 5 mg, not 50 mg.")
    assert held.decision is Decision.BLOCK and needs_review(held)
    assert held.verdict is not VerdictLabel.SUPPORTED
    assert held.reasons[0].startswith("Needs a person") and "5 mg, not 50 mg" in held.reasons[0]


def test_what_the_reader_takes_for_a_contradiction_is_no_veto() -> None:
    found = decide_claim(CLAIM, _judged(relation=Relation.CONTRADICTION), Config())

    assert found.decision is Decision.ALLOW


def test_a_claim_between_the_two_thresholds_needs_a_person_unless_something_is_shown() -> None:
    between = Support(probability=0.6, threshold=0.7, review_from=0.5)
    below = Support(probability=0.4, threshold=0.7, review_from=0.5)
    judged = replace(_judged(), support=between)
    shown = Check(check="date", outcome=Outcome.CONTRADICTS, veto=True, reason="It was in May.")

    unsure = decide_claim(CLAIM, judged, Config())
    sure = decide_claim(CLAIM, replace(judged, support=below), Config())
    lower = Support(probability=0.1, threshold=0.7, review_from=0.5)
    vetoed = decide_claim(CLAIM, replace(judged, support=lower, checks=(shown,)), Config())

    assert unsure.decision is Decision.BLOCK and "Needs a person" in unsure.reasons[0]
    assert sure.decision is Decision.BLOCK and "person" not in " ".join(sure.reasons)
    assert vetoed.reasons[0] == "It was in May." and "person" not in " ".join(vetoed.reasons)


def test_a_near_miss_is_not_told_as_two_equal_numbers() -> None:
    near = replace(_judged(), support=Support(probability=0.7197, threshold=0.72))

    assert "0.7197, below the threshold 0.7200" in decide_claim(CLAIM, near, Config()).reasons[0]


def test_too_few_grounded_words_block_under_the_strict_profile() -> None:
    judged = _judged(weights=(1.0, 0.1, 0.1, 0.1, 0.1, 0.1))

    assert decide_claim(CLAIM, judged, Config()).decision is Decision.ALLOW
    found = decide_claim(CLAIM, judged, STRICT)
    assert found.decision is Decision.BLOCK
    assert "Too little of the statement is grounded" in found.reasons[0]


def test_a_neutral_reading_below_the_threshold_is_not_enough_evidence() -> None:
    judged = _judged(relation=Relation.NEUTRAL, probability=0.1, claim="Maria enjoys long walks.")

    found = decide_claim(CLAIM, judged, Config())

    assert found.decision is Decision.BLOCK
    assert any("Not confirmed" in reason for reason in found.reasons)


@given(
    st.sampled_from(list(Relation)),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from(list(AttributionStatus)),
    st.floats(0.4, 1),
)
def test_what_is_allowed_is_supported_and_what_is_blocked_has_reasons(
    relation: Relation,
    probability: float,
    threshold: float,
    attribution: AttributionStatus,
    confidence: float,
) -> None:
    judged = _judged(
        relation=relation,
        probability=probability,
        threshold=threshold,
        attribution=attribution,
        confidence=confidence,
    )

    found = decide_claim(CLAIM, judged, Config())

    assert found.reasons and all(found.reasons)
    if found.decision is Decision.ALLOW:
        assert found.verdict is VerdictLabel.SUPPORTED
        assert probability >= threshold
        assert attribution is not AttributionStatus.CONFLATION


BEST_FIRST = list(State)
CHECKS = st.lists(
    st.builds(
        Check,
        check=st.sampled_from(["date", "own_words"]),
        outcome=st.sampled_from(Outcome),
        reason=st.just("It was in May."),
        veto=st.booleans(),
    ),
    max_size=2,
).map(tuple)


@st.composite
def claims_to_decide(draw: st.DrawFn) -> tuple[Judged, tuple[CitationFinding, ...]]:
    judged = _judged(
        relation=draw(st.sampled_from(Relation)),
        attribution=draw(st.sampled_from(AttributionStatus)),
        claim=draw(st.sampled_from([CLAIM.text, "Felipe Costa takes 250 mg salbutamol."])),
        confidence=draw(st.sampled_from([0.4, 0.99])),
    )
    citations = tuple(map(_cited, draw(st.lists(st.sampled_from(CitationOutcome), max_size=1))))
    return replace(judged, checks=draw(CHECKS)), citations


@given(
    claims_to_decide(), st.floats(0, 1), st.floats(0, 1), st.sampled_from(["standard", "strict"])
)
def test_a_state_allows_what_the_gate_allows_and_more_support_never_makes_it_worse(
    given_: tuple[Judged, tuple[CitationFinding, ...]], one: float, other: float, profile: str
) -> None:
    judged, citations = given_
    states = []
    for probability in sorted((one, other)):
        support = Support(probability=probability, threshold=0.5)
        found = decide_claim(
            CLAIM, replace(judged, support=support), Config(profile=profile), citations
        )
        states.append(state_of(found))

        assert (states[-1] is State.ALLOW) == (found.decision is Decision.ALLOW)
    worse, better = map(BEST_FIRST.index, states)
    assert better <= worse


@cases
def test_what_the_model_reads_as_a_contradiction_is_no_block_and_what_a_check_shows_is(
    veto: bool, support: float, state: State
) -> None:
    judged = _judged(relation=Relation.CONTRADICTION, probability=support, confidence=0.99)
    shown = Check(check="date", outcome=Outcome.CONTRADICTS, veto=veto, reason="It was in May.")

    checked = decide_claim(CLAIM, replace(judged, checks=(shown,)), Config())

    for config in (Config(), STRICT):
        assert state_of(decide_claim(CLAIM, judged, config)) is State.NEEDS_REVIEW
    assert state_of(checked) is state


@given(st.lists(claims_to_decide(), max_size=3), claims_to_decide(), st.floats(0, 1))
def test_one_more_claim_never_makes_an_answer_better(
    before: list[tuple[Judged, tuple[CitationFinding, ...]]],
    more: tuple[Judged, tuple[CitationFinding, ...]],
    support: float,
) -> None:
    trace = a_trace(CLAIM.text, a_source(RECORD))
    verdicts = [
        decide_claim(
            CLAIM,
            replace(judged, support=Support(probability=support, threshold=0.5)),
            Config(),
            citations,
        )
        for judged, citations in [*before, more]
    ]
    states = []
    for some in (verdicts[:-1], verdicts):
        answer = decide_answer(trace, some)
        whole = replace(showcase(), trace=trace, claims=tuple(some), answer=answer)
        states.append(answer_state(whole))
        assert (states[-1] is State.ALLOW) == (answer.decision is Decision.ALLOW)
        assert (states[-1] is State.BLOCK) == any(state_of(one) is State.BLOCK for one in some)
    assert BEST_FIRST.index(states[0]) <= BEST_FIRST.index(states[1])


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_allows_more(probability: float, one: float, other: float) -> None:
    low, high = sorted((one, other))

    at_low = decide_claim(CLAIM, _judged(probability=probability, threshold=low), Config())
    at_high = decide_claim(CLAIM, _judged(probability=probability, threshold=high), Config())

    assert not (at_low.decision is Decision.BLOCK and at_high.decision is Decision.ALLOW)


def test_a_claim_no_stage_could_judge_blocks_the_answer() -> None:
    verdict = decide_claim(CLAIM, Unjudged(stage="nli", reason="it is too long"), Config())

    answer = decide_answer(a_trace(CLAIM.text, a_source(RECORD)), [verdict])

    assert verdict.verdict is VerdictLabel.UNJUDGED
    assert answer.decision is Decision.BLOCK
    assert "it is too long" in answer.reasons[0]


@pytest.mark.parametrize("answer", [None, "", "  \n"])
def test_without_an_answer_the_decision_is_unavailable(answer: str | None) -> None:
    found = decide_answer(a_trace(answer, a_source(RECORD)), [])

    assert found.decision is Decision.UNAVAILABLE
    assert "no answer" in found.reasons[0]


def test_without_captured_evidence_the_decision_is_unavailable_never_allow() -> None:
    silent = a_source("", status=SourceStatus.NOT_CAPTURED)

    for trace in (a_trace("x"), a_trace("x", silent)):
        assert decide_answer(trace, []).decision is Decision.UNAVAILABLE


def test_an_answer_without_factual_claims_is_allowed_and_says_so() -> None:
    thanks = replace(CLAIM, claim_type=ClaimType.META)
    verdict = decide_claim(thanks, SetAside(reason="Says what the assistant did."), Config())

    found = decide_answer(a_trace("I looked it up.", a_source(RECORD)), [verdict])

    assert found.decision is Decision.ALLOW
    assert "no factual claim" in found.reasons[0]


def test_a_factual_claim_is_never_set_aside() -> None:
    with pytest.raises(ClaimError, match="cannot be set aside"):
        decide_claim(CLAIM, SetAside(reason="nobody looked"), Config())


def test_wrong_patient_comes_before_every_other_reason() -> None:
    judged = _judged(claim="Patient bench-9 takes 250 mg salbutamol.", probability=0.1)

    found = decide_claim(CLAIM, judged, Config())

    assert found.reasons[0].startswith("Wrong record")
    assert found.verdict is VerdictLabel.UNSUPPORTED


def test_a_suspected_contradiction_is_told_as_a_suspicion_and_never_as_support() -> None:
    judged = _judged(relation=Relation.CONTRADICTION, probability=0.1)
    unsure = replace(judged, support=replace(judged.support, review_from=0.05))

    for outcome in (judged, unsure):
        found = decide_claim(CLAIM, outcome, Config())
        assert found.verdict is not VerdictLabel.CONTRADICTED
        assert any("otherwise" in reason for reason in found.reasons)
        assert not any("may say this," in reason for reason in found.reasons)


def _cited(outcome: CitationOutcome, text: str = "[7]", reason: str = "why") -> CitationFinding:
    return CitationFinding(
        text=text,
        span=Span(start=0, end=3),
        covers=Span(start=0, end=3),
        kind=CitationKind.PMID if text.isdigit() else CitationKind.NUMBER,
        outcome=outcome,
        reason=reason,
    )


@pytest.mark.parametrize("outcome", CitationOutcome)
def test_only_a_citation_of_nothing_or_of_something_else_blocks(outcome: CitationOutcome) -> None:
    found = decide_claim(CLAIM, _judged(), Config(), (_cited(outcome),))

    assert (found.decision is Decision.BLOCK) == outcome.blocks
    assert found.verdict is VerdictLabel.SUPPORTED
    assert ("[7]" in found.reasons[0]) == (
        outcome.blocks or outcome is CitationOutcome.NOT_RESOLVABLE_HERE
    )


def test_the_digits_of_a_citation_are_told_with_what_they_are() -> None:
    wrong = _cited(CitationOutcome.RESOLVES_TO_NOTHING, "39999999", "no source has it")

    found = decide_claim(CLAIM, _judged(), Config(), (wrong, wrong))

    assert found.reasons == ("PMID 39999999 leads to nothing: no source has it.",)


def test_an_unjudged_claim_says_what_its_citation_leads_to() -> None:
    unjudged = Unjudged(stage="nli", reason="it is too long")

    found = decide_claim(CLAIM, unjudged, Config(), (_cited(CitationOutcome.RESOLVES_TO_NOTHING),))

    assert found.decision is Decision.BLOCK
    assert "[7] leads to nothing" in found.reasons[1]
