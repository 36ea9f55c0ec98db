"""What a reviewer holds: one claim, what has been answered so far, and what a key press does to it.

Callbacks get everything as arguments, make one call to the desk, and touch no ``st.*`` before it: a
newer run may stop this one at any of those. The hand itself lives in the session and is changed in
place; what must survive a reload is in the database.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from core.errors import Conflict, InputError, NotFound, ProvenanceGuardError
from core.records import Trace
from core.review.assignment import NOTHING_ON_SCREEN
from core.review.items import Draft, Guideline, Progress, ReviewItem
from core.review.records import Judgement, QueueReason
from core.workflows.review import ReviewSession
from pages.components.claim_places import ClaimInAnswer, claim_in_hand
from pages.components.review_layout import Json, lay_out_machine
from storage.store import SqlStore
from storage.workspace import Workspace

Change = Callable[[Draft], Draft]
_HAND = "hand"
_SAID = "review_said"
TOLD_SECONDS = 4.0
IGNORED = "Ignored: that key was pressed before this claim was on screen."


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class Hand:
    """A claim in hand; it is dropped when the claim is done.

    ``person_id`` is whose hand it is, ``said`` what was decided before the verifier's view was shown;
    ``note_key`` names the field that the note is typed into.
    """

    person_id: int
    item: ReviewItem
    nonce: str
    trace: Trace
    claim: ClaimInAnswer
    draft: Draft
    progress: Progress  # as it was when the claim came: nothing on screen moves while it is read
    guideline: Guideline
    arrived: float  # on this process's own clock
    dwell_seconds: float
    decide_first: bool
    said: Judgement | None = None
    machine: Json | None = None
    declining: bool = False
    noting: bool = False
    message: str = ""
    opened: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Names this claim in this assignment, for the view."""
        return f"{self.item.assignment_id}"

    @property
    def note_key(self) -> str:
        """The widget that the note is typed into; one for each claim, so that none is carried over."""
        return f"note-{self.item.assignment_id}"

    @property
    def sure_key(self) -> str:
        """The widget that says how sure the reviewer is."""
        return f"sure-{self.item.assignment_id}"

    @property
    def judgement(self) -> Judgement | None:
        """What the answers make together; None while one is missing."""
        draft = self.draft
        if draft.support is None or not draft.source_answered or draft.conflation is None:
            return None
        return Judgement(
            support=draft.support, source_id=draft.source_id, conflation=draft.conflation
        )


def take_hand(desk: ReviewSession, workspace: Workspace) -> Hand | None:
    """The claim in hand, else the next one; None when nothing waits. Raises what the desk raises."""
    hand = st.session_state.get(_HAND)
    if isinstance(hand, Hand) and hand.person_id == desk.user.person_id:
        return hand
    item = desk.next_item()
    if item is None:
        return None
    hand = _hand(desk, workspace, item)
    st.session_state[_HAND] = hand
    return hand


def drop_hand() -> None:
    """Forget the claim in hand; the database knows whose it is."""
    st.session_state.pop(_HAND, None)


def _hand(desk: ReviewSession, workspace: Workspace, item: ReviewItem) -> Hand:
    trace = workspace.store.get_trace(item.trace_id, item.content_hash).trace
    settings = desk.project.settings
    hand = Hand(
        person_id=desk.user.person_id,
        item=item,
        nonce="",
        trace=trace,
        claim=claim_in_hand(item),
        draft=item.draft or Draft(),
        progress=desk.progress(),
        guideline=workspace.guidelines.current(),
        arrived=0.0,
        dwell_seconds=settings.dwell_milliseconds / 1000,
        decide_first=settings.decide_first,
    )
    if not settings.decide_first:
        _reveal(hand, desk, workspace.store, item.reason)
    hand.nonce = desk.show(item.assignment_id)
    hand.arrived = time.monotonic()
    return hand


def tell(words: str) -> None:
    """Say this when the page is drawn next; a key press itself may show nothing."""
    before = [(when, each) for when, each in _told() if each != words]
    st.session_state[_SAID] = [*before, (time.monotonic(), words)]


def show_told() -> None:
    """Show what the key presses of the last seconds came to.

    A drawing that the next key press cuts short never arrives, so each is shown by every drawing of
    its time; a browser that shows it already keeps the one that it has.
    """
    now = time.monotonic()
    said = [(when, words) for when, words in _told() if now - when < TOLD_SECONDS]
    st.session_state[_SAID] = said
    for _, words in said:
        st.toast(words)


def _told() -> list[tuple[float, str]]:
    return list(st.session_state.get(_SAID, []))


# ---------------------------------------------------------------- key presses


def pressed(held: weakref.ref[Any], act: Callable[..., None], *rest: object) -> None:
    """Do what a button does with the hand that it was drawn for; nothing once that hand is gone.

    A button is another one for each drawing: a press in a browser that still shows the claim before
    arrives as a press on that claim's button, never on the next one's. The hand is held weakly,
    because Streamlit keeps what a button was given for as long as the session lives.
    """
    hand = held()
    if hand is None:
        tell(IGNORED)
        return
    act(hand, *rest)


