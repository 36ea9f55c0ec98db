"""Twenty reviewers at once, in threads and in processes, and a process that is killed while it
annotations."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from databases import workspace_of
from reviewing import SUPPORTED, UNSUPPORTED, Office, an_office
from sqlalchemy import func, select
from sqlmodel import col

from core.errors import Conflict
from core.records import VerdictLabel
from core.review.records import Annotation, Judgement
from storage.annotations import every_current_annotation
from storage.store import SqlStore, open_store
from storage.tables import AnnotationRow, AssignmentRow, QueueRow

HERE = Path(__file__).resolve()
REVIEWERS = [f"Reviewer {n:02d}" for n in range(20)]
TRACES = 5  # of four claims each

# A process that reads claims until none is left; says each annotation once it is acknowledged.
PROGRAM = """
import sys
from core.records import VerdictLabel
from core.review.records import Judgement
from core.workflows.models import ForestFiles
from storage.workspace import open_workspace

workspace = open_workspace(sys.argv[1], files=ForestFiles())
for name in sys.argv[2:]:
    desk = workspace.reviews(workspace.people.by_name(name))
    while item := desk.next_item():
        support = VerdictLabel.SUPPORTED if item.claim_key % 2 else VerdictLabel.UNSUPPORTED
        nonce = desk.show(item.assignment_id)
        vote = desk.annotate(item.assignment_id, nonce, Judgement(support=support, source_id="chart"))
        print(vote.vote_id, item.claim_key, flush=True)
