"""The desk on both engines: who gets which claim, what counts as a verdict, and what stays in the trail."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import product

import pytest
from builders import a_source, a_trace
from reviewing import (
    SUPPORTED,
    UNSUPPORTED,
    Office,
    a_reviewed_trace,
    an_office,
)
from sqlalchemy import event, text
from tables import cases
from verdicts import Said, a_verification, with_support

from core.codec import content_hash
from core.errors import Conflict, InputError, NotAllowed, NotFound, ProvenanceGuardError, TooSoon
from core.records import State, VerdictLabel, Verification, worst_state
from core.review.adjudication import state_of_final
from core.review.assignment import NOTHING_ON_SCREEN
from core.review.items import Draft, ReviewItem
from core.review.records import Annotation, Cause, Judgement, QueueReason, ReviewStatus, Role, Unfit
from storage.annotations import annotations_of
from storage.records import TraceFilters
from storage.reviews import ReviewSession
from storage.store import SqlStore

NONE = Judgement(support=VerdictLabel.NOT_ENOUGH_EVIDENCE, source_id=None)


def annotations(office: Office, claim_key: int) -> tuple[Annotation, ...]:
    with office.store.database.reading() as connection:
        return annotations_of(connection, claim_key)


def actions(office: Office) -> Counter[str]:
    return Counter(event.action for event in office.store.audit_events())


def on_screen(
    office: Office, name: str = "Ada", seconds: float = 5
) -> tuple[ReviewSession, ReviewItem, str]:
    """That person's desk, their claim as it is on screen since then, and its nonce."""
    desk = office.desk(name)
    item = desk.next_item()
    assert item is not None
    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=seconds)
    return desk, item, nonce


def a_tie(store: SqlStore, **settings: object) -> Office:
    """An office of two annotations a claim, where Ada and Ben differ on the first one."""
    office = an_office(store, traces=1, reads_per_claim=2, **settings)
    office.read("Ada", SUPPORTED, confidence=4, rationale="It says so.")
    office.read("Ben", UNSUPPORTED, rationale="It does not.")
    return office


# ---------------------------------------------------------------- reading


def test_what_is_doubtful_in_one_answer_is_read_together(store: SqlStore) -> None:
    unsure = [
        with_support(with_support(a_reviewed_trace(n), 1, probability=near, review_from=0.3), 3,
                     probability=far, review_from=0.3)
        for n, near, far in ((1, 0.48, 0.31), (2, 0.47, 0.33), (3, 0.46, 0.35))
    ]  # fmt: skip
    office = an_office(store, verifications=unsure, audit_share=0.0)
    traces = []
    while len(traces) < 12:
        item = office.desk("Ada").next_item()
        assert item is not None
        traces.append((item.trace_id[-1], item.claim_id[-1]))
        office.decide("Ada", item)

    # The least supported of the first answer, then what else of it hardly is, then the next answer's.
    assert traces[:6] == [(answer, claim) for answer in "123" for claim in "31"]
    assert sorted(traces) == [(answer, claim) for answer in "123" for claim in "1234"]


def test_one_person_reads_every_claim_once_and_is_told_when_nothing_is_left(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=3)

    read = [office.read("Ada") for _ in range(11)]
    assert office.desk("Ada").progress().seconds_per_claim is None  # too few to tell of the next
    read += [office.read("Ada") for _ in range(2)]

    assert len({annotation.claim_key for annotation in read[:12] if annotation}) == 12
    assert read[12] is None
    assert office.desk("Ben").next_item() is None
    progress = office.desk("Ada").progress()
    assert (progress.mine_done, progress.team_done, progress.total) == (12, 12, 12)
    assert (progress.left_for_me, progress.seconds_per_claim) == (0, 5.0)
    assert office.store.verify_chain().problems == ()


def test_an_item_says_nothing_of_the_machine_or_of_others_until_it_is_decided(
    store: SqlStore,
) -> None:
    office = an_office(store, reads_per_claim=2)
    office.read("Ada")

    item = office.desk("Ben").next_item()

    assert item is not None
    assert item.reason is None
    shown = json.dumps(dataclasses.asdict(item), default=str)
    assert "Ada" not in shown
    assert "second_read" not in shown
    assert (item.position, item.total) == (1, 8)
    annotation = office.decide("Ben", item)
    assert annotation.queue_reason is QueueReason.SECOND_READ


