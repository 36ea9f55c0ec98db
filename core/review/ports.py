"""ReviewStore: what the review workflow asks of a database; every write is one transaction.

Each write reads the person's roles, the project's settings and the assignment inside its transaction
and raises NotAllowed, NotFound, Conflict or TooSoon there, so that two browsers cannot both be right.
"""

from __future__ import annotations

from typing import Protocol

from core.review.annotating import Answer, Decision
from core.review.items import (
    DisagreementItem,
    Draft,
    OpenAssignment,
    Progress,
    ReviewItem,
    Withheld,
)
from core.review.records import Adjudication, Annotation, Person, Signal


class ReviewStore(Protocol):
    """Assignments, annotations, adjudications and drafts of all projects."""

    def next_item(self, project_id: int, user: Person) -> ReviewItem | None:
        """The claim in the person's hands, or else the next one, now in their hands."""
        ...

    def show(self, project_id: int, user: Person, assignment_id: int) -> str:
        """A new nonce for what is being put on screen now; earlier ones are void."""
        ...

    def annotate(
        self, project_id: int, user: Person, assignment_id: int, answer: Answer, *, first: bool
    ) -> Annotation:
        """Write what a reviewer says, ``first`` or after the machine's view."""
        ...

    def reveal(self, project_id: int, user: Person, assignment_id: int) -> Signal | None:
        """What the machine says of the claim; written down as seen."""
        ...

    def undo(
        self,
        project_id: int,
        user: Person,
        on_screen: int | None = None,
        nonce: str | None = None,
        claim_key: int | None = None,
    ) -> ReviewItem | None:
        """The claim of the person's last annotation, or that one, in their hands again."""
        ...

    def decline(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        reason: str,
        nonce: str | None = None,
    ) -> None:
        """Take the claim out of the person's hands, for good."""
        ...

    def release(self, project_id: int, user: Person, assignment_id: int, reason: str) -> None:
        """Take a claim out of somebody else's hands."""
        ...

    def open_assignments(self, project_id: int, user: Person) -> tuple[OpenAssignment, ...]:
        """Every claim that somebody holds, the one that has not moved longest first."""
        ...

    def open_verdict(self, user: Person, content_hash: str, run_key: str) -> Withheld | None:
        """Write down that the person sees this verdict now; or why they must not see it yet."""
        ...

    def save_draft(
        self,
        project_id: int,
        user: Person,
        assignment_id: int,
        draft: Draft,
        nonce: str | None = None,
    ) -> None:
        """Keep what was entered so far."""
        ...

    def load_draft(self, project_id: int, user: Person, assignment_id: int) -> Draft | None:
        """What was entered so far."""
        ...

    def progress(self, project_id: int, user: Person) -> Progress:
        """How far the project is."""
        ...

    def next_disagreement(self, project_id: int, user: Person) -> DisagreementItem | None:
        """The disagreement in the person's hands, or else the next one, now in their hands."""
        ...

    def adjudicate(
        self, project_id: int, user: Person, item: DisagreementItem, decision: Decision
    ) -> Adjudication:
        """Write what a third person decides."""
        ...
