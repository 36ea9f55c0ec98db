"""Every key of the workbench, in one place: what it does, on which page, and what it is called.

A key is read either by a Streamlit button (``shortcut=``) or by a view of ours, never by both. C and
R belong to Streamlit; keys with Ctrl, Alt or Cmd belong to the browser and to screen readers. What is
here is what the workbench is shipped with: a ``Keymap`` is what one person made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from core.records import VerdictLabel
from core.review.records import Cause, Unfit


class Page(StrEnum):
    """The pages that are worked with the keyboard."""

    REVIEW = "review"
    ADJUDICATE = "adjudicate"
    GIVE_BACK = "give back"  # the bar of the review page while a claim is given back
    VERDICT = "verdict"
    REPAIR = "repair"


class Reader(StrEnum):
    """Who listens: a Streamlit button, or a view in the browser."""

    BUTTON = "button"
    VIEW = "view"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcut:
    """One key on one or several pages; ``name`` is how the code asks for it.

    ``movable``: a person may choose another key for it.
    """

    name: str
    key: str
    words: str
    pages: tuple[Page, ...] = (Page.REVIEW, Page.ADJUDICATE)
    reader: Reader = Reader.BUTTON
    movable: bool = True


SUPPORT_KEYS: Mapping[VerdictLabel, str] = {
    VerdictLabel.SUPPORTED: "1",
    VerdictLabel.UNSUPPORTED: "2",
    VerdictLabel.CONTRADICTED: "3",
    VerdictLabel.NOT_ENOUGH_EVIDENCE: "4",
}
CAUSE_KEYS: Mapping[Cause, str] = {
    Cause.AMBIGUOUS_CLAIM: "5",
    Cause.GUIDELINE_GAP: "6",
    Cause.REVIEWER_ERROR: "7",
    Cause.DECOMPOSITION_ERROR: "8",
    Cause.AMBIGUOUS_SOURCE: "9",
}
DECLINE_KEYS: Mapping[str, str] = {
    "Outside my field": "1",
    "I know this patient or study": "2",
    "The claim cannot be understood": "3",
    "The output cannot be read": "4",
}
# In trace order, under the left hand; a trace with more sources has OPEN_SOURCE for the rest.
SOURCE_KEYS: tuple[str, ...] = ("Q", "W", "E", "T", "A", "S", "D", "F")
NO_SOURCE_KEY = "0"
NOT_A_CLAIM = Unfit.NOT_A_CLAIM.value

KEEP, UNDO, DECLINE, NOTES = "keep", "undo", "decline", "notes"
RIGHTLY_CREDITED, WRONGLY_CREDITED = "rightly_credited", "wrongly_credited"
SAVE, FIX_GUIDELINE = "save", "fix_guideline"
OPEN_SOURCE, NEXT_SOURCE, PREVIOUS_SOURCE = "open_source", "next_source", "previous_source"
ALSO_SOURCE = "also_source"
PREVIOUS_TRACE, NEXT_TRACE = "previous_trace", "next_trace"
SEARCH, RAW, GUIDELINE, HELP, CLOSE = "search", "raw", "guideline", "help", "close"
SIDE_BY_SIDE = "side_by_side"
MARK, VALUES, PEEK, TURNS, FIGURES = "mark", "values", "peek", "turns", "figures"
SCROLLS = {
    "PageDown": "The source scrolls a page down",
    "PageUp": "The source scrolls a page up",
    "ArrowDown": "The source scrolls down",
    "ArrowUp": "The source scrolls up",
}
NO_SOURCE = "no_source"
NEXT_CLAIM, PREVIOUS_CLAIM = "next_claim", "previous_claim"
PROVENANCE = "provenance"
WORDS = "words"

_SUPPORT_WORDS = {
    VerdictLabel.SUPPORTED: "A source says this",
    VerdictLabel.UNSUPPORTED: "A source is about this, but does not say all of it",
    VerdictLabel.CONTRADICTED: "A source says otherwise",
    VerdictLabel.NOT_ENOUGH_EVIDENCE: "No source says anything about this",
}
_CAUSE_WORDS = {
    Cause.AMBIGUOUS_CLAIM: "The claim can be read in two ways",
    Cause.GUIDELINE_GAP: "The guideline does not settle it",
    Cause.REVIEWER_ERROR: "One reviewer overlooked something",
    Cause.DECOMPOSITION_ERROR: "The claim was cut out of the answer wrongly",
    Cause.AMBIGUOUS_SOURCE: "The source itself is unclear",
}
_REVIEW = (Page.REVIEW,)
_ADJUDICATE = (Page.ADJUDICATE,)
_VERDICT = (Page.VERDICT,)
_READING = (Page.REVIEW, Page.ADJUDICATE, Page.VERDICT)
_JUDGED = (Page.REVIEW, Page.VERDICT)
_REPAIR_KEYS = {
    "next_edit": ("J", "next edit"),
    "edit_before": ("K", "edit before"),
    "accept_edit": ("Y", "accept"),
    "change_edit": ("E", "change it"),
    "reject_edit": ("N", "reject"),
    "source_of_edit": ("S", "its source"),
}


def _button(name: str, key: str, words: str, **more: Any) -> Shortcut:
    return Shortcut(name=name, key=key, words=words, **more)


def _view(name: str, key: str, words: str, **more: Any) -> Shortcut:
    return Shortcut(name=name, key=key, words=words, reader=Reader.VIEW, **more)


SHORTCUTS: tuple[Shortcut, ...] = (
    *(_button(label.value, key, _SUPPORT_WORDS[label]) for label, key in SUPPORT_KEYS.items()),
    _button(
        NOT_A_CLAIM, "Z", "Not a claim, or cut wrongly; again: to the field for what it should say"
    ),
    *(_button(f"source_{n}", key, f"Source {n} says it") for n, key in enumerate(SOURCE_KEYS, 1)),
    _button(NO_SOURCE, NO_SOURCE_KEY, "No source says it"),
    _view(OPEN_SOURCE, "B", "The source that is open says it"),
    _view(ALSO_SOURCE, "J", "The claim rests on the source that is open too, or no longer"),
    _button(RIGHTLY_CREDITED, "Y", "The answer credits it rightly, or credits none"),
    _button(WRONGLY_CREDITED, "X", "The answer credits a source that is not it"),
    _button(KEEP, "K", "Keep my answer, on to the next claim", pages=_REVIEW),
    _button(SAVE, "K", "Save my decision", pages=_ADJUDICATE),
    *(
        _button(cause.value, key, _CAUSE_WORDS[cause], pages=_ADJUDICATE)
        for cause, key in CAUSE_KEYS.items()
    ),
    _button(FIX_GUIDELINE, "V", "The guideline needs a fix", pages=_ADJUDICATE),
    _button(NOTES, "N", "Confidence and a note"),
    _button(UNDO, "U", "Take back my last verdict or pass", pages=_REVIEW),
    _button(DECLINE, "P", "Pass: give this claim back", pages=_REVIEW),
    *(_button(words, key, words, pages=(Page.GIVE_BACK,)) for words, key in DECLINE_KEYS.items()),
    _button(DECLINE, "P", "Do not give it back", pages=(Page.GIVE_BACK,)),
    _button(PREVIOUS_TRACE, "P", "Answer before, in the list", pages=_VERDICT),
    _button(NEXT_TRACE, "N", "Answer after, in the list", pages=_VERDICT),
    *(_view(name, key, words, pages=(Page.REPAIR,)) for name, (key, words) in _REPAIR_KEYS.items()),
    _view(NEXT_CLAIM, "J", "Next claim", pages=_VERDICT),
    _view(PREVIOUS_CLAIM, "K", "Claim before", pages=_VERDICT),
    _view(PROVENANCE, "V", "All claims and their sources", pages=_VERDICT),
    _view(PREVIOUS_SOURCE, "ArrowLeft", "Source before"),
    _view(NEXT_SOURCE, "ArrowRight", "Source after"),
    _view(
        PEEK, "Shift", "With a source's key: open that source, and answer nothing", movable=False
    ),
    *(_view(key, key, words, movable=False) for key, words in SCROLLS.items()),
    _view(SEARCH, "/", "Search in all sources"),
    _view(VALUES, ".", "Find the claim's values in the sources; again: the next place"),
    _view(
        MARK,
        ",",
        "Mark what says it: the selected text, else the line of the place found; again: unmark",
    ),
    _view(RAW, "O", "Readable text or raw output"),
    _view(SIDE_BY_SIDE, "L", "Two sources side by side, or one", pages=_READING),
    _view(FIGURES, "-", "The verifier's reasons and figures, once they may be seen", pages=_JUDGED),
    _view(WORDS, "I", "Light the chosen words, or not", pages=_READING),
    _view(TURNS, "M", "What was asked and answered before, in a conversation"),
    _view(GUIDELINE, "G", "The guideline"),
    _view(HELP, "H", "These keys"),
    _view(
        CLOSE,
        "Escape",
        "Leave a field; close what is open",
        pages=(*_READING, Page.REPAIR),
        movable=False,
    ),
)

_ON_SCREEN = {
    "ArrowLeft": "←",
    "ArrowRight": "→",
    "ArrowUp": "↑",
    "ArrowDown": "↓",
    "PageUp": "PgUp",
    "PageDown": "PgDn",
    "Escape": "Esc",
}
_SHIPPED_KEYS: Mapping[str, str] = {each.name: each.key for each in SHORTCUTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Keymap:
    """The keys of one person: what they chose (name → key), else what is shipped."""

    chosen: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The key of a shortcut."""
        return self.chosen.get(name) or _SHIPPED_KEYS[name]

    def of_source(self, at: int) -> str | None:
        """The key that says that the source at that place, from 0, says the claim."""
        return self.of(f"source_{at + 1}") if at < len(SOURCE_KEYS) else None

    def on_page(self, page: Page) -> tuple[Shortcut, ...]:
        """The shortcuts of one page with this person's keys, in the order of its help sheet."""
        return tuple(
            replace(each, key=self.of(each.name)) for each in SHORTCUTS if page in each.pages
        )

    def of_views(self, page: Page) -> Mapping[str, str]:
        """What the view in the browser listens to: name → key."""
        return {each.name: each.key for each in self.on_page(page) if each.reader is Reader.VIEW}

    def of_buttons(self, page: Page) -> tuple[str, ...]:
        """The keys that press a button of the page, or of the bar that takes its place."""
        pages = {page, Page.GIVE_BACK} if page is Page.REVIEW else {page}
        named = {
            self.of(each.name): None
            for each in SHORTCUTS
            if each.reader is Reader.BUTTON and not pages.isdisjoint(each.pages)
        }
        return tuple(named)

    def opening(self) -> tuple[Mapping[str, str], ...]:
        """The keys that open something, the button that reads each, and the last place to appear.

        Until that has appeared, other keys act on nothing: they are meant for what is about to open.
        """
        return (
            {
                "key": self.of(NOTES),
                "button": ".st-key-notes",
                "awaits": ".st-key-row-notes textarea",
            },
            {
                "key": self.of(NOT_A_CLAIM),
                "button": ".st-key-row-correction",
                "awaits": ".st-key-row-correction input",
            },
            {"key": self.of(DECLINE), "button": ".st-key-decline", "awaits": ".st-key-decline_not"},
            {"key": self.of(DECLINE), "button": ".st-key-decline_not", "awaits": ".st-key-undo"},
        )

    def words(self, page: Page) -> list[tuple[str, str]]:
        """Every key of a page with what it does, as it is shown there."""
        return [(shown(each.key), each.words) for each in self.on_page(page)]

    def help_sheet(
        self, page: Page, *, sources: int, without: tuple[str, ...] = ()
    ) -> list[tuple[str, str]]:
        """Keys with what they do, for as many sources as there are."""
        beyond = {f"source_{n}" for n in range(sources + 1, len(SOURCE_KEYS) + 1)} | {*without}
        return [
            (shown(each.key), each.words) for each in self.on_page(page) if each.name not in beyond
        ]


SHIPPED = Keymap()


def shown(key: str) -> str:
    """A key as it is written on screen."""
    return _ON_SCREEN.get(key, key)
