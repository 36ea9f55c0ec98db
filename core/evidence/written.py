"""What the agent itself wrote into a call: evidence of what that file, message or page contains."""

from __future__ import annotations

from collections.abc import Iterator

from core.evidence.claim_view import view_claim
from core.evidence.fact_index import FactIndex
from core.records import Check, Claim, FactPlace, Outcome

_LEAST_WORDS = 3
ENOUGH = 0.8  # of the claim's content words in one written text


def check_written(claim: Claim, index: FactIndex) -> Iterator[Check]:
    """A check that supports a claim whose words one written argument holds; silent for most of them."""
    words = view_claim(claim.text, index.people).words
    if len(words) < _LEAST_WORDS or not index.written:
        return
    share, source_id = max(
        (len(words & held) / len(words), source_id) for source_id, held in index.written
    )
    if share < ENOUGH / 2:
        return
    supports = share >= ENOUGH
    yield Check(
        check="argument",
        outcome=Outcome.SUPPORTS if supports else Outcome.SILENT,
        reason=f"{share:.0%} of the claim's words stand in what was written to the call",
        facts=(FactPlace(source_id=source_id, span=None),) if supports else (),
        binding=share,
    )
