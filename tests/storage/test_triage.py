"""Triage in the database: marks, what is read first, what is erased, what is decided again."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from reviewing import (
    SENTENCES,
    SUPPORTED,
    UNSUPPORTED,
    Office,
    a_reviewed_trace,
    an_office,
    problems_beside_the_clock,
)
from sqlalchemy import text

from core.errors import Conflict, InputError, NotAllowed
from core.provenance.triage import CONTRADICTED, NOT_CONFIRMED
from core.records import FileCount, IngestReport, Origin
from core.review.items import Withheld
from core.review.records import ReviewStatus, Role
from core.workflows.verify import run_key
from storage.records import Order, TraceFilters
from storage.store import SqlStore, newest_of_file, only, sample_of
from storage.triage import MarkKind


def ids(store: SqlStore, **filters: object) -> list[str]:
    """The ids that a list with those filters has."""
    page = store.list_traces(TraceFilters(**filters))  # type: ignore[arg-type]
    return [row.trace_id for row in page.rows]


def of_file(number: int, file: str) -> object:
    """A verified trace that came from that file."""
    verified = a_reviewed_trace(number)
    return replace(
        verified, trace=replace(verified.trace, origin=Origin(format="native", file=file))
    )


# ---------------------------------------------------------------- marks


def test_flags_comments_and_tags_stay_and_the_latest_word_counts(store: SqlStore) -> None:
    office = an_office(store)
    triage, ada, ben = office.workspace.triage, office.people["Ada"], office.people["Ben"]
    triage.mark(["review-0001"], MarkKind.FLAG, by=ada)
    triage.mark(["review-0001"], MarkKind.FLAG, by=ben)
    triage.mark(["review-0001"], MarkKind.UNFLAG, by=ada)
    triage.mark(["review-0001", "review-0002"], MarkKind.TAG, " second  look ", by=ada)
    triage.mark(["review-0002"], MarkKind.UNTAG, "second look", by=ben)
    triage.mark(["review-0001"], MarkKind.COMMENT, "<b>Ask</b> the ward.", by=ada, claim_id="c01")

    found = triage.standing(["review-0001", "review-0002"])

    assert found["review-0001"].flagged_by == ("Ben",)
    assert (found["review-0001"].tags, found["review-0002"].tags) == (("second look",), ())
    assert found["review-0001"].comments == 1
    assert ids(store, flagged=True) == ["review-0001"]
    assert ids(store, tag="second look") == ["review-0001"]
    (comment,) = [m for m in triage.marks_on("review-0001") if m.kind is MarkKind.COMMENT]
    assert (comment.text, comment.claim_id, comment.person) == (
        "<b>Ask</b> the ward.",
        "c01",
        "Ada",
    )
    with pytest.raises(InputError):
        triage.mark(["review-0001"], MarkKind.COMMENT, "  ", by=ada)
    assert problems_beside_the_clock(store) == []


# ---------------------------------------------------------------- lists


def test_a_list_is_narrowed_by_file_batch_and_cause(store: SqlStore) -> None:
    office = an_office(store, verifications=[of_file(1, "a.jsonl"), of_file(2, "b.jsonl")])
    report = IngestReport(
        files=(FileCount(file="b.jsonl", format="native", version=None, traces=1),),
        new=1, changed=0, unchanged=0, tools=(), skipped=(), skipped_count=0,
        without_answer=0, without_evidence=0,
    )  # fmt: skip
    office.store.put_import(report)

    (batch,) = office.workspace.triage.batches()

    assert (batch.files, batch.traces) == ("b.jsonl", 1)
    assert ids(store, batch=batch.import_id) == ["review-0002"]
    assert ids(store, batch=99) == []
    assert ids(store, file="a.jsonl") == ["review-0001"]
    assert [each.name for each in store.files()] == ["b.jsonl", "a.jsonl"]
    assert ids(store, cause=NOT_CONFIRMED) == ["review-0001", "review-0002"]
    assert ids(store, cause=CONTRADICTED) == []
    assert office.workspace.triage.causes()[NOT_CONFIRMED] == 2


def test_a_trace_knows_its_place_in_a_list_and_what_is_beside_it(store: SqlStore) -> None:
    an_office(store, traces=5)

    def beside(near: int) -> tuple[int, str | None, str | None]:
        found = store.neighbours("review-0003", TraceFilters(), Order.NEWEST, near)
        assert found is not None and found.total == 5
        return found.place, found.before, found.after

    assert beside(3) == (3, "review-0004", "review-0002")
    assert beside(1) == beside(99) == beside(3)  # a list that changed meanwhile
    first = store.neighbours("review-0001", TraceFilters(), Order.IMPORTED, 1)
    assert first is not None and (first.before, first.after) == (None, "review-0002")
    none = TraceFilters(search="nowhere")
    assert store.neighbours("review-0003", none, Order.IMPORTED, 1) is None


def test_a_list_says_nothing_of_verdicts_that_somebody_must_not_see_yet(store: SqlStore) -> None:
    office = an_office(
        store,
        verifications=[a_reviewed_trace(1, SENTENCES[2:3]), a_reviewed_trace(2)],
        reviewers=("Ada", "Ben"),
    )
    ada = office.people["Ada"]

    def seen() -> dict[str, tuple[object, bool]]:
        page = store.list_traces(TraceFilters(viewer=ada), order=Order.MOST_BLOCKED)
        return {row.trace_id: (row.decision, row.withheld) for row in page.rows}

    assert seen() == {"review-0001": (None, True), "review-0002": (None, True)}
    overview = store.overview(ada)
    assert (overview.traces, overview.withheld, overview.waiting) == (2, 2, 0)
    assert ids(store, viewer=ada, verified=False) == []
    assert ids(store, viewer=ada, cause=NOT_CONFIRMED) == []
    for _ in range(5):
        office.read("Ben")
    assert seen()["review-0001"][1] is False
    assert seen()["review-0001"][0] is not None
    assert store.overview(office.people["Lea"]).withheld == 0


# ---------------------------------------------------------------- what is read first


def test_assigned_claims_come_first_to_that_person_and_to_nobody_else(store: SqlStore) -> None:
    office = an_office(store, traces=3, reads_per_claim=1)
    lea, ben = office.people["Lea"], office.people["Ben"]
    office.workspace.triage.assign(["review-0003"], ben, by=lea)

    others = {office.desk(name).next_item().trace_id for name in ("Ada", "Cleo")}  # type: ignore[union-attr]
    mine = [office.desk("Ben").next_item()]
    for _ in range(3):
        office.read("Ben")
        mine.append(office.desk("Ben").next_item())

    assert "review-0003" not in others
    assert {item.trace_id for item in mine if item} == {"review-0003"}
    assert [item.claim_id[-1] for item in mine if item] == ["1", "2", "3", "4"]
    assert ids(store, assigned_to=ben.person_id) == ["review-0003"]
    with pytest.raises(NotAllowed):
        office.workspace.triage.assign(["review-0001"], ben, by=ben)
    with pytest.raises(NotAllowed):
        office.workspace.triage.assign(["review-0001"], lea, by=lea)


def test_what_was_given_to_one_is_given_to_others_once_it_is_taken_back(store: SqlStore) -> None:
    office = an_office(store, traces=1, reads_per_claim=1)
    lea, triage = office.people["Lea"], office.workspace.triage
    triage.assign(["review-0001"], office.people["Ben"], by=lea)
    assert office.desk("Ada").next_item() is None

    triage.unassign(["review-0001"], by=lea)

    assert office.desk("Ada").next_item() is not None


def test_queued_traces_come_before_the_rest_to_whoever_asks(store: SqlStore) -> None:
    office = an_office(store, traces=4)
    office.workspace.triage.assign(["review-0004"], None, by=office.people["Lea"])

    first = [office.desk(name).next_item() for name in ("Ada", "Ben")]

    assert {item.trace_id for item in first if item} == {"review-0004"}


def test_from_a_verdict_the_claim_that_was_looked_at_comes_next(store: SqlStore) -> None:
    office = an_office(store, traces=3, leading=("Ada",))
    desk, ada = office.desk("Ada"), office.people["Ada"]
    before = desk.next_item()
    assert before is not None
    target = "review-0003" if before.trace_id != "review-0003" else "review-0002"
    claim = f"{target}::c03"

    assert office.workspace.triage.turn_to(target, claim, by=ada)

    item = desk.next_item()
    assert item is not None and item.claim_id == claim
    office.decide("Ada", item)
    following = desk.next_item()
    assert following is not None and following.trace_id == target


def test_a_claim_that_was_begun_stays_first(store: SqlStore) -> None:
    from core.records import VerdictLabel
    from core.review.items import Draft

    office = an_office(store, traces=2, leading=("Ada",))
    desk = office.desk("Ada")
    item = desk.next_item()
    assert item is not None
    desk.save_draft(item.assignment_id, Draft(support=VerdictLabel.SUPPORTED))

    turned = office.workspace.triage.turn_to("review-0002", None, by=office.people["Ada"])

    assert not turned
    again = desk.next_item()
    assert again is not None and again.assignment_id == item.assignment_id


# ---------------------------------------------------------------- erasing


def test_no_file_of_the_database_holds_a_word_of_what_was_erased(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    verified = a_reviewed_trace(2)
    store.put_traces([replace(verified.trace, question="Is ZZ-UNHEARD-OF there?" * 200)])

    done = office.workspace.triage.erase(["review-0002"], "not ours", by=office.people["Lea"])

    files = [each for each in store.database.folder.glob("workbench.db*") if each.is_file()]
    assert done.traces == 1
    assert [each.name for each in files if b"ZZ-UNHEARD-OF" in each.read_bytes()] == []


def test_a_file_is_erased_with_a_reason_and_the_trail_stays_whole(store: SqlStore) -> None:
    office = an_office(
        store, verifications=[of_file(1, "a.jsonl"), of_file(2, "a.jsonl"), of_file(3, "b.jsonl")]
    )
    triage, lea = office.workspace.triage, office.people["Lea"]
    item = office.desk("Ada").next_item()
    assert item is not None
    office.decide("Ada", item)
    triage.mark(["review-0003"], MarkKind.COMMENT, "wrong export", by=lea)
    judged = item.trace_id
    file = "b.jsonl" if judged == "review-0003" else "a.jsonl"

    done = triage.erase_file(file, "exported twice", by=lea)

    assert done.kept == (judged,)
    other = triage.erase_file("a.jsonl" if file == "b.jsonl" else "b.jsonl", "the same", by=lea)
    assert done.traces + other.traces == 2
    assert ids(store) == [judged]
    assert problems_beside_the_clock(store) == []
    events = [e for e in store.audit_events() if e.action == "traces.erased"]
    assert {json.loads(event.detail)["reason"] for event in events} <= {
        "exported twice",
        "the same",
    }
    with pytest.raises(InputError):
        triage.erase_file("a.jsonl", " ", by=lea)
    with pytest.raises(NotAllowed):
        triage.erase_file("a.jsonl", "because", by=office.people["Ada"])


def test_what_goes_behind_the_programs_back_is_still_found(store: SqlStore) -> None:
    office = an_office(store, verifications=[of_file(1, "a.jsonl"), of_file(2, "b.jsonl")])
    office.workspace.triage.erase_file("a.jsonl", "exported twice", by=office.people["Lea"])
    with store.database.writing() as connection:
        connection.execute(text("DELETE FROM trace_version"))

    problems = problems_beside_the_clock(store)

    assert any("was stored, and is gone" in problem for problem in problems)
    assert any("trace_version rows" in problem for problem in problems)


def test_an_erased_trace_that_is_added_again_is_whole_again(store: SqlStore) -> None:
    again = of_file(1, "a.jsonl")
    office = an_office(store, verifications=[again])
    office.workspace.triage.erase_file("a.jsonl", "exported twice", by=office.people["Lea"])

    office.store.put_traces([again.trace])  # type: ignore[attr-defined]

    assert ids(store) == ["review-0001"]
    assert problems_beside_the_clock(store) == []


# ---------------------------------------------------------------- part of what waits


def test_a_file_or_a_sample_of_it_is_verified_alone(store: SqlStore) -> None:
    an_office(
        store, verifications=[of_file(n, "a.jsonl" if n % 2 else "b.jsonl") for n in range(1, 7)]
    )
    positions = newest_of_file(store, "a.jsonl")
    sample = sample_of(positions, 2)

    scoped = only(store, sample)

    assert len(positions) == 3 and len(newest_of_file(store, None)) == 6
    assert sample == sample_of(positions, 2) and set(sample) < set(positions)
    assert scoped.count_without_run("another run") == 2
    waiting = [trace.trace_id for trace in scoped.traces_without_run("another run")]
    assert len(waiting) == 2 and set(waiting) < {"review-0001", "review-0003", "review-0005"}
    key = run_key(a_reviewed_trace(1).versions)
    assert scoped.count_without_run(key) == 0


# ---------------------------------------------------------------- reopening


def adjudicated(store: SqlStore) -> tuple[Office, int]:
    """An office in which Dora has decided the one claim, and its key."""
    office = an_office(
        store,
        verifications=[a_reviewed_trace(1, SENTENCES[:1])],
        reads_per_claim=2,
        adjudicators=("Dora", "Emil"),
    )
    office.read("Ada", SUPPORTED)
    office.read("Ben", UNSUPPORTED)
    office.adjudicate("Dora", SUPPORTED)
    (claim,) = office.workspace.labels.reviewed()
    assert claim.resolution.status is ReviewStatus.ADJUDICATED
    return office, claim.claim_key


def test_an_adjudication_is_reopened_with_a_reason_and_stays_as_written(store: SqlStore) -> None:
    office, key = adjudicated(store)
    triage = office.workspace.triage
    (listed,) = triage.decided(office.people["Lea"])
    assert (listed.claim_key, listed.decided_by) == (key, "Dora")
    assert triage.decided(office.people["Emil"]) == ()

    triage.reopen(key, "the chart was read wrongly", by=office.people["Dora"])

    (claim,) = office.workspace.labels.reviewed()
    assert claim.resolution.status is ReviewStatus.UNRESOLVED
    assert triage.decided(office.people["Lea"]) == ()
    assert office.desk("Lea").progress().ties == 1
    office.adjudicate("Emil", SUPPORTED)
    (claim,) = office.workspace.labels.reviewed()
    assert claim.adjudication is not None and claim.adjudication.reviewer == "Emil"
    with store.database.reading() as connection:
        written = connection.execute(text("SELECT count(*) FROM adjudication")).scalar()
    assert written == 2
    (event,) = [e for e in store.audit_events() if e.action == "adjudication.reopened"]
    assert json.loads(event.detail)["reason"] == "the chart was read wrongly"
    assert event.actor == "Dora"
    assert problems_beside_the_clock(store) == []


def test_only_a_lead_or_who_decided_reopens_and_only_once(store: SqlStore) -> None:
    office, key = adjudicated(store)
    triage = office.workspace.triage
    for name in ("Ada", "Emil", "Otto"):
        with pytest.raises(NotAllowed):
            triage.reopen(key, "because", by=office.people[name])
    with pytest.raises(InputError):
        triage.reopen(key, " ", by=office.people["Lea"])

    triage.reopen(key, "because", by=office.people["Lea"])

    with pytest.raises(Conflict):
        triage.reopen(key, "again", by=office.people["Lea"])
    item = office.desk("Emil").next_disagreement()
    assert item is not None
    verdict = office.store.get_verdict(item.trace_id)
    why = office.desk("Emil").open_verdict(verdict.content_hash, verdict.run_key)
    assert why is Withheld.DISAGREEMENT


def test_a_person_is_erased_from_what_they_read_and_the_trail_stays_whole(store: SqlStore) -> None:
    office = an_office(store)
    people, triage = office.workspace.people, office.workspace.triage
    ada, lea = office.people["Ada"], office.people["Lea"]
    item = office.desk("Ada").next_item()
    assert item is not None
    office.decide("Ada", item)
    triage.mark([item.trace_id], MarkKind.FLAG, by=ada)
    people.revoke(ada, Role.REVIEWER, by=lea, reason="has left")

    rewritten, _ = people.erase(ada, "she asked for it", by=lea)

    assert rewritten > 3  # a seal may hold the three letters by chance
    assert problems_beside_the_clock(store) == []
    assert triage.standing([item.trace_id])[item.trace_id].flagged_by == (
        f"person {ada.person_id} (erased)",
    )
