"""III.8: a blocked answer comes back revised, and passes the same verifier or is not shown.

For each blocked claim the least destructive edit that may help: credit the right source, correct a
value, restore a qualifier, reword from the evidence, take it out. Supported claims keep their words.
All edits are spans of the original answer, so that a reviewer can judge each by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.config import Config
from core.ports import Editor
from core.records import (
    AttributionStatus,
    ClaimType,
    ClaimVerdict,
    Decision,
    EditorText,
    EditRequest,
    Judged,
    Repair,
    RepairAction,
    RepairKind,
    RepairStatus,
    Source,
    Span,
    StatedAttribution,
    Trace,
    VerdictLabel,
    Verification,
)
from core.text.clauses import has_finite_verb
from core.text.edits import Edit, apply_edits, chain_edits, edited_ranges, narrowed
from core.text.evidence_lines import (
    EvidenceLine,
    best_line,
    best_lines,
    fitting_value,
    missing_qualifier,
)
from core.text.families import Families
from core.text.grammar import new_problems
from core.text.layout import LineKind, units_of
from core.text.mending import mend
from core.text.tokens import content_terms, overlap
from core.text.values import names_in, protected_values, value_present
from core.text.wording import (
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

Verify = Callable[[Trace], Verification]

FALLBACK_ANSWER = (
    "I am unable to give a verified answer from the sources that were consulted. "
    "Please check the original sources directly."
)
RULES = "rules"

# Taking one claim out can leave another that leaned on it: two more rounds, then the fallback.
_CLOSING_ROUNDS = 2
# A line of evidence is about a claim when it shares this much of the claim's words.
_ABOUT = 0.5
_NEAR = 0.3  # less where the source contradicts the claim, or when nothing else is left
# A rewording that says what another claim says already would only repeat it.
_REPEATS = 0.8
_LONGEST_REWORDING = 400  # characters
_SOURCES_SEARCHED, _CHARACTERS_SEARCHED = 12, 60_000  # outside the premise, for a rewording
_PRONOUNS = frozenset("she he it they her his its their".split())
_JOINT = re.compile(
    r"[\s,;:–—-]*(?:(?:and|but|or|while|whereas|although|though|as well as|plus|which|who|where|"
    r"with|so)\b)?[\s,]*(?:(?:also|then|additionally|in addition|with)\b)?[\s,*_]*",
    re.IGNORECASE,
)


def repair_answer(
    verification: Verification,
    verify: Verify,
    config: Config,
    families: Families,
    editor: Editor | None = None,
) -> Repair:
    """Revise a blocked answer until ``verify`` allows it; what cannot be saved is taken out (III.8).

    Up to ``config.repair_iterations`` revisions each make the least destructive edit that the
    verifier accepts and that was not tried yet; then what still blocks is taken out, and a non-claim
    stands in when nothing verifiable is left.
    """
    if verification.answer.decision is Decision.ALLOW:
        return _ended(RepairStatus.NOT_NEEDED, verification)
    if verification.answer.decision is Decision.UNAVAILABLE:
        return _ended(RepairStatus.UNAVAILABLE, verification)
    answer = verification.trace.answer or ""
    verifier = _Verifier(verify, room=config.max_claims)
    drafts: tuple[_Draft, ...] = ()
    current = verification
    for revision in range(config.repair_iterations + _CLOSING_ROUNDS):
        plan = _Plan(
            current,
            families,
            verifier=verifier,
            editor=editor,
            tried=_tried(drafts, current),
            only_prune=revision >= config.repair_iterations,
        )
        planned = plan_edits(plan)
        drafts = _chained(verification, drafts, planned)
        revised = apply_edits(answer, [draft.edit for draft in drafts])
        if not planned or not revised.strip() or _adds_values(verification.trace, revised):
            break
        current = verifier.judge(_with_answer(verification.trace, revised, drafts))
        if current.answer.decision is Decision.ALLOW:
            if not _substantive(current):
                break
            return _passed(verification, drafts, current, verifier.calls)
    return _fallen_back(verification, verifier)


class _Verifier:
    """The verifier that arrived as an argument, with how often it was asked."""

    def __init__(self, verify: Verify, *, room: int) -> None:
        self._verify, self._room, self.calls = verify, room, 0

    def judge(self, trace: Trace) -> Verification:
        """The verdict on a trace."""
        self.calls += 1
        return self._verify(trace)

    def accepts(self, trace: Trace, sentences: Sequence[str]) -> frozenset[str]:
        """Those of the sentences that pass by themselves, in one call; at most ``room`` are asked.

        They are put to the verifier as an answer of their own, a paragraph each.
        """
        asked = list(dict.fromkeys(sentences))[: self._room]
        if not asked:
            return frozenset()
        verdicts = self.judge(replace(trace, answer="\n\n".join(asked), citations=()))
        accepted, start = set(), 0
        for sentence in asked:
            place = Span(start=start, end=start + len(sentence))
            found = [
                one
                for one in verdicts.claims
                if one.claim.span.overlaps(place) and one.claim.claim_type is ClaimType.FACTUAL
            ]
            if found and all(one.decision is Decision.ALLOW for one in found):
                accepted.add(sentence)
            start = place.end + len("\n\n")
        return frozenset(accepted)


def _ended(status: RepairStatus, verification: Verification) -> Repair:
    return Repair(
        status=status,
        actions=(),
        revised_answer=verification.trace.answer if status is RepairStatus.NOT_NEEDED else None,
        before=verification,
        after=None,
        rounds=0,
    )


def _passed(
    before: Verification, drafts: Sequence[_Draft], after: Verification, rounds: int
) -> Repair:
    pruned = any(draft.kind is RepairKind.PRUNE for draft in drafts)
    return Repair(
        status=RepairStatus.PRUNED if pruned else RepairStatus.CORRECTED,
        actions=_actions(before.trace, drafts),
        revised_answer=after.trace.answer,
        before=before,
        after=after,
        rounds=rounds,
    )


def _fallen_back(before: Verification, verifier: _Verifier) -> Repair:
    """The conservative non-claim instead of the answer; blocked for good when even that fails."""
    answer = before.trace.answer or ""
    whole = _Draft(
        kind=RepairKind.FALLBACK,
        claim_ids=tuple(one.claim.claim_id for one in _blocked(before)),
        edit=Edit(span=Span(start=0, end=len(answer)), after=FALLBACK_ANSWER),
        reasons=("Nothing that the sources support was left of the answer.",),
    )
    after = verifier.judge(_with_answer(before.trace, FALLBACK_ANSWER, [whole]))
    allowed = after.answer.decision is Decision.ALLOW
    return Repair(
        status=RepairStatus.FALLBACK if allowed else RepairStatus.UNRESOLVED,
        actions=_actions(before.trace, [whole]) if allowed else (),
        revised_answer=FALLBACK_ANSWER if allowed else None,
        before=before,
        after=after,
        rounds=verifier.calls,
    )


def _substantive(verification: Verification) -> bool:
    return any(
        verdict.claim.claim_type is ClaimType.FACTUAL and verdict.decision is Decision.ALLOW
        for verdict in verification.claims
    )


def _blocked(verification: Verification) -> list[ClaimVerdict]:
    return [one for one in verification.claims if one.decision is Decision.BLOCK]


def chosen_answer(answer: str, actions: Sequence[RepairAction], chosen: Mapping[str, str]) -> str:
    """The answer with the ``chosen`` edits alone: action id to the text that a reviewer accepted.

    Mends are made anew around what was chosen; nothing chosen gives the answer as it was.
    """
    edits = [
        Edit(span=action.span, after=chosen[action.action_id])
        for action in actions
        if action.action_id in chosen
        and not (action.kind is RepairKind.MEND and not action.claim_ids)
    ]
    revised = apply_edits(answer, edits)
    return apply_edits(revised, mend(revised, edited_ranges(edits)))


# ---------------------------------------------------------------- edits with their reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """An edit of the answer on its way to becoming a RepairAction."""

    kind: RepairKind
    claim_ids: tuple[str, ...]
    edit: Edit
    reasons: tuple[str, ...]
    source_id: str | None = None
    evidence: tuple[Span, ...] = ()
    editor: str = RULES
    note: str | None = None


def _actions(trace: Trace, drafts: Sequence[_Draft]) -> tuple[RepairAction, ...]:
    answer = trace.answer or ""
    ordered = sorted(drafts, key=lambda draft: (draft.edit.span.start, draft.edit.span.end))
    return tuple(
        RepairAction(
            action_id=f"{trace.trace_id}::r{number:02d}",
            kind=draft.kind,
            claim_ids=draft.claim_ids,
            span=draft.edit.span,
            before=draft.edit.span.cut(answer),
            after=draft.edit.after,
            reason=" ".join(draft.reasons),
            source_id=draft.source_id,
            evidence=draft.evidence,
            editor=draft.editor,
            note=draft.note,
        )
        for number, draft in enumerate(ordered, start=1)
    )


def _chained(
    original: Verification, drafts: Sequence[_Draft], planned: Sequence[_Draft]
) -> tuple[_Draft, ...]:
    """Edits of the original answer that do all ``drafts`` and then all ``planned`` ones, tidied up."""
    answer = original.trace.answer or ""
    drafts = _joined(original, answer, drafts, planned)
    revised = apply_edits(answer, [draft.edit for draft in drafts])
    touched = edited_ranges([draft.edit for draft in drafts])
    mends = [
        _Draft(
            kind=RepairKind.MEND,
            claim_ids=(),
            edit=edit,
            reasons=("Tidied up after the edits around it.",),
        )
        for edit in mend(revised, touched)
    ]
    drafts = _joined(original, answer, drafts, mends)
    drafts = tuple(replace(draft, edit=narrowed(answer, draft.edit)) for draft in drafts)
    changing = [d for d in drafts if d.edit.span.cut(answer) != d.edit.after]
    return _with_their_space(answer, changing)


def _with_their_space(answer: str, drafts: Sequence[_Draft]) -> tuple[_Draft, ...]:
    """Removals take along the white space that goes with them; everything else stays an edit."""
    joined: list[_Draft] = []
    for draft in sorted(drafts, key=lambda d: (d.edit.span.start, d.edit.span.end)):
        before = joined[-1] if joined else None
        if before is not None and before.edit.span.end == draft.edit.span.start:
            gap = [d for d in (before, draft) if _is_space(answer, d)]
            if gap and not before.edit.after and not draft.edit.after:
                kept = before if gap[0] is draft else draft
                span = Span(start=before.edit.span.start, end=draft.edit.span.end)
                joined[-1] = replace(kept, edit=Edit(span=span, after=""))
                continue
        joined.append(draft)
    return tuple(joined)


def _is_space(answer: str, draft: _Draft) -> bool:
    return draft.kind is RepairKind.MEND and draft.edit.span.cut(answer).isspace()


def _joined(
    original: Verification, answer: str, first: Sequence[_Draft], second: Sequence[_Draft]
) -> tuple[_Draft, ...]:
    chained = chain_edits(answer, [d.edit for d in first], [d.edit for d in second])
    joined = []
    for one in chained:
        parts = [first[i] for i in one.first] + [second[j] for j in one.second]
        telling = [part for part in parts if part.kind is not RepairKind.MEND] or parts
        main = max(telling, key=lambda part: _ORDER.index(part.kind))
        if main.kind is RepairKind.PRUNE and re.search(r"[^\W\d_]", one.edit.after):
            # A rewording of which a part went again, or which stands beside what went.
            main = next((part for part in telling if part.kind is RepairKind.REWORD), main)
        ids = {i for index in one.first for i in first[index].claim_ids}
        if one.second and any(second[j].kind is not RepairKind.MEND for j in one.second):
            ids |= _claims_at(original, one.edit.span)
        joined.append(
            replace(
                main,
                claim_ids=tuple(sorted(ids)),
                edit=one.edit,
                reasons=tuple(dict.fromkeys(r for part in telling for r in part.reasons)),
                note=next((part.note for part in telling if part.note), None),
            )
        )
    return tuple(joined)


_ORDER = tuple(RepairKind)


def _claims_at(original: Verification, span: Span) -> set[str]:
    """The original's blocked claims that an edit is about; any claim there when none is blocked."""
    there = [
        one
        for one in original.claims
        if one.claim.span.overlaps(span)
        or (one.claim.stated is not None and one.claim.stated.span.overlaps(span))
        or span.start == span.end
        and one.claim.span.start <= span.start <= one.claim.span.end
    ]
    blocked = [one for one in there if one.decision is Decision.BLOCK]
    return {one.claim.claim_id for one in blocked or there}


