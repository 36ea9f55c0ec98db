"""One revision of an answer: which stretches are edited as one, and how they read afterwards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.records import ClaimVerdict, RepairKind, Span
from core.repair.clean_up import mend
from core.repair.drafts import (
    DESTRUCTIVENESS,
    RULES,
    TIDIED,
    Draft,
    Local,
    Marked,
    Plan,
    Recredit,
    Region,
    Removed,
    Reworded,
    Treatment,
    left_over,
    marked,
)
from core.repair.edits import Edit, apply_edits, edited_ranges
from core.repair.grammar import new_problems
from core.repair.layout import LineKind, units_of
from core.repair.reattribution import plan_credits
from core.repair.treatments import choose_treatments, draft_for
from core.repair.wording import capitalised, finished

_CLOSING = re.compile(r"[*_`\"'”’)\]]+")
_JOINT = re.compile(
    r"[\s,;:–—-]*(?:(?:and|but|or|while|whereas|although|though|as well as|plus|which|who|where|"
    r"with|so)\b)?[\s,]*(?:(?:also|then|additionally|in addition|with)\b)?[\s,*_]*",
    re.IGNORECASE,
)


def plan_edits(plan: Plan) -> tuple[Draft, ...]:
    """One edit or more for each blocked claim, without overlap, in the answer's order."""
    plan.treatments = choose_treatments(plan)
    regions = regions_of(plan)
    drafts, unchanged = plan_credits(plan, regions)
    for verdict in plan.verification.claims:
        if verdict.claim.claim_id in unchanged:
            plan.treatments[verdict.claim.claim_id] = left_over(plan, verdict)
    for region in regions:
        drafts += _region_edits(plan, region)
    return _without_overlap([_with_note(plan, draft) for draft in drafts])


def regions_of(plan: Plan) -> list[Region]:
    """Units that a claim spans together are one region; units without a claim are none."""
    units = units_of(plan.answer)
    regions: list[Region] = []
    for verdict in sorted(plan.verification.claims, key=lambda one: one.claim.span.start):
        claim = verdict.claim
        there = [unit for unit in units if unit.span.overlaps(claim.span)]
        if not there:
            continue
        span = Span(start=there[0].span.start, end=there[-1].span.end)
        if regions and regions[-1].span.overlaps(span):
            last = regions.pop()
            span = Span(start=min(last.span.start, span.start), end=max(last.span.end, span.end))
            regions.append(Region(span=span, kind=last.kind, claims=(*last.claims, verdict)))
        else:
            regions.append(Region(span=span, kind=there[0].kind, claims=(verdict,)))
    return regions


def _region_edits(plan: Plan, region: Region) -> list[Draft]:
    """The edits of one region; its claims that need none keep their words."""
    treated = [
        (verdict, plan.treatments[verdict.claim.claim_id])
        for verdict in region.claims
        if verdict.claim.claim_id in plan.treatments
    ]
    if len(region.claims) > 1 or region.kind in (LineKind.ROW, LineKind.HEADING):
        # A sentence in place of one claim would not fit among the others, nor in a table.
        treated = [(v, left_over(plan, v) if isinstance(t, Reworded) else t) for v, t in treated]
    gone = [v for v, t in treated if isinstance(t, Removed)]
    if gone and len(gone) == len(region.claims):
        return [_whole(plan, region, treated, "", RepairKind.PRUNE)]
    drafts = [draft for _, treatment in treated for draft in _own_drafts(treatment)]
    drafts += [
        _whole(plan, region, treated, t.text, RepairKind.REWORD)
        for _, t in treated
        if isinstance(t, Reworded)
    ]
    if gone:
        cut = _cut_out(plan, region, gone)
        if cut is None and plan.removes:
            rest = [one.claim.text for one in region.claims if one not in gone]
            if region.kind in (LineKind.ROW, LineKind.HEADING):
                rest = []
            after = " ".join(dict.fromkeys(capitalised(finished(text)) for text in rest))
            return [_whole(plan, region, treated, after, RepairKind.PRUNE)]
        # What cannot be cut out without saying the rest again stays, and is marked.
        drafts += [_mark(plan, v, marked(v)) for v in gone] if cut is None else cut
    return drafts + [_mark(plan, v, t) for v, t in treated if isinstance(t, Marked)]


def _own_drafts(treatment: Treatment) -> tuple[Draft, ...]:
    local = treatment.local if isinstance(treatment, Recredit) else treatment
    return local.drafts if isinstance(local, Local) else ()


def _mark(plan: Plan, verdict: ClaimVerdict, treatment: Marked) -> Draft:
    """The claim's own words with the mark behind them, so that a reviewer can change either."""
    claim = verdict.claim
    said = claim.said.rstrip(" \t\r\n.!?,;:|")
    closing = _CLOSING.match(plan.answer, claim.span.start + len(said))
    end = closing.end() if closing else claim.span.start + len(said)
    span = Span(start=claim.span.start, end=end)
    edit = Edit(span=span, after=f"{span.cut(plan.answer)} {treatment.mark}")
    return draft_for(plan, verdict, RepairKind.MARK, edit, treatment.reason)


def _with_note(plan: Plan, draft: Draft) -> Draft:
    """The edit with why no model worded it."""
    notes = [plan.notes[one] for one in draft.claim_ids if one in plan.notes]
    return replace(draft, note=notes[0]) if notes and draft.editor == RULES else draft


