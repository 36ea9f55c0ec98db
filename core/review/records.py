"""Frozen records of human review: annotations, adjudications, what stands at the end, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.records import AttributionStatus, Decision, Features, VerdictLabel

SUPPORT_LABELS: tuple[VerdictLabel, ...] = (
    VerdictLabel.SUPPORTED,
    VerdictLabel.UNSUPPORTED,
    VerdictLabel.CONTRADICTED,
    VerdictLabel.NOT_ENOUGH_EVIDENCE,
)


class Unfit(StrEnum):
    """What a person says of a text that cannot be judged as a claim."""

    NOT_A_CLAIM = "not_a_claim"  # it asserts nothing, or was cut out of the answer wrongly


Support = VerdictLabel | Unfit


class Role(StrEnum):
    """What a person may do; one person may have several."""

    REVIEWER = "reviewer"  # reads claims and annotations
    ADJUDICATOR = "adjudicator"  # resolves what two reviewers see differently
    LEAD = "lead"  # owns people, guideline, settings, threshold and calibrator
    AUDITOR = "auditor"  # reads everything, writes nothing


class Split(StrEnum):
    """Where a trace belongs, once and for all."""

    TRAIN = "train"
    VALIDATION = "validation"
    HELD_OUT = "held_out"


SPLIT_WORDS = {Split.TRAIN: "training", Split.VALIDATION: "validation", Split.HELD_OUT: "held out"}


class QueueReason(StrEnum):
    """Why a claim was offered to a reviewer."""

    UNCERTAIN = "uncertain"  # the least supported come first
    PERSON = "person"  # neither passing nor blocking is sure enough
    CONFLATION = "conflation"  # the credited source may not be the one that says it
    AUDIT = "audit"  # drawn at random with a known probability
    SECOND_READ = "second_read"  # somebody has read it; two annotations are wanted
    DISAGREEMENT = "tie"  # two annotations differ


class Cause(StrEnum):
    """Why two reviewers differed."""

    AMBIGUOUS_CLAIM = "ambiguous_claim"
    GUIDELINE_GAP = "guideline_gap"
    REVIEWER_ERROR = "reviewer_error"
    DECOMPOSITION_ERROR = "decomposition_error"
    AMBIGUOUS_SOURCE = "ambiguous_source"


class ReviewStatus(StrEnum):
    """How a claim's label came about (formats.md, section 4)."""

    SINGLE = "single"
    UNANIMOUS = "unanimous"
    ADJUDICATED = "adjudicated"
    UNRESOLVED = "unresolved"


STATUS_WORDS = {
    ReviewStatus.SINGLE: "one annotation",
    ReviewStatus.UNANIMOUS: "annotations agree",
    ReviewStatus.ADJUDICATED: "decided by a third person",
    ReviewStatus.UNRESOLVED: "waits for a decision",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who works here; ``name`` is unique and never changes: trail and signatures hold it."""

    person_id: int
    name: str
    roles: frozenset[Role]
    email: str | None = None
    active: bool = True
    shown_as: str | None = None

    @property
    def shown(self) -> str:
        """What pages call them."""
        return self.shown_as or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSettings:
    """How one project is reviewed; every change is an audit event with its reason."""

    name: str = "Review"
    reads_per_claim: int = 1  # 1 or 2
    decide_first: bool = True  # the machine's view is shown only after the decision
    dwell_milliseconds: int = 700  # a verdict sooner than this after the claim appeared is refused
    lease_minutes: int = 30
    audit_share: float = 0.2  # share of items drawn at random with known probability
    slice: str | None = None  # only traces of this slice; None: all
    supported_prior: float | None = None  # as Config's, of this project's agent; None: Config's


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project with its settings; ``version`` guards against two leads changing it at once."""

    project_id: int
    settings: ProjectSettings
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A stretch of a source's text, [start, end), that says it; ``sha256`` is of that stretch."""

    source_id: str
    start: int
    end: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The two answers of a reading: is it supported, and who owns it.

    ``source_id`` None means that no source says it; ``more_source_ids`` are those that it rests on
    besides, in the order of choice. ``conflation`` None: the reviewer did not say. What is no claim has
    neither, and may have a ``correction``: what the claim should say.
    """

    support: Support
    source_id: str | None
    conflation: bool | None = None
    correction: str = ""
    more_source_ids: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()

    @property
    def source_ids(self) -> tuple[str, ...]:
        """Every source that says it, the main one first; none where no source does."""
        return () if self.source_id is None else (self.source_id, *self.more_source_ids)

    @property
    def label(self) -> VerdictLabel | None:
        """Whether it is supported; None of what is no claim."""
        return None if isinstance(self.support, Unfit) else self.support


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """What of the machine's view was visible to a reviewer, and since when."""

    what: str  # "verdict", "sources", "alignment", …
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One reading of one claim, as written; a later annotation of the same reviewer supersedes it.

    ``first`` is the judgement before the machine's view was shown, where one was made and then
    changed or kept. ``seconds`` is the time from the claim's appearance to the first judgement.
    """

    vote_id: int
    claim_key: int
    reviewer: str
    slot: int
    judgement: Judgement
    first: Judgement | None
    confidence: int | None  # 1 (guess) … 5 (certain)
    rationale: str
    saw_model_output: bool
    changed_after_reveal: bool
    exposures: tuple[Exposure, ...]
    seconds: float
    at: datetime
    queue_reason: QueueReason
    inclusion_probability: float | None  # None: not drawn at random
    guideline_version: int
    run_key: str
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """What a third person decided about two annotations that differ."""

    adjudication_id: int
    claim_key: int
    reviewer: str
    judgement: Judgement
    cause: Cause
    guideline_needs_fix: bool
    rule: str | None  # the guideline's rule that it cites
    rationale: str
    at: datetime
    guideline_version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What the machine said about a claim in one run; ``features`` rescore it under another forest."""

    run_key: str
    decision: Decision
    verdict: VerdictLabel | None
    probability: float | None
    threshold: float | None
    margin: float | None
    routed_source_id: str | None
    routed_family: str | None
    attribution: AttributionStatus
    gated: bool  # blocked by something else than the calibrator (a value, an identity, …)
    features: Features | None
    review_from: float | None = None

    @property
    def needs_review(self) -> bool:
        """Whether nothing but a doubtful probability blocks it: neither outcome is sure enough."""
        return (
            not self.gated
            and self.probability is not None
            and self.threshold is not None
            and self.review_from is not None
            and self.review_from <= self.probability < self.threshold
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What stands for a claim: its status, and the final judgement where there is one."""

    status: ReviewStatus
    final: Judgement | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedClaim:
    """A claim with everything that people said about it; the annotations are the current ones, by slot."""

    claim_key: int
    claim_id: str
    trace_id: str
    content_hash: str
    text: str
    category: str | None
    slices: tuple[str, ...]
    family: str | None  # family of the source that the machine routed to
    split: Split | None
    annotations: tuple[Annotation, ...]
    adjudication: Adjudication | None
    resolution: Resolution
    signal: Signal | None
    inclusion_probability: float | None
    detail: Mapping[str, str]
