"""Who saw the machine's verdict before they judged: hidden while undecided, written down else."""

from __future__ import annotations

import dataclasses
import json

import pytest
from reviewing import SENTENCES, SUPPORTED, UNSUPPORTED, Office, a_reviewed_trace, an_office
from sqlalchemy import text
from verdicts import VERSIONS

from core.errors import NotFound, StoreError
from core.records import Verification
from core.review.items import ReviewItem, Withheld
from core.review.records import Exposure
from core.workflows.verify import run_key
from storage.store import SqlStore

# They read claims and may see verdicts before: who only reads may not.
LEADING = ("Ada", "Cleo")


def look(office: Office, name: str, trace_id: str) -> Withheld | None:
    """That person opens the verdict on that trace."""
    verdict = office.store.get_verdict(trace_id)
    return office.desk(name).open_verdict(verdict.content_hash, verdict.run_key)


def openings(office: Office) -> list[tuple[str, str]]:
    """Who opened what, as the trail tells it, the first first."""
    return [
        (event.actor, event.entity)
        for event in office.store.audit_events(newest_first=False)
        if event.action == "verdict.opened"
    ]


def verify_again(store: SqlStore, verification: Verification) -> None:
    """Keep the verdict of another run."""
    again = dataclasses.replace(
        verification, versions=dataclasses.replace(VERSIONS, pair_reader="another annotator")
    )
    store.put_verdicts(run_key(again.versions), [again])


def in_hand(office: Office, name: str) -> ReviewItem:
    """The claim in that person's hands."""
    item = office.desk(name).next_item()
    assert item is not None
    return item


def test_a_verdict_stays_hidden_from_whoever_has_one_of_its_claims_to_decide(
    store: SqlStore,
) -> None:
    office = an_office(store, leading=LEADING)
    item = in_hand(office, "Ada")
    other = next(f"review-{n:04d}" for n in (1, 2) if f"review-{n:04d}" != item.trace_id)

    assert look(office, "Ada", item.trace_id) is Withheld.ANNOTATION
    assert openings(office) == []
    assert look(office, "Ada", other) is None
    assert look(office, "Cleo", item.trace_id) is None
    office.decide("Ada", item)
    assert look(office, "Ada", item.trace_id) is None

    assert [who for who, _ in openings(office)] == ["Ada", "Cleo", "Ada"]


