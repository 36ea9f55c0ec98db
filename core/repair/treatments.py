"""What can be done about a blocked claim, least destructive first, and which of it the verifier accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.decomposition.clauses import has_finite_verb
from core.evidence.values import names_in, protected_values, value_present
from core.ports import Editor
from core.records import (
    AttributionStatus,
    CheckedValue,
    ClaimType,
    ClaimVerdict,
    Decision,
    EditorText,
    EditRequest,
    Judged,
    RepairKind,
    Source,
    Span,
    StatedAttribution,
    VerdictLabel,
)
from core.repair.candidates import (
    EvidenceLine,
    best_line,
    best_lines,
    fitting_value,
    missing_qualifier,
    whole_record,
)
from core.repair.citing import corrected_citations, is_the_credit, not_cited, with_citations
from core.repair.drafts import (
    RULES,
    Draft,
    Local,
    Plan,
    Recredit,
    Removed,
    Reworded,
    Treatment,
    blocked_claims,
    says_something,
    taken_out,
)
from core.repair.edits import Edit, apply_edits
from core.repair.grammar import new_problems
from core.repair.wording import (
    capitalised,
    credited,
    finished,
    from_evidence,
    is_record_line,
    lead_of,
    lowered,
    named_families,
    recredit,
    source_noun,
)
from core.text.tokens import content_terms, overlap

# A line of evidence is about a claim when it shares this much of the claim's words.
_ABOUT = 0.5
_SURELY = 0.75
_NEAR = 0.3  # less where the source contradicts the claim, or when nothing else is left
# A rewording that says what another claim says already would only repeat it.
_REPEATS = 0.8
_LONGEST_REWORDING = 400  # characters
_SOURCES_SEARCHED, _CHARACTERS_SEARCHED = 12, 60_000  # outside the premise, for a rewording


def choose_treatments(plan: Plan) -> dict[str, Treatment]:
    """For each blocked claim the least destructive treatment that the verifier accepts."""
    blocked = blocked_claims(plan.verification)
    chosen = _accepted(plan, {one.claim.claim_id: _offered(plan, one) for one in blocked})
    nothing_left = not says_something(plan.verification) and all(
        isinstance(treatment, Removed) for treatment in chosen.values()
    )
    if not nothing_left or plan.only_prune:
        return chosen
    # Before the answer is given up: what else the sources say about its subjects.
    return _accepted(
        plan,
        {
            one.claim.claim_id: _rewordings(plan, one, one.outcome, wider=True)
            if isinstance(one.outcome, Judged) and not one.outcome.literals.identity_mismatches
            else []
            for one in blocked
        },
    )


def _accepted(plan: Plan, offered: Mapping[str, Sequence[Treatment]]) -> dict[str, Treatment]:
    """Of what is offered for each blocked claim, the first that the verifier accepts."""
    blocked = {one.claim.claim_id: one for one in blocked_claims(plan.verification)}
    trials = {
        claim_id: [_as_sentence(plan, blocked[claim_id], treatment) for treatment in treatments]
        for claim_id, treatments in offered.items()
    }
    accepted = plan.accepts(_in_turns(list(trials.values())))
    said = [
        content_terms(one.claim.text)
        for one in plan.verification.claims
        if one.decision is Decision.ALLOW and one.claim.claim_type is ClaimType.FACTUAL
    ]
    return {
        claim_id: _chosen(one, offered[claim_id], trials[claim_id], accepted, said)
        for claim_id, one in blocked.items()
    }


def _chosen(
    verdict: ClaimVerdict,
    offered: Sequence[Treatment],
    trials: Sequence[str],
    accepted: frozenset[str],
    said: list[frozenset[str]],
) -> Treatment:
    """The first accepted treatment that does not repeat what is ``said`` already."""
    for treatment, sentence in zip(offered, trials, strict=True):
        if sentence not in accepted:
            continue
        terms = content_terms(sentence)
        if isinstance(treatment, Reworded) and any(
            overlap(other, terms) >= _REPEATS or overlap(terms, other) >= _REPEATS for other in said
        ):
            continue
        said.append(terms)
        return treatment
    # Where it stands a small edit may still pass: a heading or a list's opening goes with it there.
    small = next((one for one in offered if not isinstance(one, Reworded)), None)
    return small or taken_out(verdict)


def _in_turns(lists: Sequence[Sequence[str]]) -> list[str]:
    """Everybody's first, then everybody's second: the verifier's room is shared fairly."""
    longest = max((len(one) for one in lists), default=0)
    return [one[turn] for turn in range(longest) for one in lists if turn < len(one)]


