"""A claim that a reviewer was assigned: what is answered so far, and what a key press does to it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from core.errors import Conflict, InputError, NotFound, ProvenanceGuardError
from core.review.assignment import NOTHING_ON_SCREEN
from core.review.items import Draft, Progress, ReviewItem
from core.review.pre_labels import told_after
from core.review.records import Judgement, QueueReason
from pages.widgets.current_user import OF_USER
from pages.widgets.judgement_form import Change, JudgementForm, refusals_told, save_draft
from pages.widgets.presses import IGNORED, tell
from pages.widgets.review_layout import Json, lay_out_machine
from pages.widgets.session import open_workspace
from storage.reviews import ReviewSession
from storage.store import SqlStore
from storage.workspace import Workspace

_HELD = f"{OF_USER}assignment"


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class Assignment:
    """An assigned claim on screen; it is dropped when the claim is done.

    ``said`` is what was decided before the verifier's view was shown.
    """

    form: JudgementForm
    item: ReviewItem
    progress: Progress  # as it was when the claim came: nothing on screen moves while it is read
    arrived: float  # on this process's own clock
    dwell_seconds: float
    decide_first: bool
    said: Judgement | None = None
    machine: Json | None = None
    declining: bool = False
    early: bool = False  # an answer came with the claim: nothing saves by itself any more

    @property
    def sure_key(self) -> str:
        """The widget that says how sure the reviewer is."""
        return f"sure-{self.item.assignment_id}"


def current_assignment(session: ReviewSession, workspace: Workspace) -> Assignment | None:
    """What the user holds, else what comes next; None when nothing waits. Raises as the session does."""
    held = st.session_state.get(_HELD)
    if isinstance(held, Assignment) and held.form.user_id == session.user.person_id:
        return held
    item = session.next_item()
    if item is None:
        return None
    held = _open(session, workspace, item)
    st.session_state[_HELD] = held
    return held


def drop() -> None:
    """Forget what is held; the database knows whose it is."""
    st.session_state.pop(_HELD, None)


def _open(session: ReviewSession, workspace: Workspace, item: ReviewItem) -> Assignment:
    settings = session.project.settings
    form = JudgementForm(
        user_id=session.user.person_id,
        assignment_id=item.assignment_id,
        nonce="",
        trace=workspace.store.get_trace(item.trace_id, item.content_hash).trace,
        claim=item,
        draft=item.draft or Draft(),
        guideline=workspace.guidelines.current(),
    )
    held = Assignment(
        form=form,
        item=item,
        progress=session.progress(),
        arrived=0.0,
        dwell_seconds=settings.dwell_milliseconds / 1000,
        decide_first=settings.decide_first,
    )
    if not settings.decide_first:
        _reveal(held, session, workspace.store, item.reason)
    form.nonce = session.show(item.assignment_id)
    held.arrived = time.monotonic()
    return held


# ---------------------------------------------------------------- key presses


def answer(
    held: Assignment, nonce: str, change: Change, session: ReviewSession, store: SqlStore
) -> None:
    """Take one more answer; the last one decides the claim, unless it was decided before.

    ``change`` is made to the answers of this moment: those of the last drawing may be older than a
    key press that came in between.
    """
    form = held.form
    # A key meant for the claim before is not lost here, and decides nothing that was not looked at.
    held.early |= time.monotonic() - held.arrived < held.dwell_seconds and held.said is None
    if not _taken(held, nonce, change):
        return
    if form.judgement is None or held.item.reconsidered or held.early or form.unfit:
        save_draft(form, session, drop)
        return
    _decide(held, form.judgement, nonce, session, store)


def collect(
    held: Assignment, nonce: str, change: Change, session: ReviewSession, _: SqlStore
) -> None:
    """Take in one of several sources: it decides nothing by itself, others may follow."""
    if _taken(held, nonce, change):
        save_draft(held.form, session, drop)


def _taken(held: Assignment, nonce: str, change: Change) -> bool:
    """Whether the answer was meant for this claim and is to be written; taken in it is in any case."""
    if not _counts(held, nonce):
        return False
    held.form.take(change)
    return held.said is None  # else ``keep`` says so to the session


def decide_again(held: Assignment, nonce: str, session: ReviewSession, store: SqlStore) -> None:
    """Save answers of which none saved by itself: to a claim taken back, to what is none, …"""
    form = held.form
    if not _counts(held, nonce):
        return
    form.take()
    if form.judgement is None or held.said is not None:
        form.message = IGNORED
        return
    _decide(held, form.judgement, nonce, session, store)


def _decide(
    held: Assignment, judgement: Judgement, nonce: str, session: ReviewSession, store: SqlStore
) -> None:
    form = held.form
    with refusals_told(form, drop):
        try:
            annotation = session.annotate(
                form.assignment_id,
                nonce,
                judgement,
                confidence=form.draft.confidence,
                rationale=form.draft.rationale,
            )
        except InputError:
            session.save_draft(form.assignment_id, form.draft, nonce)  # refused, and not lost
            raise
        if not held.decide_first:
            drop()
            return
        held.said = judgement
        _reveal(held, session, store, annotation.queue_reason)
        form.nonce = session.show(form.assignment_id)


def keep(held: Assignment, nonce: str, session: ReviewSession) -> None:
    """Keep what was decided, or say what was changed after the verifier's view; then the next one."""
    form = held.form
    form.take()
    judgement = form.judgement
    if judgement is None or held.said is None or nonce != form.nonce:
        form.message = IGNORED
        return
    with refusals_told(form, drop):
        session.revise(
            form.assignment_id,
            nonce,
            judgement,
            confidence=form.draft.confidence,
            rationale=form.draft.rationale,
        )
        drop()


