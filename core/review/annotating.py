"""What may be said about a claim now, by whom, and what is written down when it is said.

Everything here is given what was read and decides; nothing is looked up, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from core.errors import Conflict, NotAllowed
from core.review.adjudication import passes, resolve
from core.review.assignment import ADJUDICATION_SLOT, STALE_KEY, changed, queue_state, unaided
from core.review.items import Assignment, QueueState
from core.review.records import (
    Adjudication,
    Annotation,
    Cause,
    Exposure,
    Judgement,
    ProjectSettings,
    Signal,
)

RECONSIDERED = "taken back and decided again"
AFTER_REVEAL = "decided again with the machine's view on screen"
AGREE_NOW = "the annotations agree, or are being reconsidered"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAnnotation:
    """What a reviewer said, before it is written."""

    judgement: Judgement
    first: Judgement | None
    confidence: int | None
    rationale: str
    exposures: tuple[Exposure, ...]
    saw_model_output: bool
    changed_after_reveal: bool
    seconds: float
    guideline_version: int
    run_key: str
    threshold: float | None
    nonce: str
    supersedes: int | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a reviewer enters for one claim; None for confidence or rationale: as it was."""

    nonce: str
    judgement: Judgement
    confidence: int | None = None
    rationale: str | None = None
    exposures: Sequence[Exposure] = ()
    guideline_version: int = 0  # the one in force when it is written


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a third person decides about a disagreement that was on screen under ``nonce``."""

    nonce: str
    judgement: Judgement
    cause: Cause
    guideline_needs_fix: bool = False
    rule: str | None = None
    rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a claim is: its state, and how many annotations nobody has taken.

    ``passes`` is what its final label says; None while it has none.
    """

    missing: int
    state: QueueState
    passes: bool | None = None


# ---------------------------------------------------------------- how far a claim is


def current(annotations: Iterable[Annotation]) -> tuple[Annotation, ...]:
    """The last annotation of each reviewer, by slot; ``annotations`` come the oldest first."""
    last = {annotation.reviewer: annotation for annotation in annotations}
    return tuple(
        sorted(last.values(), key=lambda annotation: (annotation.slot, annotation.vote_id))
    )


def standing_of(
    settings: ProjectSettings,
    annotations: Sequence[Annotation],
    adjudication: Adjudication | None,
    open_slots: Sequence[bool],
) -> Standing:
    """How far a claim is; ``readings`` says of each that somebody has taken whether it is open."""
    reads = settings.reads_per_claim
    state = queue_state(
        annotations,
        adjudication,
        reads=reads,
        taken=len(open_slots),
        open_annotations=sum(open_slots),
    )
    complete = state in (QueueState.DISAGREEMENT, QueueState.SETTLED)
    found = resolve(annotations, adjudication, reads=reads)
    final = found.final if found is not None and state is QueueState.SETTLED else None
    return Standing(
        missing=0 if complete else max(0, reads - len(open_slots)),
        state=state,
        passes=None if final is None else passes(final),
    )


# ---------------------------------------------------------------- what may be done now


def check_first(assignment: Assignment) -> None:
    """Raise Conflict unless the assignment is an annotation that waits for its decision."""
    if not assignment.open or assignment.slot == ADJUDICATION_SLOT:
        raise Conflict(STALE_KEY)


def check_second(assignment: Assignment) -> None:
    """Raise Conflict unless an annotation was decided and the machine's view was shown after that."""
    if assignment.open or assignment.slot == ADJUDICATION_SLOT or assignment.revealed_at is None:
        raise Conflict(STALE_KEY)


def check_not_adjudicated(adjudication: Adjudication | None) -> None:
    """Raise Conflict once a third person has decided the claim."""
    if adjudication is not None:
        raise Conflict("this claim has been adjudicated: the annotations stay as they are")


def check_reveal(settings: ProjectSettings, *, decided: bool) -> None:
    """Raise NotAllowed before the decision, where the project wants the decision first."""
    if settings.decide_first and not decided:
        raise NotAllowed("decide first: the machine's view is shown after the decision")


def check_decline(assignment: Assignment, *, decided: bool) -> None:
    """Raise Conflict for a claim that is decided: it cannot be given back."""
    if not assignment.open or decided:
        raise Conflict("this claim is decided already: it cannot be given back")


def check_release(assignment: Assignment) -> None:
    """Raise Conflict for a claim that nobody has in hand."""
    if not assignment.open:
        raise Conflict("this claim is decided already: there is nothing to release")


def check_draft(assignment: Assignment) -> None:
    """Raise Conflict for a claim that is decided: nothing is typed on it any more."""
    if not assignment.open:
        raise Conflict(STALE_KEY)


def check_adjudicable(assignment: Assignment) -> None:
    """Raise Conflict unless the assignment is a disagreement that waits for its decision."""
    if not assignment.open or assignment.slot != ADJUDICATION_SLOT:
        raise Conflict(STALE_KEY)


def check_shown(
    shown: Collection[int], annotations: Iterable[Annotation], state: QueueState
) -> None:
    """Raise Conflict unless the annotations that were shown are those that stand, and still differ."""
    if (
        set(shown) != {annotation.vote_id for annotation in annotations}
        or state is not QueueState.DISAGREEMENT
    ):
        raise Conflict("an annotation changed since this was shown; reloaded")


# ---------------------------------------------------------------- what is written down


def first_annotation(
    assignment: Assignment,
    answer: Answer,
    before: Annotation | None,
    signal: Signal | None,
    *,
    seen_elsewhere: Sequence[Exposure],
    seconds: float,
) -> NewAnnotation:
    """What is written for a claim in hand; ``before`` is what the reviewer takes back with it.

    What was seen elsewhere counts too, whether or not the claim was in hand by then.
    """
    here = tuple(answer.exposures)
    if assignment.revealed_at is not None and not here:
        here = (Exposure(what="verdict", at=assignment.revealed_at),)
    exposures = (*seen_elsewhere, *here)
    first = unaided(before) if before is not None and exposures else None
    return NewAnnotation(
        judgement=answer.judgement,
        first=first,
        confidence=answer.confidence,
        rationale=answer.rationale or "",
        exposures=exposures,
        saw_model_output=bool(exposures),
        changed_after_reveal=first is not None and changed(first, answer.judgement),
        seconds=seconds if before is None else before.seconds,
        guideline_version=answer.guideline_version,
        run_key=signal.run_key if signal else "",
        threshold=signal.threshold if signal else None,
        nonce=answer.nonce,
        supersedes=before.vote_id if before else None,
        reason=RECONSIDERED if before else None,
    )


def annotation_after_reveal(
    assignment: Assignment, answer: Answer, before: Annotation
) -> NewAnnotation:
    """What is written when a reviewer decides again with the machine's view on screen."""
    assert assignment.revealed_at is not None  # check_second says so
    first = unaided(before)
    here = tuple(answer.exposures) or (Exposure(what="verdict", at=assignment.revealed_at),)
    return NewAnnotation(
        judgement=answer.judgement,
        first=first,
        confidence=before.confidence if answer.confidence is None else answer.confidence,
        rationale=before.rationale if answer.rationale is None else answer.rationale,
        exposures=(*(seen for seen in before.exposures if seen not in here), *here),
        saw_model_output=True,
        changed_after_reveal=first is not None and changed(first, answer.judgement),
        seconds=before.seconds,
        guideline_version=answer.guideline_version,
        run_key=before.run_key,
        threshold=before.threshold,
        nonce=answer.nonce,
        supersedes=before.vote_id,
        reason=AFTER_REVEAL,
    )
