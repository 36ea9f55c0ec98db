"""One revision of an answer: which stretches are edited as one, and how they read afterwards."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.decomposition.clauses import has_finite_verb
from core.evidence.values import names_in
from core.records import (
    ClaimType,
    ClaimVerdict,
    Judged,
    RepairKind,
    Span,
    StatedAttribution,
)
from core.repair.clean_up import mend
from core.repair.drafts import (
    DESTRUCTIVENESS,
    RULES,
    TIDIED,
    Draft,
    Local,
    Plan,
    Recredit,
    Region,
    Removed,
    Reworded,
    Treatment,
    taken_out,
)
from core.repair.edits import Edit, apply_edits, edited_ranges
from core.repair.grammar import new_problems
from core.repair.layout import LineKind, units_of
from core.repair.reattribution import plan_credits
from core.repair.treatments import choose_treatments, closest_evidence, with_right_credit
from core.repair.wording import capitalised, credited, finished, lead_of, lowered, source_noun

_PRONOUNS = frozenset("she he it they her his its their".split())
_JOINT = re.compile(
    r"[\s,;:–—-]*(?:(?:and|but|or|while|whereas|although|though|as well as|plus|which|who|where|"
    r"with|so)\b)?[\s,]*(?:(?:also|then|additionally|in addition|with)\b)?[\s,*_]*",
    re.IGNORECASE,
)


def plan_edits(plan: Plan) -> tuple[Draft, ...]:
    """One edit or more for each blocked claim, without overlap, in the answer's order."""
    plan.treatments = choose_treatments(plan)
    regions = regions_of(plan)
    in_place, own = plan_credits(plan, regions)
    drafts = list(in_place)
    for region in regions:
        drafts += _region_edits(plan, region, own)
    drafts += _names_for_pronouns(plan, regions, drafts)
    return _without_overlap(drafts)


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


def _region_edits(plan: Plan, region: Region, own: frozenset[str]) -> list[Draft]:
    """The edits of one region; ``own`` are claims that need a sentence with its own credit."""
    treated = [
        (verdict, plan.treatments[verdict.claim.claim_id])
        for verdict in region.claims
        if verdict.claim.claim_id in plan.treatments
    ]
    if not treated:
        return []
    kept = [v for v in region.claims if v.claim.claim_id not in plan.treatments]
    if region.kind in (LineKind.ROW, LineKind.HEADING):
        # A row or a heading holds no sentence: what cannot be corrected inside it goes.
        treated = [
            (v, t if isinstance(t, Local | Recredit) else _as_removed(v, t)) for v, t in treated
        ]
    gone = [(v, t) for v, t in treated if isinstance(t, Removed)]
    rebuild = any(isinstance(t, Reworded) for _, t in treated) or any(
        v.claim.claim_id in own for v, _ in treated
    )
    if not rebuild and not gone:
        return _local_edits(plan, region, treated)
    if len(gone) == len(treated) and not kept:
        return [_whole(plan, region, treated, "", RepairKind.PRUNE)]
    # What a rewording left goes as a whole: it was never the answer's own sentence.
    if not rebuild and not _was_reworded(plan, region):
        cut = _cut_out(plan, region, [v for v, _ in gone])
        if cut is not None:
            return cut + _local_edits(plan, region, [p for p in treated if p not in gone])
    if region.kind in (LineKind.ROW, LineKind.HEADING):
        return [_whole(plan, region, treated, "", RepairKind.PRUNE)]
    return [_rebuilt(plan, region, treated)]


def _was_reworded(plan: Plan, region: Region) -> bool:
    return any(
        RepairKind.REWORD in plan.tried.get(verdict.claim.claim_id, frozenset())
        for verdict in region.claims
    )


def _as_removed(verdict: ClaimVerdict, treatment: Treatment) -> Removed:
    return treatment if isinstance(treatment, Removed) else taken_out(verdict)


def _local_edits(
    plan: Plan, region: Region, treated: Sequence[tuple[ClaimVerdict, Treatment]]
) -> list[Draft]:
    drafts: list[Draft] = []
    for _, treatment in treated:
        if isinstance(treatment, Local):
            drafts += treatment.drafts
        elif isinstance(treatment, Recredit) and treatment.local is not None:
            drafts += treatment.local.drafts
    return drafts


def _whole(
    plan: Plan,
    region: Region,
    treated: Sequence[tuple[ClaimVerdict, Treatment]],
    after: str,
    kind: RepairKind,
) -> Draft:
    reworded = [t for _, t in treated if isinstance(t, Reworded)]
    first = treated[0][0].outcome
    span = region.span if after else _with_its_line(plan.answer, region.span)
    return Draft(
        kind=kind,
        claim_ids=tuple(verdict.claim.claim_id for verdict, _ in treated),
        edit=Edit(span=span, after=after),
        reasons=tuple(dict.fromkeys(r for _, t in treated for r in _reasons(t))),
        source_id=reworded[0].source_id
        if reworded
        else (first.route.source_id if isinstance(first, Judged) else None),
        evidence=reworded[0].evidence if reworded else closest_evidence(plan, treated[0][0]),
        editor=reworded[0].editor if reworded else RULES,
        note=next((t.note for t in reworded if t.note), None),
    )


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


