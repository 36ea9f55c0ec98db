"""What is pressed below a claim, carried out in the order in which it was pressed, and what it came to.

Streamlit hands presses that come while a page is drawn to the next drawing together: those of one
moment in their order, those of several moments the newest first. "Keep, then an answer to the next
claim" would change the claim that is left. So the view in the browser numbers what is pressed
(``frontend/presses.js``), a press waits here, and all are carried out by that number before anything
is drawn.

Acts get everything as arguments, make one call to the review session, and touch no ``st.*`` before it:
a newer run may stop this one at any of those.
"""

from __future__ import annotations

import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from pages.widgets.plain import show_toast
from pages.widgets.shortcuts import Page

IGNORED = "Ignored: that key was pressed before this claim was on screen."
TOLD_SECONDS = 4.0
_TOLD = "review_told"
_WAITING = "presses-waiting"
_CARRIED_OUT = "presses-carried-out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button as it was drawn once: its widget, the key that presses it, and when it was drawn."""

    widget: str
    key: str | None = None
    drawn: float = field(default_factory=time.monotonic)

    def is_meant(self, pressed: str) -> bool:
        """Whether that is what the browser noted of a press on this button."""
        return pressed in (self.widget, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Press:
    button: Button
    act: Callable[[], None]


def view_key(page: Page) -> str:
    """The widget that shows a claim on that page, and that numbers what is pressed there."""
    return f"{page.value}-view"


def pressed(
    button: Button, reference: weakref.ref[Any], act: Callable[..., None], *rest: object
) -> None:
    """A button was pressed: ``carry_out_presses`` acts on the claim that it was drawn for."""
    st.session_state.setdefault(_WAITING, []).append(
        _Press(button=button, act=partial(changed, reference, act, *rest))
    )


def changed(reference: weakref.ref[Any], act: Callable[..., None], *rest: object) -> None:
    """Act on the claim that a button or field was drawn for; on nothing once that is given up.

    A button is another one for each drawing: a press in a browser that still shows the claim before
    arrives as a press on that claim's button, never on the next one's. The claim is held weakly,
    because Streamlit keeps what a button was given for as long as the session lives.
    """
    held = reference()
    if held is None:
        tell(IGNORED)
        return
    act(held, *rest)


def carry_out_presses() -> None:
    """Carry out what was pressed since, in its order; what no number is known for comes last."""
    waiting: list[_Press] = st.session_state.pop(_WAITING, [])
    if not waiting:
        return
    waiting.sort(key=lambda press: press.button.drawn)
    done: Counter[int] = Counter()
    for name in _pressed_since():
        meant = [at for at, press in enumerate(waiting) if press.button.is_meant(name)]
        if meant:
            # Pressed in an older drawing and in a newer one: two buttons, the older one's turn first.
            at = next((at for at in meant if not done[at]), meant[-1])
            done[at] += 1
            waiting[at].act()
    for at, press in enumerate(waiting):
        if not done[at]:
            press.act()


def _pressed_since() -> list[str]:
    """The names of what was pressed since the last time, in order, as the browser numbered them."""
    after = st.session_state.get(_CARRIED_OUT, 0)
    numbered = sorted(
        (each["at"], each["name"])
        for page in (Page.REVIEW, Page.ADJUDICATE)
        for each in _order_of(st.session_state.get(view_key(page)))
        if each["at"] > after
    )
    if numbered:
        st.session_state[_CARRIED_OUT] = numbered[-1][0]
    return [name for _, name in numbered]


def _order_of(view: object) -> list[dict[str, Any]]:
    """What a view says was pressed; a browser may send anything."""
    order = view.get("order") if isinstance(view, Mapping) else None
    return [
        each
        for each in (order if isinstance(order, list) else [])
        if isinstance(each, dict)
        and isinstance(each.get("at"), int | float)
        and isinstance(each.get("name"), str)
    ]


# ---------------------------------------------------------------- what it came to


def tell(words: str) -> None:
    """Say this when the page is drawn next; a key press itself may show nothing."""
    before = [(when, each) for when, each in _told() if each != words]
    st.session_state[_TOLD] = [*before, (time.monotonic(), words)]


def show_told() -> None:
    """Show what the key presses of the last seconds came to.

    A drawing that the next key press cuts short never arrives, so each is shown by every drawing of
    its time; a browser that shows it already keeps the one that it has.
    """
    now = time.monotonic()
    told = [(when, words) for when, words in _told() if now - when < TOLD_SECONDS]
    st.session_state[_TOLD] = told
    for _, words in told:
        show_toast(words)


def _told() -> list[tuple[float, str]]:
    return list(st.session_state.get(_TOLD, []))