def test_the_claim_in_hand_comes_back_after_a_reload_with_its_draft(store: SqlStore) -> None:
    office = an_office(store)
    item = office.desk("Ada").next_item()
    assert item is not None
    draft = Draft(support=VerdictLabel.CONTRADICTED, source_answered=True, rationale="half a thou")
    office.desk("Ada").save_draft(item.assignment_id, draft)

    again = office.desk("Ada").next_item()

    assert again is not None
    assert (again.assignment_id, again.draft) == (item.assignment_id, draft)
    assert office.desk("Ada").load_draft(item.assignment_id) == draft
    other = office.desk("Ben").next_item()
    assert other is not None
    assert other.claim_key != item.claim_key
    with pytest.raises(NotFound, match="somebody else has it"):
        office.desk("Ben").load_draft(item.assignment_id)
    office.decide("Ada", again)
    assert office.desk("Ada").load_draft(item.assignment_id) is None


def test_a_verdict_counts_once_and_only_for_the_rendering_it_was_given_on(store: SqlStore) -> None:
    office = an_office(store)
    desk, item, old = on_screen(office)
    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=5)

    with pytest.raises(Conflict, match="before this claim was on screen"):
        desk.annotate(item.assignment_id, old, SUPPORTED)
    desk.annotate(item.assignment_id, nonce, SUPPORTED)
    for late in (nonce, old, ""):
        with pytest.raises(Conflict, match="before this claim was on screen"):
            desk.annotate(item.assignment_id, late, UNSUPPORTED)

    assert [annotation.judgement for annotation in annotations(office, item.claim_key)] == [
        SUPPORTED
    ]


def test_a_verdict_faster_than_anybody_reads_is_refused_and_may_be_given_again(
    store: SqlStore,
) -> None:
    office = an_office(store, dwell_milliseconds=700)
    desk, item, nonce = on_screen(office, seconds=0)

    office.clock.advance(milliseconds=699)
    with pytest.raises(TooSoon, match="699 ms"):
        desk.annotate(item.assignment_id, nonce, SUPPORTED)
    office.clock.advance(milliseconds=1)
    annotation = desk.annotate(item.assignment_id, nonce, SUPPORTED)

    assert annotation.seconds == pytest.approx(0.7)


def test_drawing_a_claim_again_neither_restarts_the_clock_nor_the_floor(store: SqlStore) -> None:
    office = an_office(store)
    desk, item, _ = on_screen(office, seconds=20)
    nonce = desk.show(item.assignment_id)

    assert desk.annotate(item.assignment_id, nonce, SUPPORTED).seconds == pytest.approx(20)


@pytest.mark.parametrize(
    ("judgement", "confidence", "named"),
    [
        (Judgement(support=VerdictLabel.UNJUDGED, source_id=None), None, "support"),
        (Judgement(support=VerdictLabel.SUPPORTED, source_id="another trace's"), None, "no source"),
        (SUPPORTED, 0, "confidence"),
    ],
)
def test_a_verdict_that_cannot_be_meant_is_refused(
    store: SqlStore, judgement: Judgement, confidence: int | None, named: str
) -> None:
    office = an_office(store)
    item = office.desk("Ada").next_item()
    assert item is not None

    with pytest.raises(InputError, match=named):
        office.decide("Ada", item, judgement, confidence=confidence)

    assert annotations(office, item.claim_key) == ()


# ---------------------------------------------------------------- decide, then see


def test_the_machines_view_is_shown_after_the_decision_and_that_is_written_down(
    store: SqlStore,
) -> None:
    office = an_office(store)
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None
    with pytest.raises(NotAllowed, match="decide first"):
        desk.reveal(item.assignment_id)
    first = office.decide("Ada", item, SUPPORTED, confidence=2, rationale="at first sight")
    assert not first.saw_model_output

    signal = desk.reveal(item.assignment_id)
    desk.reveal(item.assignment_id)
    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=3)
    second = desk.revise(item.assignment_id, nonce, UNSUPPORTED)

    assert signal is not None
    assert signal.run_key == first.run_key
    assert (second.first, second.judgement) == (SUPPORTED, UNSUPPORTED)
    assert second.saw_model_output
    assert second.changed_after_reveal
    assert (second.confidence, second.rationale) == (2, "at first sight")
    assert second.seconds == first.seconds
    assert [one.what for one in second.exposures] == ["verdict"]
    assert annotations(office, item.claim_key) == (first, second)
    assert actions(office)["model.revealed"] == 1


def test_keeping_a_verdict_after_the_machines_view_is_written_down_too(store: SqlStore) -> None:
    office = an_office(store)
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None
    office.decide("Ada", item)
    desk.reveal(item.assignment_id)
    nonce = desk.show(item.assignment_id)

    with pytest.raises(TooSoon):
        desk.revise(item.assignment_id, nonce, SUPPORTED)
    office.clock.advance(seconds=1)
    kept = desk.revise(item.assignment_id, nonce, SUPPORTED)

    assert kept.saw_model_output
    assert not kept.changed_after_reveal
    assert (actions(office)["vote.cast"], actions(office)["vote.after_reveal"]) == (1, 1)
    with pytest.raises(Conflict):
        desk.revise(item.assignment_id, nonce, UNSUPPORTED)


