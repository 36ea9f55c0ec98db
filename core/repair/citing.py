"""Wrong citations put right where they stand: another mark of the answer's own style, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.records import CitationFinding, ClaimVerdict, Judged, RepairKind, Span
from core.repair.drafts import Draft, Local, Plan
from core.repair.edits import Edit

_OPENS = re.compile(r"\s*[(\[]\s*(?:see\s+)?(?:(?:PMIDs?|doi|arXiv)[:\s]*)?\Z", re.I)
_CLOSES = re.compile(r"\s*[)\]]")
_MARK = re.compile(r"\[\^?[\w.-]{1,12}\]|[⁰¹²³⁴-⁹]+|\[[^\[\]\n]+\]\([^()\s]+\)")


def corrected_citations(plan: Plan, verdict: ClaimVerdict) -> tuple[Draft, ...]:
    """One edit for each wrong citation of a claim; nothing unless all of them can be put right."""
    wrong = [one for one in verdict.citations if one.outcome.blocks]
    drafts = [_corrected(plan, verdict, one) for one in wrong]
    return tuple(d for d in drafts if d is not None) if all(drafts) else ()


def with_citations(verdict: ClaimVerdict, cited: Sequence[Draft], local: Local | None) -> Local:
    """The corrected citations as small edits of the claim, beside those of its values if there are any."""
    restated = local.restated if local is not None else verdict.claim.text
    wrong = [one for one in verdict.citations if one.outcome.blocks]
    for finding, draft in zip(wrong, cited, strict=True):
        opened = re.escape(finding.text)
        if not draft.edit.after:
            opened = rf"\s*[(\[]?(?:PMIDs?[:\s]*|doi[:\s]*)?{opened}[)\]]?"
        found = re.search(opened, restated)
        if found is not None:
            restated = restated[: found.start()] + draft.edit.after + restated[found.end() :]
    return Local(drafts=(*(local.drafts if local is not None else ()), *cited), restated=restated)


def not_cited(names: Sequence[str], verdict: ClaimVerdict | None) -> list[str]:
    """The names and values that are no part of a wrong citation of the claim."""
    marks = [one.text for one in verdict.citations if one.outcome.blocks] if verdict else []
    return [name for name in names if not any(name in mark or mark in name for mark in marks)]


def is_the_credit(verdict: ClaimVerdict) -> bool:
    """Whether what the answer credits is the citation that is wrong."""
    stated = verdict.claim.stated
    return stated is not None and any(
        one.outcome.blocks and (one.span.overlaps(stated.span) or one.text in stated.text)
        for one in verdict.citations
    )


def _corrected(plan: Plan, verdict: ClaimVerdict, finding: CitationFinding) -> Draft | None:
    span, after, what = finding.span, finding.instead, f"it becomes {finding.instead}"
    if finding.instead is None:
        shared = any(
            not other.outcome.blocks and other.span == finding.span
            for one in plan.verification.claims
            for other in one.citations
        )
        taken = None if shared else _whole_mark(plan.answer, finding)
        if taken is None:
            return None
        span, after, what = taken, "", "it is taken out"
    elif finding.better is not None:
        what += f", which is where {plan.trace.names[finding.better.source_id]} says this"
    better, outcome = finding.better, verdict.outcome
    routed = outcome.route.source_id if isinstance(outcome, Judged) else None
    return Draft(
        kind=RepairKind.ATTRIBUTION,
        claim_ids=tuple(
            one.claim.claim_id for one in plan.verification.claims if finding in one.citations
        ),
        edit=Edit(span=span, after=after or ""),
        reasons=(f"{finding.text}: {finding.reason}; {what}.",),
        source_id=better.source_id if better is not None else routed,
        evidence=(better.span,) if better is not None and better.span is not None else (),
    )


def _whole_mark(answer: str, finding: CitationFinding) -> Span | None:
    """The mark with its brackets and the space before it; None where a sentence leans on it."""
    span = finding.span
    opened, closed = _OPENS.search(answer[: span.start]), _CLOSES.match(answer, span.end)
    if opened and closed:
        return Span(start=opened.start(), end=closed.end())
    if _MARK.fullmatch(finding.text) is None:
        return None
    start = span.start - (answer[span.start - 1 : span.start] == " ")
    return Span(start=start, end=span.end)
