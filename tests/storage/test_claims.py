"""Claims and queues follow the verdicts: new runs, new versions, old databases, on both engines."""

from __future__ import annotations

import dataclasses

import pytest
from builders import a_source, a_trace
from lexical import verify_lexically
from reviewing import SENTENCES, a_reviewed_trace, an_office
from sqlalchemy import func, select
from sqlmodel import col
from verdicts import VERSIONS, fill, showcase

from core.records import AttributionStatus, Decision, Judged, VerdictLabel, Verification
from core.review.records import ProjectSettings, QueueReason
from core.workflows.verify import run_key
from storage.claims import judged_claims, latest_signal
from storage.projects import project_at
from storage.queue import rebuild
from storage.store import SqlStore
from storage.tables import ClaimRow, ClaimSignal, QueueRow


def queued(store: SqlStore) -> list[tuple[object, ...]]:
    """The queues, row by row."""
    with store.database.reading() as connection:
        return [
            tuple(row)
            for row in connection.execute(
                select(QueueRow.__table__).order_by(  # type: ignore[attr-defined]
                    col(QueueRow.project_id), col(QueueRow.claim_key)
                )
            )
        ]


def verify_again(store: SqlStore, *verifications: Verification, nli: str) -> str:
    """Keep verdicts of another run."""
    versions = dataclasses.replace(VERSIONS, pair_reader=nli)
    key = run_key(versions)
    again = [dataclasses.replace(one, versions=versions) for one in verifications]
    store.put_verdicts(key, again)
    return key


def test_only_what_blocks_besides_the_support_counts_as_another_check() -> None:
    # What follows from the claim's own values is told as a reason, and blocks nothing by itself.
    follows = a_trace(
        "Her weight fell from 42.7 kg to 39.6 kg, a change of 3.1 kg.",
        a_source(
            "Weight in May 42.7 kg. Weight in June 39.6 kg. Nothing else was recorded on her."
        ),
    )

    *_, found = judged_claims(verify_lexically(follows), "run")  # the claim with the change

    assert (found.signal.decision, found.signal.gated) == (Decision.BLOCK, False)


def test_each_factual_claim_of_a_verdict_is_kept_with_what_was_said_about_it(
    store: SqlStore,
) -> None:
    verification = showcase()

    found = judged_claims(verification, "run")

    factual = [one for one in verification.claims if one.verdict is not None]
    assert [(one.claim_id, one.text) for one in found] == [
        (one.claim.claim_id, one.claim.text) for one in factual
    ]
    by_verdict = {one.signal.verdict: one.signal for one in found}
    conflated = [one for one in found if one.signal.attribution is AttributionStatus.CONFLATION]
    assert [one.number for one in conflated] == [1]
    assert conflated[0].signal.gated  # its probability reaches the threshold, and it is blocked
    unsupported = by_verdict[VerdictLabel.UNSUPPORTED]
    assert unsupported.decision is Decision.BLOCK
    assert (unsupported.probability, unsupported.threshold) == (0.22, 0.65)
    assert unsupported.routed_family == "patient_record"
    assert unsupported.features is not None
    assert unsupported.features.numeric == {"route_score": 0.7134}
    unjudged = by_verdict[VerdictLabel.UNJUDGED]
    assert (unjudged.probability, unjudged.features, unjudged.gated) == (None, None, True)


def test_signals_come_back_as_they_were_kept(store: SqlStore) -> None:
    verification = showcase()
    fill(store, verification)

    with store.database.reading() as connection:
        keys = connection.execute(
            select(col(ClaimRow.claim_key)).order_by(col(ClaimRow.number))
        ).scalars()
        kept = [latest_signal(connection, key) for key in keys]

    assert kept == [one.signal for one in judged_claims(verification, run_key(VERSIONS))]


def test_another_run_says_something_else_about_the_same_claims(store: SqlStore) -> None:
    office = an_office(store, traces=2, audit_share=0.0)
    again = [("Her weight is 71.4 kg.", "Weight 71.4 kg.", 0.05), *SENTENCES[1:]]

    key = verify_again(office.store, a_reviewed_trace(1, again), a_reviewed_trace(2), nli="another")

    with store.database.reading() as connection:
        claims = connection.execute(select(func.count()).select_from(ClaimRow)).scalar_one()
        signals = connection.execute(select(func.count()).select_from(ClaimSignal)).scalar_one()
    assert (claims, signals) == (8, 16)
    annotation = office.read("Ada")
    assert annotation is not None
    assert annotation.claim_key == 1  # the least supported of all now
    assert annotation.run_key == key
    assert annotation.queue_reason is QueueReason.UNCERTAIN