def _whole(
    plan: Plan,
    region: Region,
    treated: Sequence[tuple[ClaimVerdict, Treatment]],
    after: str,
    kind: RepairKind,
) -> Draft:
    first, treatment = treated[0]
    span = region.span if after else _with_its_line(plan.answer, region.span)
    reasons = dict.fromkeys(r for _, t in treated for r in _reasons(t))
    draft = draft_for(plan, first, kind, Edit(span=span, after=after), *reasons)
    draft = replace(draft, claim_ids=tuple(verdict.claim.claim_id for verdict, _ in treated))
    if not isinstance(treatment, Reworded):
        return draft
    return replace(draft, evidence=treatment.evidence, editor=treatment.editor)


def _with_its_line(answer: str, span: Span) -> Span:
    """The span with its line break, when it is all of a line between lines that stay together."""
    start = answer.rfind("\n", 0, span.start) + 1
    end = answer.find("\n", span.end)
    behind = answer[span.end : end if end >= 0 else len(answer)]
    if answer[start : span.start].strip() or behind.strip() or end < 0:
        return span
    below = answer[end + 1 :].split("\n", 1)[0]
    return Span(start=span.start, end=end + 1) if below.strip() and start == span.start else span


def _reasons(treatment: Treatment) -> tuple[str, ...]:
    if isinstance(treatment, Local):
        return tuple(reason for draft in treatment.drafts for reason in draft.reasons)
    return (treatment.reason,)


# ---------------------------------------------------------------- taking claims out


def _cut_out(plan: Plan, region: Region, gone: Sequence[ClaimVerdict]) -> list[Draft] | None:
    """Clauses cut out of a sentence whose other claims stay; None when that would not read well."""
    answer = plan.answer
    lost = {one.claim.claim_id for one in gone}
    claims = sorted(region.claims, key=lambda one: one.claim.span.start)
    for one, other in zip(claims, claims[1:], strict=False):
        if one.claim.span.overlaps(other.claim.span):
            return None
    kept = [one for one in claims if one.claim.claim_id not in lost]
    if claims[0].claim.claim_id in lost and not _stands_alone(kept[0]):
        return None
    drafts: list[Draft] = []
    for index, one in enumerate(claims):
        if one.claim.claim_id not in lost:
            continue
        later = [c for c in claims[index + 1 :] if c.claim.claim_id not in lost]
        earlier = [c for c in claims[:index] if c.claim.claim_id not in lost]
        if earlier:
            before = claims[index - 1].claim.span.end
            joint = answer[before : one.claim.span.start]
            end = one.claim.span.start + len(one.claim.said.rstrip(" .!?"))
            start = before if claims[index - 1].claim.claim_id not in lost else one.claim.span.start
        elif later:
            joint = answer[one.claim.span.end : claims[index + 1].claim.span.start]
            start, end = one.claim.span.start, claims[index + 1].claim.span.start
        else:
            return None
        if _JOINT.fullmatch(joint) is None:
            return None
        start = min(start, end - len(one.claim.said.rstrip(" .!?"))) if earlier else start
        if earlier and claims[index - 1].claim.claim_id in lost:
            start = claims[index - 1].claim.span.end
        edit = Edit(span=Span(start=start, end=end), after="")
        reasons = _reasons(plan.treatments[one.claim.claim_id])
        drafts.append(draft_for(plan, one, RepairKind.PRUNE, edit, *reasons))
    drafts += _joined_again(plan, claims, lost)
    return drafts if _reads_well(plan, region, drafts) else None


def _stands_alone(verdict: ClaimVerdict) -> bool:
    said, text = (s.strip(" .*_").lower() for s in (verdict.claim.said, verdict.claim.text))
    return said == text


def _joined_again(plan: Plan, claims: Sequence[ClaimVerdict], lost: set[str]) -> list[Draft]:
    """ "A, B, and C" without C is "A and B": the last comma becomes the "and" that went."""
    kept = [one.claim for one in claims if one.claim.claim_id not in lost]
    last_lost = claims[-1].claim.claim_id in lost
    if len(kept) < 2 or not last_lost:
        return []
    gap = Span(start=kept[-2].span.end, end=kept[-1].span.start)
    if not re.fullmatch(r",\s+", gap.cut(plan.answer)):
        return []
    return [
        Draft(
            kind=RepairKind.MEND,
            claim_ids=(),
            edit=Edit(span=gap, after=" and "),
            reasons=(TIDIED,),
        )
    ]


def _reads_well(plan: Plan, region: Region, drafts: Sequence[Draft]) -> bool:
    ordered = sorted(drafts, key=lambda draft: draft.edit.span.start)
    for one, other in zip(ordered, ordered[1:], strict=False):
        if other.edit.span.start < one.edit.span.end:
            return False
    moved = [
        Edit(
            span=Span(
                start=draft.edit.span.start - region.span.start,
                end=draft.edit.span.end - region.span.start,
            ),
            after=draft.edit.after,
        )
        for draft in drafts
    ]
    before = region.span.cut(plan.answer)
    after = apply_edits(before, moved)
    mended = apply_edits(after, mend(after, edited_ranges(moved)))
    return bool(mended.strip()) and not new_problems(before, mended)


def _without_overlap(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Overlapping edits: the more destructive one covers the other's ground, so it alone stays."""
    chosen: list[Draft] = []
    for draft in sorted(drafts, key=lambda d: -DESTRUCTIVENESS.index(d.kind)):
        clash = any(_clashes(draft.edit.span, other.edit.span) for other in chosen)
        if not clash:
            chosen.append(draft)
    return tuple(sorted(chosen, key=lambda d: (d.edit.span.start, d.edit.span.end)))


def _clashes(one: Span, other: Span) -> bool:
    if one.start == one.end or other.start == other.end:
        return (
            other.start <= one.start <= other.end
            and one.start <= other.end
            and (one == other or other.start < one.start < other.end)
            or (one.start < other.start < one.end)
        )
    return one.overlaps(other)
