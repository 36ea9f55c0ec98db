"""The repair view: a repair laid out for the browser, and what a reviewer did there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

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
from pages.widgets.evidence_lines import claim_terms, nearest_line
from pages.widgets.excerpts import SHOWN_WHOLE_CHARACTERS, choose_excerpts, merge_spans
from pages.widgets.frontend import script, styles
from pages.widgets.palette import DECISIONS
from pages.widgets.shortcuts import SHIPPED, Keymap, Page
from pages.widgets.side_by_side import lay_out_sides
from pages.widgets.source_view import source_names
from storage.repairs import Choice, StoredChoice

Json = Mapping[str, object]

# Registered once, at import. What a trace says travels as data and becomes text nodes.
_REPAIR = st.components.v2.component(
    "provenanceguard_repair",
    html='<div id="repair">\n</div>',
    css=styles("repair"),
    js=script("repair"),
)

KIND_WORDS = {
    RepairKind.ATTRIBUTION: ("⇄", "Source credited correctly"),
    RepairKind.VALUE: ("≠", "Value corrected"),
    RepairKind.QUALIFIER: ("±", "Qualifier restored"),
    RepairKind.REWORD: ("✎", "Reworded from the evidence"),
    RepairKind.PRUNE: ("−", "Taken out"),
    RepairKind.MEND: ("·", "Tidied up"),
    RepairKind.FALLBACK: ("⊘", "Answer withheld"),
}
STATUS_SHORT = {
    RepairStatus.NOT_NEEDED: "Not needed",
    RepairStatus.CORRECTED: "Corrected",
    RepairStatus.PRUNED: "Partly taken out",
    RepairStatus.FALLBACK: "Withheld",
    RepairStatus.UNRESOLVED: "Still blocked",
    RepairStatus.UNAVAILABLE: "Unavailable",
}
STATUS_WORDS = {
    RepairStatus.NOT_NEEDED: "The answer was allowed as it is.",
    RepairStatus.CORRECTED: "Every claim is still there, corrected; the revised answer passes.",
    RepairStatus.PRUNED: "What no source supports was taken out; the revised answer passes.",
    RepairStatus.FALLBACK: "Nothing verifiable was left, so a plain notice stands instead.",
    RepairStatus.UNRESOLVED: "The revised answer did not pass the verifier: it stays blocked.",
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
    said = _REPAIR(key=key, data=data, on_decide_change=_nothing).decide
    if not isinstance(said, Mapping):
        return None
    text = said.get("text")
    return Decided(
        action_id=str(said.get("action")),
        choice=Choice(str(said.get("choice"))),
        text=text if isinstance(text, str) else None,
    )


def _nothing() -> None:
    """A trigger needs a callback to be declared; the page reads its value instead."""


def lay_out_repair(
    repair: RepairOutcome,
    trace: Trace,
    decision: str,
    choices: Mapping[str, StoredChoice],
    verification: Verification | None = None,
    keys: Keymap = SHIPPED,
) -> Json:
    """The view's data: the answer as pieces, each edit with its reason, source and choice.

    With the ``verification`` of the answer a corrected credit shows the credited source as well.
    """
    answer = trace.answer or ""
    actions = repair.actions
    if any(said.choice is Choice.REJECT for said in choices.values()):
        # Numbers and headings follow from what stays: those of the proposal no longer hold.
        actions = tuple(action for action in actions if not _is_minor(action))
    return {
        "trace": {"id": trace.trace_id, "question": trace.question},
        "before": _badge(decision),
        "after": _badge(repair.decision_after.value),
        "status": _status(repair, choices),
        "keys": keys.words(Page.REPAIR),
        "bound": dict(keys.of_views(Page.REPAIR)),
        "figures": _figures(repair.saved, actions),
        "pieces": _pieces(answer, actions, choices),
        "edits": [_edit(action, trace, choices.get(action.action_id)) for action in actions],
        "sources": _sources(trace, actions, verification),
        "final": final_answer(answer, repair.actions, choices),
        "checked": repair.decision_after is Decision.ALLOW and not changed_by_reviewer(choices),
    }


def final_answer(
    answer: str, actions: Sequence[RepairAction], choices: Mapping[str, StoredChoice]
) -> str:
    """The answer with every edit that nobody rejected, in the reviewer's own words where given."""
    chosen = {}
    for action in actions:
        said = choices.get(action.action_id)
        if said is None or said.choice is not Choice.REJECT:
            chosen[action.action_id] = (
                action.after if said is None or said.text is None else said.text
            )
    return chosen_answer(answer, actions, chosen)


def changed_by_reviewer(choices: Mapping[str, StoredChoice]) -> bool:
    """Whether the text is no longer the one that the verifier passed."""
    return any(said.choice is not Choice.ACCEPT for said in choices.values())


def undecided(actions: Sequence[RepairAction], choices: Mapping[str, StoredChoice]) -> int:
    """How many of the edits that a reviewer is asked about nobody has decided."""
    asked = [action for action in actions if not _is_minor(action)]
    return sum(action.action_id not in choices for action in asked)


def undecided_words(count: int) -> str:
    """The count as a button and a headline say it: "5 edits undecided"."""
    return f"{count} edit{'' if count == 1 else 's'} undecided"


def _status(repair: RepairOutcome, choices: Mapping[str, StoredChoice]) -> str:
    """What the repair came to; a proposal as long as an edit of it is undecided."""
    words, left = STATUS_WORDS[repair.status], undecided(repair.actions, choices)
    return f"Proposal, {undecided_words(left)}. {words}" if left else words


def _badge(decision: str) -> Json:
    look = DECISIONS[decision]
    return {"kind": decision, "mark": look.mark, "word": look.word}


def _figures(saved: RepairSavings, actions: Sequence[RepairAction]) -> list[tuple[str, str]]:
    corrected = sum(
        action.kind not in (RepairKind.MEND, RepairKind.PRUNE, RepairKind.FALLBACK)
        for action in actions
    )
    return [
        ("Supported claims kept", f"{saved.supported_kept} of {saved.supported_before}"),
        ("Words kept", "–" if saved.words_kept is None else f"{saved.words_kept:.0%}"),
        ("Corrected", str(corrected)),
        ("Taken out", str(sum(action.kind is RepairKind.PRUNE for action in actions))),
        ("Wrong credits left", str(saved.wrong_attributions_left)),
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
