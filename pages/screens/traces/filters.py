"""Which traces the list shows: by decision, words, order, and everything else that tells them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import streamlit as st

from core.provenance.triage import CAUSES
from core.review.readers import is_blind, may_read
from core.review.records import Person, Role
from pages.widgets.palette import DECISIONS
from pages.widgets.plain import spaced
from pages.widgets.trace_list import ANYTHING, ListChoice, arriving_choice, keep_choice
from storage.records import Order
from storage.workspace import Workspace

ORDERS = {
    Order.IMPORTED: "First added",
    Order.NEWEST: "Last added",
    Order.MOST_BLOCKED: "Most blocked claims",
    Order.MOST_CONFLATIONS: "Most wrong credits",
    Order.TRACE_ID: "Trace id",
}
_SHOWN = "list-shown"
TIGHTER = """<style>
/* No room is kept for what is done with chosen traces while none is chosen. */
[data-testid="stLayoutWrapper"]:has(> .st-key-chosen-slot:empty) { display: none; }
.st-key-files button { min-height: 2rem; padding: .05rem .6rem; }
</style>"""
_MORE = ("cause", "file", "batch", "category", "slice", "tag", "flagged", "reader")


def show_filters(workspace: Workspace, user: Person) -> ListChoice:
    """Show what can be chosen and what is; the choice, kept in the tab and in the address."""
    if "decision" not in st.session_state:
        _arrive()
    st.html(TIGHTER)
    columns = iter(st.columns([4.8, 1.9, 1.6, 1.3], vertical_alignment="bottom", gap="small"))
    next(columns).segmented_control(
        "Decision",
        [ANYTHING, *DECISIONS],
        format_func=lambda name: (
            name if name == ANYTHING else f"{DECISIONS[name].mark} {DECISIONS[name].short}"
        ),
        required=True,
        key="decision",
    )
    next(columns).text_input(
        "Search",
        key="search",
        type="search",
        placeholder="Id, question, answer",
        icon=":material/search:",
    )
    next(columns).selectbox(
        "Order", [each.value for each in ORDERS], format_func=lambda name: ORDERS[Order(name)],
        key="order",
    )  # fmt: skip
    chosen = sum(bool(st.session_state.get(name)) for name in _MORE)
    with next(columns).popover(
        f"Filters ({chosen})" if chosen else "Filters",
        icon=":material/filter_list:",
        width="stretch",
        key="more-filters",
    ):
        _show_more(workspace, user)
    choice = _chosen()
    if _without_page(choice) != st.session_state.get(_SHOWN):
        # Another list begins with its first page; the one that was come back to keeps its own.
        if _SHOWN in st.session_state:
            st.session_state["page"] = 1
            choice = _chosen()
        st.session_state[_SHOWN] = _without_page(choice)
    keep_choice(choice)
    return choice


def show_narrowed(choice: ListChoice, words: Sequence[str]) -> None:
    """Say what the list is narrowed to, and offer all of it again."""
    if not choice.narrowed:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text("Only: " + " · ".join(words), width="content")
        st.button("Clear filters", key="clear-filters", type="tertiary", on_click=_clear)


def narrowed_words(choice: ListChoice, workspace: Workspace, user: Person) -> list[str]:
    """What a list is narrowed to, in words."""
    words = [] if choice.decision == ANYTHING else [DECISIONS[choice.decision].word.lower()]
    words += [f"“{choice.search}”"] if choice.search else []
    for name in ("cause", "file", "category", "slice", "tag"):
        if value := getattr(choice, name):
            words.append(f"{name} {value}")
    if choice.batch:
        words.append(f"import {_batches(workspace).get(choice.batch, choice.batch)}")
    words += ["flagged"] if choice.flagged else []
    if choice.reader:
        words.append(f"assigned to {_annotators(workspace, user).get(choice.reader, '?')}")
    return words


def _show_more(workspace: Workspace, user: Person) -> None:
    store, triage = workspace.store, workspace.triage
    left, right = st.columns(2, gap="medium")
    if not is_blind(user):
        causes = triage.causes()
        with left:
            _choose("Cause", "cause", {each: each for each in CAUSES if causes.get(each)})
    with left:
        _choose(
            "File", "file", {each.name: f"{each.name} ({each.count:,})" for each in store.files()}
        )
        names = [each.name for each in store.categories()]
        _choose("Category", "category", {each: spaced(each) for each in names})
        _choose("Tag", "tag", {each: each for each in triage.tags()})
    with right:
        _choose("Import", "batch", _batches(workspace))
        _choose("Slice", "slice", {each.name: each.name for each in store.slices()})
        _choose("Assigned to", "reader", _annotators(workspace, user))
    left.checkbox("Flagged only", key="flagged")


def _choose(label: str, key: str, options: dict[str, str]) -> None:
    if (kept := st.session_state.get(key)) and kept not in options:
        if key in ("category", "slice", "tag", "cause"):
            st.session_state[key] = None  # no trace has it: an address may say anything
        else:
            options = {kept: kept, **options}
    st.selectbox(
        label,
        list(options),
        index=None,
        format_func=lambda name: options.get(name, name),
        placeholder="Any",
        disabled=not options,
        key=key,
    )


def _batches(workspace: Workspace) -> dict[str, str]:
    return {
        str(each.import_id): f"{each.at.astimezone():%d %b, %H:%M} · {each.files} ({each.traces:,})"
        for each in workspace.triage.batches()
    }


def _annotators(workspace: Workspace, user: Person) -> dict[str, str]:
    everybody = workspace.people.everybody() if may_read(user) else (user,)
    return {
        str(each.person_id): "me" if each.person_id == user.person_id else each.shown
        for each in everybody
        if Role.REVIEWER in each.roles
    }


def _arrive() -> None:
    _set(arriving_choice())
    st.session_state.pop(_SHOWN, None)


def _clear() -> None:
    _set(ListChoice(order=str(st.session_state.get("order") or Order.IMPORTED.value)))


def _set(choice: ListChoice) -> None:
    for each in fields(choice):
        value = getattr(choice, each.name)
        if each.name == "page":
            st.session_state["page"] = choice.number
        elif each.name == "flagged":
            st.session_state["flagged"] = bool(value)
        else:
            st.session_state[each.name] = value or (None if each.name in _MORE else "")


def _chosen() -> ListChoice:
    said = {each.name: st.session_state.get(each.name) for each in fields(ListChoice)}
    number = int(said.pop("page") or 1)
    values = {name: "1" if value is True else str(value or "") for name, value in said.items()}
    return ListChoice(**values, page=str(number) if number > 1 else "")


def _without_page(choice: ListChoice) -> str:
    return ListChoice(**{k: v for k, v in choice.parameters().items() if k != "page"}).query()
