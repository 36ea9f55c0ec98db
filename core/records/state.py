"""state_of: what may happen with a claim or an answer: it passes, needs review, or is shown to be wrong.

The only place where a state comes from: verdict files, lists, gates, replies, reports and screens ask here.
The paper's gate knows two outcomes; what needs review counts as blocked there (``decision``).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from core.records.basics import AttributionStatus, Decision, VerdictLabel
from core.records.decisions import ClaimVerdict, Judged, Verification
from core.records.evidence import Outcome
from core.records.judge import Proved


class State(StrEnum):
    """What may happen with a claim or an answer, the best first."""

    ALLOW = "allow"
    NEEDS_REVIEW = "needs_review"
    BLOCK = "block"


def state_of(verdict: ClaimVerdict) -> State:
    """The state of one claim.

    Block is for what is shown, whatever the support:

    - a check that vetoes contradicts the claim, and the NLI score does not dispute it (then the decision
      calls it contradicted; of such claims people found 14 of 18 contradicted);
    - the evidence is in another source than the one that the answer credits (a conflation), and that
      source clearly leads and supports the claim; else a wrong credit is probable, and needs review;
    - a judge's reading contradicts it, and its proof holds;
    - a citation leads to nothing that was ever called, or to a record that says something else.

    All else that does not pass could not be confirmed and needs review: support below the threshold, an
    open value, a check that speaks against the claim without a veto or against an NLI score that supports
    it, a credit that a judge alone finds wrong (its proof shows where the claim stands, not that the
    credited source is silent), a record that names nobody of that name, a claim that only the agent's
    own words say, an unjudged claim. So does what the NLI model alone takes for a contradiction,
    however sure it is: of 26 such claims one in 3 was one. (Figures: development packets, as in
    ``core/verification/decision.py``.)
    """
    if verdict.decision is Decision.ALLOW:
        return State.ALLOW
    return State.BLOCK if _is_shown(verdict) else State.NEEDS_REVIEW


def needs_review(verdict: ClaimVerdict) -> bool:
    """Whether a blocked claim is left to a person: its support is enough and a value or a check is open,
    or nothing but a middling support blocks it. What else is wrong leaves nothing to decide."""
    outcome = verdict.outcome
    if verdict.decision is not Decision.BLOCK or not isinstance(outcome, Judged):
        return False
    if verdict.verdict in (VerdictLabel.CONTRADICTED, VerdictLabel.SUPPORTED):
        return False
    support = outcome.support
    return support.supported or (support.needs_review and len(verdict.reasons) == 1)


def answer_state(verification: Verification) -> State:
    """The state of the answer: allow where the gate allows it, block where a claim is, else needs review.

    An answer that could not be verified (``unavailable``) needs review.
    """
    if verification.answer.decision is Decision.ALLOW:
        return State.ALLOW
    return worst_state((State.NEEDS_REVIEW, *map(state_of, verification.claims)))


def worst_state(states: Iterable[State]) -> State:
    """The worst of them; allow where there are none."""
    return max(states, key=list(State).index, default=State.ALLOW)


def _is_shown(verdict: ClaimVerdict) -> bool:
    """Whether what stops the claim is shown to be wrong, and not merely unconfirmed."""
    if any(citation.outcome.blocks for citation in verdict.citations):
        return True
    outcome = verdict.outcome
    if not isinstance(outcome, Judged):
        return False
    wrong = outcome.attribution.status is AttributionStatus.CONFLATION
    if wrong and not outcome.attribution.probable:
        return True
    proved = outcome.judge is not None and isinstance(outcome.judge.proof, Proved)
    return verdict.verdict is VerdictLabel.CONTRADICTED and (
        proved or any(one.veto and one.outcome is Outcome.CONTRADICTS for one in outcome.checks)
    )
