"""A claim whose words are the source's and whose meaning is not, by none of the named changes."""

from __future__ import annotations

from collections.abc import Sequence

from core.provenance.distortions.alignment import Prose
from core.provenance.distortions.checks import CHECK_NAMES
from core.provenance.distortions.detect import told_by
from core.provenance.distortions.records import DistortionKind
from core.records import Check, Claim, FactPlace, Outcome, Probabilities

# On the development packets these cut-offs accuse 68 of 566 aligned claims without a named change, and are
# right of 18, where 96 are bad (bench/drift_bench.py). The nearest sentence read alone, and its embedding,
# rank a part of them no better. So drift informs: it says where to look, and moves no verdict.
CONTRADICTED_FROM, ENTAILED_BELOW = 0.5, 0.35


def check_drift(
    claim: Claim,
    prose: Prose,
    checks: Sequence[Check],
    here: Sequence[Probabilities],
    everywhere: Sequence[Probabilities],
) -> Check | None:
    """What the reader says against a claim that a sentence nearly tells, where no named kind says why.

    ``here`` are the readings of the routed source's windows, ``everywhere`` those of all windows.
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
        reason="Semantic drift: the words are the source's, and the reader takes the claim for denied "
        f"({against:.2f})",
        facts=(FactPlace(source_id=sentence.source_id, span=sentence.span),),
        binding=round(at.coverage, 4),
    )