def _rebuilt(
    plan: Plan, region: Region, treated: Sequence[tuple[ClaimVerdict, Treatment]]
) -> Draft:
    """The region said again, one sentence a claim, each standing alone."""
    treatments = {verdict.claim.claim_id: treatment for verdict, treatment in treated}
    sentences: list[str] = []
    credit_before: StatedAttribution | None = None
    for verdict in region.claims:
        claim, treatment = verdict.claim, treatments.get(verdict.claim.claim_id)
        if isinstance(treatment, Removed):
            continue
        if isinstance(treatment, Reworded):
            sentences.append(treatment.text)
            credit_before = None
            continue
        text = claim.text if claim.claim_type is ClaimType.FACTUAL else claim.said
        text = capitalised(finished(text))
        if isinstance(treatment, Local):
            text = capitalised(finished(treatment.restated))
        if isinstance(treatment, Recredit):
            text = with_right_credit(plan, claim.stated, text, treatment)
        elif claim.stated is not None and claim.stated != credit_before:
            text = _with_own_credit(plan, region, claim.stated, text)
        credit_before = claim.stated
        if text not in sentences:
            sentences.append(text)
    kind = RepairKind.REWORD
    if any(isinstance(treatment, Removed) for treatment in treatments.values()):
        kind = RepairKind.PRUNE
    elif all(isinstance(treatment, Recredit | Local) for treatment in treatments.values()):
        kind = RepairKind.ATTRIBUTION
    after = " ".join(sentences)
    bare = region.kind is LineKind.ITEM and len(sentences) == 1
    if bare and not re.search(r"[.!?][\"'”’)\]*_]*$", region.span.cut(plan.answer)):
        after = after.rstrip(".")
    return _whole(plan, region, treated, after, kind)


def _with_own_credit(plan: Plan, region: Region, stated: StatedAttribution, text: str) -> str:
    """A kept claim's own credit, where it stood in the region and is not in the claim's words."""
    if not region.span.overlaps(stated.span) or stated.text in text:
        return text
    if lead_of(stated.text):
        return f"{capitalised(stated.text.rstrip(' ,:.'))}, {lowered(text, plan.known)}"
    noun = source_noun(stated.family, plan.families) if stated.family is not None else None
    if noun is None:
        return text
    return credited(text, noun, sentence=has_finite_verb(text), known=plan.known)


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
        outcome = one.outcome
        drafts.append(
            Draft(
                kind=RepairKind.PRUNE,
                claim_ids=(one.claim.claim_id,),
                edit=Edit(span=Span(start=start, end=end), after=""),
                reasons=(taken_out(one).reason,),
                source_id=outcome.route.source_id if isinstance(outcome, Judged) else None,
                evidence=closest_evidence(plan, one),
            )
        )
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


def _names_for_pronouns(
    plan: Plan, regions: Sequence[Region], drafts: Sequence[Draft]
) -> list[Draft]:
    """ "She also takes …" names the patient when the sentence that named her is gone."""
    named: list[Draft] = []
    for before, region in zip(regions, regions[1:], strict=False):
        first = region.claims[0]
        changed = any(draft.edit.span.overlaps(before.span) for draft in drafts)
        if not changed or first.claim.claim_id in plan.treatments:
            continue
        pronoun, name = _difference(first.claim.said, first.claim.text)
        if not pronoun and re.match(r"(?:She|He)\b", first.claim.said):
            people = [one.text for one in names_in(before.span.cut(plan.answer))]
            pronoun, name = first.claim.said.split()[0], people[0] if len(people) == 1 else ""
        if pronoun.lower() not in _PRONOUNS or not name:
            continue
        bare = re.sub(r"['’]s$", "", name)
        earlier = apply_edits(
            plan.answer[: region.span.start],
            [d.edit for d in drafts if d.edit.span.end <= region.span.start],
        )
        if bare in earlier or bare not in plan.answer + plan.trace.question:
            continue
        start = first.claim.span.start
        after = capitalised(name) if start == region.span.start else name
        named.append(
            Draft(
                kind=RepairKind.MEND,
                claim_ids=(first.claim.claim_id,),
                edit=Edit(span=Span(start=start, end=start + len(pronoun)), after=after),
                reasons=(f"The sentence that named {bare} is gone.",),
            )
        )
    return named


def _difference(said: str, text: str) -> tuple[str, str]:
    """What stands before the words that both end with, at a word boundary."""
    one, other = said.rstrip(" ."), text.rstrip(" .")
    shared = 0
    while shared < min(len(one), len(other)) and one[-1 - shared] == other[-1 - shared]:
        shared += 1
    head = one[: len(one) - shared]
    tail = other[: len(other) - shared]
    return head.strip(), tail.strip()


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