def _tried(drafts: Sequence[_Draft], current: Verification) -> Mapping[str, frozenset[RepairKind]]:
    """What was already tried where each claim of the revised answer stands."""
    ranges = edited_ranges([draft.edit for draft in drafts])
    return {
        one.claim.claim_id: frozenset(
            draft.kind
            for draft, place in zip(drafts, ranges, strict=True)
            if place.start <= one.claim.span.end and one.claim.span.start <= place.end
        )
        for one in current.claims
    }


def _with_answer(trace: Trace, answer: str, drafts: Sequence[_Draft]) -> Trace:
    """The trace with a revised answer; citations in untouched text move along, others are gone."""
    edits = sorted((draft.edit for draft in drafts), key=lambda edit: edit.span.start)
    kept = []
    for citation in trace.citations:
        if any(edit.span.overlaps(citation.span) for edit in edits):
            continue
        shift = sum(
            len(edit.after) - (edit.span.end - edit.span.start)
            for edit in edits
            if edit.span.end <= citation.span.start
        )
        span = Span(start=citation.span.start + shift, end=citation.span.end + shift)
        kept.append(replace(citation, span=span))
    return replace(trace, answer=answer, citations=tuple(kept))


def _adds_values(trace: Trace, revised: str) -> bool:
    """Whether the revised answer holds a protected value that neither the answer nor a source does."""
    answer = trace.answer or ""
    known = {value.normalised for value in protected_values(answer)}
    evidence = [source.text for source in trace.sources if source.is_evidence]
    return any(
        value.normalised not in known
        and value.text not in answer
        and not any(value_present(value, text) for text in evidence)
        for value in protected_values(revised)
    )


