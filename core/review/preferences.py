"""Preference pairs for later tuning: what people preferred to what the machine had said.

Two kinds: an edit of a repair that somebody accepted, rewrote or rejected, and a verdict that
people overruled. Where people and machine agree there is nothing to prefer, and no pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.records import (
    AttributionStatus,
    ClaimVerdict,
    Judged,
    Premise,
    RepairAction,
    Trace,
    VerdictLabel,
    Verification,
)
from core.review.adjudication import differ
from core.review.packet import claims_of
from core.review.records import Judgement, ReviewedClaim

Json = dict[str, object]

INSTRUCTION = (
    "Is the claim supported, unsupported, contradicted, or is there not enough evidence? "
    "Which source says it, and does the answer credit another one?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenEdit:
    """An edit of a repair with the last word on it; ``text`` is the reviewer's own wording."""

    action: RepairAction
    choice: str  # accept, edit or reject
    text: str | None
    reviewer: str
    at: str


def verdict_pairs(
    claims: Sequence[ReviewedClaim], trace: Trace, verdict: Verification | None
) -> Iterator[Json]:
    """A pair for each claim whose final label is not what the verifier said."""
    verdicts = {each.claim.claim_id: each for each in claims_of(verdict)}
    for claim in claims:
        final, signal = claim.resolution.final, claim.signal
        if final is None or final.label is None:
            continue
        if signal is None or signal.verdict in (None, VerdictLabel.UNJUDGED):
            continue
        said = Judgement(
            support=signal.verdict or VerdictLabel.UNJUDGED,
            # The router names a source for every claim: it counts only where it is said to support.
            source_id=signal.routed_source_id if signal.verdict is VerdictLabel.SUPPORTED else None,
            conflation=signal.attribution is AttributionStatus.CONFLATION,
        )
        if _same(final, said):
            continue
        decided = claim.adjudication
        yield {
            "kind": "verdict",
            "trace_id": claim.trace_id,
            "claim_id": claim.claim_id,
            "prompt": "\n\n".join(
                [
                    INSTRUCTION,
                    f"Claim: {claim.text}",
                    *_evidence(trace, _premise(verdicts.get(claim.claim_id)), final.source_ids),
                ]
            ),
            "chosen": _in_words(final),
            "rejected": _in_words(said),
            "reasons": [
                annotation.rationale
                for annotation in claim.annotations
                if annotation.rationale and not differ(annotation.judgement, final)
            ]
            + ([decided.rationale] if decided and decided.rationale else []),
            "by": [decided.reviewer]
            if decided
            else [annotation.reviewer for annotation in claim.annotations],
            "status": claim.resolution.status.value,
        }


def edit_pairs(trace: Trace, edits: Sequence[ChosenEdit]) -> Iterator[Json]:
    """A pair for each edit of a repair that somebody decided on."""
    for edit in edits:
        action = edit.action
        chosen, rejected = {
            "accept": (action.after, action.before),
            "edit": (edit.text or "", action.after),
            "reject": (action.before, action.after),
        }[edit.choice]
        if chosen == rejected:
            continue
        evidence = next(
            (
                "\n".join(span.cut(source.text) for span in action.evidence)
                for source in trace.sources
                if source.source_id == action.source_id
            ),
            "",
        )
        yield {
            "kind": "edit",
            "trace_id": trace.trace_id,
            "claim_id": action.claim_ids[0] if action.claim_ids else None,
            "prompt": "\n\n".join(
                [
                    "Revise this stretch of the answer so that its source says it.",
                    f"Question: {trace.question}",
                    f"Stretch: {action.before}",
                    *([f"Evidence ({action.source_id}): {evidence}"] if evidence else []),
                ]
            ),
            "chosen": chosen,
            "rejected": rejected,
            "reasons": [action.reason],
            "by": [edit.reviewer],
            "status": edit.choice,
            "at": edit.at,
        }


def _same(final: Judgement, said: Judgement) -> bool:
    if final.support is not said.support:
        return False
    if final.support is VerdictLabel.SUPPORTED and said.source_id not in final.source_ids:
        return False
    return final.conflation is None or final.conflation is said.conflation


def _in_words(judgement: Judgement) -> str:
    credit = {True: "; the answer credits another source", False: "", None: ""}
    source = "".join(f"; source: {each}" for each in judgement.source_ids)
    return f"{judgement.support.value}{source}{credit[judgement.conflation]}"


def _premise(verdict: ClaimVerdict | None) -> Premise | None:
    outcome = None if verdict is None else verdict.outcome
    return outcome.premise if isinstance(outcome, Judged) else None


def _evidence(trace: Trace, premise: Premise | None, source_ids: Sequence[str]) -> Iterator[str]:
    """The premise that was read, and the whole sources that people chose besides."""
    if premise is not None:
        yield f"Evidence ({premise.source_id}): {premise.text}"
    for source in trace.sources:
        if source.source_id in source_ids and (
            premise is None or premise.source_id != source.source_id
        ):
            yield f"Evidence ({source.source_id}): {source.text}"
