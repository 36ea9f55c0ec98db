"""What an adjudicator holds: a claim that two people read differently, and what has been answered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import streamlit as st

from core.errors import Conflict, InputError, NotFound, ProvenanceGuardError
from core.records import Trace
from core.review.items import Disagreement, Draft, Guideline
from core.review.records import Cause, Judgement
from core.workflows.review import ReviewSession
from pages.components.claim_places import ClaimInAnswer, claim_in_hand
from pages.components.review_hand import IGNORED, Change, tell
from pages.components.review_layout import CONFIDENCE, Json, answer_words
from storage.workspace import Workspace

_HAND = "tie"


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class TieHand:
    """A tie in somebody's hand; it is dropped when it is decided."""

    person_id: int
    item: Disagreement
    nonce: str
    trace: Trace
    claim: ClaimInAnswer
    draft: Draft
    guideline: Guideline
    cause: Cause | None = None
    fix_guideline: bool = False
    rule: str | None = None
    noting: bool = False
    message: str = ""
    opened: list[str] = field(default_factory=list)

    @property
    def note_key(self) -> str:
        """The widget that the reason is typed into."""
        return f"tie-note-{self.item.assignment_id}"

    @property
    def judgement(self) -> Judgement | None:
        """What the answers make together; None while one is missing."""
        draft = self.draft
        if draft.support is None or not draft.source_answered or draft.conflation is None:
            return None
        return Judgement(
            support=draft.support, source_id=draft.source_id, conflation=draft.conflation
        )

    @property
    def missing(self) -> int:
        """How many answers are still to come."""
        draft = self.draft
        return sum(
            (
                draft.support is None,
                not draft.source_answered,
                draft.conflation is None,
                self.cause is None,
            )
        )


def take_tie(desk: ReviewSession, workspace: Workspace) -> TieHand | None:
    """The tie in hand, else the next one; None when none waits. Raises what the desk raises."""
    hand = st.session_state.get(_HAND)
    if isinstance(hand, TieHand) and hand.person_id == desk.user.person_id:
        return hand
    item = desk.next_disagreement()
    if item is None:
        return None
    hand = TieHand(
        person_id=desk.user.person_id,
        item=item,
        nonce=desk.show(item.assignment_id),
        trace=workspace.store.get_trace(item.trace_id, item.content_hash).trace,
        claim=claim_in_hand(item),
        draft=desk.load_draft(item.assignment_id) or Draft(),
        guideline=workspace.guidelines.current(),
    )
    st.session_state[_HAND] = hand
    return hand


def drop_tie() -> None:
    """Forget the tie in hand; the database knows whose it is."""
    st.session_state.pop(_HAND, None)


def lay_out_readings(hand: TieHand) -> list[Json]:
    """The two readings as the view shows them: the reason first, then what was said."""
    return [
        {
            "name": reading.label,
            "rationale": reading.rationale,
            "answers": answer_words(reading.judgement, hand.trace)
            + ("" if reading.confidence is None else f" · {CONFIDENCE[reading.confidence]}"),
        }
        for reading in hand.item.annotations
    ]


def lay_out_mine(hand: TieHand) -> Json:
    """My decision so far, beside the readings."""
    judgement = hand.judgement
    return {
        "rationale": hand.draft.rationale,
        "asks": "Read both reasons, then the sources, and decide below.",
        "answers": "" if judgement is None else answer_words(judgement, hand.trace),
    }


# ---------------------------------------------------------------- key presses


def answer_tie(hand: TieHand, nonce: str, desk: ReviewSession, change: Change) -> None:
    """Take one more answer; nothing is decided before it is saved."""
    note = st.session_state.get(hand.note_key, hand.draft.rationale)
    if nonce != hand.nonce:
        hand.message = IGNORED
        return
    hand.message, hand.draft = "", replace(change(hand.draft), rationale=note)
    try:
        desk.save_draft(hand.item.assignment_id, hand.draft, nonce)
    except (Conflict, NotFound) as error:
        _lost(error)
    except ProvenanceGuardError as error:
        hand.message = str(error)


def set_cause(hand: TieHand, nonce: str, cause: Cause) -> None:
    """Say why the two differed."""
    hand.message = "" if nonce == hand.nonce else IGNORED
    if nonce == hand.nonce:
        hand.cause = cause


def toggle_fix(hand: TieHand) -> None:
    """Say, or no longer say, that the guideline should have settled it."""
    hand.fix_guideline = not hand.fix_guideline


def keep_tie_note(hand: TieHand, desk: ReviewSession) -> None:
    """Take in what was typed about the tie."""
    note = st.session_state.get(hand.note_key, "")
    hand.draft = replace(hand.draft, rationale=note)
    try:
        desk.save_draft(hand.item.assignment_id, hand.draft, hand.nonce)
    except (Conflict, NotFound) as error:
        _lost(error)


def save_tie(hand: TieHand, nonce: str, desk: ReviewSession) -> None:
    """Write the decision; the two readings stay as they are."""
    note = st.session_state.get(hand.note_key, hand.draft.rationale)
    judgement, cause = hand.judgement, hand.cause
    if judgement is None or cause is None:
        hand.message = "One answer is missing."
        return
    try:
        desk.adjudicate(
            hand.item,
            nonce,
            judgement,
            cause,
            guideline_needs_fix=hand.fix_guideline,
            rule=hand.rule,
            rationale=note,
        )
        drop_tie()
    except (Conflict, NotFound) as error:
        _lost(error)
    except InputError as error:
        hand.message = error.message
    except ProvenanceGuardError as error:
        hand.message = str(error)


def _lost(error: ProvenanceGuardError) -> None:
    drop_tie()
    tell(str(error))
