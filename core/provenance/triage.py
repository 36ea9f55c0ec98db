"""The tier of a verified answer and what keeps its claims from passing, for lists and filters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.distortions.checks import CHECK_NAMES
from core.distortions.records import NAMED_KINDS
from core.provenance.analyse import claims_of
from core.provenance.records import ClaimProvenance, Tier
from core.provenance.risk import tier_of
from core.records import (
    AttributionStatus,
    ClaimVerdict,
    Decision,
    Judged,
    Outcome,
    SetAside,
    VerdictLabel,
    Verification,
)
from core.site_config import site_config
from core.verification.decision import decide_certain, decide_claim

WRONG_CREDIT, WRONG_CITATION, CONTRADICTED = "wrong credit", "wrong citation", "contradicted"
MADE_UP, NOT_CONFIRMED = "made up", "not confirmed"
NEEDS_A_PERSON, NOT_JUDGED = "needs a person", "not judged"

# Every cause there is, the most serious first: what a filter offers. The words are the ones shown.
CAUSES: tuple[str, ...] = (
    CONTRADICTED,
    WRONG_CREDIT,
    WRONG_CITATION,
    *(kind.value for kind in NAMED_KINDS),
    MADE_UP,
    NOT_CONFIRMED,
    NEEDS_A_PERSON,
    NOT_JUDGED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """``tier`` is the formula's, None without a factual claim; ``causes`` are of blocked claims."""

    tier: Tier | None
    causes: tuple[str, ...]


def triage(verified: Verification) -> Triage:
    """The tier and the causes of one answer: of a stored verdict too, which tells all it needs.

    Leaves out what a report adds (omissions, contradictions), so that a list of thousands can be
    made: a few milliseconds an answer.
    """
    claims = claims_of(verified)
    factual = [each for each in verified.claims if not isinstance(each.outcome, SetAside)]
    found = {
        cause
        for verdict, claim in zip(factual, claims, strict=True)
        if verdict.decision is Decision.BLOCK
        for cause in _causes(verdict, claim)
    }
    return Triage(
        tier=tier_of(max(claim.risk.total for claim in claims)) if claims else None,
        causes=tuple(cause for cause in CAUSES if cause in found),
    )


def _causes(verdict: ClaimVerdict, claim: ClaimProvenance) -> Iterator[str]:
    outcome = verdict.outcome
    if verdict.verdict in (None, VerdictLabel.UNJUDGED) or not isinstance(outcome, Judged):
        yield NOT_JUDGED
        return
    if verdict.verdict is VerdictLabel.CONTRADICTED:
        yield CONTRADICTED
    if outcome.attribution.status is AttributionStatus.CONFLATION:
        yield WRONG_CREDIT
    if any(finding.outcome.blocks for finding in verdict.citations):
        yield WRONG_CITATION
    for check in outcome.checks:
        if check.check in CHECK_NAMES and check.outcome is Outcome.CONTRADICTS:
            yield check.check
    if claim.fabrications:
        yield MADE_UP
    if verdict.verdict is not VerdictLabel.SUPPORTED:
        if outcome.support.supported or outcome.support.needs_review:
            yield NEEDS_A_PERSON
        elif verdict.verdict is not VerdictLabel.CONTRADICTED:
            yield NOT_CONFIRMED


def is_gated(verdict: ClaimVerdict, judged: Judged) -> bool:
    """Whether the claim would stay blocked if its support were certain.

    A verdict does not say under which profile it was decided: reasons beyond those of the one that
    ships are of checks that the other profile adds.
    """
    if verdict.decision is not Decision.BLOCK:
        return False
    config = site_config()
    if (
        judged.support.supported
        or decide_certain(verdict, judged, config).decision is Decision.BLOCK
    ):
        return True
    shipped = decide_claim(verdict.claim, judged, config, verdict.citations)
    return len(verdict.reasons) > len(shipped.reasons)