def keep_note(held: Assignment, session: ReviewSession) -> None:
    """Take in what was typed about the claim, and how sure the reviewer is."""
    form = held.form
    sure = st.session_state.get(held.sure_key, form.draft.confidence)
    form.take(partial(replace, confidence=sure))
    if held.said is None:
        save_draft(form, session, drop)


def undo(held: Assignment | None, session: ReviewSession, claim_key: int | None = None) -> None:
    """Take the last verdict or pass back, or that on the claim named.

    Its claim comes again, and what is said next counts. None: pressed on a page that shows no claim.
    """
    try:
        if claim_key is not None:
            item = session.undo(claim_key=claim_key)
        elif held is None:
            item = session.undo(nonce=NOTHING_ON_SCREEN)
        else:
            item = session.undo(held.form.assignment_id, held.form.nonce)
    except (Conflict, NotFound) as error:
        drop()
        tell(str(error))
        return
    except ProvenanceGuardError as error:
        tell(str(error))
        return
    drop()
    if item is None:
        tell("There is no verdict or pass of yours to take back.")
    elif item.reconsidered:
        tell("Your verdict is open again, as you gave it; both stay in the trail.")
    else:
        tell("The claim that you passed on is in your hands again; both stay in the trail.")


def decline(held: Assignment, session: ReviewSession, reason: str) -> None:
    """Give the claim back with the reason; somebody else will get it."""
    form = held.form
    if not reason.strip():
        form.message = "Say why, so that the next person knows."
        return
    with refusals_told(form, drop):
        session.decline(form.assignment_id, reason, form.nonce)
        drop()


def set_declining(held: Assignment, declining: bool) -> None:
    """Begin to give the claim back, or leave that."""
    held.declining, held.form.message = declining, ""


def _counts(held: Assignment, nonce: str) -> bool:
    """Whether a key press was meant for the claim on screen."""
    held.form.message = "" if nonce == held.form.nonce else IGNORED
    return not held.form.message


def _reveal(
    held: Assignment, session: ReviewSession, store: SqlStore, reason: QueueReason | None
) -> None:
    """Show the verifier's view from now on; the session writes down that it was seen."""
    item = held.item
    signal = session.reveal(item.assignment_id)
    if signal is None:
        return
    verdict = store.get_verdict(
        item.trace_id, content_hash=item.content_hash, run_key=signal.run_key
    )
    laid = lay_out_machine(
        verdict.verification,
        held.form.trace,
        item.claim_id,
        said=held.said,
        reason=reason,
        verified_at=verdict.verified_at,
    )
    made = open_workspace().pre_labels.of(item.claim_key)
    told = "" if made is None or held.said is None else told_after(made, held.said)
    held.machine = None if laid is None else {**laid, "pre_label": told}
