"""Agreement rounds in the database: the same claims for everyone, blind, once, beside the queue."""

from __future__ import annotations

import pytest
from reviewing import SUPPORTED, UNSUPPORTED, Office, an_office, problems_beside_the_clock

from core.errors import Conflict, InputError, NotAllowed
from core.review.agreement_records import Question
from core.review.items import Withheld
from core.review.records import Judgement
from core.review.rounds import agreement_of_round, differing
from storage.checking import check_database
from storage.store import SqlStore


def read_all(office: Office, name: str, *judgements: Judgement) -> list[int]:
    """Let that person read their round to its end; the keys of the claims, as they came."""
    rounds, person, keys = office.workspace.rounds, office.people[name], []
    while item := rounds.next_item(person):
        said = judgements[len(keys) % len(judgements)]
        rounds.label(item, said, by=person, rationale="so", seconds=3.0)
        keys.append(item.claim_key)
    return keys


def begun(office: Office, *names: str, count: int = 4) -> None:
    """A round of those annotators, begun by the lead."""
    annotators = [office.people[name] for name in names]
    office.workspace.rounds.begin(annotators, by=office.people["Lea"], count=count)


def test_everyone_reads_the_same_claims_in_the_same_order_and_the_next_round_takes_others(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=3)
    rounds = office.workspace.rounds
    begun(office, "Ada", "Ben", count=4)

    first = read_all(office, "Ada", SUPPORTED)
    assert read_all(office, "Ben", SUPPORTED, UNSUPPORTED) == first
    assert read_all(office, "Cleo", SUPPORTED) == []
    begun(office, "Ada", "Ben", "Cleo", count=4)
    item = rounds.next_item(office.people["Cleo"])

    one, two = rounds.all()
    assert (one.number, one.claims, one.finished) == (1, 4, True)
    assert item is not None
    assert (item.number, item.position, item.total) == (2, 1, 4)
    assert not two.finished
    assert item.claim_key not in first
    labels = rounds.labels(one, office.people["Lea"])
    figures = agreement_of_round(labels, Question.SUPPORT)
    assert (figures.raw.value, figures.claims) == (0.5, 4)
    assert len(differing(labels, Question.SUPPORT)) == 2
    assert problems_beside_the_clock(store) == []


def test_a_claim_is_read_once_and_a_closed_round_takes_nothing(store: SqlStore) -> None:
    office = an_office(store)
    rounds, ada, lea = office.workspace.rounds, office.people["Ada"], office.people["Lea"]
    begun(office, "Ada", "Ben")
    item = rounds.next_item(ada)
    assert item is not None
    rounds.label(item, SUPPORTED, by=ada, seconds=1.0)

    with pytest.raises(Conflict):
        rounds.label(item, UNSUPPORTED, by=ada, seconds=1.0)
    with pytest.raises(Conflict):
        begun(office, "Ada", "Ben")
    later = rounds.next_item(ada)
    assert later is not None
    with pytest.raises(InputError):
        rounds.label(
            later, Judgement(support=SUPPORTED.support, source_id=None), by=ada, seconds=1.0
        )
    rounds.close(by=lea)
    with pytest.raises(Conflict):
        rounds.label(later, SUPPORTED, by=ada, seconds=1.0)
    assert rounds.next_item(ada) is None


def test_only_a_lead_begins_with_two_readers_who_read_claims(store: SqlStore) -> None:
    office = an_office(store)
    people = office.people

    with pytest.raises(NotAllowed):
        office.workspace.rounds.begin([people["Ada"], people["Ben"]], by=people["Ada"])
    with pytest.raises(InputError):
        begun(office, "Ada", "Ada")
    with pytest.raises(NotAllowed):
        begun(office, "Ada", "Otto")
    assert office.workspace.rounds.all() == ()


def test_nobody_sees_what_others_said_before_they_have_read_and_no_verdict_tells(
    store: SqlStore,
) -> None:
    office = an_office(store, leading=("Ada",))
    rounds, ada = office.workspace.rounds, office.people["Ada"]
    begun(office, "Ada", "Ben", count=8)
    read_all(office, "Ben", SUPPORTED)
    (one,) = rounds.all()

    with pytest.raises(NotAllowed, match="read this round yourself"):
        rounds.labels(one, ada)
    with pytest.raises(NotAllowed):
        rounds.labels(one, office.people["Ben"])
    trace = store.get_trace("review-0001")
    key = store.get_verdict("review-0001").run_key
    assert office.desk("Ada").open_verdict(trace.content_hash, key) is Withheld.ANNOTATION

    read_all(office, "Ada", SUPPORTED)
    assert len(rounds.labels(rounds.all()[0], ada)) == 16
    assert office.desk("Ada").open_verdict(trace.content_hash, key) is None


def test_claims_of_an_open_round_are_dealt_to_nobody_and_come_back(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    begun(office, "Ada", "Ben", count=3)

    left = office.read("Cleo")

    assert left is not None
    assert office.read("Cleo") is None
    read_all(office, "Ada", SUPPORTED)
    keys = read_all(office, "Ben", SUPPORTED)
    assert left.claim_key not in keys
    assert office.read("Cleo") is not None


def test_a_lead_chooses_claims_and_what_a_reader_has_seen_is_none_of_them(store: SqlStore) -> None:
    office = an_office(store, leading=("Ada",))
    rounds, ada, ben = office.workspace.rounds, office.people["Ada"], office.people["Ben"]
    seen = store.get_trace("review-0001").content_hash
    office.workspace.reviews(ada).open_verdict(seen, store.get_verdict("review-0001").run_key)

    free = rounds.candidates([ada, ben])

    assert {each.trace_id for each in free} == {"review-0002"}
    rounds.begin([ada, ben], by=office.people["Lea"], chosen=[free[2].claim_key])
    assert read_all(office, "Ben", SUPPORTED) == [free[2].claim_key]


def test_the_trail_covers_every_row_of_a_round(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    begun(office, "Ada", "Ben")
    read_all(office, "Ada", SUPPORTED)
    office.workspace.rounds.close(by=office.people["Lea"])

    with pytest.raises(Exception, match="append-only"), store.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM calibration_label")

    actions = [each.action for each in store.audit_events(newest_first=False)]
    assert [each for each in actions if each.startswith("round.")] == [
        "round.begun", "round.claims", "round.readers", *["round.label"] * 4, "round.closed",
    ]  # fmt: skip
    assert not [one for one in check_database(store.database).problems if "calibration" in one]
