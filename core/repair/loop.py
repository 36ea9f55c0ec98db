"""III.8: edits that a person decides, proposed for a blocked answer and read by the same verifier.

For each blocked claim the least destructive edit that may help: credit the right source, correct a
value, restore a qualifier; else say that it is not confirmed, or take it out where it is shown to be
wrong. Supported claims keep their words. All edits are spans of the original answer, so that a
reviewer can judge each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from core.attribution.families import Families
from core.causes import Cause, say
from core.config import Config
from core.evidence.values import protected_values, value_present
from core.ports import Editor
from core.records import (
    AnswerDecision,
    Claim,
    ClaimType,
    ClaimVerdict,
    Decision,
    Repair,
    RepairAction,
    RepairKind,
    RepairStatus,
    Span,
    StatedAttribution,
    Trace,
    VerdictLabel,
    Verification,
)
from core.repair.clean_up import mend
from core.repair.drafts import (
    DESTRUCTIVENESS,
    MARK,
    TIDIED,
    Draft,
    Plan,
    blocked_claims,
    open_claims,
    says_something,
)
from core.repair.edits import Edit, apply_edits, chain_edits, edited_ranges, narrowed
from core.repair.revision import plan_edits

Verify = Callable[[Trace], Verification]

FALLBACK_ANSWER = (
    "I am unable to give a verified answer from the sources that were consulted. "
    "Please check the original sources directly."
)

# Taking one claim out can leave another that leaned on it: two more rounds.
_CLOSING_ROUNDS = 2
_MOST_ASKED = 20  # sentences that a repair may ask the verifier about where claims have no limit


def repair_answer(
    verification: Verification,
    verify: Verify,
    config: Config,
    families: Families,
    editor: Editor | None = None,
) -> Repair:
    """Propose edits of a blocked answer: what the sources say otherwise corrected, the rest marked.

    Up to ``config.repair_iterations`` revisions each make the least destructive edit that the
    verifier accepts and that was not tried yet. What still blocks then is kept with a mark, or, where
    a check has shown it to be wrong, taken out. With ``config.repair_removes_unconfirmed`` it is
    taken out in any case, and a non-claim stands in when nothing verifiable is left (III.8).
    """
    if verification.answer.decision is Decision.ALLOW:
        return _ended(RepairStatus.NOT_NEEDED, verification)
    if verification.answer.decision is Decision.UNAVAILABLE:
        return _ended(RepairStatus.UNAVAILABLE, verification)
    answer = verification.trace.answer or ""
    verifier = _Verifier(verify, room=config.max_claims or _MOST_ASKED)
    drafts: tuple[Draft, ...] = ()
    current, strict = verification, False
    for revision in range(config.repair_iterations + _CLOSING_ROUNDS):
        corrects = not strict and revision < config.repair_iterations
        plan = Plan(
            current,
            families,
            accepts=verifier.accepting(verification.trace),
            editor=editor,
            tried=_tried(drafts, current),
            removes=config.repair_removes_unconfirmed,
            marked=bool(_marks(drafts)),
            corrects=corrects,
        )
        planned = plan_edits(plan)
        if not planned:
            break
        drafts = _chained(verification, drafts, planned)
        revised = apply_edits(answer, [draft.edit for draft in drafts])
        if _adds_values(verification, revised) and corrects:
            # Begin again without corrections: marks and removals can add no value.
            drafts, current, strict = (), verification, True
            continue
        if not revised.strip() or _adds_values(verification, revised):
            break
        current = verifier.judge(_with_edits(verification.trace, [d.edit for d in drafts]))
        if _marks(drafts):
            if not open_claims(current, marked=True):
                break
        elif current.answer.decision is Decision.ALLOW and says_something(current):
            return _proposed(verification, drafts, current, verifier.calls)
    if _marks(drafts) and current is not verification:
        return _proposed(verification, drafts, current, verifier.calls)
    return _fallen_back(verification, verifier)


class Settled(StrEnum):
    """What people settled of a claim: nothing stands against it, it is wrong, or its credit alone is."""

    PASSES = "passes"
    WRONG = "wrong"
    MISCREDITED = "miscredited"


_FOUND = {
    Settled.WRONG: "People found it wrong.",
    Settled.MISCREDITED: "People found its credit wrong.",
}


def with_labels(
    verification: Verification,
    settled: Mapping[str, Settled],
    original: Verification | None = None,
) -> Verification:
    """The verification with what people settled put in, by the texts of claims.

    Of a revised answer ``original`` is what people read: a credit that they found wrong says nothing
    of another credit for the same words.
    """
    credited = {_credited(one.claim) for one in (original or verification).claims}
    claims = tuple(
        one
        if said is None or said is Settled.MISCREDITED and _credited(one.claim) not in credited
        else _labelled(one, said)
        for one in verification.claims
        for said in [settled.get(one.claim.text)]
    )
    answer = verification.answer
    if claims == verification.claims or answer.decision is Decision.UNAVAILABLE:
        return verification
    stopped = [one for one in claims if one.decision is Decision.BLOCK]
    decision = Decision.BLOCK if stopped else Decision.ALLOW
    return replace(verification, claims=claims, answer=replace(answer, decision=decision))


def overruled(verification: Verification, settled: Mapping[str, Settled]) -> Mapping[str, Settled]:
    """What people settled otherwise than the verifier found, by the texts of claims."""
    labelled = with_labels(verification, settled)
    return {
        one.claim.text: settled[one.claim.text]
        for one, other in zip(verification.claims, labelled.claims, strict=True)
        if one != other
    }


def _credited(claim: Claim) -> tuple[str, StatedAttribution | None]:
    """The claim's words and whom they credit, wherever they stand."""
    return claim.text, claim.stated and replace(claim.stated, span=Span(start=0, end=0))


