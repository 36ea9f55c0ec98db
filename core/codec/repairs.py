"""The ``repair`` of a verdict as JSON and back (formats.md, section 3)."""

from __future__ import annotations

from core.codec.fields import Fields
from core.records import (
    Decision,
    JsonObject,
    RepairAction,
    RepairKind,
    RepairOutcome,
    RepairSavings,
    RepairStatus,
)

PROPOSAL = "proposal"  # no edit of it is made before a person has decided it


def repair_document(repair: RepairOutcome) -> JsonObject:
    """The ``repair`` field of a verdict document."""
    saved = repair.saved
    return {
        "state": PROPOSAL,
        "status": repair.status.value,
        "actions": [_action_document(action) for action in repair.actions],
        "revised_answer": repair.revised_answer,
        "decision_after": repair.decision_after.value,
        "reasons_after": list(repair.reasons_after),
        "rounds": repair.rounds,
        "removed": list(repair.removed),
        "saved": {
            "supported_before": saved.supported_before,
            "supported_kept": saved.supported_kept,
            "lost": list(saved.lost),
            "words_kept": saved.words_kept,
            "wrong_attributions_before": saved.wrong_attributions_before,
            "wrong_attributions_left": saved.wrong_attributions_left,
        },
    }


def repair_from_document(document: JsonObject, path: str = "repair") -> RepairOutcome:
    """The repair that ``repair_document`` wrote; raises BadRecord naming the path of a wrong value."""
    read = Fields(document, path)
    saved = read.nested("saved")
    return RepairOutcome(
        status=read.choice(RepairStatus, "status"),
        actions=tuple(_action(action) for action in read.items("actions")),
        revised_answer=read.optional_string("revised_answer"),
        decision_after=read.choice(Decision, "decision_after"),
        reasons_after=tuple(read.strings("reasons_after")),
        rounds=read.integer("rounds"),
        removed=tuple(read.strings("removed")),
        saved=RepairSavings(
            supported_before=saved.integer("supported_before"),
            supported_kept=saved.integer("supported_kept"),
            lost=tuple(saved.strings("lost")),
            words_kept=saved.optional_number("words_kept"),
            wrong_attributions_before=saved.integer("wrong_attributions_before"),
            wrong_attributions_left=saved.integer("wrong_attributions_left"),
        ),
    )


def actions_of(document: JsonObject) -> tuple[RepairAction, ...]:
    """The actions alone of a ``repair`` document; raises BadRecord."""
    return tuple(_action(action) for action in Fields(document, "repair").items("actions"))


def _action_document(action: RepairAction) -> JsonObject:
    return {
        "action_id": action.action_id,
        "kind": action.kind.value,
        "claim_ids": list(action.claim_ids),
        "span": [action.span.start, action.span.end],
        "before": action.before,
        "after": action.after,
        "reason": action.reason,
        "source_id": action.source_id,
        "evidence": [[span.start, span.end] for span in action.evidence],
        "editor": action.editor,
        "note": action.note,
    }


def _action(read: Fields) -> RepairAction:
    return RepairAction(
        action_id=read.string("action_id"),
        kind=read.choice(RepairKind, "kind"),
        claim_ids=tuple(read.strings("claim_ids")),
        span=read.span("span"),
        before=read.string("before"),
        after=read.string("after"),
        reason=read.string("reason"),
        source_id=read.optional_string("source_id"),
        evidence=read.spans("evidence"),
        editor=read.string("editor"),
        note=read.optional_string("note"),
    )
