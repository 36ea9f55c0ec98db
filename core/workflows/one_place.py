"""Verify the claims of one stretch of an answer: the whole answer is split, those claims alone are read.

Each verdict is the one that verifying the whole answer gives, at a fraction of the reading.
"""

from __future__ import annotations

from dataclasses import replace

from core.citations.claims import citations_by_claim
from core.citations.references import set_entries_aside
from core.config import Config
from core.decide import counted_share
from core.judging.cases import rank_claims, read_window
from core.judging.opening import embed_window, open_window
from core.pipeline import Models, judge_or_block, outcome_of
from core.records import ClaimVerdict, Span, Trace
from core.stages.decision import decide_claim


def verify_place(
    trace: Trace, place: Span, models: Models, config: Config
) -> tuple[ClaimVerdict, ...]:
    """The verdicts on the claims that overlap ``place`` in the answer, in its order."""
    (whole,) = open_window([(trace, None)], models, config)
    claims = set_entries_aside(trace, whole.claims)
    here = tuple(claim for claim in claims if claim.span.overlaps(place))
    one = replace(whole, claims=here)
    vectors = embed_window([one], models.embedder)
    cases = rank_claims(one, vectors, models, config)
    readings = read_window([one], [cases], models.reader)
    judged = {
        case.claim.claim_id: judge_or_block(case, one, readings, models, config) for case in cases
    }
    cited = citations_by_claim(trace, claims)
    found = []
    for claim in here:
        outcome = outcome_of(claim, judged, config)
        share = counted_share(models.calibrator, outcome)
        citations = cited.get(claim.claim_id, ())
        found.append(decide_claim(claim, outcome, config, citations, share))
    return tuple(found)
