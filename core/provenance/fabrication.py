"""What an answer states and nothing behind it holds: values, names, identifiers, citations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.evidence.values import value_present
from core.provenance.records import Fabrication
from core.records import (
    CitationFinding,
    CitationOutcome,
    Claim,
    ClaimVerdict,
    Judged,
    Outcome,
    Span,
    Trace,
)

# Names of everyday things are written in too many ways to be called made up.
_KINDS = frozenset("number percent dose date time currency identifier name".split())


def fabricated_values(verdict: ClaimVerdict, evidence: str) -> tuple[Fabrication, ...]:
    """The claim's values that stand in no output, no call and no question, and follow from none."""
    if not isinstance(verdict.outcome, Judged):
        return ()
    given = [
        check.claim_span
        for check in verdict.outcome.checks
        if check.outcome is Outcome.SUPPORTS and check.claim_span is not None
    ]
    return tuple(_made_up(verdict.claim, given, evidence))


def _made_up(claim: Claim, given: Sequence[Span], evidence: str) -> Iterator[Fabrication]:
    for value in claim.protected_values:
        if value.kind not in _KINDS or any(span.overlaps(value.span) for span in given):
            continue
        if not value_present(value, evidence):
            yield Fabrication(
                claim_id=claim.claim_id, text=value.text, kind=value.kind, span=value.span
            )


def everything_captured(trace: Trace) -> str:
    """Every output, every call's arguments and the question: what a value may rest on."""
    parts = [trace.question]
    for source in trace.sources:
        parts.append(source.text)
        if source.arguments:
            parts.append(source.arguments)
    return "\n".join(parts)


def fabricated_citations(findings: Sequence[CitationFinding]) -> tuple[Fabrication, ...]:
    """The citations that resolve to nothing in the captured run."""
    return tuple(
        Fabrication(
            claim_id=None, text=found.text, kind=f"citation ({found.kind.value})", span=None
        )
        for found in findings
        if found.outcome is CitationOutcome.RESOLVES_TO_NOTHING
    )
