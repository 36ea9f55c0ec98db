"""Distortions as checks of a verdict: what the source says and what the answer says, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from core.distortions.alignment import Prose
from core.distortions.detect import find_distortions, told_by
from core.distortions.records import Distortion, DistortionKind
from core.records import Check, Claim, FactPlace, Outcome, Probabilities

# On the development packets no kind accuses more than one good claim in 100, and none has been right
# 19 times in 20 on more than a handful of accusations: so none vetoes. What a claim only adds in caution,
# and a number or a name, which the checks of values and of charts compare with every fact, informs.
# Drift is right of 18 of the 68 that it accuses there, and of the 13 claims accused by what stands in a
# record's field (an abstract behind "results.abstract:") 8 are bad: both inform. So do a reversed direction
# and a dropped qualifier: on answers by other authors they accuse 21 good and 7 bad claims, no more bad
# ones than are among the claims there.
INFORMING = frozenset(
    {
        DistortionKind.SEMANTIC_DRIFT,
        DistortionKind.DIRECTION_REVERSED,
        DistortionKind.QUALIFIER_ADDED,
        DistortionKind.QUALIFIER_DROPPED,
        DistortionKind.NUMBER_CHANGED,
        DistortionKind.ENTITY_SUBSTITUTED,
        DistortionKind.COMPARATOR_CHANGED,
        DistortionKind.SPECIFICITY_LOST,
    }
)
CHECK_NAMES = frozenset(kind.value for kind in DistortionKind)
# On the development packets these cut-offs accuse 68 of 566 aligned claims without a named change, and are
# right of 18, where 96 are bad (docs/decisions/measured-once.md). The nearest sentence read alone, and its
# embedding, rank a part of them no better. So drift informs: it says where to look, and moves no verdict.
CONTRADICTED_FROM, ENTAILED_BELOW = 0.5, 0.35


def check_distortions(claim: Claim, prose: Prose) -> tuple[Check, ...]:
    """One check a distortion, contradicting or silent, never a veto."""
    return tuple(_check(found) for found in find_distortions(claim.text, prose))


def _check(found: Distortion) -> Check:
    span = found.stated_span or found.sentence
    return Check(
        check=found.kind.value,
        outcome=Outcome.SILENT
        if found.kind in INFORMING or found.in_field
        else Outcome.CONTRADICTS,
        reason=reason_of(found),
        claim_span=found.difference.claim_span,
        facts=(FactPlace(source_id=found.source_id, span=span),),
        binding=found.coverage,
    )


_LEFT_OUT = {
    DistortionKind.QUALIFIER_ADDED: "{said} is not in the source",
    DistortionKind.SCOPE_CHANGED: "the source does not say {said}",
    DistortionKind.NEGATION_FLIP: "the answer denies what the source says: {said}",
}


def reason_of(found: Distortion) -> str:
    """One line: 'Association as cause: the source says “associated with”; the answer says “causes”'."""
    said, stated = found.difference.said, found.difference.stated
    kind = found.kind.value.capitalize()
    if said and stated:
        return f"{kind}: the source says “{stated}”; the answer says “{said}”"
    if stated:
        return f"{kind}: the source says “{stated}”; the answer leaves it out"
    if said:
        text = _LEFT_OUT.get(found.kind, "the answer says {said}, the source does not")
        return f"{kind}: {text.format(said=f'“{said}”')}"
    return f"{kind}: {found.sentence_text[:160]}"


def check_drift(
    claim: Claim,
    prose: Prose,
    checks: Sequence[Check],
    here: Sequence[Probabilities],
    everywhere: Sequence[Probabilities],
) -> Check | None:
    """What the NLI model says against a claim that a sentence nearly tells, where no named kind says why.

    ``here`` are the NLI scores of the routed source's windows, ``everywhere`` those of all windows.
    """
    against = max((said.contradiction for said in here), default=0.0)
    supported = max((said.entailment for said in everywhere), default=0.0)
    if against < CONTRADICTED_FROM or supported >= ENTAILED_BELOW:
        return None
    if any(check.check in CHECK_NAMES for check in checks):
        return None
    told = told_by(claim.text, prose)
    if not told:
        return None
    sentence, at = told[0]
    return Check(
        check=DistortionKind.SEMANTIC_DRIFT.value,
        outcome=Outcome.SILENT,
        reason="Semantic drift: the words are the source's, and the NLI model takes the claim for denied "
        f"({against:.2f})",
        facts=(FactPlace(source_id=sentence.source_id, span=sentence.span),),
        binding=round(at.coverage, 4),
    )
