"""ReviewSession: what one person does with claims; every write is one transaction.

item = session.next_item()                       # a claim, for this person alone
nonce = session.show(item.assignment_id)         # it is on screen now
session.annotate(item.assignment_id, nonce, …)   # decided; the machine was not asked
session.reveal(item.assignment_id)               # what the machine thinks, and that it was seen
session.revise(item.assignment_id, session.show(item.assignment_id), …)   # keep or change

Inside each write's transaction, under the write lock, so that two browsers cannot both be right: the
person's roles of this moment, the project's settings, the assignment, the nonce and the time on screen,
then the rows and their event.
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypedDict, Unpack

from sqlalchemy import Connection, Row, exists, func, select
from sqlmodel import col

from core.errors import Conflict, TooSoon
from core.records import Span
from core.review import annotating, leases
from core.review.annotating import Answer, Decision
from core.review.assignment import (
    ADJUDICATION_SLOT,
    NOTHING_ON_SCREEN,
    STALE_PAGE,
    STUCK_DAYS,
    check_judgement,
    check_key,
    check_page,
    check_passages,
    check_reason,
)
from core.review.items import (
    Assignment,
    BlindAnnotation,
    DisagreementItem,
    Draft,
    OpenAssignment,
    Progress,
    QueueState,
    ReviewItem,
    Withheld,
)
from core.review.readers import require_reader
from core.review.records import (
    Adjudication,
    Annotation,
    Cause,
    Exposure,
    Judgement,
    Person,
    Project,
    Role,
    Signal,
)
from core.review.sampling import shown_order
from storage import assignments, exposure_log, queue, tables
from storage.annotations import (
    Mine,
    adjudication_of,
    annotations_of,
    current_annotations,
    draft_of,
    latest_annotations,
    own_annotations,
    pace,
    put_adjudication,
    put_annotation,
    put_draft,
)
from storage.audit import add_row, append_event
from storage.claims import latest_signal
from storage.columns import plain_text
from storage.guidelines import keep_first
from storage.people import allow, person_at
from storage.projects import project_at
from storage.queue import settle
from storage.store import SqlStore
from storage.tables import PROJECT, AssignmentRow, Decline, about

LOG = logging.getLogger(__name__)


class Given(TypedDict, total=False):
    """What may be said with an annotation."""

    confidence: int | None
    rationale: str | None
    exposures: Sequence[Exposure]


class Grounds(TypedDict, total=False):
    """What may be said with an adjudication."""

    guideline_needs_fix: bool
    rule: str | None
    rationale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSession:
    """Everything one person does with claims; roles and settings of this moment count.

    Methods raise NotAllowed for a missing role, NotFound for what is not there, Conflict where
    somebody or a second key press was faster, and InputError for what cannot be meant.
    """

    store: SqlStore
    project: Project
    user: Person

    # ------------------------------------------------------------ reading claims

    def next_item(self) -> ReviewItem | None:
        """The claim in hand, else the next one of the queue; None when nothing is left to read."""
        now, user = self.store.now(), self.user
        with self.store.database.reading() as connection:
            project = self._allowed(connection, Role.REVIEWER, "review claims")
            assignment = assignments.open_annotation(connection, user.person_id)
            if assignment is not None and not leases.half_over(assignment, project.settings, now):
                return review_item(connection, assignment, user)
        with self.store.database.writing() as connection:
            project = self._allowed(connection, Role.REVIEWER, "review claims")
            assignments.expire(connection, project, user, now=now)
            assignment = assignments.open_annotation(connection, user.person_id)
            if assignment is not None:
                assignments.renew(connection, project, assignment, now=now)
            else:
                assignment = assignments.take(connection, project, user, now=now)
            if assignment is None:
                return None
            assignment = assignments.assignment_at(connection, assignment.assignment_id)
            return review_item(connection, assignment, user)

    def show(self, assignment_id: int) -> str:
        """The nonce of what is being put on screen now; verdicts must carry it, earlier ones are void."""
        with self.store.database.writing() as connection:
            assignment = self._mine(connection, assignment_id)
            return assignments.mint(connection, assignment, now=self.store.now())

    def annotate(
        self, assignment_id: int, nonce: str, judgement: Judgement, **more: Unpack[Given]
    ) -> Annotation:
        """The annotation as written; ``exposures`` are what of the machine's view was visible.

        Raises Conflict for a stale or doubled key press, TooSoon below the project's floor.
        """
        return self._annotate(assignment_id, nonce, judgement, more, first=True)

    def reveal(self, assignment_id: int) -> Signal | None:
        """What the machine says, written down as seen.

        Raises NotAllowed before the decision, where the project wants the decision first.
        """
        now, user = self.store.now(), self.user
        with self.store.database.writing() as connection:
            project = project_at(connection)
            assignment = self._mine(connection, assignment_id)
            annotating.check_reveal(
                project.settings, decided=is_decided(connection, assignment, user)
            )
            if assignment.revealed_at is None:
                assignments.mark_revealed(connection, assignment, now=now)
                append_event(
                    connection,
                    now,
                    user.name,
                    "model.revealed",
                    f"claim {assignment.claim_key}",
                    {
                        "project": project.project_id,
                        "person": user.person_id,
                        "slot": assignment.slot,
                    },
                )
            return latest_signal(connection, assignment.claim_key)

    def revise(
        self, assignment_id: int, nonce: str, judgement: Judgement, **more: Unpack[Given]
    ) -> Annotation:
        """The annotation after the machine's view, kept or changed; both stay in the trail.

        Without confidence or rationale those of the first annotation stay.
        """
        return self._annotate(assignment_id, nonce, judgement, more, first=False)

    def _annotate(
        self, assignment_id: int, nonce: str, judgement: Judgement, more: Given, *, first: bool
    ) -> Annotation:
        answer = Answer(nonce=nonce, judgement=judgement, **more)
        judgement = self._checked(assignment_id, judgement, answer.confidence)
        now = self.store.now()
        with self._writing() as connection:
            project, assignment, seconds = self._on_screen(
                connection, assignment_id, nonce, now=now,
                check=annotating.check_first if first else annotating.check_second,
            )  # fmt: skip
            _check_not_adjudicated(connection, assignment)
            key = assignment.claim_key
            mine = annotations_of(connection, key, person_id=self.user.person_id)
            before = mine[-1] if mine else None
            # The version in force at this moment, under the lock.
            version = keep_first(connection, now)
            said = replace(answer, judgement=judgement, guideline_version=version)
            if first:
                new = annotating.first_annotation(
                    assignment, said, before, latest_signal(connection, key),
                    seen_elsewhere=exposure_log.exposures_of(connection, self.user.person_id, key),
                    seconds=seconds,
                )  # fmt: skip
            else:
                assert before is not None  # check_second: it was decided
                new = annotating.annotation_after_reveal(assignment, said, before)
            again = "vote.revised" if first else "vote.after_reveal"
            action = again if before else "vote.cast"
            annotation = put_annotation(
                connection, assignment, new, at=now, actor=self.user.name, action=action
            )
            assignments.close(connection, assignment)
            settle(connection, project, key)
        return annotation

    def undo(
        self,
        on_screen: int | None = None,
        nonce: str | None = None,
        claim_key: int | None = None,
    ) -> ReviewItem | None:
        """The claim that was annotated or passed on last, or the one named, open again; None without one.

        What was said of it comes back as its draft, with the note; it counts until another is given.

        Raises Conflict once somebody has adjudicated it, or holds what was passed on, and for a page
        that is out of date: its nonce is not the latest of the assignment ``on_screen``, or
        NOTHING_ON_SCREEN while there is a claim.
        """
        now, user = self.store.now(), self.user
        with self._writing() as connection:
            project = self._allowed(connection, Role.REVIEWER, "take an annotation back")
            if on_screen is not None:
                check_page(assignments.own(connection, on_screen, user), nonce)
            elif nonce == NOTHING_ON_SCREEN and assignments.open_annotation(
                connection, user.person_id
            ):
                raise Conflict(STALE_PAGE)
            if claim_key is not None:
                return _take_back(connection, project, user, claim_key, now=now)
            said_last = latest_annotations(connection, user.person_id)
            passed = latest_pass(connection, user.person_id)
            if passed is not None and (not said_last or passed.at >= said_last[0].at):
                return _undo_pass(connection, project, user, passed, now=now)
            for row in said_last:
                if item := _take_back(connection, project, user, row.claim_key, now=now):
                    return item
        return None

    def decline(self, assignment_id: int, reason: str, nonce: str | None = None) -> None:
        """Give a claim back for somebody else, for good; the reason is kept."""
        stated = plain_text(check_reason(reason, "giving a claim back"))
        now, user = self.store.now(), self.user
        with self._writing() as connection:
            assignment = self._mine(connection, assignment_id)
            annotating.check_decline(assignment, decided=is_decided(connection, assignment, user))
            check_page(assignment, nonce)
            add_row(
                connection,
                Decline,
                {
                    "claim_key": assignment.claim_key,
                    "slot": assignment.slot,
                    "person_id": user.person_id,
                    "reason": stated,
                    "at": now,
                },
                at=now,
                actor=user.name,
                action="claim.declined",
                entity=f"claim {assignment.claim_key}",
                detail={"project": self.project.project_id, "slot": assignment.slot},
            )
            assignments.give_back(
                connection,
                project_at(connection),
                assignment,
                now=now,
                actor=user.name,
                reason="declined",
            )

    def release(self, assignment_id: int, reason: str) -> None:
        """Take a claim out of somebody else's hands (lead); the reason is kept."""
        stated = check_reason(reason, "releasing a claim")
        now = self.store.now()
        with self.store.database.writing() as connection:
            project = self._allowed(connection, Role.LEAD, "release somebody else's claim")
            assignment = assignments.assignment_at(connection, assignment_id)
            annotating.check_release(assignment)
            assignments.give_back(
                connection, project, assignment, now=now, actor=self.user.name, reason=stated
            )

    def open_assignments(self) -> tuple[OpenAssignment, ...]:
        """Who holds which claim, the one that has not moved longest first (lead, auditor)."""
        with self.store.database.reading() as connection:
            require_reader(person_at(connection, self.user.person_id), "see who holds which claim")
            return assignments.open_assignments(connection)

    def mine(self) -> tuple[Mine, ...]:
        """What the person said of claims, as it counts now, the latest first; nobody else's."""
        with self.store.database.reading() as connection:
            self._allowed(connection, Role.REVIEWER, "see their own annotations")
            return own_annotations(connection, self.user.person_id)

    def open_verdict(self, content_hash: str, run_key: str) -> Withheld | None:
        """None: the verdict may be shown, and it is written down that this person saw it.

        Otherwise why it must stay hidden: they hold one of its claims, in a project that wants the
        decision first, and have not decided.
        """
        person_id = self.user.person_id
        with self.store.database.reading() as connection:
            why = exposure_log.withheld(connection, person_id, content_hash)
            if why or exposure_log.seen(connection, person_id, content_hash, run_key):
                return why
        with self.store.database.writing() as connection:
            # Asked again: a claim of it may have come into their hands in another tab.
            why = exposure_log.withheld(connection, person_id, content_hash)
            if why is None and not exposure_log.seen(connection, person_id, content_hash, run_key):
                exposure_log.note(
                    connection,
                    person_id,
                    content_hash,
                    run_key,
                    at=self.store.now(),
                    actor=self.user.name,
                )
            return why

    def has_opened(self) -> bool:
        """Whether the person has seen any verdict of the machine."""
        with self.store.database.reading() as connection:
            return exposure_log.has_seen_any(connection, self.user.person_id)

    def save_draft(self, assignment_id: int, draft: Draft, nonce: str | None = None) -> None:
        """Keep what was entered so far, so that a reload loses nothing.

        Raises Conflict once it is decided, and for the nonce of a drawing that is not the latest.
        """
        with self._writing() as connection:
            assignment = self._mine(connection, assignment_id)
            annotating.check_draft(assignment)
            check_page(assignment, nonce)
            put_draft(connection, assignment, draft, now=self.store.now())

    def load_draft(self, assignment_id: int) -> Draft | None:
        """What was entered so far; None when nothing was."""
        with self.store.database.reading() as connection:
            assignment = assignments.own(connection, assignment_id, self.user)
            return draft_of(connection, assignment.assignment_id)

    def progress(self) -> Progress:
        """How far this person and the project are."""
        with self.store.database.reading() as connection:
            return progress_of(connection, self.user, now=self.store.now())

    # ------------------------------------------------------------ deciding disagreements

    def next_disagreement(self) -> DisagreementItem | None:
        """The disagreement in hand, else the oldest that this person has not read; None without one."""
        now, user = self.store.now(), self.user
        with self.store.database.writing() as connection:
            project = self._allowed(connection, Role.ADJUDICATOR, "adjudicate")
            assignments.expire(connection, project, user, now=now)
            assignment = assignments.open_adjudication(connection, user.person_id)
            if assignment is not None and not _disagree(connection, project, assignment.claim_key):
                assignments.give_back(
                    connection,
                    project,
                    assignment,
                    now=now,
                    actor=user.name,
                    reason=annotating.AGREE_NOW,
                )
                assignment = None
            if assignment is not None:
                assignments.renew(connection, project, assignment, now=now)
            else:
                assignment = assignments.take_disagreement(connection, project, user, now=now)
            if assignment is None:
                return None
            assignment = assignments.assignment_at(connection, assignment.assignment_id)
            return disagreement_item(connection, assignment, user)

    def adjudicate(
        self,
        item: DisagreementItem,
        nonce: str,
        judgement: Judgement,
        cause: Cause,
        **more: Unpack[Grounds],
    ) -> Adjudication:
        """The adjudication as written; Conflict when an annotation changed since ``item`` was shown."""
        judgement = self._checked(item.assignment_id, judgement, None)
        decision = Decision(nonce=nonce, judgement=judgement, cause=cause, **more)
        now = self.store.now()
        with self._writing() as connection:
            project, assignment, _ = self._on_screen(
                connection, item.assignment_id, nonce, now=now, check=annotating.check_adjudicable
            )
            shown = tuple(reading.vote_id for reading in item.annotations)
            annotating.check_shown(
                shown,
                current_annotations(connection, assignment.claim_key),
                settle(connection, project, assignment.claim_key),
            )
            done = put_adjudication(
                connection, assignment, decision, shown,
                guideline_version=keep_first(connection, now), at=now, actor=self.user.name,
            )  # fmt: skip
            assignments.close(connection, assignment)
            settle(connection, project, assignment.claim_key)
        return done

    # ------------------------------------------------------------ in one transaction

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        """A transaction; key presses that do not count are logged: a lost verdict, or a hasty one."""
        try:
            with self.store.database.writing() as connection:
                yield connection
        except (Conflict, TooSoon) as error:
            LOG.info("not counted: %s", error)
            raise

    def _allowed(self, connection: Connection, role: Role, doing: str) -> Project:
        """The project as it is now, if the person has the role now; raises NotAllowed."""
        allow(connection, self.user, role, doing)
        return project_at(connection)

    def _mine(self, connection: Connection, assignment_id: int) -> Assignment:
        """The person's own assignment, if they have the role that it needs now."""
        assignment = assignments.assignment_at(connection, assignment_id)
        allow(connection, self.user, leases.role_needed(assignment), "work on this claim")
        return leases.check_own(assignment, self.user)

    def _on_screen(
        self,
        connection: Connection,
        assignment_id: int,
        nonce: str,
        *,
        check: Callable[[Assignment], None],
        now: datetime,
    ) -> tuple[Project, Assignment, float]:
        """The assignment that is decided now, as it is on screen, and for how many seconds.

        Raises NotAllowed, NotFound, Conflict and TooSoon.
        """
        project = project_at(connection)
        assignment = self._mine(connection, assignment_id)
        check(assignment)
        return project, assignment, check_key(assignment, nonce, now, project.settings)

    def _checked(
        self, assignment_id: int, judgement: Judgement, confidence: int | None
    ) -> Judgement:
        # A trace may be long, and never changes: read before the write lock is taken.
        with self.store.database.reading() as connection:
            assignment = self._mine(connection, assignment_id)
            named = judgement.source_id is not None or judgement.passages
            known = assignments.source_texts(connection, assignment.claim_key) if named else {}
        plain = None if judgement.source_id is None else plain_text(judgement.source_id)
        checked = replace(
            judgement,
            source_id=plain,
            correction=plain_text(judgement.correction).strip(),
            more_source_ids=tuple(map(plain_text, judgement.more_source_ids)),
        )
        check_judgement(checked, confidence, known)
        check_passages(checked, known)
        return checked


