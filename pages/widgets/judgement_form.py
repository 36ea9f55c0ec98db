"""The judgement form: the questions on one claim with their keys, the note, and what a press came to.

Reviewing and adjudicating show it below the claim, always in view. Labels hold words of ours, and
tool names in which nothing acts: a label is read as markup.

What is held lives in the tab's session and is changed in place; what must survive a reload is in the
database.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Protocol

import streamlit as st

from core.capture.conversations import turns_before
from core.errors import Conflict, InputError, NotFound, ProvenanceGuardError
from core.records import Trace, VerdictLabel
from core.review.assignment import CORRECTION_CHARACTERS, MOST_PASSAGES, passage_of
from core.review.items import Draft, Guideline
from core.review.records import SUPPORT_LABELS, Judgement, Unfit
from pages.widgets.plain import inert
from pages.widgets.presses import Button, changed, pressed, tell, view_key
from pages.widgets.review_layout import (
    SUPPORT_WORDS,
    ClaimInAnswer,
    Json,
    guideline_data,
    lay_out_blind,
    marked,
    owner_words,
    source_buttons,
    value_places,
)
from pages.widgets.review_view import ALSO, OWN, PASSAGE, VALUES, show_review
from pages.widgets.session import open_workspace
from pages.widgets.shortcuts import (
    NO_SOURCE,
    NOT_A_CLAIM,
    RIGHTLY_CREDITED,
    SHIPPED,
    WRONGLY_CREDITED,
    Keymap,
    Page,
)
from pages.widgets.source_view import source_names
from storage.reviews import ReviewSession

Change = Callable[[Draft], Draft]
# Of the window's height: the page's frame and the form, in rem.
FRAME_REM, LINE_REM, NOTES_REM = 5.9, 2.36, 6.4
# One dense bar that never moves: Streamlit keeps room for a chat below it, and spaces rows widely.
STYLE = """<style>
[data-testid="stBottomBlockContainer"] { padding: .3rem 5rem .6rem; }
.st-key-bar { gap: .35rem; }
[class*="st-key-row-"] { flex-wrap: nowrap; overflow-x: auto; }
.st-key-bar button { min-height: 2rem; padding: .05rem .6rem; }
.st-key-bar button kbd { color: inherit; opacity: 1; }
[class*="st-key-ask-"] p { font-weight: 600; }
</style>"""


@dataclass(slots=True, kw_only=True)
class JudgementForm:
    """A claim on screen and what has been answered about it so far; ``user_id`` says by whom."""

    user_id: int
    assignment_id: int
    nonce: str
    trace: Trace
    claim: ClaimInAnswer
    draft: Draft
    guideline: Guideline
    noting: bool = False
    message: str = ""
    opened: list[str] = field(default_factory=list)
    turns: Sequence[tuple[str, str]] | None = None  # asked and said before, once looked for
    values: Json | None = None  # where the claim's values stand in the sources, once asked for
    keys: Keymap = SHIPPED

    @property
    def names(self) -> dict[str, str]:
        """What each source is called."""
        return source_names(self.trace.sources)

    @property
    def note_key(self) -> str:
        """The widget that the note is typed into; one for each claim, so that none is carried over."""
        return f"note-{self.assignment_id}"

    @property
    def typed_note(self) -> str:
        """The note as it stands in its field now."""
        return str(st.session_state.get(self.note_key, self.draft.rationale))

    @property
    def correction_key(self) -> str:
        """The widget for what the claim should say."""
        return f"correction-{self.assignment_id}"

    def take(self, change: Change | None = None) -> None:
        """Make the change to the answers of this moment, and take in what is typed by now."""
        typed = str(st.session_state.get(self.correction_key, self.draft.correction)).strip()
        draft = self.draft if change is None else change(self.draft)
        # The field begins with the claim's own text: left as it is, it corrects nothing.
        fits = not isinstance(draft.support, Unfit) or typed == self.claim.text.strip()
        self.draft = replace(draft, rationale=self.typed_note, correction="" if fits else typed)

    @property
    def unfit(self) -> bool:
        """Whether it is said to be no claim, or cut wrongly: then nothing more is asked."""
        return isinstance(self.draft.support, Unfit)

    @property
    def missing(self) -> int:
        """How many of the three answers are still to come."""
        draft = self.draft
        if self.unfit:
            return 0
        answered = (draft.support is not None, draft.source_answered, draft.conflation is not None)
        return answered.count(False)

    @property
    def judgement(self) -> Judgement | None:
        """What the answers make together; None while one is missing."""
        draft = self.draft
        if isinstance(draft.support, Unfit):
            return Judgement(
                support=draft.support,
                source_id=None,
                correction=draft.correction,
                passages=draft.passages,
            )
        if draft.support is None or not draft.source_answered or draft.conflation is None:
            return None
        return Judgement(
            support=draft.support, source_id=draft.source_id, conflation=draft.conflation,
            more_source_ids=draft.more_source_ids, passages=draft.passages,
        )  # fmt: skip


class Assignment(Protocol):
    """What a user holds: the form, with what its screen adds to it."""

    @property
    def form(self) -> JudgementForm: ...


def show_claim(
    held: Assignment,
    more: Mapping[str, object],
    *,
    page: Page,
    lines: int,
    answer: Callable[..., None],
    rest: tuple[object, ...],
    collect: Callable[..., None] | None = None,
    passages: Sequence[Json] = (),
) -> None:
    """Show the claim with its sources and ``more``, and do what was asked for in that view.

    ``collect`` takes an answer that decides nothing by itself: one of several sources, or a passage.
    ``passages`` are what others marked.
    """
    form = held.form
    if form.turns is None:
        workspace = open_workspace()
        store, slice = workspace.store, workspace.project().settings.slice
        form.turns = turns_before(
            form.trace,
            lambda name: store.get_trace(name).trace,
            lambda words: store.near(form.trace.trace_id, words, slice),
        )
    laid_out = {
        **lay_out_blind(
            form.trace,
            form.claim,
            page=page,
            opened=form.opened,
            turns=form.turns,
            keys=form.keys,
        ),
        "taken": height_taken(lines, noting=form.noting),
        "guideline": guideline_data(form.guideline),
        "owners": form.draft.source_ids,
        "answerable": not form.unfit,
        "values": form.values,
    }
    marks = [*marked(form.draft.passages, form.trace, "own-passage", "you"), *passages]
    reference, nonce = weakref.ref(held), form.nonce

    def say_owner(source_id: str) -> None:
        pressed(Button(widget=OWN), reference, answer, nonce, own(source_id), *rest)

    def collected(widget: str, change: Change) -> None:
        pressed(Button(widget=widget), reference, collect or answer, nonce, change, *rest)

    wanted = show_review(
        {**laid_out, "passages": marks, **more},
        key=view_key(page),
        on_own=say_owner,
        on_also=lambda source_id: collected(ALSO, partial(also, source_id=source_id)),
        on_passage=lambda said: collected(PASSAGE, partial(marking, said=said, trace=form.trace)),
    )
    if wanted is None or wanted in form.opened:
        return
    form.opened.append(wanted)
    if wanted == VALUES:
        form.values = value_places(form.trace, form.claim)
        form.opened.append("*")  # the places are shown in the texts
    st.rerun(scope="fragment")


def height_taken(lines: int, *, noting: bool) -> str:
    """What the view above leaves free for the page's frame and a form of that many lines."""
    return f"{FRAME_REM + lines * LINE_REM + (NOTES_REM if noting else 0):.2f}rem"