def test_a_newer_version_of_the_trace_is_hidden_as_well(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    item = in_hand(office, "Ada")
    newer = dataclasses.replace(a_reviewed_trace(1).trace, question="Asked otherwise?")
    again = dataclasses.replace(a_reviewed_trace(1), trace=newer)
    office.store.put_traces([newer])
    verify_again(office.store, again)

    assert look(office, "Ada", item.trace_id) is Withheld.ANNOTATION


def test_a_claim_whose_time_ran_out_still_hides_its_verdict(store: SqlStore) -> None:
    office = an_office(store, leading=LEADING)
    item = in_hand(office, "Ada")
    office.clock.advance(days=3)

    assert look(office, "Ada", item.trace_id) is Withheld.ANNOTATION
    office.desk("Lea").release(item.assignment_id, "on leave")
    assert look(office, "Ada", item.trace_id) is None


def test_a_tie_in_hand_hides_the_verdict_until_it_is_decided(store: SqlStore) -> None:
    office = an_office(store, reads_per_claim=2)
    office.read("Ada", SUPPORTED)
    office.read("Ben", UNSUPPORTED)
    tie = office.desk("Dora").next_disagreement()
    assert tie is not None

    assert look(office, "Dora", tie.trace_id) is Withheld.DISAGREEMENT
    office.desk("Dora").decline(tie.assignment_id, "I know the patient")
    assert look(office, "Dora", tie.trace_id) is None


def test_a_verdict_seen_before_the_claim_was_in_hand_is_kept_with_the_reading(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1, leading=LEADING)
    seen_at = office.clock.at
    assert look(office, "Ada", "review-0001") is None
    office.clock.advance(hours=1)
    assert look(office, "Ada", "review-0001") is None  # again: the first time counts

    annotation = office.read("Ada")
    blind = office.read("Ben")

    assert annotation is not None and blind is not None
    assert annotation.saw_model_output
    assert annotation.exposures == (Exposure(what="verdict page", at=seen_at),)
    assert not blind.saw_model_output
    assert blind.exposures == ()
    assert len(openings(office)) == 1


def test_no_judgement_counts_as_unaided_when_the_verdict_was_seen_before_it(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1, leading=LEADING)
    look(office, "Ada", "review-0001")
    desk, item = office.desk("Ada"), in_hand(office, "Ada")
    office.decide("Ada", item, SUPPORTED)
    desk.reveal(item.assignment_id)
    nonce = desk.show(item.assignment_id)
    office.clock.advance(seconds=5)

    revised = desk.revise(item.assignment_id, nonce, UNSUPPORTED)

    assert revised.saw_model_output
    assert revised.first is None
    assert not revised.changed_after_reveal
    assert [one.what for one in revised.exposures] == ["verdict page", "verdict"]


def test_a_verdict_seen_between_two_judgements_leaves_the_first_one_unaided(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1, leading=LEADING)
    office.read("Ada", SUPPORTED)
    look(office, "Ada", "review-0001")
    again = office.desk("Ada").undo()
    assert again is not None

    annotation = office.decide("Ada", again, UNSUPPORTED)

    assert (annotation.first, annotation.judgement) == (SUPPORTED, UNSUPPORTED)
    assert annotation.saw_model_output
    assert annotation.changed_after_reveal


def test_where_the_machine_may_come_first_its_verdict_opens_and_is_written_down(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1, decide_first=False)
    item = in_hand(office, "Ada")

    assert look(office, "Ada", item.trace_id) is None

    annotation = office.decide("Ada", item)
    assert annotation.saw_model_output
    (reviewed,) = office.workspace.labels.reviewed()
    assert [one.what for one in reviewed.annotations[0].exposures] == ["verdict page"]


def test_another_runs_verdict_is_another_thing_to_have_seen(store: SqlStore) -> None:
    office = an_office(store, traces=1, leading=LEADING)
    look(office, "Ada", "review-0001")
    verify_again(office.store, a_reviewed_trace(1))

    look(office, "Ada", "review-0001")

    told = [e for e in office.store.audit_events() if e.action == "verdict.opened"]
    assert len({json.loads(event.detail)["run"] for event in told}) == 2
    assert office.store.verify_chain().problems == ()


def test_a_verdict_that_is_not_there_is_not_written_down_as_seen(store: SqlStore) -> None:
    office = an_office(store, traces=1)

    with pytest.raises(NotFound):
        office.desk("Ada").open_verdict("sha256:" + "0" * 64, "no such run")

    assert openings(office) == []


def test_what_was_seen_cannot_be_changed_and_goes_with_its_trace(store: SqlStore) -> None:
    office = an_office(store, traces=1, leading=LEADING)
    look(office, "Ada", "review-0001")

    with pytest.raises(StoreError), store.database.writing() as connection:
        connection.execute(text("UPDATE verdict_opening SET person_id = 1"))
    with store.database.writing() as connection:
        connection.execute(text("DELETE FROM trace_version"))

    with store.database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM verdict_opening")).scalar() == 0


def test_whoever_only_reads_sees_no_verdict_while_a_claim_of_it_may_still_come(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1, reviewers=("Ada", "Ben"), reads_per_claim=1)

    assert look(office, "Ada", "review-0001") is Withheld.UNREAD
    assert look(office, "Otto", "review-0001") is None
    for _ in range(3):
        office.read("Ada")
    assert look(office, "Ada", "review-0001") is Withheld.UNREAD  # the fourth may come
    office.read("Ben")

    assert look(office, "Ada", "review-0001") is None
    assert [who for who, _ in openings(office)] == ["Otto", "Ada"]


def test_a_claim_that_was_passed_on_does_not_keep_its_verdict_from_them(store: SqlStore) -> None:
    office = an_office(store, verifications=[a_reviewed_trace(1, SENTENCES[:1])])
    item = in_hand(office, "Ada")

    office.desk("Ada").decline(item.assignment_id, "Outside my field")

    assert look(office, "Ada", "review-0001") is None
    assert look(office, "Ben", "review-0001") is Withheld.UNREAD


def test_an_adjudicator_sees_no_verdict_of_a_disagreement_that_may_come(store: SqlStore) -> None:
    office = an_office(store, verifications=[a_reviewed_trace(1, SENTENCES[:1])], reads_per_claim=2)
    assert look(office, "Dora", "review-0001") is None
    office.read("Ada", SUPPORTED)
    office.read("Ben", UNSUPPORTED)

    assert look(office, "Dora", "review-0001") is Withheld.UNREAD
    assert look(office, "Ada", "review-0001") is None


def test_where_the_machine_may_come_first_nothing_is_hidden_from_readers(store: SqlStore) -> None:
    office = an_office(store, traces=1, decide_first=False)

    assert look(office, "Ada", "review-0001") is None