def latest_pass(connection: Connection, person_id: int) -> Row[Any] | None:
    """The claim that the person gave back last and has not taken up again; None without one."""
    again = exists().where(about(AssignmentRow, Decline.claim_key, person_id))
    return connection.execute(
        select(Decline.__table__)  # type: ignore[attr-defined]
        .where(col(Decline.person_id) == person_id, col(Decline.slot) < ADJUDICATION_SLOT, ~again)
        .order_by(col(Decline.decline_id).desc())
        .limit(1)
    ).first()


def _take_back(
    connection: Connection, project: Project, user: Person, key: int, *, now: datetime
) -> ReviewItem | None:
    """The claim with what the person said of it; None: nothing, or it is in their hands."""
    assignment = assignments.assignment_of(connection, key, user.person_id)
    mine = annotations_of(connection, key, person_id=user.person_id)
    if assignment is None or assignment.open or not mine:
        return None
    _check_not_adjudicated(connection, assignment)
    assignments.reopen(connection, project, assignment, now=now)
    # As of when it was said: nothing has been typed since.
    put_draft(connection, assignment, _draft_of(mine[-1]), now=mine[-1].at)
    append_event(
        connection,
        now,
        user.name,
        "vote.reopened",
        f"claim {key}",
        {"project": project.project_id, "slot": assignment.slot, "from": mine[-1].vote_id},
    )
    settle(connection, project, key)
    assignment = assignments.assignment_at(connection, assignment.assignment_id)
    return review_item(connection, assignment, user)


