"""check_key and its neighbours: when a key press, a reveal or a release counts."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from core.errors import Conflict, InputError, TooSoon
from core.records import VerdictLabel
from core.review.adjudication import resolve
from core.review.items import Assignment, QueueState
from core.review.records import (
    SUPPORT_LABELS,
    Adjudication,
    Annotation,
    Judgement,
    Passage,
    ProjectSettings,
    ReviewStatus,
    Unfit,
)

ADJUDICATION_SLOT = 3
STUCK_DAYS = 2
PACE_ANNOTATIONS = 50  # the pace is a median of as many recent annotations
LEAST_PACED = 12  # annotations; of fewer the median jumps from one to the next
CORRECTION_CHARACTERS = 4_000
MOST_PASSAGES = 50
STALE_KEY = "ignored: key pressed before this claim was on screen"
STALE_PAGE = "nothing written: this claim was opened since in another tab, or anew in this one"
NOTHING_ON_SCREEN = ""  # instead of a nonce, on a page that says that no claim waits
UNOWNED = (
    "Supported needs the source that says it: choose that source, or, if none says it, another "
    "answer than Supported."
)
OWNED_BY_SOME = (
    "Not enough evidence means that no source says anything about this: choose None as the source, "
    "or, if a source is about it, Unsupported or Contradicted."
)
OF_NO_CLAIM = "What is no claim has no source and no credit: take those answers away."
CORRECTED_CLAIM = "Only what is no claim, or was cut wrongly, has a corrected text."


def check_key(
    assignment: Assignment, nonce: str, now: datetime, settings: ProjectSettings
) -> float:
    """The seconds since the claim appeared, when the key press counts.

    Raises Conflict for a press that belongs to another rendering or was counted already, TooSoon
    below the project's floor.
    """
    if assignment.nonce is None or assignment.shown_at is None or nonce != assignment.nonce:
        raise Conflict(STALE_KEY)
    on_screen = max(timedelta(0), now - assignment.shown_at)
    if on_screen < timedelta(milliseconds=settings.dwell_milliseconds):
        raise TooSoon(
            f"ignored: {on_screen / timedelta(milliseconds=1):.0f} ms after the claim appeared; "
            f"a verdict counts from {settings.dwell_milliseconds} ms on"
        )
    return on_screen.total_seconds()


def check_page(assignment: Assignment, nonce: str | None) -> None:
    """Raise Conflict when what somebody acts on is no longer the latest drawing of the claim.

    None: whoever asks looks at no page.
    """
    if nonce is not None and nonce != assignment.nonce:
        raise Conflict(STALE_PAGE)


def contradiction(judgement: Judgement) -> str | None:
    """What to do about answers that cannot be meant together; None where they can.

    A source may be about a claim without saying it, or say otherwise: so Unsupported and Contradicted
    go with a source and with none.
    """
    unfit = isinstance(judgement.support, Unfit)
    if unfit and (judgement.source_id is not None or judgement.conflation is not None):
        return OF_NO_CLAIM
    if judgement.correction and not unfit:
        return CORRECTED_CLAIM
    if judgement.support is VerdictLabel.SUPPORTED and judgement.source_id is None:
        return UNOWNED
    if judgement.support is VerdictLabel.NOT_ENOUGH_EVIDENCE and judgement.source_id is not None:
        return OWNED_BY_SOME
    return None


def check_judgement(
    judgement: Judgement, confidence: int | None, source_ids: Collection[str]
) -> None:
    """Raise InputError for a label, a source or a confidence that cannot be meant."""
    if judgement.support not in (*SUPPORT_LABELS, *Unfit):
        expected = ", ".join((*SUPPORT_LABELS, *Unfit))
        raise InputError(
            f"expected one of {expected}, found {judgement.support!r:.60}", path="support"
        )
    if refused := contradiction(judgement):
        raise InputError(refused, path="source_id")
    for source_id in judgement.source_ids:
        if source_id not in source_ids:
            raise InputError(f"this trace has no source {source_id!r:.200}", path="source_id")
    if len(set(judgement.source_ids)) < len(judgement.source_ids) or (
        judgement.more_source_ids and judgement.source_id is None
    ):
        raise InputError("each source is named once, the main one first", path="more_source_ids")
    if len(judgement.correction) > CORRECTION_CHARACTERS:
        raise InputError(
            f"expected at most {CORRECTION_CHARACTERS} characters, found {len(judgement.correction)}",
            path="correction",
        )
    if confidence is not None and not 1 <= confidence <= 5:
        raise InputError(f"expected 1 to 5, found {confidence!r:.60}", path="confidence")


def passage_of(source_id: str, text: str, start: int, end: int) -> Passage:
    """The stretch [start, end) of that source's text; raises InputError for one that is not there."""
    if not 0 <= start < end <= len(text):
        raise InputError(
            f"expected a stretch of {len(text)} characters, found {start} to {end}", path="passages"
        )
    return Passage(source_id=source_id, start=start, end=end, sha256=_digest(text[start:end]))


