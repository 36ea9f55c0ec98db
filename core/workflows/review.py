"""ReviewSession: what one user does in one project; the role is checked before anything is written.

item = session.next_item()                       # a claim, for this person alone
nonce = session.show(item.assignment_id)         # it is on screen now
session.annotate(item.assignment_id, nonce, …)   # decided; the machine was not asked
session.reveal(item.assignment_id)               # what the machine thinks, and that it was seen
session.revise(item.assignment_id, session.show(item.assignment_id), …)   # keep or change
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypedDict, Unpack

from core.errors import Conflict, TooSoon
from core.review.annotating import Answer, Decision
from core.review.items import (
    DisagreementItem,
    Draft,
    OpenAssignment,
    Progress,
    ReviewItem,
    Withheld,
)
from core.review.ports import ReviewStore
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
from core.review.roles import require

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


class ReviewWorkspace(Protocol):
    """A database in which claims are reviewed."""

    @property
    def reviews(self) -> ReviewStore:
        """Its assignments and annotations."""


def open_review_session(
    workspace: ReviewWorkspace, project: Project, user: Person
) -> ReviewSession:
    """One person's place in one project of that database."""
    return ReviewSession(store=workspace.reviews, project=project, user=user)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSession:
    """Everything one person does with claims; roles and settings of this moment count.

    Methods raise NotAllowed for a missing role, NotFound for what is not there, Conflict where
    somebody or a second key press was faster, and InputError for what cannot be meant.
    """

    store: ReviewStore
    project: Project
    user: Person

    # ------------------------------------------------------------ reading claims

    def next_item(self) -> ReviewItem | None:
        """The claim in hand, else the next one of the queue; None when nothing is left to read."""
        self._may(Role.REVIEWER, "review claims")
        return self.store.next_item(self.project.project_id, self.user)

    def show(self, assignment_id: int) -> str:
        """The nonce of what is being put on screen now; verdicts must carry it."""
        self._may_any("review claims")
        return self.store.show(self.project.project_id, self.user, assignment_id)

    def annotate(
        self, assignment_id: int, nonce: str, judgement: Judgement, **more: Unpack[Given]
    ) -> Annotation:
        """The annotation as written; ``exposures`` are what of the machine's view was visible.

        Raises Conflict for a stale or doubled key press, TooSoon below the project's floor.
        """
        return self._annotate(assignment_id, nonce, judgement, more, first=True)

    def reveal(self, assignment_id: int) -> Signal | None:
        """What the machine says, written down as seen; NotAllowed before the decision."""
        self._may_any("see the machine's view")
        return self.store.reveal(self.project.project_id, self.user, assignment_id)

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
        self._may(Role.REVIEWER, "vote")
        answer = Answer(nonce=nonce, judgement=judgement, **more)
        with _told():
            return self.store.annotate(
                self.project.project_id, self.user, assignment_id, answer, first=first
            )

    def undo(
        self,
        on_screen: int | None = None,
        nonce: str | None = None,
        claim_key: int | None = None,
    ) -> ReviewItem | None:
        """The claim that was annotated or passed on last, or the one named, open again; None without one.

        An annotation counts until another is given.

        With the assignment ``on_screen`` and its nonce, or NOTHING_ON_SCREEN without a claim, a page
        that is out of date changes nothing.
        """
        self._may(Role.REVIEWER, "take an annotation back")
        with _told():
            return self.store.undo(self.project.project_id, self.user, on_screen, nonce, claim_key)

    def decline(self, assignment_id: int, reason: str, nonce: str | None = None) -> None:
        """Give a claim back for somebody else; the reason is kept."""
        self._may_any("give a claim back")
        with _told():
            self.store.decline(self.project.project_id, self.user, assignment_id, reason, nonce)

    def release(self, assignment_id: int, reason: str) -> None:
        """Take a claim out of somebody else's hands (lead)."""
        self._may(Role.LEAD, "release somebody else's claim")
        self.store.release(self.project.project_id, self.user, assignment_id, reason)

    def open_assignments(self) -> tuple[OpenAssignment, ...]:
        """Who holds which claim, the one that has not moved longest first (lead, auditor)."""
        require_reader(self.user, "see who holds which claim")
        return self.store.open_assignments(self.project.project_id, self.user)

    def open_verdict(self, content_hash: str, run_key: str) -> Withheld | None:
        """None: the verdict may be shown, and it is written down that this person saw it.

        Otherwise why it must stay hidden: they hold one of its claims, in a project that wants the
        decision first, and have not decided.
        """
        return self.store.open_verdict(self.user, content_hash, run_key)

    def save_draft(self, assignment_id: int, draft: Draft, nonce: str | None = None) -> None:
        """Keep what was entered so far, so that a reload loses nothing.

        Raises Conflict for the nonce of a drawing that is not the latest.
        """
        self._may_any("review claims")
        with _told():
            self.store.save_draft(self.project.project_id, self.user, assignment_id, draft, nonce)

    def load_draft(self, assignment_id: int) -> Draft | None:
        """What was entered so far; None when nothing was."""
        return self.store.load_draft(self.project.project_id, self.user, assignment_id)

    def progress(self) -> Progress:
        """How far this person and the project are."""
        return self.store.progress(self.project.project_id, self.user)

    # ------------------------------------------------------------ deciding disagreements

    def next_disagreement(self) -> DisagreementItem | None:
        """The disagreement in hand, else the oldest that this person has not read; None without one."""
        self._may(Role.ADJUDICATOR, "adjudicate")
        return self.store.next_disagreement(self.project.project_id, self.user)

    def adjudicate(
        self,
        item: DisagreementItem,
        nonce: str,
        judgement: Judgement,
        cause: Cause,
        **more: Unpack[Grounds],
    ) -> Adjudication:
        """The adjudication as written; Conflict when an annotation changed since ``item`` was shown."""
        self._may(Role.ADJUDICATOR, "adjudicate")
        decision = Decision(nonce=nonce, judgement=judgement, cause=cause, **more)
        with _told():
            return self.store.adjudicate(self.project.project_id, self.user, item, decision)

    def _may(self, role: Role, doing: str) -> None:
        require(self.user.name, self.user.roles, role, doing)

    def _may_any(self, doing: str) -> None:
        """Reviewers and adjudicators alike; the store asks for the one that the assignment needs."""
        role = Role.ADJUDICATOR if Role.ADJUDICATOR in self.user.roles else Role.REVIEWER
        require(self.user.name, self.user.roles, role, doing)


@contextmanager
def _told() -> Iterator[None]:
    """Log key presses that do not count, so that a lost verdict can be told from a hasty one."""
    try:
        yield
    except (Conflict, TooSoon) as error:
        LOG.info("not counted: %s", error)
        raise
