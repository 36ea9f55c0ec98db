"""The keys of whoever looks: each with what it does, changed by pressing another one."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.review.records import Person
from pages.widgets.forms import save
from pages.widgets.frontend import nothing, view
from pages.widgets.rebinding import BY_NAME, PAGE_NAMES, Refusal, bound, swapped, usable
from pages.widgets.shortcuts import SHORTCUTS, Keymap, Page, Shortcut, shown
from storage.workspace import Workspace

MY_KEYS, MY_KEYS_LINK = "My keys", "keys"
_REFUSED = "of-user-key-refused"
WORDS = (
    "Press a key's button here, then the key that you want. They are yours alone, on every machine, "
    "and every page names them as you chose them."
)
# Each shortcut stands once, where it is worked most.
_GROUPS = (Page.REVIEW, Page.ADJUDICATE, Page.VERDICT, Page.REPAIR, Page.GIVE_BACK)

_KEYS = view("keys")


def show_own_keys(workspace: Workspace, me: Person) -> None:
    """Show them, and do what was asked for."""
    keys = usable(workspace.key_bindings.of(me))
    asked = _KEYS(
        key="own-keys",
        data=lay_out_keys(keys, st.session_state.get(_REFUSED)),
        on_bind_change=nothing,
        on_swap_change=nothing,
        on_reset_change=nothing,
    )
    wanted = _wanted(keys, asked.bind, asked.swap, reset=bool(asked.reset))
    if wanted is None:
        return
    name, result = wanted
    st.session_state.pop(_REFUSED, None)
    if isinstance(result, Refusal):
        st.session_state[_REFUSED] = (name, result)
        st.rerun()
    said = (
        f"{shown(result.of(name))}: {BY_NAME[name].words}." if name else "All keys are as shipped."
    )
    save(lambda: workspace.key_bindings.bind(result.chosen, by=me), said)


def lay_out_keys(keys: Keymap, refused: tuple[str, Refusal] | None = None) -> dict[str, object]:
    """What the view shows: each key in its group, what it is shipped as, and what was refused."""
    return {
        "words": WORDS,
        "changed": bool(keys.chosen),
        "groups": [
            {
                "title": _title(page),
                "rows": [_row(keys, each) for each in SHORTCUTS if _home(each) is page],
            }
            for page in _GROUPS
        ],
        "refused": None if refused is None else _refusal(keys, *refused),
    }


def _title(page: Page) -> str:
    return "Review and Adjudicate" if page is Page.REVIEW else PAGE_NAMES[page]


def _home(each: Shortcut) -> Page | None:
    """Where a shortcut is listed; what has another page already is not listed twice."""
    return each.pages[0] if BY_NAME[each.name] is each else None


def _row(keys: Keymap, each: Shortcut) -> dict[str, object]:
    key = keys.of(each.name)
    only = " (Review)" if each.pages == (Page.REVIEW,) else ""
    return {
        "name": each.name,
        "words": each.words[:1].upper() + each.words[1:] + only,
        "shown": shown(key),
        "shipped": shown(each.key),
        "changed": key != each.key,
        "movable": each.movable,
    }


def _refusal(keys: Keymap, name: str, refused: Refusal) -> dict[str, object]:
    other = refused.swap
    can = other is not None and not isinstance(swapped(keys, name, other), Refusal)
    words = f"Swap: that gets {shown(keys.of(name))}" if can else None
    return {"name": name, "reason": refused.reason, "swap": words, "other": other}


def _wanted(
    keys: Keymap, bind: object, swap: object, *, reset: bool
) -> tuple[str, Keymap | Refusal] | None:
    """What the browser asks for: the shortcut, and the keys that come of it or why not."""
    if reset:
        return "", Keymap()
    if isinstance(swap, Mapping):
        name, other = str(swap.get("name")), str(swap.get("other"))
        if {name, other} <= set(BY_NAME):
            return name, swapped(keys, name, other)
    if isinstance(bind, Mapping):
        name, key = str(bind.get("name")), str(bind.get("key"))
        return name, bound(keys, name, key)
    return None
