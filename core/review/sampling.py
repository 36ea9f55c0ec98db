"""place_claim: where a claim stands in the queue, and with which probability it is in the audit.

Two streams make the queue. The audit stream holds a fixed share of all claims, drawn by a hash of
what the claim is and of nothing that the machine thinks of it: every claim has the same, known
probability of being in it, and what reviewers say there stands for all claims. The priority
stream holds the rest, suspected wrong credits first and then the least supported, which finds the most
errors (docs/results.md): what is learnt there is not representative. A remark of which no source has a
word comes last.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from core.decomposition.remarks import sounds_factual
from core.records import AttributionStatus
from core.records.reading_order import NOT_JUDGED, priority_rank, shows_nothing
from core.review.records import QueueReason, Signal

DOUBTFUL = 0.5  # rank; of an answer that is being read, these come together


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A claim's place: ``rank`` orders its stream, the smallest first.

    ``inclusion_probability`` is None in the priority stream.
    """

    audit: bool
    rank: float
    reason: QueueReason
    inclusion_probability: float | None


def place_claim(draw: float, signal: Signal, audit_share: float, text: str) -> Place:
    """The place of the claim with that text; ``draw`` is its ``audit_draw``, in [0, 1)."""
    if draw < audit_share:
        return Place(
            audit=True,
            rank=draw,
            reason=QueueReason.AUDIT,
            inclusion_probability=min(audit_share, 1.0),
        )
    reason = QueueReason.PERSON if signal.needs_review else QueueReason.UNCERTAIN
    if signal.attribution is AttributionStatus.CONFLATION:
        reason = QueueReason.CONFLATION
    rank = priority_rank(signal.probability, signal.attribution, signal.features)
    # Of 16,000 labelled claims four are such, one of them bad (docs/results.md).
    if rank > 0 and shows_nothing(signal.features) and not sounds_factual(text):
        rank = NOT_JUDGED
    return Place(audit=False, rank=rank, reason=reason, inclusion_probability=None)


def audit_draw(project_id: int, trace_key: str, claim_id: str, text_sha256: str) -> float:
    """A uniform number in [0, 1) that depends on nothing but the project and the claim itself."""
    return _uniform("audit", project_id, trace_key, claim_id, text_sha256)


def audit_turn(project_id: int, assignments: int, audit_share: float) -> bool:
    """Whether the next claim comes from the audit stream, after so many assignments.

    Drawn, not counted off, so that a reviewer cannot tell which items are the audit's.
    """
    return _uniform("turn", project_id, assignments) < audit_share


def shown_order(assignment_id: int, vote_ids: tuple[int, ...]) -> tuple[int, ...]:
    """The annotations that differ, in a stable order that says nothing of who was first."""
    return tuple(sorted(vote_ids, key=lambda vote_id: _uniform("order", assignment_id, vote_id)))


def _uniform(*seed: object) -> float:
    digest = hashlib.sha256(json.dumps(seed).encode("utf-8")).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53