def _undo_pass(
    connection: Connection, project: Project, user: Person, passed: Row[Any], *, now: datetime
) -> ReviewItem:
    assignment = assignments.take_again(connection, project, user, passed.claim_key, now=now)
    append_event(
        connection,
        now,
        user.name,
        "claim.pass_undone",
        f"claim {assignment.claim_key}",
        {"project": project.project_id, "slot": assignment.slot, "from": passed.decline_id},
    )
    return review_item(connection, assignment, user)


def _check_not_adjudicated(connection: Connection, assignment: Assignment) -> None:
    annotating.check_not_adjudicated(adjudication_of(connection, assignment.claim_key))


def _draft_of(annotation: Annotation) -> Draft:
    return Draft(
        support=annotation.judgement.support,
        correction=annotation.judgement.correction,
        source_id=annotation.judgement.source_id,
        more_source_ids=annotation.judgement.more_source_ids,
        passages=annotation.judgement.passages,
        source_answered=True,
        conflation=annotation.judgement.conflation,
        confidence=annotation.confidence,
        rationale=annotation.rationale,
    )


def _disagree(connection: Connection, project: Project, claim_key: int) -> bool:
    return settle(connection, project, claim_key) is QueueState.DISAGREEMENT


def progress_of(connection: Connection, user: Person, *, now: datetime) -> Progress:
    """How far the project is, and the person in it."""
    done, in_hand = count_mine(connection, user.person_id)
    by_state = {
        QueueState(row[0]): row[1]
        for row in connection.execute(
            select(col(tables.QueueRow.state), func.count())
            .where(col(tables.QueueRow.project_id) == PROJECT)  # in the order of an index, counted
            .group_by(col(tables.QueueRow.state))
        )
    }
    seconds = pace(connection, user.person_id) or pace(connection, None)
    return Progress(
        mine_done=done,
        mine_open=in_hand,
        team_done=by_state.get(QueueState.SETTLED, 0),
        total=sum(by_state.values()),
        stuck=count_stuck(connection, before=now - timedelta(days=STUCK_DAYS)),
        seconds_per_claim=statistics.median(seconds) if seconds else None,
        ties=by_state.get(QueueState.DISAGREEMENT, 0),
        waiting=by_state.get(QueueState.WAITING, 0),
        left_for_me=in_hand + count_left(connection, user.person_id),
    )