def own(source_id: str | None) -> Change:
    """The answer to who owns the claim: that source alone; None: no source does."""
    return partial(replace, source_id=source_id, more_source_ids=(), source_answered=True)


def also(draft: Draft, *, source_id: str) -> Draft:
    """One source more that the claim rests on; one that is named already is taken away."""
    ids = [each for each in draft.source_ids if each != source_id]
    ids += [] if source_id in draft.source_ids else [source_id]
    return replace(
        draft,
        source_id=ids[0] if ids else None,
        more_source_ids=tuple(ids[1:]),
        source_answered=bool(ids),
    )


def marking(draft: Draft, *, said: str, trace: Trace) -> Draft:
    """One passage more that says it; one that is marked already is unmarked.

    ``said`` is what the browser tells, which may be anything: what is no stretch of a source is nothing.
    """
    texts = {source.source_id: source.text for source in trace.sources}
    with suppress(ValueError, TypeError, KeyError, InputError):
        source_id, start, end = json.loads(said)
        passage = passage_of(source_id, texts[source_id], start, end)
        kept = tuple(each for each in draft.passages if each != passage)
        if kept == draft.passages and len(kept) >= MOST_PASSAGES:
            tell(
                f"{MOST_PASSAGES} passages are marked, the most that an answer holds: unmark one first."
            )
            return draft
        return replace(draft, passages=(*kept, passage) if kept == draft.passages else kept)
    return draft


