"""The repair view: a repair laid out for the browser, and what a reviewer did there."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from core.records import (
    Decision,
    RepairAction,
    RepairKind,
    RepairOutcome,
    RepairSavings,
    RepairStatus,
    Source,
    Span,
    Trace,
    Verification,
)
from core.repair.drafts import RULES
from core.repair.edits import word_diff
from core.repair.loop import chosen_answer
from pages.widgets.counting import counted
from pages.widgets.evidence_lines import claim_terms, nearest_line
from pages.widgets.excerpts import SHOWN_WHOLE_CHARACTERS, choose_excerpts, merge_spans
from pages.widgets.frontend import nothing, view
from pages.widgets.palette import DECISIONS
from pages.widgets.shortcuts import SHIPPED, Keymap, Page
from pages.widgets.side_by_side import lay_out_sides
from pages.widgets.source_view import source_names
from storage.repairs import Choice, StoredChoice

Json = Mapping[str, object]

_REPAIR = view("repair")

KIND_WORDS = {
    RepairKind.ATTRIBUTION: ("⇄", "Another source credited"),
    RepairKind.VALUE: ("≠", "Another value, from the source"),
    RepairKind.QUALIFIER: ("±", "Qualifier put back"),
    RepairKind.REWORD: ("✎", "Reworded by a model"),
    RepairKind.MARK: ("?", "Not confirmed: kept, with a mark"),
    RepairKind.PRUNE: ("−", "To be taken out"),
    RepairKind.MEND: ("·", "Tidied up"),
    RepairKind.FALLBACK: ("⊘", "Answer withheld"),
}
# What accepting and rejecting an edit of a kind means, in the words of its buttons.
CHOICE_WORDS = {
    RepairKind.MARK: ("Keep marked", "Confirmed: no mark"),
    RepairKind.PRUNE: ("Take out", "Keep"),
}
STATUS_SHORT = {
    RepairStatus.NOT_NEEDED: "Not needed",
    RepairStatus.CORRECTED: "Proposal: corrections",
    RepairStatus.PRUNED: "Proposal: something taken out",
    RepairStatus.FALLBACK: "Proposal: withhold the answer",
    RepairStatus.MARKED: "Proposal: some of it not confirmed",
    RepairStatus.UNRESOLVED: "Still blocked",
    RepairStatus.UNAVAILABLE: "Unavailable",
}
STATUS_WORDS = {
    RepairStatus.NOT_NEEDED: "The answer was allowed as it is.",
    RepairStatus.CORRECTED: "Credits or values are changed; nothing is taken out.",
    RepairStatus.PRUNED: "What could not be confirmed is taken out; true statements may be among it.",
    RepairStatus.FALLBACK: "Nothing could be confirmed, so a plain notice stands instead.",
    RepairStatus.MARKED: "What could not be confirmed is kept and marked: check it in the sources.",
    RepairStatus.UNRESOLVED: "No edit was found that the verifier accepts.",
    RepairStatus.UNAVAILABLE: "There is no answer, or no evidence to repair it from.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What a reviewer just did with one edit; ``text`` only for an edited one."""

    action_id: str
    choice: Choice
    text: str | None


def show_repair(data: Json, *, key: str) -> Decided | None:
    """Show a laid-out repair; what the reviewer decided in this run, if anything."""
    said = _REPAIR(key=key, data=data, on_decide_change=nothing).decide
    if not isinstance(said, Mapping):
        return None
    text = said.get("text")
    return Decided(
        action_id=str(said.get("action")),
        choice=Choice(str(said.get("choice"))),
        text=text if isinstance(text, str) else None,
    )


