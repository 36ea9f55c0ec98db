"""When a key press counts, who reads what, and which claims the audit draws: rules, without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reviewed import a_judgement, an_annotation

from core.errors import Conflict, InputError, NotAllowed, TooSoon
from core.records import AttributionStatus, Decision, Features, VerdictLabel
from core.review.assignment import (
    check_judgement,
    check_key,
    check_passages,
    check_reason,
    check_settings,
    free_slot,
    passage_of,
    queue_state,
)
from core.review.items import Assignment, QueueState
from core.review.records import (
    SUPPORT_LABELS,
    Judgement,
    ProjectSettings,
    QueueReason,
    Role,
    Signal,
    Unfit,
)
from core.review.roles import require
from core.review.sampling import (
    audit_draw,
    audit_turn,
    place_claim,
    shown_order,
)

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
probabilities = st.floats(0, 1)


def held(nonce: str | None = "n1", shown_at: datetime | None = NOON) -> Assignment:
    return Assignment(
        assignment_id=1,
        project_id=1,
        claim_key=1,
        slot=1,
        person_id=1,
        open=True,
        reason=QueueReason.UNCERTAIN,
        inclusion_probability=None,
        lease_until=NOON,
        shown_at=shown_at,
        nonce=nonce,
        revealed_at=None,
    )


def a_signal(
    probability: float | None,
    threshold: float | None = 0.65,
    attribution: AttributionStatus = AttributionStatus.NONE,
    *,
    review_from: float | None = None,
    gated: bool = False,
) -> Signal:
    return Signal(
        run_key="run",
        decision=Decision.ALLOW,
        verdict=None,
        probability=probability,
        threshold=threshold,
        margin=None,
        routed_source_id=None,
        routed_family=None,
        attribution=attribution,
        gated=gated,
        features=None,
        review_from=review_from,
    )


# ---------------------------------------------------------------- keys


@given(milliseconds=st.integers(0, 100_000), floor=st.integers(0, 60_000))
def test_a_key_press_counts_exactly_from_the_floor_on(milliseconds: int, floor: int) -> None:
    settings = ProjectSettings(dwell_milliseconds=floor)
    now = NOON + timedelta(milliseconds=milliseconds)

    if milliseconds < floor:
        with pytest.raises(TooSoon, match=f"{floor} ms"):
            check_key(held(), "n1", now, settings)
    else:
        assert check_key(held(), "n1", now, settings) == pytest.approx(milliseconds / 1000)


@pytest.mark.parametrize(
    ("in_hand", "pressed"), [("n2", "n1"), (None, "n1"), ("n1", ""), ("n1", "N1")]
)
def test_a_key_press_of_another_rendering_never_counts(in_hand: str | None, pressed: str) -> None:
    with pytest.raises(Conflict, match="before this claim was on screen"):
        check_key(held(nonce=in_hand), pressed, NOON + timedelta(hours=1), ProjectSettings())


def test_a_claim_that_was_never_shown_takes_no_verdict() -> None:
    with pytest.raises(Conflict):
        check_key(held(shown_at=None), "n1", NOON, ProjectSettings(dwell_milliseconds=0))


def test_what_cannot_be_meant_is_refused_and_named() -> None:
    with pytest.raises(InputError, match="support"):
        check_judgement(a_judgement(VerdictLabel.UNJUDGED), None, {"chart"})
    with pytest.raises(InputError, match="no source 'lab'"):
        check_judgement(a_judgement(source_id="lab"), None, {"chart"})
    with pytest.raises(InputError, match="confidence"):
        check_judgement(a_judgement(), 6, {"chart"})
    unfit = Judgement(support=Unfit.NOT_A_CLAIM, source_id=None)
    check_judgement(replace(unfit, correction="She takes it."), None, {"chart"})
    for more in ({"source_id": "chart"}, {"conflation": False}, {"correction": "x" * 4_001}):
        with pytest.raises(InputError):
            check_judgement(replace(unfit, **more), None, {"chart"})
    two = replace(a_judgement(), more_source_ids=("lab",))
    check_judgement(two, None, {"chart", "lab"})
    for wrong in (two, replace(two, more_source_ids=("chart",)), replace(two, source_id=None)):
        with pytest.raises(InputError):
            check_judgement(wrong, None, {"chart"})
    with pytest.raises(InputError, match="corrected text"):
        check_judgement(replace(a_judgement(), correction="She takes it."), None, {"chart"})
    with pytest.raises(InputError, match="needs a reason"):
        check_reason("  \n", "giving a claim back")


@pytest.mark.parametrize(
    "settings",
    [
        {"reads_per_claim": 3},
        {"reads_per_claim": 0},
        {"audit_share": 1.01},
        {"audit_share": float("nan")},
        {"lease_minutes": 0},
        {"dwell_milliseconds": -1},
        {"name": " "},
    ],
)
def test_settings_nobody_could_work_with_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(InputError):
        check_settings(ProjectSettings(**settings))  # type: ignore[arg-type]


def test_every_role_is_needed_for_what_it_does_and_an_auditor_never_writes() -> None:
    for role in Role:
        for wanted in Role:
            if role is wanted and role is not Role.AUDITOR:
                require("Ada", {role}, wanted, "do it")
            else:
                with pytest.raises(NotAllowed, match="Ada"):
                    require("Ada", {role}, wanted, "do it")
    with pytest.raises(NotAllowed, match="auditor"):
        require("Ada", set(Role), Role.LEAD, "do it")


# ---------------------------------------------------------------- annotations


@given(taken=st.sets(st.integers(1, 3)), reads=st.integers(1, 2))
def test_a_free_reading_is_the_first_that_nobody_has(taken: set[int], reads: int) -> None:
    slot = free_slot(taken, reads)

    assert slot not in taken
    if slot is None:
        assert taken >= set(range(1, reads + 1))
    else:
        assert set(range(1, slot)) <= taken
        assert slot <= reads


@given(
    reads=st.integers(1, 2),
    said=st.lists(st.sampled_from(["supported", "unsupported"]), max_size=2),
    in_hand=st.integers(0, 2),
)
def test_a_claim_is_done_only_when_all_readings_are_in_and_none_is_in_hand(
    reads: int, said: list[str], in_hand: int
) -> None:
    annotations = [
        an_annotation(reviewer, a_judgement(label), slot)
        for slot, (reviewer, label) in enumerate(zip(["Ada", "Ben"], said, strict=False), 1)
    ]

    state = queue_state(
        annotations,
        None,
        reads=reads,
        taken=max(len(annotations), in_hand),
        open_annotations=in_hand,
    )

    done = not in_hand and len(annotations) >= reads
    assert (state in (QueueState.SETTLED, QueueState.DISAGREEMENT)) == done
    assert (state is QueueState.DISAGREEMENT) == (done and len(set(said)) > 1)
    assert (state is QueueState.WAITING) == (not annotations and not in_hand)


# ---------------------------------------------------------------- the queue

SAID = "Her weight is 71.4 kg."


@given(probability=probabilities, other=probabilities, share=probabilities, draw=st.floats(0, 1))
def test_the_audit_does_not_ask_what_the_machine_thinks(
    probability: float, other: float, share: float, draw: float
) -> None:
    one = place_claim(draw, a_signal(probability), share, SAID)
    two = place_claim(draw, a_signal(other, attribution=AttributionStatus.CONFLATION), share, SAID)

    assert one.audit == two.audit == (draw < share)
    if one.audit:
        assert one == two
        assert one.inclusion_probability == share
    else:
        assert one.inclusion_probability is None


@given(one=probabilities, other=probabilities, gated=st.booleans())
def test_the_least_supported_comes_first_whatever_else_blocks_it(
    one: float, other: float, gated: bool
) -> None:
    less, more = sorted((one, other))

    first = place_claim(0.9, a_signal(less, gated=gated), 0.2, SAID)
    assert 0 <= first.rank <= place_claim(0.9, a_signal(more, gated=not gated), 0.2, SAID).rank <= 1


@given(person=st.floats(0.41, 0.6499), other=probabilities)
def test_a_suspected_wrong_credit_comes_before_everything(person: float, other: float) -> None:
    suspect = place_claim(0.9, a_signal(other, attribution=AttributionStatus.CONFLATION), 0.2, SAID)
    doubted = place_claim(0.9, a_signal(person, review_from=0.41), 0.2, SAID)

    assert suspect.rank <= place_claim(0.9, a_signal(other), 0.2, SAID).rank
    assert (suspect.reason, doubted.reason) == (QueueReason.CONFLATION, QueueReason.PERSON)
    assert place_claim(0.9, a_signal(person), 0.2, SAID).reason is QueueReason.UNCERTAIN


def test_a_claim_that_nobody_could_judge_comes_after_those_with_a_probability() -> None:
    unjudged = place_claim(0.9, a_signal(None, None), 0.2, SAID)

    assert unjudged.rank >= place_claim(0.9, a_signal(0.0), 0.2, SAID).rank
    assert unjudged.reason is QueueReason.UNCERTAIN


def test_chatter_comes_after_what_says_something() -> None:
    chatter = {"claim_terms_n": 2.0, "protected_n": 0.0, "all_term_overlap": 0.0}

    def rank(probability: float, text: str = SAID, **other: float) -> float:
        found = Features(categorical={}, numeric={**chatter, **other})
        return place_claim(0.9, replace(a_signal(probability), features=found), 0.2, text).rank

    assert rank(0.01) > rank(0.99, claim_terms_n=3.0)
    assert rank(0.01) > rank(0.99, protected_n=1.0)
    assert rank(0.01) > rank(0.99, all_term_overlap=0.5)
    remark = "So a short conversation about what to expect is worth having."
    assert rank(0.01, remark, claim_terms_n=4.0) > rank(0.99, claim_terms_n=4.0)
    assert rank(0.01, remark, claim_terms_n=4.0, all_term_overlap=0.25) == 0.01


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_audit_holds_its_share_of_all_claims_and_of_every_kind(share: float) -> None:
    claims = 20_000
    draws = [audit_draw(1, f"sha256:{n}", f"t{n}::c01", f"h{n}") for n in range(claims)]

    drawn = sum(draw < share for draw in draws)
    of_the_odd = sum(draw < share for draw in draws[1::2])

    # Five standard errors of a fair draw of that many.
    error = 5 * (share * (1 - share) / claims) ** 0.5
    assert drawn / claims == pytest.approx(share, abs=error)
    assert of_the_odd / (claims / 2) == pytest.approx(share, abs=error * 2**0.5)
    assert all(0 <= draw < 1 for draw in draws)


def test_each_project_draws_its_own_audit_and_draws_it_again_the_same() -> None:
    claims = [("t", f"c{n}", "h") for n in range(200)]

    first = [audit_draw(1, *claim) for claim in claims]

    assert first == [audit_draw(1, *claim) for claim in claims]
    assert first != [audit_draw(2, *claim) for claim in claims]


def test_turns_of_the_audit_come_at_its_share_and_cannot_be_counted_off() -> None:
    turns = [audit_turn(1, n, 0.2) for n in range(10_000)]
    gaps = [two - one for one, two in pairwise([n for n, turn in enumerate(turns) if turn])]

    assert sum(turns) / len(turns) == pytest.approx(0.2, abs=0.02)
    assert len(set(gaps)) > 10


def test_readings_of_ties_are_shown_in_either_order_and_always_in_the_same() -> None:
    orders = [shown_order(n, (10, 11)) for n in range(200)]

    assert orders == [shown_order(n, (10, 11)) for n in range(200)]
    assert 60 < orders.count((10, 11)) < 140
    assert all(sorted(order) == [10, 11] for order in orders)


def test_a_judgement_without_a_source_asks_nothing_of_the_sources() -> None:
    check_judgement(Judgement(support=VerdictLabel.NOT_ENOUGH_EVIDENCE, source_id=None), 1, ())


@pytest.mark.parametrize("support", SUPPORT_LABELS)
def test_only_supported_needs_a_source(support: VerdictLabel) -> None:
    unowned = Judgement(support=support, source_id=None, conflation=False)
    if support is not VerdictLabel.SUPPORTED:
        check_judgement(unowned, None, {"chart"})
        return

    with pytest.raises(InputError, match="the source that says it"):
        check_judgement(unowned, None, {"chart"})
    check_judgement(replace(unowned, source_id="chart"), None, {"chart"})


@pytest.mark.parametrize("conflation", [True, False, None])
@pytest.mark.parametrize("support", SUPPORT_LABELS)
def test_only_not_enough_evidence_goes_with_no_source(
    support: VerdictLabel, conflation: bool | None
) -> None:
    owned = Judgement(support=support, source_id="chart", conflation=conflation)
    if support is not VerdictLabel.NOT_ENOUGH_EVIDENCE:
        check_judgement(owned, None, {"chart"})
        return

    with pytest.raises(InputError, match="choose None as the source") as refused:
        check_judgement(owned, None, {"chart"})
    assert refused.value.path == "source_id"
    check_judgement(replace(owned, source_id=None), None, {"chart"})
    check_judgement(replace(owned, support=VerdictLabel.UNSUPPORTED), None, {"chart"})


def test_a_passage_is_what_the_source_says_there_or_is_refused() -> None:
    text = "Weight 71.4 kg. 😀 Metformin 1,000 mg."
    passage = passage_of("chart", text, 18, 27)
    judgement = replace(a_judgement(), passages=(passage,))

    check_passages(judgement, {"chart": text})

    assert text[passage.start : passage.end] == "Metformin"
    for texts in ({"chart": text.replace("Metformin", "metformin")}, {"lab": text}, {"chart": ""}):
        with pytest.raises(InputError):
            check_passages(judgement, texts)
    for start, end in ((-1, 3), (4, 4), (0, len(text) + 1)):
        with pytest.raises(InputError):
            passage_of("chart", text, start, end)
