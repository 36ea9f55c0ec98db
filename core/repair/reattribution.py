"""Wrong credits changed where they stand, or a right one added where a claim needs its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.decomposition.clauses import has_finite_verb
from core.records import ClaimVerdict, RepairKind, Span, StatedAttribution
from core.repair.drafts import Draft, Plan, Recredit, Region, Removed
from core.repair.edits import Edit, narrowed
from core.repair.layout import LineKind
from core.repair.treatments import draft_for
from core.repair.wording import credited, lead_of, named_families, recredit


def plan_credits(plan: Plan, regions: Sequence[Region]) -> tuple[list[Draft], frozenset[str]]:
    """Credits changed where they stand, and the claims that need a sentence with their own."""
    drafts: list[Draft] = []
    own: set[str] = set()
    done: set[Span] = set()
    for verdict in plan.verification.claims:
        treatment = plan.treatments.get(verdict.claim.claim_id)
        if not isinstance(treatment, Recredit):
            continue
        stated = verdict.claim.stated
        region = next(r for r in regions if verdict in r.claims)
        if stated is not None and stated.span in done:
            continue
        if stated is not None and _all_agree(plan, stated, treatment):
            draft = _changed_credit(plan, verdict, stated, treatment)
            if draft is not None:
                drafts.append(draft)
                done.add(stated.span)
                continue
        draft = _added_credit(plan, region, verdict, treatment)
        if draft is None:
            own.add(verdict.claim.claim_id)
        else:
            drafts.append(draft)
    return drafts, frozenset(own)


def _all_agree(plan: Plan, stated: StatedAttribution, treatment: Recredit) -> bool:
    """Whether every claim under a credit belongs to the same other source, or is taken out."""
    for verdict in plan.verification.claims:
        if verdict.claim.stated is None or verdict.claim.stated.span != stated.span:
            continue
        other = plan.treatments.get(verdict.claim.claim_id)
        if isinstance(other, Removed):
            continue
        if not isinstance(other, Recredit) or other.noun != treatment.noun:
            return False
    return True


def _changed_credit(
    plan: Plan, verdict: ClaimVerdict, stated: StatedAttribution, treatment: Recredit
) -> Draft | None:
    """The credit's words changed in place, up to the claim where they only lead to it."""
    answer, claim = plan.answer, verdict.claim
    if stated.source_id is not None and treatment.marker is not None:
        return _credit_draft(plan, verdict, treatment, stated.span, treatment.marker)
    if treatment.noun is None:
        return _dropped_credit(plan, verdict, stated, treatment)
    span, after = stated.span, recredit(stated.text, treatment.noun, plan.families)
    gap = answer[stated.span.end : claim.span.start]
    leads = stated.span.end <= claim.span.start and "\n" not in gap and len(gap) <= 120
    if leads and not _claim_between(plan, stated.span.end, claim.span.start):
        lead = lead_of(stated.text)
        if lead is not None:
            after = f"{lead} {treatment.noun}"
        if after is not None:
            ends = re.search(r"(?:\s+that\s+|:\s+|,?\s+)$", gap)
            joint = ends.group() if ends else gap
            if lead is not None and joint.strip() == "":
                joint = ", "
            span = Span(start=stated.span.start, end=claim.span.start)
            after += joint
    right = named_families(treatment.noun, plan.families)
    if after is None or named_families(after, plan.families) != right:
        if not leads:
            return None
        span = Span(start=stated.span.start, end=claim.span.start)
        after = f"According to {treatment.noun}, "
    return _credit_draft(plan, verdict, treatment, span, after)


def _dropped_credit(
    plan: Plan, verdict: ClaimVerdict, stated: StatedAttribution, treatment: Recredit
) -> Draft | None:
    """A credit that no words can tell apart from the right one (two calls of one tool) is left out."""
    answer, claim = plan.answer, verdict.claim
    gap = answer[stated.span.end : claim.span.start]
    if stated.span.end <= claim.span.start and "\n" not in gap:
        first = answer[claim.span.start : claim.span.start + 1]
        span = Span(start=stated.span.start, end=claim.span.start + 1)
        return _credit_draft(plan, verdict, treatment, span, first.upper())
    opened = answer[: stated.span.start].rstrip()
    if opened.endswith(("(", "[")) and answer[stated.span.end :].lstrip()[:1] in (")", "]"):
        close = re.compile(r"\s*[)\]]").match(answer, stated.span.end)
        assert close is not None
        return _credit_draft(
            plan, verdict, treatment, Span(start=len(opened) - 1, end=close.end()), ""
        )
    if re.fullmatch(r"\[\^?[\w.-]{1,12}\]|\(\d{1,3}\)|[¹²³⁴-⁹]+", stated.text):
        return _credit_draft(plan, verdict, treatment, stated.span, "")
    return None


def _added_credit(
    plan: Plan, region: Region, verdict: ClaimVerdict, treatment: Recredit
) -> Draft | None:
    """The right source named at the head of a region that says nothing else; None otherwise."""
    claim = verdict.claim
    alone = all(
        other is verdict or isinstance(plan.treatments.get(other.claim.claim_id), Removed)
        for other in region.claims
    )
    inside = claim.stated is not None and region.span.overlaps(claim.stated.span)
    noun = treatment.noun
    if noun is None or not alone or inside or region.kind in (LineKind.ROW, LineKind.HEADING):
        return None
    said = region.span.cut(plan.answer)
    after = credited(said, noun, sentence=has_finite_verb(said), known=plan.known)
    if after.endswith(said):
        edit = Edit(
            span=Span(start=region.span.start, end=region.span.start), after=after[: -len(said)]
        )
    else:
        edit = narrowed(plan.answer, Edit(span=region.span, after=after))
    return _credit_draft(plan, verdict, treatment, edit.span, edit.after)


def _credit_draft(
    plan: Plan, verdict: ClaimVerdict, treatment: Recredit, span: Span, after: str
) -> Draft:
    governed = [
        other.claim.claim_id
        for other in plan.verification.claims
        if isinstance(plan.treatments.get(other.claim.claim_id), Recredit)
        and other.claim.stated is not None
        and verdict.claim.stated is not None
        and other.claim.stated.span == verdict.claim.stated.span
    ]
    edit = Edit(span=span, after=after)
    draft = draft_for(plan, verdict, RepairKind.ATTRIBUTION, edit, treatment.reason)
    return replace(draft, claim_ids=tuple(governed) or draft.claim_ids)


def _claim_between(plan: Plan, start: int, end: int) -> bool:
    between = Span(start=start, end=end)
    return any(one.claim.span.overlaps(between) for one in plan.verification.claims)