# ---------------------------------------------------------------- planning one revision


@dataclass(frozen=True, slots=True, kw_only=True)
class _Local:
    """Small edits inside the claim; ``restated`` is the claim's own text with them made."""

    drafts: tuple[_Draft, ...]
    restated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Recredit:
    """The claim stays, and the source it belongs to is named ``noun``."""

    noun: str | None  # None: no words can tell the source apart from others
    family: str
    local: _Local | None
    reason: str
    marker: str | None = None  # a citation mark that stands for the right source


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reworded:
    """A sentence from the evidence says it instead."""

    text: str
    reason: str
    source_id: str
    evidence: tuple[Span, ...]
    editor: str
    note: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Removed:
    """The claim is taken out."""

    reason: str


_Treatment = _Local | _Recredit | _Reworded | _Removed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Region:
    """A stretch of the answer that is edited as one: a sentence, an item, a table row."""

    span: Span
    kind: LineKind
    claims: tuple[ClaimVerdict, ...]


@dataclass(slots=True)
class _Plan:
    """What a revision of one answer works on."""

    verification: Verification
    families: Families
    verifier: _Verifier
    editor: Editor | None
    tried: Mapping[str, frozenset[RepairKind]]
    only_prune: bool
    treatments: dict[str, _Treatment] = field(default_factory=dict)

    @property
    def trace(self) -> Trace:
        """The trace with the answer that is revised."""
        return self.verification.trace

    @property
    def answer(self) -> str:
        """The answer that is revised."""
        return self.trace.answer or ""

    @property
    def known(self) -> tuple[str, ...]:
        """Texts that show which words are written with a capital."""
        return (self.answer, *(source.text for source in self.trace.sources if source.is_evidence))


