"""What the machine says of an answer stays hidden from whoever has one of its claims to decide."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.items import Withheld
from core.review.records import Person
from pages.widgets.plain import show_notice, stop_with
from storage.records import StoredVerdict
from storage.workspace import Workspace

REVIEW, ADJUDICATE, TRACES = "pages/review.py", "pages/adjudicate.py", "pages/traces.py"


def _stop_unread() -> NoReturn:
    st.title("Yours to read first", anchor=False)
    show_notice(
        "A claim of this answer may still come to you",
        "This project asks for your own view before the verifier's. Once you have read this answer's "
        "claims, or others have settled them, this page opens.",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Review claims", type="primary", icon=":material/rate_review:", key="to-review"
        ):
            st.switch_page(REVIEW)
        st.page_link(TRACES, label="Back to the traces", icon=":material/list_alt:")
    st.stop()


def stop_while_undecided(workspace: Workspace, person: Person, verdict: StoredVerdict) -> None:
    """Write down that the person sees this verdict; end the page where they must decide first."""
    try:
        session = workspace.reviews(person)
        why = session.open_verdict(verdict.content_hash, verdict.run_key)
    except ProvenanceGuardError as error:
        # Unseen rather than unrecorded.
        stop_with("This verdict cannot be shown now", str(error), tone="bad")
    if why is None:
        return
    if why is Withheld.UNREAD:
        _stop_unread()
    deciding = why is Withheld.DISAGREEMENT
    st.title("Decide first", anchor=False)
    show_notice(
        "You are deciding a disagreement on this answer"
        if deciding
        else "You are reviewing a claim of this answer",
        "This project asks for your own view before the verifier's. Decide the claim, or pass it on, "
        "and this page opens.",
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            "Go on deciding" if deciding else "Go on reviewing",
            type="primary",
            icon=":material/balance:" if deciding else ":material/rate_review:",
            key="decide-first",
        ):
            st.switch_page(ADJUDICATE if deciding else REVIEW)
        st.page_link(TRACES, label="Back to the traces", icon=":material/list_alt:")
    st.stop()
