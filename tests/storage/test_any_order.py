"""Whatever people do in whatever order: nobody reads twice or breaks their own tie, nothing is lost."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from databases import in_one_file, workspace_of
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from reviewing import SUPPORTED, UNSUPPORTED, Clock, Office, an_office
from sqlalchemy import select
from sqlmodel import col

from core.errors import Conflict, NotFound
from core.review.adjudication import resolve
from core.review.items import QueueState
from core.review.records import Cause, ReviewStatus, Role
from storage.annotations import every_adjudication, every_current_annotation
from storage.queue import rebuild
from storage.store import SqlStore, open_store
from storage.tables import AnnotationRow, AssignmentRow, QueueRow

NAMES = ("Ada", "Ben", "Cleo")
names = st.sampled_from(NAMES)
judgements = st.sampled_from([SUPPORTED, UNSUPPORTED])


@lru_cache(maxsize=1)
def _prepared() -> Path:
    """A database with one trace of four claims, two annotations a claim; everybody may break ties."""
    file = Path(tempfile.mkdtemp()) / "prepared.db"
    store = open_store(str(file), actor="tester")
    office = an_office(store, traces=1, reads_per_claim=2, audit_share=0.5)
    for name in NAMES:
        office.workspace.people.grant(
            office.people[name], Role.ADJUDICATOR, by=office.people["Lea"]
        )
    in_one_file(store)  # which is copied
    store.close()
    return file


class Desks(RuleBasedStateMachine):
    """Three people who read, undo, decline, vanish and break ties, each in their own time."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shutil.copy(_prepared(), self.folder / "w.db")
        clock = Clock()
        store = SqlStore(
            database=open_store(str(self.folder / "w.db")).database, actor="tester", now=clock
        )
        people = {person.name: person for person in workspace_of(store).people.everybody()}
        workspace = workspace_of(store)
        self.office = Office(
            workspace=workspace, clock=clock, project=workspace.project(), people=people
        )
        self.written = 0

    def teardown(self) -> None:
        assert self.office.store.verify_chain().problems == ()
        self.office.store.close()
        shutil.rmtree(self.folder)

    @rule(name=names)
    def take(self, name: str) -> None:
        self.office.desk(name).next_item()

    @rule(name=names, judgement=judgements)
    def read(self, name: str, judgement: object) -> None:
        self.written += self.office.read(name, judgement) is not None  # type: ignore[arg-type]

    @rule(name=names)
    def undo(self, name: str) -> None:
        _unless_settled(self.office.desk(name).undo)

    @rule(name=names)
    def decline(self, name: str) -> None:
        item = self.office.desk(name).next_item()
        if item is not None and item.reason is None:
            self.office.desk(name).decline(item.assignment_id, "unclear")

    @rule(name=names, judgement=judgements)
    def look_and_think_again(self, name: str, judgement: object) -> None:
        annotation = self.office.read(name, SUPPORTED)
        if annotation is None:
            return
        self.written += 1
        desk = self.office.desk(name)
        with self.office.store.database.reading() as connection:
            assignment_id = connection.execute(
                select(col(AssignmentRow.assignment_id)).where(
                    col(AssignmentRow.claim_key) == annotation.claim_key,
                    col(AssignmentRow.slot) == annotation.slot,
                )
            ).scalar_one()
        desk.reveal(assignment_id)
        nonce = desk.show(assignment_id)
        self.office.clock.advance(seconds=2)
        desk.revise(assignment_id, nonce, judgement)  # type: ignore[arg-type]
        self.written += 1

    @rule(name=names, judgement=judgements)
    def break_a_tie(self, name: str, judgement: object) -> None:
        desk = self.office.desk(name)
        tie = desk.next_disagreement()
        if tie is not None:
            nonce = desk.show(tie.assignment_id)
            self.office.clock.advance(seconds=2)
            desk.adjudicate(tie, nonce, judgement, Cause.REVIEWER_ERROR)  # type: ignore[arg-type]

    @rule(minutes=st.sampled_from([1, 45]))
    def time_passes(self, minutes: int) -> None:
        self.office.clock.advance(minutes=minutes)

    @invariant()
    def what_must_always_be_true(self) -> None:
        with self.office.store.database.reading() as connection:
            held = connection.execute(select(AssignmentRow.__table__)).all()  # type: ignore[attr-defined]
            annotations = every_current_annotation(connection)
            decided = every_adjudication(connection)
            written = connection.execute(select(col(AnnotationRow.vote_id))).all()
            queue = connection.execute(select(QueueRow.__table__)).all()  # type: ignore[attr-defined]
        people = {person.name: person.person_id for person in self.office.people.values()}
        slots = Counter((row.claim_key, row.slot) for row in held)
        annotators = Counter((row.claim_key, row.person_id) for row in held)
        assert len(written) == self.written
        assert all(count == 1 for count in (*slots.values(), *annotators.values()))
        for claim_key, each in annotations.items():
            # Never a third reading, never two of one person, each in the place that was its own.
            assert len(each) == len({annotation.slot for annotation in each}) <= 2
            for annotation in each:
                assert (claim_key, people[annotation.reviewer]) in annotators
        for row in held:
            if row.slot == 3:
                assert row.person_id not in {people[v.reviewer] for v in annotations[row.claim_key]}
        for claim_key, adjudication in decided.items():
            assert adjudication.reviewer not in {
                annotation.reviewer for annotation in annotations[claim_key]
            }
        for row in queue:
            resolution = resolve(
                annotations.get(row.claim_key, ()), decided.get(row.claim_key), reads=2
            )
            in_hand = [
                one
                for one in held
                if one.claim_key == row.claim_key and one.slot < 3 and one.state == "open"
            ]
            settled = resolution is not None and resolution.status is not ReviewStatus.UNRESOLVED
            if row.claim_key in decided or not in_hand:
                assert (row.state == QueueState.SETTLED) == settled
            taken = sum(one.claim_key == row.claim_key and one.slot < 3 for one in held)
            assert row.missing == (0 if row.state in ("tied", "settled") else 2 - taken)

    @invariant()
    def the_queue_is_what_it_would_be_if_it_were_built_anew(self) -> None:
        with self.office.store.database.writing() as connection:
            kept = connection.execute(select(QueueRow.__table__)).all()  # type: ignore[attr-defined]
            rebuild(connection, self.office.project)
            assert (
                connection.execute(select(QueueRow.__table__)).all()  # type: ignore[attr-defined]
                == kept
            )


def _unless_settled(work: Callable[[], object]) -> None:
    try:
        work()
    except Conflict as error:
        assert "adjudicated" in str(error) or "somebody else" in str(error)
    except NotFound:
        raise AssertionError("what is in hand was not found") from None


TestDesks = Desks.TestCase
TestDesks.settings = settings(
    max_examples=max(2, settings.default.max_examples // 6),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