def lay_out_repair(
    repair: RepairOutcome,
    trace: Trace,
    decision: str,
    choices: Mapping[str, StoredChoice],
    verification: Verification | None = None,
    keys: Keymap = SHIPPED,
    *,
    checked: Decision | None = None,
) -> Json:
    """The view's data: the answer as pieces, each edit with its reason, source and choice.

    With the ``verification`` of the answer a corrected credit shows the credited source as well.
    ``checked`` is the verifier's word on the text that the choices make; it counts once all are made.
    """
    answer = trace.answer or ""
    actions = repair.actions
    if any(said.choice is Choice.REJECT for said in choices.values()):
        # Numbers and headings follow from what stays: those of the proposal no longer hold.
        actions = tuple(action for action in actions if not _is_minor(action))
    return {
        "trace": {"id": trace.trace_id, "question": trace.question},
        "before": _badge(decision),
        "after": _state_of_text(undecided(repair.actions, choices), checked),
        "status": _status(repair, choices, checked),
        "keys": keys.words(Page.REPAIR),
        "bound": dict(keys.of_views(Page.REPAIR)),
        "figures": _figures(repair.saved, actions),
        "pieces": _pieces(answer, actions, choices),
        "edits": [_edit(action, trace, choices.get(action.action_id)) for action in actions],
        "sources": _sources(trace, actions, verification),
        "final": final_answer(answer, repair.actions, choices),
        "unverified": bool(actions) and (bool(undecided(actions, choices)) or checked is None),
    }


def final_answer(
    answer: str, actions: Sequence[RepairAction], choices: Mapping[str, StoredChoice]
) -> str:
    """The answer with every edit that nobody rejected, in the reviewer's own words where given."""
    return chosen_answer(answer, actions, chosen_texts(actions, choices))


def chosen_texts(
    actions: Sequence[RepairAction], choices: Mapping[str, StoredChoice]
) -> dict[str, str]:
    """What each edit that nobody rejected puts into the text, by its id."""
    said = {action.action_id: choices.get(action.action_id) for action in actions}
    return {
        action.action_id: action.after if word is None or word.text is None else word.text
        for action in actions
        if (word := said[action.action_id]) is None or word.choice is not Choice.REJECT
    }


def undecided(actions: Sequence[RepairAction], choices: Container[str]) -> int:
    """How many of the edits that a reviewer is asked about nobody has decided."""
    asked = [action for action in actions if not _is_minor(action)]
    return sum(action.action_id not in choices for action in asked)


def undecided_words(count: int) -> str:
    """The count as a button and a headline say it: "5 edits undecided"."""
    return f"{counted(count, 'edit')} undecided"


def _status(
    repair: RepairOutcome, choices: Mapping[str, StoredChoice], checked: Decision | None
) -> str:
    """What is known of the text on screen; a proposal as long as an edit of it is undecided."""
    left = undecided(repair.actions, choices)
    if left:
        return f"Proposal, {undecided_words(left)}. {STATUS_WORDS[repair.status]}"
    if not repair.actions:
        return STATUS_WORDS[repair.status]
    return {
        None: "All edits are decided; the text that they make is not verified yet.",
        Decision.ALLOW: "The verifier allows exactly this text.",
    }.get(checked, "The verifier does not confirm all of exactly this text.")


def _state_of_text(left: int, checked: Decision | None) -> Json:
    """The pill of the text on screen: never green before every edit is decided and it was verified."""
    if left:
        return {"kind": "pending", "mark": "…", "word": f"Proposal, {left} undecided"}
    return _badge("pending" if checked is None else checked.value)


def _badge(decision: str) -> Json:
    look = DECISIONS[decision]
    return {"kind": decision, "mark": look.mark, "word": look.word}


def _figures(saved: RepairSavings, actions: Sequence[RepairAction]) -> list[tuple[str, str]]:
    corrected = sum(
        action.kind in (RepairKind.ATTRIBUTION, RepairKind.VALUE, RepairKind.QUALIFIER)
        for action in actions
    )
    kept = f"{saved.supported_kept} of {saved.supported_before}"
    return [
        *([("Confirmed claims kept", kept)] if saved.supported_before else []),
        ("To correct", str(corrected)),
        ("Not confirmed", str(sum(action.kind is RepairKind.MARK for action in actions))),
        ("To take out", str(sum(action.kind is RepairKind.PRUNE for action in actions))),
    ]


def _pieces(
    answer: str, actions: Sequence[RepairAction], choices: Mapping[str, StoredChoice]
) -> list[Json]:
    pieces: list[Json] = []
    at = 0
    for index, action in enumerate(actions):
        if action.span.start > at:
            pieces.append({"text": answer[at : action.span.start]})
        said = choices.get(action.action_id)
        after = said.text if said is not None and said.text is not None else action.after
        pieces.append({"edit": index, "parts": _parts(action.before, after)})
        at = action.span.end
    if at < len(answer):
        pieces.append({"text": answer[at:]})
    return pieces


