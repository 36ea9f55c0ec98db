"""A blocked claim with its values corrected, its qualifiers given back, or in a model's words."""

from __future__ import annotations

from collections.abc import Sequence

from core.evidence.values import names_in, protected_values, value_present
from core.records import (
    CheckedValue,
    Claim,
    ClaimVerdict,
    EditorText,
    EditRequest,
    Judged,
    RepairKind,
    Source,
    Span,
    VerdictLabel,
)
from core.repair.candidates import (
    EvidenceLine,
    best_line,
    fitting_value,
    missing_qualifier,
    turns,
)
from core.repair.drafts import Draft, Local, Plan, Reworded
from core.repair.edits import Edit, apply_edits
from core.repair.grammar import new_problems
from core.repair.wording import (
    capitalised,
    credited,
    finished,
    is_record_line,
    named_families,
    source_noun,
)
from core.text.tokens import content_terms

# A line of evidence is about a claim when it shares this much of the claim's words.
_ABOUT = 0.5
_SURELY = 0.75
_LONGEST_REWORDING = 400  # characters


def credit_noun(plan: Plan, source: Source, *, apart_from: str | None = None) -> str | None:
    """What to call a source: its family, or its tool where the family would not tell it apart."""
    family = plan.verification.families[source.source_id]
    noun = source_noun(family, plan.families)
    if noun is not None and family != apart_from:
        return noun
    same = [s for s in plan.trace.sources if s.tool_name == source.tool_name]
    return source.tool_name if len(same) == 1 else None


def corrected_values(
    plan: Plan,
    verdict: ClaimVerdict,
    judged: Judged,
    source: Source,
    missing: Sequence[CheckedValue],
) -> Local | None:
    """Every missing value replaced by the one value of the premise that fits; None unless all can be."""
    claim, said = verdict.claim, verdict.claim.said
    drafts, restated = [], claim.text
    for checked in missing:
        value = checked.value
        line = best_line(claim.text, judged.premise.text, without=value.text)
        # Records hold dates of many events: a date is corrected only where the line is surely the one.
        needed = _SURELY if value.kind in ("date", "time") else _ABOUT
        if value.identity or line is None or line.share < needed or said.count(value.text) != 1:
            return None
        found = fitting_value(value, claim.text, line.text, claim.protected_values)
        if found is None:
            return None
        at = claim.span.start + said.index(value.text)
        restated = restated.replace(value.text, found, 1)
        drafts.append(
            Draft(
                kind=RepairKind.VALUE,
                claim_ids=(claim.claim_id,),
                edit=Edit(span=Span(start=at, end=at + len(value.text)), after=found),
                reasons=(
                    f"“{value.text}” is not in {source.tool_name}; "
                    f"the one value there that fits is “{found}”.",
                ),
                source_id=source.source_id,
                evidence=place_of(source, line, judged),
            )
        )
    return Local(drafts=tuple(drafts), restated=restated) if drafts else None


def with_qualifiers(
    plan: Plan, verdict: ClaimVerdict, judged: Judged, source: Source
) -> Local | None:
    """The negation or qualifier that the premise has and the claim dropped, put back."""
    claim = verdict.claim
    line = best_line(claim.text, judged.premise.text)
    if line is None or line.share < _ABOUT or is_record_line(line.text):
        return None
    found = missing_qualifier(claim.said, line.text)
    again = missing_qualifier(claim.text, line.text)
    if found is None or again is None:
        return None
    shown = found.added or found.after.strip()
    draft = Draft(
        kind=RepairKind.QUALIFIER,
        claim_ids=(claim.claim_id,),
        edit=Edit(
            span=Span(
                start=claim.span.start + found.span.start, end=claim.span.start + found.span.end
            ),
            after=found.after,
        ),
        reasons=(f"{source.tool_name} says “{shown}”, which the answer left out.",),
        source_id=source.source_id,
        evidence=place_of(source, line, judged),
    )
    restated = apply_edits(claim.text, [Edit(span=again.span, after=again.after)])
    if _says_more(restated, line, turned=turns(found), claim=claim):
        return None
    return Local(drafts=(draft,), restated=restated)


def _says_more(restated: str, line: EvidenceLine, *, turned: bool, claim: Claim) -> bool:
    """Whether a claim with its qualifier back keeps what the line does not say: a year, a place.

    Without the qualifier that was a detail of something wrong; beside it, it is a new statement. A
    claim whose sense is turned may keep no word that the line does not have.
    """
    values = [one for one in protected_values(restated) if one.kind != "name"]
    if not all(value_present(one, line.text) for one in values):
        return True
    known = " ".join(
        (line.text, claim.subject or "", claim.stated.text if claim.stated is not None else "")
    )
    names = [one.text for one in names_in(restated)]
    return turned and bool(content_terms(restated) - content_terms(" ".join((known, *names))))


def reworded(plan: Plan, verdict: ClaimVerdict, judged: Judged) -> Reworded | None:
    """The claim as the configured model rewrote it; None without one, or where that cannot be used.

    Why it cannot is noted in the plan, for the edit that is made instead. The rules write no sentence
    of their own: a record's fields pasted into prose read as facts and say less.
    """
    if plan.editor is None:
        return None
    given = plan.editor.rewrite(
        EditRequest(
            claim=verdict.claim.text,
            premise=judged.premise.text,
            verdict=(verdict.verdict or VerdictLabel.UNJUDGED).value,
        )
    )
    if not isinstance(given, EditorText):
        trouble: str | None = given.reason
    else:
        trouble = _unusable(given.text, judged.premise.text)
    if trouble is not None or not isinstance(given, EditorText):
        plan.notes[verdict.claim.claim_id] = f"{plan.editor.name}: {trouble}."
        return None
    source = plan.trace.source(judged.route.source_id)
    text, noun = capitalised(finished(given.text.strip())), credit_noun(plan, source)
    if noun is not None and not named_families(text, plan.families):
        text = credited(text, noun, sentence=True, known=plan.known)
    return Reworded(
        text=text,
        reason=f"Reworded from what {source.tool_name} says. {verdict.reasons[0]}",
        source_id=source.source_id,
        evidence=judged.premise.spans,
        editor=plan.editor.name,
    )


def _unusable(text: str, premise: str) -> str | None:
    """Why a model's rewording cannot be used; None when it can."""
    bare = text.strip()
    if not bare or "\n" in bare or len(bare) > _LONGEST_REWORDING:
        return "it gave no single sentence"
    strange = [
        value.text
        for value in protected_values(bare)
        if not value_present(value, premise) and value.text not in premise
    ]
    if strange:
        return f"it used a value that is not in the evidence (“{strange[0]}”)"
    if new_problems("", finished(bare)):
        return "its sentence was not well formed"
    return None


def place_of(source: Source, line: EvidenceLine, judged: Judged) -> tuple[Span, ...]:
    """Where a line of the premise stands in its source; the whole premise when it is not found."""
    at = source.text.find(line.text)
    if at < 0:
        return judged.premise.spans
    return (Span(start=at, end=at + len(line.text)),)