def test_a_new_version_of_a_trace_takes_its_old_claims_out_of_the_queue_unless_begun(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1)
    annotation = office.read("Ada")
    assert annotation is not None

    fill(office.store, a_reviewed_trace(1, SENTENCES[:2], category="corrected"))

    rows = queued(office.store)
    keys = {row[1] for row in rows}
    assert annotation.claim_key in keys
    assert keys - {annotation.claim_key} == {5, 6}
    # A late verdict on the old version brings none of them back.
    verify_again(office.store, a_reviewed_trace(1), nli="late")
    assert {row[1] for row in queued(office.store)} == keys


def test_claims_that_another_cut_of_the_answer_no_longer_has_leave_the_queue(
    store: SqlStore,
) -> None:
    office = an_office(store, traces=1)
    shorter = a_reviewed_trace(1)
    shorter = dataclasses.replace(shorter, claims=shorter.claims[:2])

    verify_again(office.store, shorter, nli="another")

    assert [row[1] for row in queued(office.store)] == [1, 2]


def test_a_project_of_one_slice_queues_that_slice_alone(store: SqlStore) -> None:
    office = an_office(
        store,
        verifications=[
            a_reviewed_trace(1, extra={"slices": ["pilot"]}),
            a_reviewed_trace(2),
        ],
        slice="pilot",
    )

    fill(office.store, a_reviewed_trace(3, extra={"slices": ["pilot", "b"]}), a_reviewed_trace(4))

    assert [row[1] for row in queued(office.store)] == [1, 2, 3, 4, 9, 10, 11, 12]


def test_a_queue_that_begins_after_the_verdicts_reads_chatter_last_too(store: SqlStore) -> None:
    chatter = {"claim_terms_n": 1.0, "protected_n": 0.0, "all_term_overlap": 0.0}
    made = a_reviewed_trace(1, [("It is limited.", "Weight 71.4 kg.", 0.05), *SENTENCES[1:]])
    first, *others = made.claims
    assert isinstance(first.outcome, Judged)
    features = dataclasses.replace(first.outcome.features, numeric=chatter)
    outcome = dataclasses.replace(first.outcome, features=features)
    made = dataclasses.replace(made, claims=(dataclasses.replace(first, outcome=outcome), *others))
    office = an_office(store, verifications=[made], audit_share=0.0)

    read = [office.read("Ada") for _ in made.claims]

    assert [one.claim_key for one in read if one][-1] == 1


@pytest.mark.parametrize("reads", [1, 2])
def test_a_queue_built_anew_is_the_queue_that_was_kept_in_step(store: SqlStore, reads: int) -> None:
    office = an_office(store, traces=3, reads_per_claim=reads, audit_share=0.5)
    fill(office.store, a_reviewed_trace(4))
    verify_again(office.store, a_reviewed_trace(2), nli="another")
    for name in ("Ada", "Ada", "Ben", "Cleo", "Ben"):
        office.read(name)
    item = office.desk("Ada").next_item()
    assert item is not None
    office.desk("Ada").decline(item.assignment_id, "unclear")
    office.desk("Cleo").next_item()
    office.desk("Ben").undo()
    kept = queued(office.store)

    with office.store.database.writing() as connection:
        rebuild(connection, project_at(connection))

    assert queued(office.store) == kept


def test_readings_a_claim_can_be_changed_while_people_read(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    for _ in range(4):
        office.read("Ada")
    lead, keeper = office.people["Lea"], office.workspace.projects

    two = keeper.change(
        office.project, ProjectSettings(reads_per_claim=2), by=lead, reason="more certain"
    )
    team = dataclasses.replace(office, project=two)
    assert team.desk("Ada").next_item() is None
    assert team.desk("Ada").progress().team_done == 0
    for _ in range(2):
        team.read("Ben")
    assert team.desk("Ben").progress().team_done == 2

    one = keeper.change(two, ProjectSettings(reads_per_claim=1), by=lead, reason="no time")
    alone = dataclasses.replace(office, project=one)
    assert alone.desk("Ada").progress().team_done == 4
    assert alone.desk("Cleo").next_item() is None


def test_a_trace_without_factual_claims_puts_nothing_into_a_queue(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    silent = dataclasses.replace(a_reviewed_trace(9), claims=())

    fill(office.store, silent)

    assert len(queued(office.store)) == 4