def check_passages(judgement: Judgement, texts: Mapping[str, str]) -> None:
    """Raise InputError for a passage that does not stand there so; ``texts`` is source id → its text."""
    if len(judgement.passages) > MOST_PASSAGES:
        raise InputError(f"expected at most {MOST_PASSAGES} passages", path="passages")
    if not all(stands(each, texts) for each in judgement.passages):
        raise InputError("a passage is not what the source says there", path="passages")


def stands(passage: Passage, texts: Mapping[str, str]) -> bool:
    """Whether a passage stands there so; one from a packet may be of another trace, or of none."""
    text = texts.get(passage.source_id, "")
    return (
        0 <= passage.start < passage.end <= len(text)
        and _digest(text[passage.start : passage.end]) == passage.sha256
    )


def _digest(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def check_reason(reason: str, what: str) -> str:
    """The reason without blanks around it; raises InputError for an empty one."""
    if not reason.strip():
        raise InputError(f"{what} needs a reason", path="reason")
    return reason.strip()


def check_settings(settings: ProjectSettings) -> None:
    """Raise InputError for settings with which nobody could work."""
    if not settings.name.strip():
        raise InputError("a project needs a name", path="name")
    if settings.reads_per_claim not in (1, 2):
        raise InputError(
            f"expected 1 or 2, found {settings.reads_per_claim}", path="reads_per_claim"
        )
    if not 0 <= settings.dwell_milliseconds <= 60_000:
        raise InputError(
            f"expected 0 to 60000, found {settings.dwell_milliseconds}", path="dwell_milliseconds"
        )
    if not 1 <= settings.lease_minutes <= 7 * 24 * 60:
        raise InputError(
            f"expected 1 to 10080, found {settings.lease_minutes}", path="lease_minutes"
        )
    if not (math.isfinite(settings.audit_share) and 0.0 <= settings.audit_share <= 1.0):
        raise InputError(
            f"expected a number in [0, 1], found {settings.audit_share}", path="audit_share"
        )
    prior = settings.supported_prior
    if prior is not None and not 0.0 < prior < 1.0:
        raise InputError(f"expected a number in (0, 1), found {prior}", path="supported_prior")


def lease_until(now: datetime, settings: ProjectSettings) -> datetime:
    """Until when a claim taken or touched now is held."""
    return now + timedelta(minutes=settings.lease_minutes)


def free_slot(taken: Collection[int], reads: int) -> int | None:
    """The first annotation that nobody has; None when all are taken."""
    return next((slot for slot in range(1, reads + 1) if slot not in taken), None)


def queue_state(
    annotations: Sequence[Annotation],
    adjudication: Adjudication | None,
    *,
    reads: int,
    taken: int,
    open_annotations: int,
) -> QueueState:
    """How far a claim is.

    ``annotations`` are the current ones, ``taken`` counts annotations that somebody has or has done, and
    ``open_annotations`` those still in hand: an annotation that is being reconsidered settles nothing.
    """
    if adjudication is not None:
        return QueueState.SETTLED
    resolution = None if open_annotations else resolve(annotations, adjudication, reads=reads)
    if resolution is None:
        return QueueState.READING if taken else QueueState.WAITING
    if resolution.status is ReviewStatus.UNRESOLVED:
        return QueueState.DISAGREEMENT
    return QueueState.SETTLED


def changed(first: Judgement, later: Judgement) -> bool:
    """Whether a reviewer answered otherwise the second time; a passage marked besides is no answer."""
    return replace(first, passages=()) != replace(later, passages=())


def unaided(annotation: Annotation) -> Judgement | None:
    """What the reviewer said before the machine's view was shown; None when it never was hidden."""
    if annotation.first is not None:
        return annotation.first
    return None if annotation.saw_model_output else annotation.judgement