def plan_edits(plan: _Plan) -> tuple[_Draft, ...]:
    """One edit or more for each blocked claim, without overlap, in the answer's order."""
    plan.treatments = _treatments(plan)
    regions = _regions(plan)
    in_place, own = _credits(plan, regions)
    drafts = list(in_place)
    for region in regions:
        drafts += _region_edits(plan, region, own)
    drafts += _names_for_pronouns(plan, regions, drafts)
    return _without_overlap(drafts)


def _treatments(plan: _Plan) -> dict[str, _Treatment]:
    """For each blocked claim the least destructive treatment that the verifier accepts."""
    blocked = _blocked(plan.verification)
    chosen = _accepted(plan, {one.claim.claim_id: _offered(plan, one) for one in blocked})
    nothing_left = not _substantive(plan.verification) and all(
        isinstance(treatment, _Removed) for treatment in chosen.values()
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


def _accepted(plan: _Plan, offered: Mapping[str, Sequence[_Treatment]]) -> dict[str, _Treatment]:
    """Of what is offered for each blocked claim, the first that the verifier accepts."""
    blocked = {one.claim.claim_id: one for one in _blocked(plan.verification)}
    trials = {
        claim_id: [_as_sentence(plan, blocked[claim_id], treatment) for treatment in treatments]
        for claim_id, treatments in offered.items()
    }
    accepted = plan.verifier.accepts(plan.trace, _in_turns(list(trials.values())))
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
    offered: Sequence[_Treatment],
    trials: Sequence[str],
    accepted: frozenset[str],
    said: list[frozenset[str]],
) -> _Treatment:
    """The first accepted treatment that does not repeat what is ``said`` already."""
    for treatment, sentence in zip(offered, trials, strict=True):
        if sentence not in accepted:
            continue
        terms = content_terms(sentence)
        if isinstance(treatment, _Reworded) and any(
            overlap(other, terms) >= _REPEATS or overlap(terms, other) >= _REPEATS for other in said
        ):
            continue
        said.append(terms)
        return treatment
    # Where it stands a small edit may still pass: a heading or a list's opening goes with it there.
    small = next((one for one in offered if not isinstance(one, _Reworded)), None)
    return small or _removed(verdict)