def _offered(plan: Plan, verdict: ClaimVerdict) -> list[Treatment]:
    """Treatments that may help a claim and were not tried where it stands, least destructive first."""
    outcome = verdict.outcome
    if not isinstance(outcome, Judged) or plan.only_prune:
        return []
    tried = plan.tried.get(verdict.claim.claim_id, frozenset())
    cited = corrected_citations(plan, verdict) if RepairKind.ATTRIBUTION not in tried else ()
    if not_cited(outcome.literals.identity_mismatches, verdict if cited else None):
        return []
    source = plan.trace.source(outcome.route.source_id)
    conflated = outcome.attribution.status is AttributionStatus.CONFLATION
    missing = [
        one
        for one in outcome.literals.missing
        if not_cited([one.value.text], verdict if cited else None)
    ]
    local = _corrected_values(plan, verdict, outcome, source, missing) if missing else None
    offered: list[Treatment] = []
    values_done = not missing or local is not None
    if cited and values_done:
        local = with_citations(verdict, cited, local)
        if not conflated or is_the_credit(verdict):
            offered.append(local)
    if conflated and values_done and RepairKind.ATTRIBUTION not in tried:
        offered.append(_right_credit(plan, verdict, outcome, source, local))
    if not conflated and local is not None and not cited and RepairKind.VALUE not in tried:
        offered.append(local)
    if not conflated and RepairKind.QUALIFIER not in tried:
        qualified = _qualified(plan, verdict, outcome, source)
        offered += [qualified] if qualified is not None else []
    if RepairKind.REWORD not in tried:
        offered += _rewordings(plan, verdict, outcome)
    return offered


def _as_sentence(plan: Plan, verdict: ClaimVerdict, treatment: Treatment) -> str:
    """The claim as a treatment leaves it, in a sentence that stands alone."""
    claim = verdict.claim
    if isinstance(treatment, Reworded):
        return treatment.text
    if isinstance(treatment, Recredit):
        text = capitalised(finished(claim.text))
        return with_right_credit(plan, claim.stated, text, treatment)
    assert isinstance(treatment, Local)
    text = capitalised(finished(treatment.restated))
    if claim.stated is None or claim.stated.text in text or not lead_of(claim.stated.text):
        return text
    return f"{capitalised(claim.stated.text.rstrip(' ,:.'))}, {lowered(text, plan.known)}"


def _right_credit(
    plan: Plan, verdict: ClaimVerdict, judged: Judged, source: Source, local: Local | None
) -> Recredit:
    stated = verdict.claim.stated
    family = judged.route.family
    marker = None
    if stated is not None and stated.source_id is not None:
        marks = [c.text for c in plan.trace.citations if c.source_id == source.source_id]
        marker = marks[0] if marks else None
    return Recredit(
        noun=_noun(plan, source, apart_from=stated.family if stated and stated.source_id else None),
        family=family,
        local=local,
        reason=judged.attribution.reason,
        marker=marker,
    )


def _noun(plan: Plan, source: Source, *, apart_from: str | None = None) -> str | None:
    """What to call a source: its family, or its tool where the family would not tell it apart."""
    family = plan.verification.families[source.source_id]
    noun = source_noun(family, plan.families)
    if noun is not None and family != apart_from:
        return noun
    same = [s for s in plan.trace.sources if s.tool_name == source.tool_name]
    return source.tool_name if len(same) == 1 else None


def _corrected_values(
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
                evidence=_place(source, line, judged),
            )
        )
    return Local(drafts=tuple(drafts), restated=restated) if drafts else None


def _qualified(plan: Plan, verdict: ClaimVerdict, judged: Judged, source: Source) -> Local | None:
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
        evidence=_place(source, line, judged),
    )
    restated = apply_edits(claim.text, [Edit(span=again.span, after=again.after)])
    return Local(drafts=(draft,), restated=restated)


def _rewordings(
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
                    evidence=_place(source, line, judged),
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
    noun = _noun(plan, source)
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


def closest_evidence(plan: Plan, verdict: ClaimVerdict) -> tuple[Span, ...]:
    """Where the routed source comes closest to a claim; nothing for one that nobody judged."""
    outcome = verdict.outcome
    if not isinstance(outcome, Judged):
        return ()
    line = best_line(verdict.claim.text, outcome.premise.text)
    if line is None:
        return outcome.premise.spans
    return _place(plan.trace.source(outcome.route.source_id), line, outcome)


def _place(source: Source, line: EvidenceLine, judged: Judged) -> tuple[Span, ...]:
    """Where a line of the premise stands in its source; the whole premise when it is not found."""
    at = source.text.find(line.text)
    if at < 0:
        return judged.premise.spans
    return (Span(start=at, end=at + len(line.text)),)


def with_right_credit(
    plan: Plan, stated: StatedAttribution | None, text: str, treatment: Recredit
) -> str:
    if treatment.local is not None:
        text = capitalised(finished(treatment.local.restated))
    if stated is not None and treatment.noun is not None and stated.text in text:
        changed = recredit(stated.text, treatment.noun, plan.families)
        right = named_families(treatment.noun, plan.families)
        if changed is not None and named_families(changed, plan.families) == right:
            return text.replace(stated.text, changed, 1)
    if treatment.noun is None:
        return text
    return credited(text, treatment.noun, sentence=has_finite_verb(text), known=plan.known)
