"""Frozen records of a review session: what a reviewer is handed, what is typed so far, how far the work is.

None of them carries the machine's view of a claim or another reviewer's name or vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.records import Span
from core.review.records import Judgement, Passage, QueueReason, Support


class QueueState(StrEnum):
    """How far a claim of a project is."""

    WAITING = "waiting"  # nobody has it
    READING = "reading"  # somebody has it or has read it; annotations are still to come
    DISAGREEMENT = "tied"  # all annotations are in, and they differ
    SETTLED = "settled"  # it has its label


@dataclass(frozen=True, slots=True, kw_only=True)
class Guideline:
    """One version of the guideline; the highest is in force."""

    version: int
    text: str
    change: str
    author: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a reviewer has entered so far; ``source_answered`` tells "no source" from "not yet"."""

    support: Support | None = None
    source_id: str | None = None
    source_answered: bool = False
    conflation: bool | None = None
    confidence: int | None = None
    rationale: str = ""
    correction: str = ""
    more_source_ids: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Every source that is named so far, the main one first."""
        return () if self.source_id is None else (self.source_id, *self.more_source_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """A claim in a reviewer's hands: item ``position`` of ``total`` for this reviewer.

    ``text`` and ``span`` are the claim as it was cut out of the answer when it was put in the queue;
    a later verification may cut the answer otherwise. ``reason`` is None until the reviewer has
    decided: it would tell what the machine thinks.
    """

    assignment_id: int
    claim_key: int
    claim_id: str
    text: str
    span: Span
    trace_id: str
    content_hash: str
    slot: int
    lease_until: datetime
    draft: Draft | None
    position: int
    total: int
    reason: QueueReason | None = None

    @property
    def reconsidered(self) -> bool:
        """Whether the reviewer has decided this claim before, and took that back."""
        return self.reason is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindAnnotation:
    """One of the annotations that differ, without its annotator's name; ``label`` is "Reviewer 1" …"""

    label: str
    judgement: Judgement
    confidence: int | None
    rationale: str
    vote_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementItem:
    """A claim whose annotations differ, in an adjudicator's hands; the order of annotations is random.

    ``text`` and ``span`` are the claim that both read. ``waiting`` counts the disagreements that this
    adjudicator may take, this one among them.
    """

    assignment_id: int
    claim_key: int
    claim_id: str
    text: str
    span: Span
    trace_id: str
    content_hash: str
    lease_until: datetime
    annotations: tuple[BlindAnnotation, ...]
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a project is: ``mine_*`` count annotations of one person, the rest claims.

    ``stuck`` counts claims that somebody began and that have not moved for ``STUCK_DAYS``;
    ``seconds_per_claim`` is a median of recent annotations, None before the twelfth.
    """

    mine_done: int
    mine_open: int
    team_done: int
    total: int
    stuck: int
    seconds_per_claim: float | None
    ties: int = 0
    waiting: int = 0  # claims that nobody has taken
    left_for_me: int = 0  # annotations that this person could still do


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAssignment:
    """Who holds which claim, and how long it has not moved; what they answered is not in it.

    ``moved_at`` is when the claim was taken, shown, typed on or judged last; ``reconsidered``: a
    judgement of it stands, and its annotator took it back to decide again.
    """

    assignment_id: int
    claim_key: int
    claim_id: str
    text: str
    trace_id: str
    slot: int
    holder: str
    since: datetime
    lease_until: datetime
    moved_at: datetime
    reconsidered: bool


class Withheld(StrEnum):
    """Why somebody may not see the machine's verdict on an answer yet."""

    ANNOTATION = "reading"  # an annotation of one of its claims is in their hands, undecided
    DISAGREEMENT = "tie"  # the adjudication of one of its claims is
    UNREAD = "unread"  # one of its claims may still come to them, and they have not read it


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """An assignment as the database holds it at this moment."""

    assignment_id: int
    project_id: int
    claim_key: int
    slot: int
    person_id: int
    open: bool
    reason: QueueReason
    inclusion_probability: float | None
    lease_until: datetime
    shown_at: datetime | None
    nonce: str | None
    revealed_at: datetime | None