# ---------------------------------------------------------------- the form


@contextmanager
def bar() -> Iterator[None]:
    """The place of the form, at the window's lower edge."""
    st.html(STYLE)
    with st.container(key="bar"):
        yield


def row(name: str) -> AbstractContextManager[object]:
    """One line of the form."""
    return st.container(key=name, horizontal=True, vertical_alignment="center", gap="small")


def question(words: str, name: str) -> None:
    """The words of one question, in a column of their own."""
    with st.container(key=f"ask-{name}", width=170):
        st.markdown(words)


def show_questions(held: Assignment, answer: Callable[..., None], *rest: object) -> None:
    """The three questions; ``answer`` is called with the held claim, nonce, change and ``rest``."""
    form = held.form

    def act_on(change: Change) -> tuple[object, ...]:
        return (form.nonce, change, *rest)

    with row("row-support"):
        question("Is it supported?", "support")
        for label in SUPPORT_LABELS:
            choice(
                held, SUPPORT_WORDS[label], f"v_{label.value}", form.keys.of(label.value), answer,
                *act_on(partial(_support, label=label)), chosen=form.draft.support is label,
            )  # fmt: skip
        choice(
            held, "Not a claim, cut wrongly", NOT_A_CLAIM, form.keys.of(NOT_A_CLAIM), answer,
            *act_on(_not_a_claim), chosen=form.unfit,
        )  # fmt: skip
    if form.unfit:
        _show_correction(held, answer, act_on)
        return
    with row("row-owner"):
        question("Which source says it?", "owner")
        _show_owners(held, answer, act_on)
    with row("row-credit"):
        question("Credited rightly?", "credit")
        for words, name, conflated in (
            ("Yes, or no source named", RIGHTLY_CREDITED, False),
            ("No, to another source", WRONGLY_CREDITED, True),
        ):
            choice(
                held, words, name, form.keys.of(name), answer,
                *act_on(partial(replace, conflation=conflated)),
                chosen=form.draft.conflation is conflated,
            )  # fmt: skip


def _support(draft: Draft, *, label: VerdictLabel) -> Draft:
    """The answer to whether it is supported; what was no claim before has its other questions open."""
    if isinstance(draft.support, Unfit):
        draft = replace(own(None)(draft), source_answered=False)
    return replace(draft, support=label)


def _not_a_claim(draft: Draft) -> Draft:
    return replace(own(None)(draft), support=Unfit.NOT_A_CLAIM, conflation=None)


def _a_claim(draft: Draft) -> Draft:
    return replace(draft, support=None, source_answered=False)


