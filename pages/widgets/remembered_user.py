"""What a browser remembers of its current user: through a reload, in each of its tabs, after a restart.

Without logins a session knows nobody. A cookie names the last current user of this browser, so
that a new session begins with them; the tab confirms or corrects it before anything is shown.
"""

from __future__ import annotations

import streamlit as st

from pages.widgets.frontend import nothing, view

_AT_WORK = view("at-work", css=(), js=("remembered_user",))


def remembered(database_id: str) -> int | None:
    """The id of the last current user of this browser on that database; None without one."""
    found: object = st.context.cookies.get(_cookie(database_id))
    return int(found) if isinstance(found, str) and found.isdecimal() else None


def keep_in_tab(database_id: str, person_id: int, *, chosen: bool, awaited: bool) -> int | None:
    """Let the tab remember the person; who the tab says it is, once it has answered.

    ``chosen`` is whether this session knows who it is; otherwise the tab's own memory counts, and it
    answers when it differs, or when its answer is ``awaited``.
    """
    said = _AT_WORK(
        key="at-work",
        data={
            "name": _cookie(database_id),
            "person": str(person_id),
            "chosen": chosen,
            "awaited": awaited,
        },
        on_mine_change=nothing,
    ).mine
    return int(said) if isinstance(said, str) and said.isdecimal() else None


def _cookie(database_id: str) -> str:
    # A cookie belongs to a host whatever the port, and two workbenches number their people alike.
    return f"provenanceguard-{database_id}"