def count_mine(connection: Connection, person_id: int) -> tuple[int, int]:
    """How many annotations the person has done, and how many are in hand."""
    rows = connection.execute(
        select(col(AssignmentRow.state), func.count())
        .where(
            col(AssignmentRow.person_id) == person_id, col(AssignmentRow.slot) < ADJUDICATION_SLOT
        )
        .group_by(col(AssignmentRow.state))
    ).all()
    found = {row[0]: row[1] for row in rows}
    return found.get("done", 0), found.get("open", 0)


def count_left(connection: Connection, person_id: int) -> int:
    """How many annotations that nobody has taken the person may still do."""
    row = tables.QueueRow
    missing = (col(row.project_id) == PROJECT, col(row.missing) > 0)

    def how_many(*conditions: Any) -> int:
        return connection.execute(
            select(func.count()).select_from(row).where(*missing, *conditions)
        ).scalar_one()

    # Counted from the person's side, so that it costs what the person has done, not the queue.
    mine = select(col(AssignmentRow.claim_key)).where(col(AssignmentRow.person_id) == person_id)
    returned = select(col(tables.Decline.claim_key)).where(
        col(tables.Decline.person_id) == person_id
    )
    return how_many() - how_many(col(row.claim_key).in_(mine.union(returned)))


def count_stuck(connection: Connection, *, before: datetime) -> int:
    """How many begun claims nobody has touched since then."""
    row = tables.QueueRow
    latest = (
        select(func.max(col(AssignmentRow.created_at)))
        .where(
            col(AssignmentRow.project_id) == PROJECT,
            col(AssignmentRow.claim_key) == col(row.claim_key),
        )
        .correlate(row)
        .scalar_subquery()
    )
    return connection.execute(
        select(func.count())
        .select_from(row)
        .where(
            col(row.project_id) == PROJECT, col(row.state).in_(("reading", "tied")), latest < before
        )
    ).scalar_one()