"""


def an_open_office(store: SqlStore, traces: int = TRACES) -> Office:
    """Two annotations a claim, no floor (nobody here is human), and the clock of the machine."""
    office = an_office(
        store, traces=traces, reviewers=REVIEWERS, reads_per_claim=2, dwell_milliseconds=0
    )
    return Office(
        workspace=workspace_of(store),
        clock=office.clock,
        project=office.project,
        people=office.people,
    )


def start(address: str, names: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, address, *names],
        cwd=HERE.parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_that_nothing_was_lost_doubled_or_misplaced(
    store: SqlStore, claims: int, said: Sequence[tuple[int, int]] | None
) -> None:
    """Each claim has its two annotations by two people, and each is what its reviewer said."""
    with store.database.reading() as connection:
        rows = connection.execute(
            select(
                col(AnnotationRow.vote_id), col(AnnotationRow.claim_key), col(AnnotationRow.support)
            )
        ).all()
        annotations = every_current_annotation(connection)
        open_ones = connection.execute(
            select(func.count()).where(col(AssignmentRow.state) == "open")
        ).scalar_one()
        states = Counter(
            connection.execute(select(col(QueueRow.state), col(QueueRow.missing))).tuples()
        )
    assert len(rows) == 2 * claims
    assert {key: [annotation.slot for annotation in each] for key, each in annotations.items()} == {
        key: [1, 2] for key in range(1, claims + 1)
    }
    assert all(
        len({annotation.reviewer for annotation in each}) == 2 for each in annotations.values()
    )
    assert all(row.support == ("supported" if row.claim_key % 2 else "unsupported") for row in rows)
    assert open_ones == 0
    assert states == {("settled", 0): claims}
    if said is not None:
        assert sorted(said) == sorted((row.vote_id, row.claim_key) for row in rows)
    assert store.verify_chain().problems == ()


@pytest.mark.stress
def test_twenty_reviewers_in_threads_lose_double_and_misplace_no_vote(store: SqlStore) -> None:
    office = an_open_office(store)
    failed: list[BaseException] = []
    said: list[Annotation] = []
    begin = threading.Barrier(len(REVIEWERS))

    def work(name: str) -> None:
        try:
            desk = workspace_of(store).reviews(office.people[name])
            begin.wait()
            while item := desk.next_item():
                support = VerdictLabel.SUPPORTED if item.claim_key % 2 else VerdictLabel.UNSUPPORTED
                nonce = desk.show(item.assignment_id)
                judgement = Judgement(support=support, source_id="chart")
                said.append(desk.annotate(item.assignment_id, nonce, judgement))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(name,)) for name in REVIEWERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    check_that_nothing_was_lost_doubled_or_misplaced(
        store, 4 * TRACES, [(annotation.vote_id, annotation.claim_key) for annotation in said]
    )


@pytest.mark.stress
def test_reviewers_in_four_processes_lose_double_and_misplace_no_vote(
    store: SqlStore, database_address: str
) -> None:
    an_open_office(store)

    processes = [start(database_address, REVIEWERS[n::4]) for n in range(4)]
    finished = [process.communicate(timeout=300) for process in processes]

    assert [errors for _, errors in finished] == [""] * 4
    said = [
        (int(annotation), int(claim))
        for printed, _ in finished
        for annotation, claim in (line.split() for line in printed.splitlines())
    ]
    check_that_nothing_was_lost_doubled_or_misplaced(store, 4 * TRACES, said)


@pytest.mark.stress
def test_a_process_killed_while_it_votes_loses_nothing_that_was_acknowledged(
    store: SqlStore, database_address: str
) -> None:
    an_open_office(store, traces=12)
    process = start(database_address, REVIEWERS[:1])
    assert process.stdout is not None
    heard = [process.stdout.readline() for _ in range(5)]

    os.kill(process.pid, signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)

    acknowledged = {
        (int(annotation), int(claim))
        for annotation, claim in (line.split() for line in [*heard, *rest.splitlines()])
    }
    again = open_store(database_address)
    with again.database.reading() as connection:
        kept = set(
            connection.execute(
                select(col(AnnotationRow.vote_id), col(AnnotationRow.claim_key))
            ).tuples()
        )
    # The one that was being acknowledged may be there as well.
    assert acknowledged <= kept
    assert len(kept - acknowledged) <= 1
    assert again.verify_chain().problems == ()
    # The claim in hand is still in hand, and the work goes on where it stopped.
    resumed = start(database_address, REVIEWERS[:2])
    _, errors = resumed.communicate(timeout=300)
    assert errors == ""
    check_that_nothing_was_lost_doubled_or_misplaced(again, 48, None)
    again.close()


def test_the_same_key_pressed_ten_times_at_once_is_one_vote(store: SqlStore) -> None:
    office = an_open_office(store, traces=1)
    desk = office.desk(REVIEWERS[0])
    item = desk.next_item()
    assert item is not None
    nonce = desk.show(item.assignment_id)
    outcomes: Counter[str] = Counter()
    begin = threading.Barrier(10)

    def press(judgement: Judgement) -> None:
        begin.wait()
        try:
            desk.annotate(item.assignment_id, nonce, judgement)
            outcomes["counted"] += 1
        except Conflict:
            outcomes["ignored"] += 1

    threads = [
        threading.Thread(target=press, args=(SUPPORTED if n % 2 else UNSUPPORTED,))
        for n in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert outcomes == {"counted": 1, "ignored": 9}
    with store.database.reading() as connection:
        assert len(every_current_annotation(connection)) == 1


def test_people_and_projects_that_are_made_at_first_use_are_made_once(
    database_address: str,
) -> None:
    stores = [open_store(database_address) for _ in range(8)]
    begin = threading.Barrier(8)
    found: list[tuple[int, int]] = []

    def first(store: SqlStore) -> None:
        begin.wait()
        local, project = workspace_of(store).people.local(), workspace_of(store).projects.default()
        found.append((local.person_id, project.project_id))

    threads = [threading.Thread(target=first, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [(1, 1)] * 8
    assert stores[0].verify_chain().intact
    for store in stores:
        store.close()


@pytest.mark.stress
def test_twenty_reviewers_in_twenty_processes_read_two_thousand_claims(
    store: SqlStore, database_address: str
) -> None:
    an_open_office(store, traces=500)
    processes = [start(database_address, [name]) for name in REVIEWERS]
    finished = [process.communicate(timeout=3000) for process in processes]

    assert [errors for _, errors in finished] == [""] * 20
    check_that_nothing_was_lost_doubled_or_misplaced(store, 2000, None)
