"""Records of review for tests: say only what matters, the rest has a plain default."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.records import AttributionStatus, Decision, VerdictLabel
from core.review.adjudication import resolve
from core.review.items import Assignment
from core.review.records import (
    Adjudication,
    Annotation,
    Cause,
    Judgement,
    Person,
    QueueReason,
    ReviewedClaim,
    Role,
    Signal,
)

MONDAY = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
SUPPORTED, UNSUPPORTED = VerdictLabel.SUPPORTED, VerdictLabel.UNSUPPORTED


def a_person(name: str, *roles: Role) -> Person:
    """Somebody with these roles."""
    return Person(person_id=1, name=name, roles=frozenset(roles))


def a_judgement(
    support: VerdictLabel | str = SUPPORTED,
    source_id: str | None = "chart",
    conflation: bool | None = None,
) -> Judgement:
    """The two answers of an annotation."""
    return Judgement(support=VerdictLabel(support), source_id=source_id, conflation=conflation)


def an_assignment(**more: object) -> Assignment:
    """The first annotation of a claim, taken by the first person until noon, and on screen."""
    return Assignment(
        **{
            "assignment_id": 1,
            "project_id": 1,
            "claim_key": 1,
            "slot": 1,
            "person_id": 1,
            "open": True,
            "reason": QueueReason.UNCERTAIN,
            "inclusion_probability": None,
            "lease_until": MONDAY + timedelta(hours=3),
            "shown_at": MONDAY,
            "nonce": "n1",
            "revealed_at": None,
            **more,
        }  # type: ignore[arg-type]
    )


def an_annotation(
    reviewer: str = "Ada", judgement: Judgement | None = None, slot: int = 1, **more: object
) -> Annotation:
    """An annotation that never saw the machine's view."""
    return Annotation(
        **{
            "vote_id": slot,
            "claim_key": 1,
            "reviewer": reviewer,
            "slot": slot,
            "judgement": judgement or a_judgement(),
            "first": None,
            "confidence": 4,
            "rationale": "",
            "saw_model_output": False,
            "changed_after_reveal": False,
            "exposures": (),
            "seconds": 12.5,
            "at": MONDAY + timedelta(minutes=slot),
            "queue_reason": QueueReason.UNCERTAIN,
            "inclusion_probability": None,
            "guideline_version": 1,
            "run_key": "sha256:" + "1" * 64,
            "threshold": 0.65,
            **more,
        }  # type: ignore[arg-type]
    )


def an_adjudication(judgement: Judgement, reviewer: str = "Cora") -> Adjudication:
    """A tie-break."""
    return Adjudication(
        adjudication_id=1,
        claim_key=1,
        reviewer=reviewer,
        judgement=judgement,
        cause=Cause.AMBIGUOUS_CLAIM,
        guideline_needs_fix=False,
        rule=None,
        rationale="The visit note decides.",
        at=MONDAY + timedelta(hours=1),
        guideline_version=1,
    )


def a_signal(verdict: VerdictLabel | str | None = SUPPORTED, **more: object) -> Signal:
    """What the machine said."""
    said = VerdictLabel(verdict) if verdict else None
    return Signal(
        **{
            "run_key": "sha256:" + "1" * 64,
            "decision": Decision.ALLOW if said is SUPPORTED else Decision.BLOCK,
            "verdict": said,
            "probability": 0.9,
            "threshold": 0.65,
            "margin": 0.3,
            "routed_source_id": "chart",
            "routed_family": "patient_record",
            "attribution": AttributionStatus.NONE,
            "gated": False,
            "features": None,
            **more,
        }  # type: ignore[arg-type]
    )


def a_reviewed_claim(
    key: int,
    *annotations: Annotation,
    trace_id: str | None = None,
    adjudication: Adjudication | None = None,
    reads: int = 2,
    **more: object,
) -> ReviewedClaim:
    """A claim with its annotations, resolved as a team with two annotations a claim would."""
    trace_id = trace_id or f"t{key}"
    resolution = resolve(annotations, adjudication, reads=min(reads, len(annotations)))
    assert resolution is not None
    return ReviewedClaim(
        **{
            "claim_key": key,
            "claim_id": f"{trace_id}::c{key:02d}",
            "trace_id": trace_id,
            "content_hash": "sha256:" + "0" * 64,
            "text": "The patient takes metformin.",
            "category": "chart",
            "slices": (),
            "family": "patient_record",
            "split": None,
            "annotations": annotations,
            "adjudication": adjudication,
            "resolution": resolution,
            "signal": a_signal(),
            "inclusion_probability": None,
            "detail": {},
            **more,
        }  # type: ignore[arg-type]
    )


def two_readings(
    key: int,
    first: Judgement,
    second: Judgement,
    *,
    names: tuple[str, str] = ("Ada", "Ben"),
    **more: object,
) -> ReviewedClaim:
    """A claim that two people read."""
    return a_reviewed_claim(
        key,
        an_annotation(names[0], first, 1),
        an_annotation(names[1], second, 2),
        **more,  # type: ignore[arg-type]
    )