def answer(hand: Hand, nonce: str, desk: ReviewSession, store: SqlStore, change: Change) -> None:
    """Take one more answer; the last one decides the claim.

    ``change`` is made to the answers of this moment: those of the last drawing may be older than a
    key press that came in between.
    """
    note = st.session_state.get(hand.note_key, hand.draft.rationale)
    if not _counts(hand, nonce):
        return
    hand.draft = replace(change(hand.draft), rationale=note)
    judgement = hand.judgement
    try:
        if hand.said is not None:
            return  # changed after the verifier's view: ``keep`` says so to the desk
        if judgement is None:
            desk.save_draft(hand.item.assignment_id, hand.draft, nonce)
            return
        vote = desk.annotate(
            hand.item.assignment_id,
            nonce,
            judgement,
            confidence=hand.draft.confidence,
            rationale=note,
        )
        if not hand.decide_first:
            drop_hand()
            return
        hand.said = judgement
        _reveal(hand, desk, store, vote.queue_reason)
        hand.nonce = desk.show(hand.item.assignment_id)
    except (Conflict, NotFound) as error:
        _lost(error)
    except InputError as error:
        hand.message = error.message
        _keep_draft(hand, desk)
    except ProvenanceGuardError as error:
        hand.message = str(error)


def _keep_draft(hand: Hand, desk: ReviewSession) -> None:
    try:
        desk.save_draft(hand.item.assignment_id, hand.draft, hand.nonce)
    except (Conflict, NotFound) as error:
        _lost(error)


def keep(hand: Hand, nonce: str, desk: ReviewSession) -> None:
    """Keep what was decided, or say what was changed after the verifier's view; then the next one."""
    note = st.session_state.get(hand.note_key, hand.draft.rationale)
    judgement = hand.judgement
    if judgement is None or hand.said is None or nonce != hand.nonce:
        hand.message = IGNORED
        return
    try:
        desk.revise(
            hand.item.assignment_id,
            nonce,
            judgement,
            confidence=hand.draft.confidence,
            rationale=note,
        )
        drop_hand()
    except (Conflict, NotFound) as error:
        _lost(error)
    except InputError as error:
        hand.message = error.message
    except ProvenanceGuardError as error:
        hand.message = str(error)


def keep_note(hand: Hand, desk: ReviewSession) -> None:
    """Take in what was typed about the claim, and how sure the reviewer is."""
    note = st.session_state.get(hand.note_key, "")
    sure = st.session_state.get(hand.sure_key, hand.draft.confidence)
    hand.draft = replace(hand.draft, rationale=note, confidence=sure)
    if hand.said is None:
        _keep_draft(hand, desk)


def undo(hand: Hand | None, desk: ReviewSession) -> None:
    """Take the last verdict back: its claim comes again, and the next verdict replaces it.

    None: pressed on a page that shows no claim.
    """
    try:
        item = (
            desk.undo(nonce=NOTHING_ON_SCREEN)
            if hand is None
            else desk.undo(hand.item.assignment_id, hand.nonce)
        )
    except (Conflict, NotFound) as error:
        _lost(error)
        return
    except ProvenanceGuardError as error:
        tell(str(error))
        return
    drop_hand()
    if item is None:
        tell("There is no verdict of yours to take back.")
        return
    tell("Your last verdict is open again; both stay in the trail.")


def decline(hand: Hand, desk: ReviewSession, reason: str) -> None:
    """Give the claim back with the reason; somebody else will get it."""
    if not reason.strip():
        hand.message = "Say why, so that the next person knows."
        return
    try:
        desk.decline(hand.item.assignment_id, reason, hand.nonce)
        drop_hand()
    except (Conflict, NotFound) as error:
        _lost(error)
    except ProvenanceGuardError as error:
        hand.message = str(error)


def _counts(hand: Hand, nonce: str) -> bool:
    """Whether a key press was meant for the claim on screen."""
    early = time.monotonic() - hand.arrived < hand.dwell_seconds and hand.said is None
    hand.message = IGNORED if early or nonce != hand.nonce else ""
    return not hand.message


def _lost(error: ProvenanceGuardError) -> None:
    """The claim is no longer what this browser thinks: get it anew."""
    drop_hand()
    tell(str(error))


def _reveal(hand: Hand, desk: ReviewSession, store: SqlStore, reason: QueueReason | None) -> None:
    """Put the verifier's view into the hand; the desk writes down that it was seen."""
    signal = desk.reveal(hand.item.assignment_id)
    if signal is None:
        return
    item = hand.item
    verdict = store.get_verdict(
        item.trace_id, content_hash=item.content_hash, run_key=signal.run_key
    )
    hand.machine = lay_out_machine(
        verdict.verification,
        hand.trace,
        item.claim_id,
        said=hand.said,
        reason=reason,
        verified_at=verdict.verified_at,
    )
