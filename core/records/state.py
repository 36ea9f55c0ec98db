"""state_of: today's verdict as one of three states: passes, needs review, is shown to be wrong.

The paper's gate knows two: what needs review counts as blocked there (``decision``).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from core.records.basics import AttributionStatus, Decision, VerdictLabel
from core.records.decisions import ClaimVerdict, Judged, Verification


class State(StrEnum):
    """What may happen with a claim or an answer."""

    ALLOW = "allow"
    NEEDS_REVIEW = "needs_review"
    BLOCK = "block"


def state_of(verdict: ClaimVerdict) -> State:
    """The state of one claim.

    Block is for what is shown: the claim is contradicted, or the answer credits or cites the wrong
    source for it. All else that does not pass could not be confirmed.
    """
    if verdict.decision is Decision.ALLOW:
        return State.ALLOW
    # A supported claim is stopped by its credit or its citation alone.
    shown = verdict.verdict in (VerdictLabel.CONTRADICTED, VerdictLabel.SUPPORTED)
    return State.BLOCK if shown or _credited_wrongly(verdict) else State.NEEDS_REVIEW


def answer_state(verification: Verification) -> State:
    """The state of the answer: block when a claim is, and never allow where the gate does not."""
    if verification.answer.decision is Decision.ALLOW:
        return State.ALLOW
    states: Iterable[State] = map(state_of, verification.claims)
    return State.BLOCK if State.BLOCK in states else State.NEEDS_REVIEW


def _credited_wrongly(verdict: ClaimVerdict) -> bool:
    outcome = verdict.outcome
    return (
        isinstance(outcome, Judged) and outcome.attribution.status is AttributionStatus.CONFLATION
    )
