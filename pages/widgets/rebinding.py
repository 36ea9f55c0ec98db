"""Rebinding: whether a person may have a key for something, and if not, why in words.

A key that has no effect, or two, is worse than one that is refused: what the browser, the screen
reader or the workbench's frame listens to is refused, and so is a key that the same page uses already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pages.widgets.shortcuts import SHORTCUTS, Keymap, Page, Reader, Shortcut, shown

PAGE_NAMES: Mapping[Page, str] = {
    Page.REVIEW: "Review",
    Page.GIVE_BACK: "Review, giving a claim back",
    Page.ADJUDICATE: "Adjudicate",
    Page.VERDICT: "Verdict",
    Page.REPAIR: "Repair",
}
_PLAIN = re.compile(r"[A-Z0-9]|F[2489]")
_FOR_VIEWS = "/.,;-=[]"
_BROWSER: Mapping[str, str] = {
    "F1": "the browser's help",
    "F3": "the browser's search",
    "F5": "loading the page again",
    "F6": "the browser's address line",
    "F7": "the browser's text cursor",
    "F10": "the browser's menu",
    "F11": "the whole screen",
    "F12": "the browser's tools",
    "Backspace": "taking back what is typed",
    "Delete": "taking back what is typed",
}
_FOCUS = ("Tab", "Enter", " ", "Space")
_SCROLLS = (
    "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown",
)  # fmt: skip
BY_NAME: Mapping[str, Shortcut] = {each.name: each for each in reversed(SHORTCUTS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why somebody cannot have that key; ``swap`` names what could take the other's key for it."""

    reason: str
    swap: str | None = None


def bound(keys: Keymap, name: str, key: str) -> Keymap | Refusal:
    """The keys with that one moved, or why not."""
    refused = refusal(keys, name, key)
    return refused if refused else Keymap(chosen=_without_shipped({**keys.chosen, name: key}))


def swapped(keys: Keymap, name: str, other: str) -> Keymap | Refusal:
    """The keys of two shortcuts exchanged, or why not."""
    exchanged = Keymap(chosen={**keys.chosen, name: keys.of(other), other: keys.of(name)})
    for each in (name, other):
        if refused := refusal(exchanged, each, exchanged.of(each)):
            return Refusal(reason=refused.reason)
    return Keymap(chosen=_without_shipped(exchanged.chosen))


def refusal(keys: Keymap, name: str, key: str) -> Refusal | None:
    """Why that shortcut cannot have that key beside the others; None: it can."""
    one = BY_NAME.get(name)
    if one is None or not one.movable:
        return Refusal(reason="This key stays as it is.")
    if key != one.key and (reason := _unusable(key, one.reader)):
        return Refusal(reason=reason)
    for page, other in _beside(keys, name):
        if other.key.casefold() == key.casefold():
            return Refusal(
                reason=f"{shown(key)} is “{other.words}” on {PAGE_NAMES[page]}.",
                swap=other.name if other.movable else None,
            )
    return None


def usable(stored: Mapping[str, str]) -> Keymap:
    """The keymap of what somebody chose once, without what this version cannot give them."""
    chosen = {
        name: key
        for name, key in stored.items()
        if name in BY_NAME
        and BY_NAME[name].movable
        and (key == BY_NAME[name].key or not _unusable(key, BY_NAME[name].reader))
    }
    while chosen:
        keys = Keymap(chosen=chosen)
        kept = {name: key for name, key in chosen.items() if refusal(keys, name, key) is None}
        if len(kept) == len(chosen):
            return Keymap(chosen=_without_shipped(chosen))
        chosen = kept
    return Keymap()


def _unusable(key: str, reader: Reader) -> str:
    """Why that key can be nobody's; "" where it can."""
    if "+" in key and len(key) > 1:
        return "Keys with Ctrl, Alt, Cmd or Shift belong to the browser and to screen readers."
    if key in ("C", "R"):
        return f"{key} belongs to the frame of the workbench, which acts on it everywhere."
    if key in _BROWSER:
        return f"{key} belongs to the browser: {_BROWSER[key]}."
    if key in _FOCUS:
        return (
            "Tab, Enter and Space move to a control and press it: without them, no mouse is needed."
        )
    if key in _SCROLLS:
        return f"{shown(key)} scrolls and moves in lists."
    if key == "Escape":
        return "Escape leaves a field and closes what is open."
    if _PLAIN.fullmatch(key):
        return ""
    if reader is Reader.VIEW and len(key) == 1 and key in _FOR_VIEWS:
        return ""
    if len(key) == 1:
        return (
            "Letters A to Z and digits can be chosen here: others lie elsewhere on other keyboards."
        )
    return f"{key:.20} cannot be read everywhere: choose a letter, a digit, F2, F4, F8 or F9."


def _beside(keys: Keymap, name: str) -> Iterator[tuple[Page, Shortcut]]:
    """What else listens where that shortcut does."""
    for page in BY_NAME_PAGES[name]:
        for other in _alive(keys, page):
            if other.name != name:
                yield page, other


def _alive(keys: Keymap, page: Page) -> tuple[Shortcut, ...]:
    """All that listens on a page: while a claim is given back, the view above it still does."""
    own = keys.on_page(page)
    if page is Page.GIVE_BACK:
        views = (each for each in keys.on_page(Page.REVIEW) if each.reader is Reader.VIEW)
        return (*own, *views)
    return own


def _pages_of(name: str) -> tuple[Page, ...]:
    pages = [page for each in SHORTCUTS if each.name == name for page in each.pages]
    if Page.REVIEW in pages and BY_NAME[name].reader is Reader.VIEW:
        pages.append(Page.GIVE_BACK)
    return tuple(dict.fromkeys(pages))


BY_NAME_PAGES: Mapping[str, tuple[Page, ...]] = {name: _pages_of(name) for name in BY_NAME}


def _without_shipped(chosen: Mapping[str, str]) -> dict[str, str]:
    return {name: key for name, key in chosen.items() if key != BY_NAME[name].key}