def _in_turns(lists: Sequence[Sequence[str]]) -> list[str]:
    """Everybody's first, then everybody's second: the verifier's room is shared fairly."""
    longest = max((len(one) for one in lists), default=0)
    return [one[turn] for turn in range(longest) for one in lists if turn < len(one)]


def _removed(verdict: ClaimVerdict) -> _Removed:
    return _Removed(reason=f"Taken out: {_lower_first(verdict.reasons[0])}")


def _offered(plan: _Plan, verdict: ClaimVerdict) -> list[_Treatment]:
    """Treatments that may help a claim and were not tried where it stands, least destructive first."""
    outcome = verdict.outcome
    if not isinstance(outcome, Judged) or plan.only_prune or outcome.literals.identity_mismatches:
        return []
    tried = plan.tried.get(verdict.claim.claim_id, frozenset())
    source = plan.trace.source(outcome.route.source_id)
    conflated = outcome.attribution.status is AttributionStatus.CONFLATION
    local = _corrected_values(plan, verdict, outcome, source) if outcome.literals.missing else None
    offered: list[_Treatment] = []
    values_done = not outcome.literals.missing or local is not None
    if conflated and values_done and RepairKind.ATTRIBUTION not in tried:
        offered.append(_right_credit(plan, verdict, outcome, source, local))
    if not conflated and local is not None and RepairKind.VALUE not in tried:
        offered.append(local)
    if not conflated and RepairKind.QUALIFIER not in tried:
        qualified = _qualified(plan, verdict, outcome, source)
        offered += [qualified] if qualified is not None else []
    if RepairKind.REWORD not in tried:
        offered += _rewordings(plan, verdict, outcome)
    return offered


def _as_sentence(plan: _Plan, verdict: ClaimVerdict, treatment: _Treatment) -> str:
    """The claim as a treatment leaves it, in a sentence that stands alone."""
    claim = verdict.claim
    if isinstance(treatment, _Reworded):
        return treatment.text
    if isinstance(treatment, _Recredit):
        text = capitalised(finished(claim.text))
        return _restated_with_credit(plan, claim.stated, text, treatment)
    assert isinstance(treatment, _Local)
    text = capitalised(finished(treatment.restated))
    if claim.stated is None or claim.stated.text in text or not lead_of(claim.stated.text):
        return text
    return f"{capitalised(claim.stated.text.rstrip(' ,:.'))}, {lowered(text, plan.known)}"


def _right_credit(
    plan: _Plan, verdict: ClaimVerdict, judged: Judged, source: Source, local: _Local | None
) -> _Recredit:
    stated = verdict.claim.stated
    family = judged.route.family
    marker = None
    if stated is not None and stated.source_id is not None:
        marks = [c.text for c in plan.trace.citations if c.source_id == source.source_id]
        marker = marks[0] if marks else None
    return _Recredit(
        noun=_noun(plan, source, apart_from=stated.family if stated and stated.source_id else None),
        family=family,
        local=local,
        reason=judged.attribution.reason,
        marker=marker,
    )


def _noun(plan: _Plan, source: Source, *, apart_from: str | None = None) -> str | None:
    """What to call a source: its family, or its tool where the family would not tell it apart."""
    family = plan.verification.families[source.source_id]
    noun = source_noun(family, plan.families)
    if noun is not None and family != apart_from:
        return noun
    same = [s for s in plan.trace.sources if s.tool_name == source.tool_name]
    return source.tool_name if len(same) == 1 else None


