"""A claim that two people read differently, in an adjudicator's hands, and what is answered so far."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core.review.items import BlindAnnotation, DisagreementItem, Draft
from core.review.records import Cause
from pages.widgets.current_user import OF_USER
from pages.widgets.judgement_form import Change, JudgementForm, refusals_told, save_draft
from pages.widgets.presses import IGNORED
from pages.widgets.review_layout import CONFIDENCE, Json, answer_words, marked
from storage.reviews import ReviewSession
from storage.workspace import Workspace

_HELD = f"{OF_USER}disagreement"


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class Disagreement:
    """A disagreement on screen; it is dropped when it is decided."""

    form: JudgementForm
    item: DisagreementItem
    cause: Cause | None = None
    fix_guideline: bool = False
    rule: str | None = None

    @property
    def missing(self) -> int:
        """How many of the four answers are still to come."""
        return self.form.missing + (self.cause is None)


def current_disagreement(session: ReviewSession, workspace: Workspace) -> Disagreement | None:
    """What the user holds, else what comes next; None when none waits. Raises as the session does."""
    held = st.session_state.get(_HELD)
    if isinstance(held, Disagreement) and held.form.user_id == session.user.person_id:
        return held
    item = session.next_disagreement()
    if item is None:
        return None
    form = JudgementForm(
        user_id=session.user.person_id,
        assignment_id=item.assignment_id,
        nonce=session.show(item.assignment_id),
        trace=workspace.store.get_trace(item.trace_id, item.content_hash).trace,
        claim=item,
        draft=session.load_draft(item.assignment_id) or Draft(),
        guideline=workspace.guidelines.current(),
    )
    held = Disagreement(form=form, item=item)
    st.session_state[_HELD] = held
    return held


def drop() -> None:
    """Forget what is held; the database knows whose it is."""
    st.session_state.pop(_HELD, None)


def lay_out_annotations(held: Disagreement) -> list[Json]:
    """The two annotations as the view shows them: the reason first, then what was said."""
    return [
        {
            "name": annotation.label,
            "rationale": annotation.rationale,
            "answers": answer_words(annotation.judgement, held.form.names)
            + ("" if annotation.confidence is None else f" · {CONFIDENCE[annotation.confidence]}"),
            "quotes": [each["text"] for each in _marked(held, annotation)],
        }
        for annotation in held.item.annotations
    ]


def passages_of(held: Disagreement) -> list[Json]:
    """What the annotations marked in the sources."""
    return [each for annotation in held.item.annotations for each in _marked(held, annotation)]


def _marked(held: Disagreement, annotation: BlindAnnotation) -> list[Json]:
    passages = annotation.judgement.passages
    return marked(passages, held.form.trace, "passage", annotation.label)


def named_by(held: Disagreement) -> dict[str, str]:
    """Every source that one of the annotations names: id → by whom."""
    named: dict[str, list[str]] = {}
    for annotation in held.item.annotations:
        for source_id in annotation.judgement.source_ids:
            named.setdefault(source_id, []).append(annotation.label)
    return {source_id: " and ".join(labels) for source_id, labels in named.items()}


def lay_out_mine(held: Disagreement) -> Json:
    """My decision so far, beside the annotations."""
    judgement = held.form.judgement
    return {
        "rationale": held.form.draft.rationale,
        "asks": "Read both reasons, then the sources, and decide below.",
        "answers": "" if judgement is None else answer_words(judgement, held.form.names),
    }


# ---------------------------------------------------------------- key presses


def answer(held: Disagreement, nonce: str, change: Change, session: ReviewSession) -> None:
    """Take one more answer; nothing is decided before it is saved."""
    form = held.form
    if nonce != form.nonce:
        form.message = IGNORED
        return
    form.message = ""
    form.take(change)
    save_draft(form, session, drop)


def set_cause(held: Disagreement, nonce: str, cause: Cause) -> None:
    """Say why the two differed."""
    held.form.message = "" if nonce == held.form.nonce else IGNORED
    if nonce == held.form.nonce:
        held.cause = cause


def toggle_fix(held: Disagreement) -> None:
    """Say, or no longer say, that the guideline should have settled it."""
    held.fix_guideline = not held.fix_guideline


def keep_note(held: Disagreement, session: ReviewSession) -> None:
    """Take in what was typed about the disagreement."""
    held.form.take()
    save_draft(held.form, session, drop)


def save(held: Disagreement, nonce: str, session: ReviewSession) -> None:
    """Write the decision; the two annotations stay as they are."""
    form = held.form
    form.take()
    judgement, cause = form.judgement, held.cause
    if judgement is None or cause is None:
        form.message = "One answer is missing."
        return
    with refusals_told(form, drop):
        session.adjudicate(
            held.item,
            nonce,
            judgement,
            cause,
            guideline_needs_fix=held.fix_guideline,
            rule=held.rule,
            rationale=form.draft.rationale,
        )
        drop()