def _labelled(verdict: ClaimVerdict, said: Settled) -> ClaimVerdict:
    if said is Settled.PASSES:
        return replace(verdict, decision=Decision.ALLOW)
    supported = verdict.verdict is VerdictLabel.SUPPORTED
    if verdict.decision is Decision.BLOCK and not (said is Settled.WRONG and supported):
        return verdict
    return replace(
        verdict,
        decision=Decision.BLOCK,
        verdict=VerdictLabel.UNSUPPORTED if said is Settled.WRONG else verdict.verdict,
        reasons=(_FOUND[said], *verdict.reasons),
    )


def chosen_answer(answer: str, actions: Sequence[RepairAction], chosen: Mapping[str, str]) -> str:
    """The answer with the ``chosen`` edits alone: action id to the text that a reviewer accepted.

    Mends are made anew around what was chosen; nothing chosen gives the answer as it was.
    """
    return apply_edits(answer, _chosen_edits(answer, actions, chosen))


def chosen_trace(trace: Trace, actions: Sequence[RepairAction], chosen: Mapping[str, str]) -> Trace:
    """The trace with ``chosen_answer``, to be verified as it stands; untouched citations move along."""
    return _with_edits(trace, _chosen_edits(trace.answer or "", actions, chosen))


def _chosen_edits(
    answer: str, actions: Sequence[RepairAction], chosen: Mapping[str, str]
) -> list[Edit]:
    made = [
        action
        for action in actions
        if action.action_id in chosen
        and not (action.kind is RepairKind.MEND and not action.claim_ids)
    ]
    edits = [Edit(span=one.span, after=chosen[one.action_id]) for one in made]
    revised = apply_edits(answer, edits)
    touched = [
        place
        for one, place in zip(made, edited_ranges(edits), strict=True)
        if one.kind is not RepairKind.MARK or chosen[one.action_id] != one.after
    ]
    return [one.edit for one in chain_edits(answer, edits, mend(revised, touched))]