def _corrected_values(
    plan: _Plan, verdict: ClaimVerdict, judged: Judged, source: Source
) -> _Local | None:
    """Every missing value replaced by the one value of the premise that fits; None unless all can be."""
    claim, said = verdict.claim, verdict.claim.said
    drafts, restated = [], claim.text
    for checked in judged.literals.missing:
        value = checked.value
        line = best_line(claim.text, judged.premise.text, without=value.text)
        if value.identity or line is None or line.share < _ABOUT or said.count(value.text) != 1:
            return None
        found = fitting_value(value, claim.text, line.text, claim.protected_values)
        if found is None:
            return None
        at = claim.span.start + said.index(value.text)
        restated = restated.replace(value.text, found, 1)
        drafts.append(
            _Draft(
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
    return _Local(drafts=tuple(drafts), restated=restated) if drafts else None


def _qualified(plan: _Plan, verdict: ClaimVerdict, judged: Judged, source: Source) -> _Local | None:
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
    draft = _Draft(
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
    return _Local(drafts=(draft,), restated=restated)


def _rewordings(
    plan: _Plan, verdict: ClaimVerdict, judged: Judged, *, wider: bool = False
) -> list[_Treatment]:
    """What the evidence says about the claim's subject, a sentence each; the routed source first."""
    claim = verdict.claim
    about = verdict.verdict in (VerdictLabel.CONTRADICTED, VerdictLabel.UNSUPPORTED)
    needed = _NEAR if about or wider else _ABOUT
    count = 4 if wider else 2
    routed = plan.trace.source(judged.route.source_id)
    found = [(routed, line) for line in best_lines(claim.text, judged.premise.text, count)]
    found += _lines_elsewhere(plan, claim.text, judged.premise.text, count // 2)
    offered: list[_Treatment] = []
    for source, line in found:
        if line.share < needed or len(line.whole) > _LONGEST_REWORDING:
            continue
        by_model = source is routed and not offered
        for written in _written(plan, verdict, judged, source, line, by_model):
            offered.append(
                _Reworded(
                    text=written.text,
                    reason=f"Reworded from what {source.tool_name} says. {verdict.reasons[0]}",
                    source_id=source.source_id,
                    evidence=_place(source, line, judged),
                    editor=written.editor,
                    note=written.note,
                )
            )
    return offered


def _lines_elsewhere(
    plan: _Plan, claim: str, premise: str, count: int
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
    plan: _Plan,
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
    said = from_evidence(line.whole)
    if not re.search(r"[A-Za-z]{3}", said):
        return sentences
    if noun is None:
        text = said
    elif is_record_line(line.text) or not has_finite_verb(said):
        text = f"According to {noun}: {said}"
    else:
        text = credited(said, noun, sentence=True, known=plan.known)
    return [*sentences, _Sentence(text=capitalised(finished(text)), note=note)]


def _models_sentence(
    plan: _Plan, editor: Editor, verdict: ClaimVerdict, judged: Judged, noun: str | None
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


def _closest(plan: _Plan, verdict: ClaimVerdict) -> tuple[Span, ...]:
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


# ---------------------------------------------------------------- regions


def _regions(plan: _Plan) -> list[_Region]:
    """Units that a claim spans together are one region; units without a claim are none."""
    units = units_of(plan.answer)
    regions: list[_Region] = []
    for verdict in sorted(plan.verification.claims, key=lambda one: one.claim.span.start):
        claim = verdict.claim
        there = [unit for unit in units if unit.span.overlaps(claim.span)]
        if not there:
            continue
        span = Span(start=there[0].span.start, end=there[-1].span.end)
        if regions and regions[-1].span.overlaps(span):
            last = regions.pop()
            span = Span(start=min(last.span.start, span.start), end=max(last.span.end, span.end))
            regions.append(_Region(span=span, kind=last.kind, claims=(*last.claims, verdict)))
        else:
            regions.append(_Region(span=span, kind=there[0].kind, claims=(verdict,)))
    return regions


def _region_edits(plan: _Plan, region: _Region, own: frozenset[str]) -> list[_Draft]:
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
            (v, t if isinstance(t, _Local | _Recredit) else _as_removed(v, t)) for v, t in treated
        ]
    gone = [(v, t) for v, t in treated if isinstance(t, _Removed)]
    rebuild = any(isinstance(t, _Reworded) for _, t in treated) or any(
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


def _was_reworded(plan: _Plan, region: _Region) -> bool:
    return any(
        RepairKind.REWORD in plan.tried.get(verdict.claim.claim_id, frozenset())
        for verdict in region.claims
    )


def _as_removed(verdict: ClaimVerdict, treatment: _Treatment) -> _Removed:
    if isinstance(treatment, _Removed):
        return treatment
    return _Removed(reason=f"Taken out: {_lower_first(verdict.reasons[0])}")


def _local_edits(
    plan: _Plan, region: _Region, treated: Sequence[tuple[ClaimVerdict, _Treatment]]
) -> list[_Draft]:
    drafts: list[_Draft] = []
    for _, treatment in treated:
        if isinstance(treatment, _Local):
            drafts += treatment.drafts
        elif isinstance(treatment, _Recredit) and treatment.local is not None:
            drafts += treatment.local.drafts
    return drafts


def _whole(
    plan: _Plan,
    region: _Region,
    treated: Sequence[tuple[ClaimVerdict, _Treatment]],
    after: str,
    kind: RepairKind,
) -> _Draft:
    reworded = [t for _, t in treated if isinstance(t, _Reworded)]
    first = treated[0][0].outcome
    span = region.span if after else _with_its_line(plan.answer, region.span)
    return _Draft(
        kind=kind,
        claim_ids=tuple(verdict.claim.claim_id for verdict, _ in treated),
        edit=Edit(span=span, after=after),
        reasons=tuple(dict.fromkeys(r for _, t in treated for r in _reasons(t))),
        source_id=reworded[0].source_id
        if reworded
        else (first.route.source_id if isinstance(first, Judged) else None),
        evidence=reworded[0].evidence if reworded else _closest(plan, treated[0][0]),
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


def _reasons(treatment: _Treatment) -> tuple[str, ...]:
    if isinstance(treatment, _Local):
        return tuple(reason for draft in treatment.drafts for reason in draft.reasons)
    return (treatment.reason,)


def _rebuilt(
    plan: _Plan, region: _Region, treated: Sequence[tuple[ClaimVerdict, _Treatment]]
) -> _Draft:
    """The region said again, one sentence a claim, each standing alone."""
    treatments = {verdict.claim.claim_id: treatment for verdict, treatment in treated}
    sentences: list[str] = []
    credit_before: StatedAttribution | None = None
    for verdict in region.claims:
        claim, treatment = verdict.claim, treatments.get(verdict.claim.claim_id)
        if isinstance(treatment, _Removed):
            continue
        if isinstance(treatment, _Reworded):
            sentences.append(treatment.text)
            credit_before = None
            continue
        text = claim.text if claim.claim_type is ClaimType.FACTUAL else claim.said
        text = capitalised(finished(text))
        if isinstance(treatment, _Local):
            text = capitalised(finished(treatment.restated))
        if isinstance(treatment, _Recredit):
            text = _restated_with_credit(plan, claim.stated, text, treatment)
        elif claim.stated is not None and claim.stated != credit_before:
            text = _with_own_credit(plan, region, claim.stated, text)
        credit_before = claim.stated
        if text not in sentences:
            sentences.append(text)
    kind = RepairKind.REWORD
    if any(isinstance(treatment, _Removed) for treatment in treatments.values()):
        kind = RepairKind.PRUNE
    elif all(isinstance(treatment, _Recredit | _Local) for treatment in treatments.values()):
        kind = RepairKind.ATTRIBUTION
    after = " ".join(sentences)
    bare = region.kind is LineKind.ITEM and len(sentences) == 1
    if bare and not re.search(r"[.!?][\"'”’)\]*_]*$", region.span.cut(plan.answer)):
        after = after.rstrip(".")
    return _whole(plan, region, treated, after, kind)


def _restated_with_credit(
    plan: _Plan, stated: StatedAttribution | None, text: str, treatment: _Recredit
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


def _with_own_credit(plan: _Plan, region: _Region, stated: StatedAttribution, text: str) -> str:
    """A kept claim's own credit, where it stood in the region and is not in the claim's words."""
    if not region.span.overlaps(stated.span) or stated.text in text:
        return text
    if lead_of(stated.text):
        return f"{capitalised(stated.text.rstrip(' ,:.'))}, {lowered(text, plan.known)}"
    noun = source_noun(stated.family, plan.families) if stated.family is not None else None
    if noun is None:
        return text
    return credited(text, noun, sentence=has_finite_verb(text), known=plan.known)


# ---------------------------------------------------------------- credits


def _credits(plan: _Plan, regions: Sequence[_Region]) -> tuple[list[_Draft], frozenset[str]]:
    """Credits changed where they stand, and the claims that need a sentence with their own."""
    drafts: list[_Draft] = []
    own: set[str] = set()
    done: set[Span] = set()
    for verdict in plan.verification.claims:
        treatment = plan.treatments.get(verdict.claim.claim_id)
        if not isinstance(treatment, _Recredit):
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


def _all_agree(plan: _Plan, stated: StatedAttribution, treatment: _Recredit) -> bool:
    """Whether every claim under a credit belongs to the same other source, or is taken out."""
    for verdict in plan.verification.claims:
        if verdict.claim.stated is None or verdict.claim.stated.span != stated.span:
            continue
        other = plan.treatments.get(verdict.claim.claim_id)
        if isinstance(other, _Removed):
            continue
        if not isinstance(other, _Recredit) or other.noun != treatment.noun:
            return False
    return True


def _changed_credit(
    plan: _Plan, verdict: ClaimVerdict, stated: StatedAttribution, treatment: _Recredit
) -> _Draft | None:
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
    plan: _Plan, verdict: ClaimVerdict, stated: StatedAttribution, treatment: _Recredit
) -> _Draft | None:
    """A credit that no words can tell apart from the right one (two calls of one tool) is left out."""
    answer, claim = plan.answer, verdict.claim
    gap = answer[stated.span.end : claim.span.start]
    if stated.span.end <= claim.span.start and "\n" not in gap:
        span = Span(start=stated.span.start, end=claim.span.start)
        return _credit_draft(plan, verdict, treatment, span, "")
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
    plan: _Plan, region: _Region, verdict: ClaimVerdict, treatment: _Recredit
) -> _Draft | None:
    """The right source named at the head of a region that says nothing else; None otherwise."""
    claim = verdict.claim
    alone = all(
        other is verdict or isinstance(plan.treatments.get(other.claim.claim_id), _Removed)
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
    return replace(_credit_draft(plan, verdict, treatment, edit.span, edit.after), edit=edit)


def _credit_draft(
    plan: _Plan, verdict: ClaimVerdict, treatment: _Recredit, span: Span, after: str
) -> _Draft:
    outcome = verdict.outcome
    assert isinstance(outcome, Judged)
    governed = [
        other.claim.claim_id
        for other in plan.verification.claims
        if isinstance(plan.treatments.get(other.claim.claim_id), _Recredit)
        and other.claim.stated is not None
        and verdict.claim.stated is not None
        and other.claim.stated.span == verdict.claim.stated.span
    ]
    return _Draft(
        kind=RepairKind.ATTRIBUTION,
        claim_ids=tuple(governed) or (verdict.claim.claim_id,),
        edit=Edit(span=span, after=after),
        reasons=(treatment.reason,),
        source_id=outcome.route.source_id,
        evidence=_closest(plan, verdict),
    )


def _claim_between(plan: _Plan, start: int, end: int) -> bool:
    between = Span(start=start, end=end)
    return any(one.claim.span.overlaps(between) for one in plan.verification.claims)


# ---------------------------------------------------------------- taking claims out


def _cut_out(plan: _Plan, region: _Region, gone: Sequence[ClaimVerdict]) -> list[_Draft] | None:
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
    drafts: list[_Draft] = []
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
            _Draft(
                kind=RepairKind.PRUNE,
                claim_ids=(one.claim.claim_id,),
                edit=Edit(span=Span(start=start, end=end), after=""),
                reasons=(f"Taken out: {_lower_first(one.reasons[0])}",),
                source_id=outcome.route.source_id if isinstance(outcome, Judged) else None,
                evidence=_closest(plan, one),
            )
        )
    drafts += _joined_again(plan, claims, lost)
    return drafts if _reads_well(plan, region, drafts) else None


def _stands_alone(verdict: ClaimVerdict) -> bool:
    said, text = (s.strip(" .*_").lower() for s in (verdict.claim.said, verdict.claim.text))
    return said == text


def _joined_again(plan: _Plan, claims: Sequence[ClaimVerdict], lost: set[str]) -> list[_Draft]:
    """ "A, B, and C" without C is "A and B": the last comma becomes the "and" that went."""
    kept = [one.claim for one in claims if one.claim.claim_id not in lost]
    last_lost = claims[-1].claim.claim_id in lost
    if len(kept) < 2 or not last_lost:
        return []
    gap = Span(start=kept[-2].span.end, end=kept[-1].span.start)
    if not re.fullmatch(r",\s+", gap.cut(plan.answer)):
        return []
    return [
        _Draft(
            kind=RepairKind.MEND,
            claim_ids=(),
            edit=Edit(span=gap, after=" and "),
            reasons=("Tidied up after the edits around it.",),
        )
    ]


def _reads_well(plan: _Plan, region: _Region, drafts: Sequence[_Draft]) -> bool:
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
    plan: _Plan, regions: Sequence[_Region], drafts: Sequence[_Draft]
) -> list[_Draft]:
    """ "She also takes …" names the patient when the sentence that named her is gone."""
    named: list[_Draft] = []
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
            _Draft(
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


def _without_overlap(drafts: Sequence[_Draft]) -> tuple[_Draft, ...]:
    """Overlapping edits: the more destructive one covers the other's ground, so it alone stays."""
    chosen: list[_Draft] = []
    for draft in sorted(drafts, key=lambda d: -_ORDER.index(d.kind)):
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


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
