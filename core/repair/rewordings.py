"""Other wordings of a blocked claim: its values corrected, its qualifiers given back, its source's line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.decomposition.clauses import has_finite_verb
from core.evidence.values import names_in, protected_values, value_present
from core.ports import Editor
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
    best_lines,
    fitting_value,
    missing_qualifier,
    turns,
    whole_record,
)
from core.repair.drafts import (
    RULES,
    Draft,
    Local,
    Plan,
    Reworded,
    Treatment,
)
from core.repair.edits import Edit, apply_edits
from core.repair.grammar import new_problems
from core.repair.wording import (
    capitalised,
    credited,
    finished,
    from_evidence,
    is_record_line,
    named_families,
    source_noun,
)
from core.text.tokens import content_terms

# A line of evidence is about a claim when it shares this much of the claim's words.
_ABOUT = 0.5


_SURELY = 0.75


_NEAR = 0.3  # less where the source contradicts the claim, or when nothing else is left


_LONGEST_REWORDING = 400  # characters
_SOURCES_SEARCHED, _CHARACTERS_SEARCHED = 12, 60_000  # outside the premise, for a rewording


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
    if not all(value_present(one, line.whole) for one in values):
        return True
    known = " ".join(
        (line.whole, claim.subject or "", claim.stated.text if claim.stated is not None else "")
    )
    names = [one.text for one in names_in(restated)]
    return turned and bool(content_terms(restated) - content_terms(" ".join((known, *names))))


def rewordings(
    plan: Plan, verdict: ClaimVerdict, judged: Judged, *, wider: bool = False
) -> list[Treatment]:
    """What the evidence says about the claim's subject, a sentence each; the routed source first."""
    claim = verdict.claim
    about = verdict.verdict in (VerdictLabel.CONTRADICTED, VerdictLabel.UNSUPPORTED)
    needed = _NEAR if about or wider else _ABOUT
    count = 4 if wider else 2
    routed = plan.trace.source(judged.route.source_id)
    found = [(routed, line) for line in best_lines(claim.text, judged.premise.text, count)]
    found += _lines_elsewhere(plan, claim.text, judged.premise.text, count // 2)
    offered: list[Treatment] = []
    for source, line in found:
        if line.share < needed or len(line.whole) > _LONGEST_REWORDING:
            continue
        by_model = source is routed and not offered
        if not _keeps_subject(plan, verdict, source, line):
            continue
        for written in _written(plan, verdict, judged, source, line, by_model):
            offered.append(
                Reworded(
                    text=written.text,
                    reason=f"Reworded from what {source.tool_name} says. {verdict.reasons[0]}",
                    source_id=source.source_id,
                    evidence=place_of(source, line, judged),
                    editor=written.editor,
                    note=written.note,
                )
            )
    return offered


def _keeps_subject(plan: Plan, verdict: ClaimVerdict, source: Source, line: EvidenceLine) -> bool:
    """Whether a line still says whom it is about, where the trace has more than one such record."""
    family = plan.verification.families[source.source_id]
    alike = [s for s in plan.trace.sources if plan.verification.families[s.source_id] == family]
    claim = verdict.claim
    people = [claim.subject] if claim.subject else [one.text for one in names_in(claim.text)]
    named = frozenset(term for one in people for term in content_terms(one)) - {"patient"}
    if len(alike) < 2 or not any(named & content_terms(one.text) for one in alike):
        return True
    return bool(named & content_terms(whole_record(line.text, source.text) or line.whole))


def _lines_elsewhere(
    plan: Plan, claim: str, premise: str, count: int
) -> list[tuple[Source, EvidenceLine]]:
    """The best lines outside the premise: the verifier may have looked in the wrong place."""
    found = []
    for source in plan.trace.sources[:_SOURCES_SEARCHED]:
        if source.is_evidence and len(source.text) <= _CHARACTERS_SEARCHED:
            found += [(source, line) for line in best_lines(claim, source.text, 2)]
    elsewhere = [(s, line) for s, line in found if line.text not in premise]
    return sorted(elsewhere, key=lambda pair: -pair[1].share)[:count]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A sentence with who wrote it, and why a configured model did not."""

    text: str
    editor: str = RULES
    note: str | None = None


def _written(
    plan: Plan,
    verdict: ClaimVerdict,
    judged: Judged,
    source: Source,
    line: EvidenceLine,
    by_model: bool,
) -> list[_Sentence]:
    """Sentences that say what the line says: the model's, if there is one, then the rules'."""
    noun = credit_noun(plan, source)
    sentences, note = [], None
    if plan.editor is not None and by_model:
        given = _models_sentence(plan, plan.editor, verdict, judged, noun)
        sentences += [given] if given.note is None else []
        note = given.note
    record = whole_record(line.text, source.text)
    said = from_evidence(line.whole)
    if is_record_line(line.text) and not has_finite_verb(said):
        if record is None and "\n" in source.text.strip() and _is_field(line.text):
            return sentences  # one field of a long record says too little by itself
        said = record or said
    if not re.search(r"[A-Za-z]{3}", said):
        return sentences
    if noun is None:
        text = said
    elif is_record_line(said) or not has_finite_verb(said):
        text = f"According to {noun}: {said}"
    else:
        text = credited(said, noun, sentence=True, known=plan.known)
    return [*sentences, _Sentence(text=capitalised(finished(text)), note=note)]


def _is_field(line: str) -> bool:
    """Whether a line is one ``key: value`` field and no more."""
    return line.count(": ") == 1 and ";" not in line


def _models_sentence(
    plan: Plan, editor: Editor, verdict: ClaimVerdict, judged: Judged, noun: str | None
) -> _Sentence:
    """What the model made of the claim; with a note when that cannot be used."""
    given = editor.rewrite(
        EditRequest(
            claim=verdict.claim.text,
            premise=judged.premise.text,
            verdict=(verdict.verdict or VerdictLabel.UNJUDGED).value,
        )
    )
    if isinstance(given, EditorText):
        trouble = _unusable(given.text, judged.premise.text)
    else:
        trouble = given.reason
    if trouble is not None or not isinstance(given, EditorText):
        return _Sentence(text="", note=f"{editor.name}: {trouble}; the rules wrote this instead.")
    text = capitalised(finished(given.text.strip()))
    if noun is not None and not named_families(text, plan.families):
        text = credited(text, noun, sentence=True, known=plan.known)
    return _Sentence(text=text, editor=editor.name)


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
