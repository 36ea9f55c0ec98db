"""Which traces a list shows, in which order and from which place: in an address, and kept in a tab.

The page of traces and the verdicts opened from it share it: from a verdict, before and after are
those of the list that it was opened from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from core.records import Decision, State
from core.review.records import Person
from pages.widgets.current_user import OF_USER
from pages.widgets.palette import DECISIONS
from storage.records import Order, TraceFilters

ANYTHING, PENDING = "All", "pending"
LIST = "list"  # the parameter by which a verdict's address names its list
AT = "at"  # and the one by which it names its place there
_KEPT = f"{OF_USER}trace-list"
_LAST = f"{OF_USER}trace-opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListChoice:
    """What is chosen on the page of traces; every field is text, as an address has it."""

    decision: str = ANYTHING
    search: str = ""
    order: str = Order.IMPORTED.value
    cause: str = ""
    file: str = ""
    batch: str = ""
    category: str = ""
    slice: str = ""
    tag: str = ""
    flagged: str = ""
    reader: str = ""
    page: str = ""

    @property
    def number(self) -> int:
        """The number of the page, 1 for the first."""
        return int(self.page) if self.page.isdecimal() and int(self.page) > 0 else 1

    @property
    def narrowed(self) -> bool:
        """Whether anything but the order and the page was chosen."""
        return replace(self, order=Order.IMPORTED.value, page="") != ListChoice()

    def parameters(self) -> dict[str, str]:
        """What an address must say of it: all that is not as it is without being asked."""
        plain = ListChoice()
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != getattr(plain, each.name)
        }

    def query(self) -> str:
        """The parameters as one string, for the address of a verdict."""
        return urlencode(self.parameters())


def choice_of(parameters: Mapping[str, str]) -> ListChoice:
    """The choice that these parameters make; what is no known order or decision is left out."""
    known = {each.name for each in fields(ListChoice)}
    said = {name: value for name, value in parameters.items() if name in known and value}
    if said.get("order") not in {each.value for each in Order}:
        said.pop("order", None)
    if said.get("decision") not in DECISIONS:
        said.pop("decision", None)
    return ListChoice(**said)


def choice_of_query(query: str) -> ListChoice:
    """The choice that such a string makes."""
    return choice_of(dict(parse_qsl(query)))


def filters_of(choice: ListChoice, viewer: Person) -> TraceFilters:
    """What the database is asked for; ``viewer`` sees no verdict before its time."""
    stated = choice.decision in {each.value for each in State}
    unavailable = choice.decision == Decision.UNAVAILABLE.value
    return TraceFilters(
        decisions=frozenset({Decision.UNAVAILABLE}) if unavailable else frozenset(),
        states=frozenset({State(choice.decision)}) if stated else frozenset(),
        verified=False if choice.decision == PENDING else None,
        category=choice.category or None,
        slice=choice.slice or None,
        search=choice.search,
        cause=choice.cause or None,
        file=choice.file or None,
        batch=int(choice.batch) if choice.batch.isdecimal() else None,
        tag=choice.tag or None,
        flagged=bool(choice.flagged),
        assigned_to=int(choice.reader) if choice.reader.isdecimal() else None,
        viewer=viewer,
    )


def arriving_choice() -> ListChoice:
    """With what the page opens: what its address says, else what this tab had chosen last.

    After Back the address is that of the verdict that was left, which names its list.
    """
    asked = choice_of(st.query_params.to_dict())
    if asked != ListChoice():
        return asked
    kept = st.query_params.get(LIST) or st.session_state.get(_KEPT) or ""
    return choice_of_query(str(kept))


def show_newest_first() -> None:
    """Let the page of traces begin with what was added last, whatever it was narrowed to."""
    for each in fields(ListChoice):
        st.session_state.pop(each.name, None)
    st.session_state[_KEPT] = ListChoice(order=Order.NEWEST.value).query()
    st.query_params.clear()


def keep_choice(choice: ListChoice) -> None:
    """Keep it in the tab and in the address."""
    st.session_state[_KEPT] = choice.query()
    wanted = choice.parameters()
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def verdict_query(trace_id: str, choice: ListChoice, place: int) -> dict[str, str]:
    """The address of a verdict that was opened from that place of the list."""
    query = choice.query()
    return {"trace": trace_id, **({LIST: query} if query else {}), AT: str(place)}


def remember_list(trace_id: str) -> None:
    """Keep in the tab what the address of a verdict says of its list: a reload has forgotten it."""
    if AT in st.query_params:
        st.session_state[_KEPT] = st.query_params.get(LIST, "")
    st.session_state[_LAST] = trace_id


def last_opened() -> str | None:
    """The trace that this tab has looked at last."""
    found: str | None = st.session_state.get(_LAST)
    return found