class _Verifier:
    """The verifier that arrived as an argument, with how often it was asked."""

    def __init__(self, verify: Verify, *, room: int) -> None:
        self._verify, self._room, self.calls = verify, room, 0

    def judge(self, trace: Trace) -> Verification:
        """The verdict on a trace."""
        self.calls += 1
        return self._verify(trace)

    def accepting(self, trace: Trace) -> Callable[[Sequence[str]], frozenset[str]]:
        """Tells which sentences about that trace pass by themselves."""
        return lambda sentences: self._accepts(trace, sentences)

    def _accepts(self, trace: Trace, sentences: Sequence[str]) -> frozenset[str]:
        """Those that pass, in one call; they are an answer of their own, a paragraph each.

        At most ``room`` are asked.
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


def _proposed(
    before: Verification, drafts: Sequence[Draft], after: Verification, rounds: int
) -> Repair:
    """What the edits come to; a text with a statement that is marked never passes."""
    status = RepairStatus.CORRECTED
    if marks := _marks(drafts):
        status = RepairStatus.MARKED
        if after.answer.decision is Decision.ALLOW:
            reason = say(Cause.MARKED, count=marks)
            after = replace(
                after, answer=AnswerDecision(decision=Decision.BLOCK, reasons=(reason,))
            )
    elif any(draft.kind is RepairKind.PRUNE for draft in drafts):
        status = RepairStatus.PRUNED
    return Repair(
        status=status,
        actions=_actions(before.trace, drafts),
        revised_answer=after.trace.answer,
        before=before,
        after=after,
        rounds=rounds,
    )


def _marks(drafts: Sequence[Draft]) -> int:
    return sum(MARK.search(draft.edit.after) is not None for draft in drafts)


def _fallen_back(before: Verification, verifier: _Verifier) -> Repair:
    """The conservative non-claim instead of the answer; blocked for good when even that fails."""
    answer = before.trace.answer or ""
    whole = Draft(
        kind=RepairKind.FALLBACK,
        claim_ids=tuple(one.claim.claim_id for one in blocked_claims(before)),
        edit=Edit(span=Span(start=0, end=len(answer)), after=FALLBACK_ANSWER),
        reasons=("Nothing that the sources support was left of the answer.",),
    )
    after = verifier.judge(_with_edits(before.trace, [whole.edit]))
    allowed = after.answer.decision is Decision.ALLOW
    return Repair(
        status=RepairStatus.FALLBACK if allowed else RepairStatus.UNRESOLVED,
        actions=_actions(before.trace, [whole]) if allowed else (),
        revised_answer=FALLBACK_ANSWER if allowed else None,
        before=before,
        after=after,
        rounds=verifier.calls,
    )


def _actions(trace: Trace, drafts: Sequence[Draft]) -> tuple[RepairAction, ...]:
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
    original: Verification, drafts: Sequence[Draft], planned: Sequence[Draft]
) -> tuple[Draft, ...]:
    """Edits of the original answer that do all ``drafts`` and then all ``planned`` ones, tidied up."""
    answer = original.trace.answer or ""
    drafts = _joined(original, answer, drafts, planned)
    revised = apply_edits(answer, [draft.edit for draft in drafts])
    touched = [
        place
        for draft, place in zip(
            drafts, edited_ranges([draft.edit for draft in drafts]), strict=True
        )
        if draft.kind is not RepairKind.MARK
    ]
    mends = [
        Draft(
            kind=RepairKind.MEND,
            claim_ids=(),
            edit=edit,
            reasons=(TIDIED,),
        )
        for edit in mend(revised, touched)
    ]
    drafts = _joined(original, answer, drafts, mends)
    drafts = tuple(
        # A mark keeps its statement with it, so that a reviewer can change either.
        draft
        if draft.kind is RepairKind.MARK
        else replace(draft, edit=narrowed(answer, draft.edit))
        for draft in drafts
    )
    changing = [d for d in drafts if d.edit.span.cut(answer) != d.edit.after]
    return _with_their_space(answer, changing)


def _with_their_space(answer: str, drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Removals take along the white space that goes with them; everything else stays an edit."""
    joined: list[Draft] = []
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


def _is_space(answer: str, draft: Draft) -> bool:
    return draft.kind is RepairKind.MEND and draft.edit.span.cut(answer).isspace()


def _joined(
    original: Verification, answer: str, first: Sequence[Draft], second: Sequence[Draft]
) -> tuple[Draft, ...]:
    chained = chain_edits(answer, [d.edit for d in first], [d.edit for d in second])
    joined = []
    for one in chained:
        parts = [first[i] for i in one.first] + [second[j] for j in one.second]
        telling = [part for part in parts if part.kind is not RepairKind.MEND] or parts
        main = max(telling, key=lambda part: DESTRUCTIVENESS.index(part.kind))
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


def _tried(drafts: Sequence[Draft], current: Verification) -> Mapping[str, frozenset[RepairKind]]:
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


def _with_edits(trace: Trace, edits: Sequence[Edit]) -> Trace:
    """The trace with a revised answer; citations in untouched text move along, others are gone."""
    edits = sorted(edits, key=lambda edit: edit.span.start)
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
    answer = apply_edits(trace.answer or "", edits)
    return replace(trace, answer=answer, citations=tuple(kept))


def _adds_values(original: Verification, revised: str) -> bool:
    """Whether the revised answer holds a protected value that neither the answer nor a source does.

    A mark that cites the right place may be an address that no source writes out.
    """
    marks = [f.instead for one in original.claims for f in one.citations if f.instead]
    answer = "\n".join([original.trace.answer or "", *marks])
    known = {value.normalised for value in protected_values(answer)}
    evidence = [source.text for source in original.trace.sources if source.is_evidence]
    return any(
        value.normalised not in known
        and value.text not in answer
        and not any(value_present(value, text) for text in evidence)
        for value in protected_values(revised)
    )