def _show_correction(
    held: Assignment, answer: Callable[..., None], act_on: Callable[[Change], tuple[object, ...]]
) -> None:
    """Instead of the other questions: what the claim should say, where it was cut wrongly."""
    form = held.form
    with row("row-correction"):
        question("What should it say?", "correction")
        st.session_state.setdefault(
            form.correction_key, form.draft.correction or form.claim.text.strip()
        )
        st.text_input(
            "What the claim should say", key=form.correction_key, max_chars=CORRECTION_CHARACTERS,
            label_visibility="collapsed", on_change=changed,
            args=(weakref.ref(held), answer, *act_on(_as_it_is)), width="stretch",
        )  # fmt: skip
        key_button(held, "It is a claim", "a_claim", None, answer, *act_on(_a_claim))
    with row("row-unfit"):
        question("If you like", "unfit")
        st.text(
            f"Mend the text above ({form.keys.of(NOT_A_CLAIM)} goes there, Esc leaves), or leave it. "
            "It teaches no calibrator, and counts as an error of how answers are cut."
        )


def _as_it_is(draft: Draft) -> Draft:
    return draft


def _show_owners(
    held: Assignment, answer: Callable[..., None], act_on: Callable[[Change], tuple[object, ...]]
) -> None:
    draft, keys = held.form.draft, held.form.keys
    buttons = source_buttons(held.form.trace, keys)
    for number, each in enumerate(buttons, 1):
        choice(
            held, inert(each.words), f"own_{number}", each.key, answer, *act_on(own(each.source_id)),
            chosen=each.source_id in draft.source_ids,
        )  # fmt: skip
    choice(
        held, "None", "own_none", keys.of(NO_SOURCE), answer, *act_on(own(None)),
        chosen=draft.source_answered and draft.source_id is None,
    )  # fmt: skip
    # The chosen sources that have no button of their own.
    for source_id in draft.source_ids:
        if source_id not in {each.source_id for each in buttons}:
            st.text(f"● {owner_words(source_id, held.form.names)}", width="content")


def show_note(held: Assignment, hint: str, keep: Callable[..., None], *rest: object) -> None:
    """The field of the note; ``keep`` takes in what was typed."""
    form = held.form
    st.session_state.setdefault(form.note_key, form.draft.rationale)
    st.text_area(
        hint, key=form.note_key, height=68, max_chars=4_000, on_change=changed,
        args=(weakref.ref(held), keep, *rest), width="stretch",
    )  # fmt: skip


def toggle_note(held: Assignment) -> None:
    """Open the note, or close it."""
    held.form.noting = not held.form.noting


def choice(
    held: Assignment,
    words: str,
    name: str,
    key: str | None,
    act: Callable[..., None],
    *args: object,
    chosen: bool,
) -> None:
    """One answer as a button; the chosen one is marked by more than its colour."""
    marked = f"● {words}" if chosen else words
    key_button(held, marked, name, key, act, *args, kind="primary" if chosen else "secondary")


def key_button(
    held: Assignment,
    words: str,
    name: str,
    key: str | None,
    act: Callable[..., None],
    *args: object,
    kind: Literal["primary", "secondary"] = "secondary",
    disabled: bool = False,
    hint: str | None = None,
) -> None:
    """A button for what is held, and for this drawing of its claim alone."""
    widget = f"{name}-{held.form.nonce}"
    with st.container(key=name, width="content"):
        st.button(
            words, key=widget, shortcut=key, on_click=pressed,
            args=(Button(widget=widget, key=key), weakref.ref(held), act, *args), type=kind,
            disabled=disabled, help=hint,
        )  # fmt: skip


# ---------------------------------------------------------------- key presses


def save_draft(form: JudgementForm, session: ReviewSession, drop: Callable[[], None]) -> None:
    """Keep the answers so far."""
    with refusals_told(form, drop):
        session.save_draft(form.assignment_id, form.draft, form.nonce)


@contextmanager
def refusals_told(form: JudgementForm, drop: Callable[[], None]) -> Iterator[None]:
    """Say what the session refuses; ``drop`` a claim that is no longer what this browser thinks."""
    try:
        yield
    except (Conflict, NotFound) as error:
        drop()
        tell(str(error))
    except InputError as error:
        form.message = error.message
    except ProvenanceGuardError as error:
        form.message = str(error)
