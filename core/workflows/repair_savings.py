"""What one repair saved: claims kept and lost, words kept, wrong attributions left."""

from __future__ import annotations

from core.records import (
    AttributionStatus,
    ClaimType,
    ClaimVerdict,
    Decision,
    Judged,
    Repair,
    RepairKind,
    RepairOutcome,
    RepairSavings,
    RepairStatus,
    Verification,
)
from core.repair.edits import share_of_words_kept
from core.text.tokens import content_terms, overlap

# A supported claim is still there when the revised answer has a supported one with its words.
STILL_SAID = 0.9


def outcome_of(repair: Repair) -> RepairOutcome:
    """The repair as a verdict tells it."""
    after = repair.after or repair.before
    return RepairOutcome(
        status=repair.status,
        actions=repair.actions,
        revised_answer=repair.revised_answer,
        decision_after=after.answer.decision,
        reasons_after=after.answer.reasons,
        rounds=repair.rounds,
        removed=tuple(
            action.before.strip()
            for action in repair.actions
            if action.kind in (RepairKind.PRUNE, RepairKind.FALLBACK)
        ),
        saved=measure_repair(repair),
    )


def measure_repair(repair: Repair) -> RepairSavings:
    """What the repair kept, and which supported claims it lost."""
    before, after = repair.before, repair.after
    supported = _supported(before)
    if repair.status is RepairStatus.NOT_NEEDED:
        after = before
    remaining = [content_terms(one.claim.text) for one in _supported(after)] if after else []
    lost = []
    for one in supported:
        terms = content_terms(one.claim.text)
        match = next((t for t in remaining if overlap(terms, t) >= STILL_SAID), None)
        if match is None:
            lost.append(one.claim.text)
        else:
            remaining.remove(match)  # two equal claims need two places in the revised answer
    words = share_of_words_kept(before.trace.answer or "", repair.revised_answer or "")
    return RepairSavings(
        supported_before=len(supported),
        supported_kept=len(supported) - len(lost),
        lost=tuple(lost),
        words_kept=None if words is None else round(words, 4),
        wrong_attributions_before=_conflations(before),
        wrong_attributions_left=_conflations(after) if after else 0,
    )


def _supported(verification: Verification) -> list[ClaimVerdict]:
    return [
        one
        for one in verification.claims
        if one.claim.claim_type is ClaimType.FACTUAL and one.decision is Decision.ALLOW
    ]


def _conflations(verification: Verification) -> int:
    return sum(
        isinstance(one.outcome, Judged)
        and one.outcome.attribution.status is AttributionStatus.CONFLATION
        for one in verification.claims
    )
