"""What stands for each claim, read in a handful of statements however many claims there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
from reviewing import SENTENCES, SUPPORTED, UNSUPPORTED, Office, a_reviewed_trace, an_office
from sqlalchemy import event, insert
from verdicts import VERSIONS

from core.records import Decision
from core.review.assignment import check_settings
from core.review.records import Cause, ProjectSettings, ReviewStatus, Split
from core.review.yields import AuditedPrior, expected_yield, yield_words
from storage.labels import _KEPT
from storage.store import SqlStore
from storage.tables import TraceSplit
from storage.traces import trace_key


def a_week(store: SqlStore) -> Office:
    """Two traces of two readings: one claim adjudicated, one tied, one read once, the rest agreed."""
    office = an_office(
        store,
        verifications=[
            a_reviewed_trace(1, category="chart", extra={"slices": ["b", "a"]}),
            a_reviewed_trace(2),
        ],
        reads_per_claim=2,
        audit_share=0.5,
    )
    for _ in range(8):
        item = office.desk("Ada").next_item()
        assert item is not None
        office.decide("Ada", item, SUPPORTED)
    while item := office.desk("Ben").next_item():
        if item.claim_key == 8:
            office.desk("Ben").decline(item.assignment_id, "unclear")
        else:
            office.decide("Ben", item, UNSUPPORTED if item.claim_key in (1, 2) else SUPPORTED)
    desk = office.desk("Dora")
    tie = desk.next_disagreement()
    assert tie is not None
    nonce = desk.show(tie.assignment_id)
    office.clock.advance(seconds=5)
    desk.adjudicate(tie, nonce, UNSUPPORTED, Cause.AMBIGUOUS_CLAIM)
    return office


def test_each_claim_comes_with_its_votes_its_status_and_the_latest_signal(
    store: SqlStore,
) -> None:
    office = a_week(store)
    labels = office.workspace.labels
    with office.store.database.writing() as connection:
        connection.execute(
            insert(TraceSplit).values(
                trace_key=trace_key("review-0001"),
                split="held_out",
                by="x",
                at=office.clock(),
            )
        )

    found = {claim.claim_key: claim for claim in labels.reviewed()}

    assert list(found) == sorted(found)
    assert len(found) + labels.unfinished() == 8
    assert found[1].resolution.status is ReviewStatus.ADJUDICATED
    assert found[1].resolution.final == UNSUPPORTED
    assert found[2].resolution.status is ReviewStatus.UNRESOLVED
    assert found[2].resolution.final is None
    assert {claim.resolution.status for claim in found.values() if claim.claim_key > 2} == {
        ReviewStatus.UNANIMOUS
    }
    first = found[1]
    assert (first.text, first.trace_id) == (SENTENCES[0][0], "review-0001")
    assert (first.category, first.slices, first.family) == ("chart", ("a", "b"), "patient_record")
    assert first.split is Split.HELD_OUT
    assert found[5].split is None
    assert [annotation.slot for annotation in first.annotations] == [1, 2]
    assert first.signal is not None
    assert (first.signal.probability, first.signal.decision) == (0.97, Decision.ALLOW)
    assert first.signal.features is not None
    for claim in found.values():
        assert claim.inclusion_probability in (None, 0.5)
        assert {annotation.inclusion_probability for annotation in claim.annotations} == {
            claim.inclusion_probability
        }
    assert {claim.inclusion_probability for claim in found.values()} == {None, 0.5}


def test_reading_labels_takes_as_many_statements_for_many_claims_as_for_few(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=10)
    labels = office.workspace.labels
    counts = []
    for features in (True, False):  # each of them is read for the first time
        for _ in range(15):
            office.read("Ada")
        with _heard(office) as statements:
            read = labels.reviewed(features=features)
        counts.append((len(read), len(statements)))

    assert [claims for claims, _ in counts] == [15, 30]
    assert counts[0][1] == counts[1][1] < 15


def test_one_more_vote_costs_the_same_however_many_claims_were_read(store: SqlStore) -> None:
    office = an_office(store, traces=10)
    labels = office.workspace.labels
    counts = []
    for already in (5, 20):
        while len(labels.reviewed()) < already:
            office.read("Ada")
        office.read("Ada")
        with _heard(office) as statements:
            labels.reviewed()
        counts.append(len(statements))

    assert counts[0] == counts[1] < 20


def test_labels_that_are_brought_up_are_labels_that_are_read_anew(store: SqlStore) -> None:
    office = an_office(store, traces=3, reads_per_claim=2)
    labels = office.workspace.labels
    steps: list[Callable[[], object]] = [
        *(partial(office.read, "Ada", SUPPORTED) for _ in range(5)),
        *(partial(office.read, "Ben", UNSUPPORTED if n == 1 else SUPPORTED) for n in range(5)),
        lambda: office.desk("Ben").undo(),
        lambda: office.read("Ben", UNSUPPORTED),
        lambda: _decide(office),
        lambda: office.workspace.splits.say("review-0001", Split.HELD_OUT, by="Lea"),
        lambda: _verify_again(office),
        lambda: office.store.put_traces([a_reviewed_trace(9).trace]),
        lambda: office.workspace.projects.change(
            office.project, replace(office.project.settings, reads_per_claim=1),
            by=office.people["Lea"], reason="enough",
        ),
    ]  # fmt: skip
    seen: list[object] = []
    for step in steps:
        step()

        brought_up = labels.reviewed()
        unfinished = labels.unfinished()

        _KEPT.clear()
        assert brought_up == labels.reviewed()
        assert unfinished == labels.unfinished()
        if brought_up not in seen:
            seen.append(brought_up)
    assert len(seen) > 8


def _decide(office: Office) -> None:
    desk = office.desk("Dora")
    tie = desk.next_disagreement()
    assert tie is not None
    nonce = desk.show(tie.assignment_id)
    office.clock.advance(seconds=5)
    desk.adjudicate(tie, nonce, UNSUPPORTED, Cause.AMBIGUOUS_CLAIM)


def _verify_again(office: Office) -> None:
    """Another run says something else about the first trace."""
    again = a_reviewed_trace(1, [(said, premise, 0.9) for said, premise, _ in SENTENCES])
    again = replace(again, versions=replace(VERSIONS, calibrator="new"))
    office.store.put_verdicts("sha256:" + "2" * 64, [again])


@contextmanager
def _heard(office: Office) -> Iterator[list[str]]:
    """The statements that are sent inside the block."""
    statements: list[str] = []

    def hear(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    engine = office.store.database.engine
    event.listen(engine, "before_cursor_execute", hear)
    yield statements
    event.remove(engine, "before_cursor_execute", hear)


def test_without_votes_there_are_no_labels(store: SqlStore) -> None:
    office = an_office(store)
    office.desk("Ada").next_item()

    assert office.workspace.labels.reviewed() == ()
    assert office.workspace.labels.unfinished() == 0


def test_what_reading_next_is_expected_to_find_follows_the_queue_and_the_probabilities(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=3)
    labels = office.workspace.labels
    queue = labels.next_probabilities(5)
    everything = labels.next_probabilities(100)

    assert list(queue) == sorted(everything)[:5]
    found = expected_yield(queue, base_rate=None, prior=0.9)
    assert found.errors == pytest.approx(sum(1 - one for one in queue))
    assert found.low <= found.errors <= found.high
    # A prior that is met by the calibration moves nothing; a better agent holds fewer errors.
    same, better = (expected_yield(queue, base_rate=0.7, prior=one) for one in (0.7, 0.95))
    assert same.errors == pytest.approx(found.errors) and better.errors < same.errors
    assert "Reading the next 5 claims of the queue" in yield_words(found)
    item = office.desk("Ada").next_item()
    assert item is not None
    office.decide("Ada", item)
    assert len(labels.next_probabilities(100)) <= len(everything)


def test_a_prior_that_many_labels_give_is_one_that_a_project_may_hold() -> None:
    for supported in (0, 600, 1_200):
        found = AuditedPrior(claims=1_200, supported=supported).value
        check_settings(ProjectSettings(supported_prior=found))