def _parts(before: str, after: str) -> list[Json]:
    return [
        {
            "text": piece.text,
            "is": "same" if piece.old and piece.new else "old" if piece.old else "new",
        }
        for piece in word_diff(before, after)
    ]


def _edit(action: RepairAction, trace: Trace, said: StoredChoice | None) -> Json:
    mark, word = KIND_WORDS[action.kind]
    after = said.text if said is not None and said.text is not None else action.after
    return {
        "id": action.action_id,
        "kind": action.kind.value,
        "mark": mark,
        "word": word,
        "minor": _is_minor(action),
        "parts": _parts(action.before, after),
        "after": after,
        "reason": action.reason,
        "note": action.note,
        "editor": None if action.editor == RULES else f"Worded by {action.editor}",
        "claims": [one.rsplit("::", 1)[-1] for one in action.claim_ids],
        "source": action.source_id,
        "sourceName": _source_name(trace, action.source_id),
        "lit": [[span.start, span.end] for span in action.evidence],
        "words": CHOICE_WORDS.get(action.kind, ("Accept", "Reject")),
        "choice": None if said is None else said.choice.value,
        "reviewer": None if said is None else said.reviewer,
    }


def _is_minor(action: RepairAction) -> bool:
    return action.kind is RepairKind.MEND and not action.claim_ids


def _source_name(trace: Trace, source_id: str | None) -> str:
    found = next((one for one in trace.sources if one.source_id == source_id), None)
    return "" if found is None else source_names(trace.sources)[found.source_id]


def _sources(
    trace: Trace, actions: Sequence[RepairAction], verification: Verification | None
) -> dict[str, Json]:
    """The sources that edits rest on, once for each edit's evidence, cut into lit and plain pieces."""
    names, known = source_names(trace.sources), {one.source_id: one for one in trace.sources}
    found: dict[str, Json] = {}
    for action in actions:
        source = known.get(action.source_id or "")
        if source is None:
            continue
        credited = None
        if action.kind is RepairKind.ATTRIBUTION and verification is not None:
            credited = _credited(action, verification)
        other = known.get(credited[0]) if credited else None
        found[action.action_id] = {
            "name": names[source.source_id],
            "id": source.source_id,
            "pieces": _lit(source, action.evidence),
            "credited": {
                "name": names[other.source_id],
                "id": other.source_id,
                "pieces": _lit(other, _near(other, credited[1])),
            }
            if other is not None and credited is not None and other is not source
            else None,
        }
    return found


def _credited(action: RepairAction, verification: Verification) -> tuple[str, str] | None:
    """The source that the answer had credited for an edit's claim, and the claim's words."""
    for verdict in verification.claims:
        if verdict.claim.claim_id not in action.claim_ids:
            continue
        sides = lay_out_sides(verdict, verification.families, {})
        for side in ("left", "right"):
            if sides is not None and sides[side] not in (None, action.source_id):
                return str(sides[side]), verdict.claim.text
    return None


def _near(source: Source, claim: str) -> list[Span]:
    line = nearest_line(source.text[:SHOWN_WHOLE_CHARACTERS], claim_terms(claim))
    return [] if line is None else [line]


def _lit(source: Source, evidence: Sequence[Span]) -> list[Json]:
    lit = merge_spans([span for span in evidence if span.end <= len(source.text)])
    pieces: list[Json] = []
    for excerpt in choose_excerpts(len(source.text), lit):
        if pieces:
            pieces.append({"text": "\n…\n", "lit": False})
        at = excerpt.start
        for span in lit:
            if span.start < at or span.end > excerpt.end:
                continue
            pieces.append({"text": source.text[at : span.start], "lit": False})
            pieces.append({"text": span.cut(source.text), "lit": True})
            at = span.end
        pieces.append({"text": source.text[at : excerpt.end], "lit": False})
    return [piece for piece in pieces if piece["text"]]