def review_item(connection: Connection, assignment: Assignment, user: Person) -> ReviewItem:
    """The claim of an assignment, for its reviewer; the reason it was chosen only after the decision."""
    done, in_hand = count_mine(connection, user.person_id)
    left = count_left(connection, user.person_id)
    return ReviewItem(
        **_on_show(connection, assignment),
        slot=assignment.slot,
        draft=draft_of(connection, assignment.assignment_id),
        position=done + 1,
        total=done + in_hand + left,
        reason=assignment.reason if is_decided(connection, assignment, user) else None,
    )


def _on_show(connection: Connection, assignment: Assignment) -> dict[str, Any]:
    """What both are shown: the claim, and the answer that it is of."""
    place = assignments.place_of(connection, assignment.claim_key)
    return {
        "assignment_id": assignment.assignment_id,
        "claim_key": assignment.claim_key,
        "claim_id": place.claim_id,
        "text": place.text,
        "span": Span(start=place.span_start, end=place.span_end),
        "trace_id": place.trace_id,
        "content_hash": place.content_hash,
        "lease_until": assignment.lease_until,
    }


def disagreement_item(
    connection: Connection, assignment: Assignment, user: Person
) -> DisagreementItem:
    """A disagreement as its adjudicator sees it: the annotations without names, in an order of its own."""
    annotations = {
        one.vote_id: one for one in current_annotations(connection, assignment.claim_key)
    }
    order = shown_order(assignment.assignment_id, tuple(sorted(annotations)))
    return DisagreementItem(
        **_on_show(connection, assignment),
        annotations=tuple(
            BlindAnnotation(
                label=f"Reviewer {number}",
                judgement=annotations[vote_id].judgement,
                confidence=annotations[vote_id].confidence,
                rationale=annotations[vote_id].rationale,
                vote_id=vote_id,
            )
            for number, vote_id in enumerate(order, 1)
        ),
        waiting=queue.count_disagreements(connection, user.person_id) + 1,
    )


def is_decided(connection: Connection, assignment: Assignment, user: Person) -> bool:
    """Whether the person has annotated the claim, or somebody adjudicated it where that is their part."""
    if assignment.slot == ADJUDICATION_SLOT:
        return adjudication_of(connection, assignment.claim_key) is not None
    return bool(annotations_of(connection, assignment.claim_key, person_id=user.person_id))