def test_nothing_is_revised_that_was_not_revealed(store: SqlStore) -> None:
    office = an_office(store)
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None
    office.decide("Ada", item)
    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=5)

    with pytest.raises(Conflict):
        desk.revise(item.assignment_id, nonce, UNSUPPORTED)


def test_a_project_may_show_the_machines_view_first_and_the_vote_says_so(store: SqlStore) -> None:
    office = an_office(store, decide_first=False)
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None

    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=5)
    assert desk.reveal(item.assignment_id) is not None
    annotation = desk.annotate(item.assignment_id, nonce, SUPPORTED)

    assert annotation.seconds == pytest.approx(
        5
    )  # looking at the machine's view does not stop the clock
    assert annotation.saw_model_output
    assert annotation.first is None


def test_what_people_settled_decides_the_answers_state_wherever_it_is_told(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    (row,) = store.list_traces(TraceFilters()).rows
    assert row.state is not State.ALLOW
    assert row.counts is not None and row.counts.blocked
    assert store.by_people(row.content_hash) is None

    def told() -> tuple[State | None, dict[State, int], int]:
        (now,) = store.list_traces(TraceFilters()).rows
        counted = {state: n for state, n in store.overview().by_state.items() if n}
        listed = store.list_traces(TraceFilters(states=frozenset([now.state or State.ALLOW])))
        assert now.decision is row.decision  # the verifier's own stays
        return now.state, counted, listed.total

    while (said := office.read("Ada")) is not None:
        found = store.by_people(row.content_hash)
        assert found is not None
        assert (SUPPORTED, said.at) in found.final.values()
        assert told() == (found.state, {found.state: 1}, 1)
    assert found.state is State.ALLOW and len(found.final) == 4

    item = office.desk("Ada").undo()
    assert item is not None
    assert store.verify_chain().problems == ()
    said = office.decide("Ada", item, UNSUPPORTED)
    assert told() == (State.NEEDS_REVIEW, {State.NEEDS_REVIEW: 1}, 1)
    found = store.by_people(row.content_hash)
    assert found is not None and found.final[item.claim_id] == (UNSUPPORTED, said.at)
    assert store.verify_chain().problems == ()


CREDITED_WRONGLY = dataclasses.replace(SUPPORTED, conflation=True)
NOT_ENOUGH = Judgement(support=VerdictLabel.NOT_ENOUGH_EVIDENCE, source_id=None)
CONTRADICTED = dataclasses.replace(UNSUPPORTED, support=VerdictLabel.CONTRADICTED)
NO_CLAIM = Judgement(support=Unfit.NOT_A_CLAIM, source_id=None)
SETTLED: Sequence[tuple[State, Judgement]] = (
    *((found, SUPPORTED) for found in State),
    (State.BLOCK, NO_CLAIM),
    (State.ALLOW, UNSUPPORTED),
    (State.BLOCK, NOT_ENOUGH),
    (State.NEEDS_REVIEW, CONTRADICTED),
    (State.ALLOW, CREDITED_WRONGLY),
)
FOUND = {
    State.ALLOW: VerdictLabel.SUPPORTED,
    State.NEEDS_REVIEW: VerdictLabel.UNSUPPORTED,
    State.BLOCK: VerdictLabel.CONTRADICTED,
}


def test_the_state_that_pages_show_is_that_of_the_claims_with_peoples_labels_put_in(
    store: SqlStore,
) -> None:
    """Of each settled claim beside whatever the verifier may find, and of two settled ones."""
    beside: list[tuple[State, Judgement | None]] = [(found, None) for found in State]
    every = list(product(SETTLED, (*beside, (State.BLOCK, SUPPORTED))))
    made = [_verified(n, [found for found, _ in pair]) for n, pair in enumerate(every)]
    office = an_office(store, verifications=made)
    labels = {
        verdict.claim.claim_id: label
        for one, pair in zip(made, every, strict=True)
        for verdict, (_, label) in zip(one.claims, pair, strict=True)
    }
    desk = office.desk("Ada")
    while (item := desk.next_item()) is not None:
        if (label := labels[item.claim_id]) is not None:
            office.decide("Ada", item, label)
        else:
            desk.decline(item.assignment_id, "left open", desk.show(item.assignment_id))

    def put_in(found: State, label: Judgement | None) -> State:
        return found if label is None else state_of_final(label)

    expected = {
        one.trace.trace_id: worst_state(put_in(*each) for each in pair)
        for one, pair in zip(made, every, strict=True)
    }
    rows = store.list_traces(limit=200).rows
    assert {row.trace_id: row.state for row in rows} == expected
    for row, pair in zip(rows, every, strict=True):
        told = row.by_people
        assert told is not None
        claims = [each for each in pair if each[1] is not NO_CLAIM]
        assert sum(told.by_verdict.values()) == len(claims) == 2 - told.set_aside
        assert told.blocked == sum(put_in(*each) is not State.ALLOW for each in claims)
        assert told.conflations == sum(label is CREDITED_WRONGLY for _, label in claims)
    whole = store.overview().by_people
    assert whole and whole.blocked == sum(row.by_people.blocked for row in rows if row.by_people)
    assert store.overview().by_state == Counter(expected.values())
    for one in made:
        people = store.by_people(content_hash(one.trace))
        assert people is None or people.state is expected[one.trace.trace_id]
    assert store.verify_chain().problems == ()


def _verified(number: int, found: Sequence[State]) -> Verification:
    said = [
        Said(said=f"Claim {n}.", verdict=FOUND[state], source="chart", premise="Evidence")
        for n, state in enumerate(found, 1)
    ]
    trace = a_trace("Claim 1. Claim 2.", a_source("Evidence."), trace_id=f"two-{number:03d}")
    return a_verification(trace, {"chart": "patient_record"}, said)


# ---------------------------------------------------------------- undo, decline, leases


def test_a_vote_taken_back_stays_in_the_trail_and_counts_until_the_next_one(
    store: SqlStore,
) -> None:
    office = an_office(store)
    first = office.read("Ada")
    assert first is not None
    following = office.desk("Ada").next_item()

    item = office.desk("Ada").undo()

    assert item is not None
    assert following is not None
    assert item.claim_key == first.claim_key
    resumed = office.desk("Ada").next_item()
    assert resumed is not None
    assert resumed.claim_key == first.claim_key
    assert office.desk("Ada").progress().team_done == 0
    with pytest.raises(Conflict, match="cannot be given back"):
        office.desk("Ada").decline(item.assignment_id, "too hard")
    second = office.decide("Ada", item, UNSUPPORTED)
    assert annotations(office, first.claim_key) == (first, second)
    assert second.seconds == first.seconds
    assert actions(office)["vote.reopened"] == 1
    after = office.desk("Ada").next_item()
    assert after is not None
    assert after.claim_key == following.claim_key


@pytest.mark.parametrize("judgement", [SUPPORTED, UNSUPPORTED, NONE])
@pytest.mark.parametrize("confidence", [None, 2])
def test_a_vote_taken_back_comes_with_what_was_said(
    store: SqlStore, judgement: Judgement, confidence: int | None
) -> None:
    office = an_office(store)
    desk, item, nonce = on_screen(office)
    desk.annotate(item.assignment_id, nonce, judgement, confidence=confidence, rationale="Rule 9.")
    before = actions(office)

    again = desk.undo()

    assert again is not None
    assert again.reconsidered and not item.reconsidered
    assert again.draft == Draft(
        support=judgement.support,
        source_id=judgement.source_id,
        source_answered=True,
        conflation=judgement.conflation,
        confidence=confidence,
        rationale="Rule 9.",
    )
    assert len(annotations(office, item.claim_key)) == 1  # nothing is said anew
    assert actions(office) - before == {"vote.reopened": 1}


def test_a_page_that_is_out_of_date_writes_nothing(store: SqlStore) -> None:
    office = an_office(store)
    office.read("Ada")
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None
    old, latest = desk.show(item.assignment_id), desk.show(item.assignment_id)
    before = len(store.audit_events())

    for act in (
        lambda: desk.save_draft(item.assignment_id, Draft(rationale="old"), old),
        lambda: desk.decline(item.assignment_id, "not mine", old),
        lambda: desk.undo(item.assignment_id, old),
        lambda: desk.undo(nonce=NOTHING_ON_SCREEN),
        lambda: desk.annotate(item.assignment_id, old, SUPPORTED),
    ):
        with pytest.raises(Conflict):
            act()

    assert len(store.audit_events()) == before
    assert desk.load_draft(item.assignment_id) is None
    desk.save_draft(item.assignment_id, Draft(rationale="new"), latest)
    again = desk.undo(item.assignment_id, latest)
    assert again is not None
    assert again.claim_key != item.claim_key


def test_a_vote_decided_again_after_the_machines_view_says_that_it_was_seen(
    store: SqlStore,
) -> None:
    office = an_office(store)
    first = office.read("Ada")
    assert first is not None
    item = office.desk("Ada").undo()
    assert item is not None
    office.decide("Ada", item)
    office.desk("Ada").reveal(item.assignment_id)
    again = office.desk("Ada").undo()
    assert again is not None

    last = office.decide("Ada", again, UNSUPPORTED)

    assert last.saw_model_output
    assert last.changed_after_reveal
    assert last.first == SUPPORTED


def test_a_pass_taken_back_comes_before_the_verdict_before_it(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    first = office.read("Ada")
    desk = office.desk("Ada")
    item = desk.next_item()
    assert first is not None and item is not None
    desk.decline(item.assignment_id, "Outside my field")
    following = desk.next_item()
    assert following is not None
    desk.show(following.assignment_id)

    again = desk.undo()

    assert again is not None
    assert (again.claim_key, again.reconsidered) == (item.claim_key, False)
    resumed = desk.next_item()
    assert resumed is not None and resumed.claim_key == item.claim_key
    assert actions(office)["vote.reopened"] == 0
    assert actions(office)["claim.pass_undone"] == 1
    before = desk.undo()
    assert before is not None and before.claim_key == first.claim_key
    for expected in (first, again, following):
        office.clock.advance(seconds=1)
        annotation = office.read("Ada", UNSUPPORTED)
        assert annotation is not None and annotation.claim_key == expected.claim_key


def test_a_pass_stays_once_somebody_else_has_the_claim(store: SqlStore) -> None:
    office = an_office(store, traces=1, reads_per_claim=1)
    office.read("Ada")
    item = office.desk("Ada").next_item()
    assert item is not None
    office.desk("Ada").decline(item.assignment_id, "Outside my field")
    taken = office.desk("Ben").next_item()
    assert taken is not None and taken.claim_key == item.claim_key

    with pytest.raises(Conflict, match="somebody else has that claim"):
        office.desk("Ada").undo()

    assert actions(office)["vote.reopened"] == 0


def test_ones_own_annotations_are_listed_and_any_of_them_is_mended(store: SqlStore) -> None:
    office = an_office(store, traces=1, reads_per_claim=2)
    own = [office.read("Ada", rationale=f"note {n} of Ada") for n in range(3)]
    office.read("Ben", UNSUPPORTED, rationale="note of Ben")
    desk, first = office.desk("Ada"), own[0]
    assert first is not None

    listed = desk.mine()

    assert [one.rationale for one in listed] == [f"note {n} of Ada" for n in (2, 1, 0)]
    assert not any(one.open or one.adjudicated for one in listed)
    item = desk.undo(claim_key=first.claim_key)
    assert item is not None and item.draft is not None
    assert (item.claim_key, item.draft.rationale) == (first.claim_key, "note 0 of Ada")
    resumed = desk.next_item()
    assert resumed is not None and resumed.claim_key == first.claim_key
    assert desk.mine()[2].open
    assert desk.undo(claim_key=first.claim_key) is None  # it is in hand
    assert office.desk("Ben").undo(claim_key=listed[0].claim_key) is None  # not Ben's
    office.decide("Ada", item, UNSUPPORTED)
    mended = desk.mine()
    assert [one.claim_key for one in mended].count(first.claim_key) == 1
    assert (mended[0].claim_key, mended[0].judgement) == (first.claim_key, UNSUPPORTED)


def test_what_a_third_person_decided_is_listed_as_that_and_not_mended(store: SqlStore) -> None:
    office = an_office(store, traces=1, reads_per_claim=2)
    said = office.read("Ada")
    office.read("Ben", UNSUPPORTED)
    assert said is not None
    office.adjudicate("Dora", UNSUPPORTED)

    (one,) = office.desk("Ada").mine()

    assert one.adjudicated and one.judgement == SUPPORTED  # not what was decided
    with pytest.raises(Conflict, match="adjudicat"):
        office.desk("Ada").undo(claim_key=said.claim_key)


def test_without_a_vote_there_is_nothing_to_take_back(store: SqlStore) -> None:
    office = an_office(store)
    office.desk("Ada").next_item()

    assert office.desk("Ada").undo() is None


def test_a_claim_given_back_goes_to_somebody_else_and_never_returns(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None
    with pytest.raises(InputError, match="needs a reason"):
        desk.decline(item.assignment_id, " ")

    desk.decline(item.assignment_id, "I treated this patient.")

    mine = {annotation.claim_key for annotation in iter(lambda: office.read("Ada"), None)}
    assert len(mine) == 3
    assert item.claim_key not in mine
    left = office.desk("Ben").next_item()
    assert left is not None
    assert left.claim_key == item.claim_key
    with pytest.raises(NotFound):
        desk.annotate(item.assignment_id, "n", SUPPORTED)
    assert office.store.verify_chain().intact


def test_a_lease_that_ran_out_frees_the_claim_and_the_late_verdict_is_refused(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1, lease_minutes=30)
    late, item, nonce = on_screen(office, seconds=0)

    office.clock.advance(minutes=29)
    kept = office.desk("Ben").next_item()
    office.clock.advance(minutes=2)
    taken = office.desk("Cleo").next_item()

    assert kept is not None
    assert taken is not None
    assert kept.claim_key != item.claim_key == taken.claim_key
    with pytest.raises(NotFound, match="no longer in your hands"):
        late.annotate(item.assignment_id, nonce, SUPPORTED)
    office.decide("Cleo", taken)
    assert len(annotations(office, item.claim_key)) == 1


def test_who_comes_back_late_to_a_claim_that_nobody_took_still_has_it(store: SqlStore) -> None:
    office = an_office(store, lease_minutes=30)
    item = office.desk("Ada").next_item()
    assert item is not None
    office.desk("Ada").show(item.assignment_id)

    office.clock.advance(hours=15)
    again = office.desk("Ada").next_item()

    assert again is not None
    assert again.assignment_id == item.assignment_id
    # The night does not count as reading.
    assert office.decide("Ada", again).seconds == pytest.approx(5)


def test_a_vote_being_reconsidered_when_its_lease_runs_out_stands_as_it_was(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1)
    first = office.read("Ada")
    assert first is not None
    office.desk("Ada").undo()

    office.clock.advance(hours=2)
    office.desk("Ben").next_item()

    assert office.desk("Ada").progress().team_done == 1
    labels = office.workspace.labels.reviewed()
    assert [claim.annotations for claim in labels] == [(first,)]


# ---------------------------------------------------------------- two annotations and ties


def test_two_people_read_each_claim_and_nobody_reads_it_twice(store: SqlStore) -> None:
    office = an_office(store, traces=2, reads_per_claim=2)

    read = [
        annotation
        for _ in range(10)
        for name in ("Ada", "Ben", "Cleo")
        if (annotation := office.read(name)) is not None
    ]

    by_claim = Counter(annotation.claim_key for annotation in read)
    assert by_claim == Counter(dict.fromkeys(by_claim, 2))
    assert len(by_claim) == 8
    assert len({(annotation.claim_key, annotation.reviewer) for annotation in read}) == 16
    assert len({(annotation.claim_key, annotation.slot) for annotation in read}) == 16
    assert {annotation.slot for annotation in read} == {1, 2}
    for claim in by_claim:
        one, two = (annotation for annotation in read if annotation.claim_key == claim)
        assert one.inclusion_probability == two.inclusion_probability
    statuses = {claim.resolution.status for claim in office.workspace.labels.reviewed()}
    assert statuses == {ReviewStatus.UNANIMOUS}


def test_a_tie_goes_to_an_adjudicator_who_has_not_read_the_claim(store: SqlStore) -> None:
    office = a_tie(store)
    people = office.workspace.people
    ada = people.grant(office.people["Ada"], Role.ADJUDICATOR, by=office.people["Lea"])
    as_judge = dataclasses.replace(office, people={**office.people, "Ada": ada})

    assert as_judge.desk("Ada").next_disagreement() is None
    tie = office.desk("Dora").next_disagreement()

    assert tie is not None
    assert {reading.label for reading in tie.annotations} == {"Reviewer 1", "Reviewer 2"}
    assert {reading.judgement for reading in tie.annotations} == {SUPPORTED, UNSUPPORTED}
    shown = json.dumps(dataclasses.asdict(tie), default=str)
    assert "Ada" not in shown
    assert "Ben" not in shown
    assert office.desk("Dora").next_disagreement() == tie


def test_an_adjudication_settles_a_tie_and_leaves_the_votes_as_they_were(store: SqlStore) -> None:
    office = a_tie(store)
    desk = office.desk("Dora")
    tie = desk.next_disagreement()
    assert tie is not None
    before = annotations(office, tie.claim_key)
    nonce = desk.show(tie.assignment_id)
    with pytest.raises(TooSoon):
        desk.adjudicate(tie, nonce, NONE, Cause.GUIDELINE_GAP)
    office.clock.advance(seconds=5)

    done = desk.adjudicate(
        tie, nonce, NONE, Cause.GUIDELINE_GAP, guideline_needs_fix=True, rule="9", rationale="So."
    )

    with pytest.raises(Conflict):
        desk.adjudicate(tie, nonce, SUPPORTED, Cause.REVIEWER_ERROR)
    assert (done.reviewer, done.judgement, done.rule) == ("Dora", NONE, "9")
    assert annotations(office, tie.claim_key) == before
    (claim,) = office.workspace.labels.reviewed()
    assert claim.resolution.status is ReviewStatus.ADJUDICATED
    assert claim.resolution.final == NONE
    assert claim.adjudication == done
    assert desk.next_disagreement() is None
    assert desk.reveal(tie.assignment_id) is not None
    for name in ("Ada", "Ben"):
        with pytest.raises(Conflict, match="adjudicated"):
            office.desk(name).undo()
    assert office.store.verify_chain().intact


def test_a_tie_whose_reading_changed_meanwhile_is_not_decided(store: SqlStore) -> None:
    office = a_tie(store)
    desk = office.desk("Dora")
    tie = desk.next_disagreement()
    assert tie is not None
    nonce = desk.show(tie.assignment_id)
    item = office.desk("Ben").undo()
    assert item is not None
    office.clock.advance(seconds=5)

    with pytest.raises(Conflict, match="an annotation changed"):
        desk.adjudicate(tie, nonce, SUPPORTED, Cause.REVIEWER_ERROR)
    assert desk.next_disagreement() is None
    office.decide("Ben", item, SUPPORTED)

    assert desk.next_disagreement() is None
    (claim,) = office.workspace.labels.reviewed()
    assert claim.resolution.status is ReviewStatus.UNANIMOUS


def test_a_tie_that_an_adjudicator_gives_back_waits_for_another(store: SqlStore) -> None:
    office = a_tie(store, adjudicators=("Dora", "Emil"))
    tie = office.desk("Dora").next_disagreement()
    assert tie is not None
    assert office.desk("Emil").next_disagreement() is None

    office.desk("Dora").decline(tie.assignment_id, "I wrote the trial.")

    assert office.desk("Dora").next_disagreement() is None
    other = office.desk("Emil").next_disagreement()
    assert other is not None
    assert other.claim_key == tie.claim_key


def test_begun_claims_that_do_not_move_are_counted(store: SqlStore) -> None:
    office = a_tie(store)
    office.read("Ada")

    assert office.desk("Ada").progress().stuck == 0
    office.clock.advance(days=3)

    progress = office.desk("Ada").progress()
    assert (progress.stuck, progress.ties, progress.waiting) == (2, 1, 2)


# ---------------------------------------------------------------- roles


def test_every_write_is_refused_without_its_role_and_leaves_no_trace(store: SqlStore) -> None:
    office = a_tie(store)
    item = office.desk("Ada").next_item()
    tie = office.desk("Dora").next_disagreement()
    assert item is not None
    assert tie is not None
    before = len(office.store.audit_events())

    for name in ("Lea", "Otto"):
        desk = office.desk(name)
        for write in (
            desk.next_item,
            desk.undo,
            desk.next_disagreement,
            desk.mine,
            lambda desk=desk: desk.show(item.assignment_id),
            lambda desk=desk: desk.annotate(item.assignment_id, "n", SUPPORTED),
            lambda desk=desk: desk.revise(item.assignment_id, "n", SUPPORTED),
            lambda desk=desk: desk.reveal(item.assignment_id),
            lambda desk=desk: desk.decline(item.assignment_id, "no"),
            lambda desk=desk: desk.save_draft(item.assignment_id, Draft()),
            lambda desk=desk: desk.adjudicate(tie, "n", SUPPORTED, Cause.GUIDELINE_GAP),
        ):
            with pytest.raises(NotAllowed):
                write()
    with pytest.raises(NotAllowed):
        office.desk("Ada").next_disagreement()
    with pytest.raises(NotAllowed):
        office.desk("Dora").next_item()

    assert len(office.store.audit_events()) == before


def test_a_role_taken_away_counts_at_once_whatever_an_open_page_still_believes(
    store: SqlStore,
) -> None:
    office = an_office(store)
    desk, item, nonce = on_screen(office)  # her page keeps the person it was opened with
    office.workspace.people.revoke(
        office.people["Ada"], Role.REVIEWER, by=office.people["Lea"], reason="left the team"
    )

    with pytest.raises(NotAllowed, match="needs the role reviewer"):
        desk.annotate(item.assignment_id, nonce, SUPPORTED)
    with pytest.raises(NotAllowed, match="needs the role reviewer"):
        desk.next_item()

    assert annotations(office, item.claim_key) == ()


def test_a_role_taken_away_before_a_claim_is_taken_counts(store: SqlStore) -> None:
    office = an_office(store)
    desk, roles = office.desk("Ben"), [Role.REVIEWER]

    def once_read(*_: object) -> None:  # what is held was looked up, and nothing is taken yet
        if roles:
            lea = office.people["Lea"]
            office.workspace.people.revoke(office.people["Ben"], roles.pop(), by=lea, reason="left")

    event.listen(office.store.database.engine, "checkin", once_read)
    with pytest.raises(NotAllowed, match="needs the role reviewer"):
        desk.next_item()

    assert actions(office)["claim.assigned"] == 0


def test_a_role_taken_away_while_a_verdict_is_on_its_way_counts(store: SqlStore) -> None:
    office = a_tie(store)
    item, tie = office.desk("Ada").next_item(), office.desk("Dora").next_disagreement()
    assert item is not None and tie is not None

    def late(name: str, role: Role) -> tuple[ReviewSession, str]:
        """Their desk, and a nonce; the role goes once the judgement is read, before it is written."""

        def now() -> datetime:
            lea = office.people["Lea"]
            office.workspace.people.revoke(office.people[name], role, by=lea, reason="left")
            return office.clock()

        desk = office.desk(name)
        nonce = desk.show((item if name == "Ada" else tie).assignment_id)
        office.clock.advance(seconds=5)
        return dataclasses.replace(desk, store=dataclasses.replace(desk.store, now=now)), nonce

    ada, nonce = late("Ada", Role.REVIEWER)
    with pytest.raises(NotAllowed, match="needs the role reviewer"):
        ada.annotate(item.assignment_id, nonce, SUPPORTED)
    dora, nonce = late("Dora", Role.ADJUDICATOR)
    with pytest.raises(NotAllowed, match="needs the role adjudicator"):
        dora.adjudicate(tie, nonce, SUPPORTED, Cause.GUIDELINE_GAP)

    assert actions(office)["role.revoked"] == 2


def test_nobody_works_on_another_persons_claim(store: SqlStore) -> None:
    office = an_office(store)
    desk, item, nonce = on_screen(office)
    ben = office.desk("Ben")

    for write in (
        lambda: ben.annotate(item.assignment_id, nonce, SUPPORTED),
        lambda: ben.show(item.assignment_id),
        lambda: ben.reveal(item.assignment_id),
        lambda: ben.decline(item.assignment_id, "no"),
        lambda: ben.save_draft(item.assignment_id, Draft()),
    ):
        with pytest.raises(NotFound, match="somebody else has it"):
            write()

    desk.annotate(item.assignment_id, nonce, SUPPORTED)


# ---------------------------------------------------------------- the trail


def test_the_trail_tells_of_every_step_and_of_no_verdict_before_it_is_settled(
    store: SqlStore,
) -> None:
    office = a_tie(store)
    details = [event.detail for event in office.store.audit_events()]

    assert actions(office)["claim.assigned"] == 2
    assert actions(office)["vote.cast"] == 2
    assert not any("unsupported" in detail or "It says so" in detail for detail in details)
    assert not any("uncertain" in detail or "second_read" in detail for detail in details)


def test_the_database_refuses_to_change_a_persons_word(store: SqlStore) -> None:
    office = a_tie(store)
    office.adjudicate("Dora", SUPPORTED, Cause.GUIDELINE_GAP)
    desk, item, _ = on_screen(office)
    desk.decline(item.assignment_id, "no")

    for table, column in {
        "vote": "support", "adjudication": "support", "role_grant": "role", "decline": "reason",
        "guideline": "text",
    }.items():  # fmt: skip
        for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
            refused = pytest.raises(ProvenanceGuardError, match=f"{table} is append-only")
            with refused, office.store.database.writing() as connection:
                connection.execute(text(statement))


@cases
def test_a_persons_word_changed_behind_the_triggers_is_found(
    store: SqlStore, trigger: str, statement: str, found: str
) -> None:
    office = a_tie(store)
    with office.store.database.writing() as connection:
        table, sqlite = trigger.split("_refuses_")[0], connection.dialect.name == "sqlite"
        connection.exec_driver_sql(f"DROP TRIGGER {trigger}" + ("" if sqlite else f" ON {table}"))
        connection.exec_driver_sql(statement.replace("{false}", "0" if sqlite else "false"))

    report = office.store.verify_chain()

    assert any(found in problem for problem in report.problems), report.problems


def test_a_trace_that_people_have_judged_cannot_be_erased(store: SqlStore) -> None:
    office = an_office(store, verifications=[a_reviewed_trace(1), a_reviewed_trace(2)])
    annotation = office.read("Ada")
    assert annotation is not None
    read = "review-0001" if annotation.claim_key <= 4 else "review-0002"
    other = "review-0002" if read == "review-0001" else "review-0001"
    erase = "DELETE FROM trace_version WHERE trace_id = "

    refused = pytest.raises(ProvenanceGuardError, match="append-only")
    with refused, office.store.database.writing() as connection:
        connection.exec_driver_sql(f"{erase}'{read}'")
    with office.store.database.writing() as connection:
        connection.exec_driver_sql(f"{erase}'{other}'")

    assert office.desk("Ada").progress().total == 4
