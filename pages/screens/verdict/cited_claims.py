"""Every claim of an answer by what it cites alone: a verdict, and the citation that it should have."""

from __future__ import annotations

from functools import cache

import streamlit as st

from core.citations.claim_stages import Action, CheckedClaim
from core.citations.numeric import FiveWay
from core.errors import ProvenanceGuardError
from core.records import Trace
from core.workflows.cited_claims import assembled, claim_checker
from pages.widgets.figures import offer
from pages.widgets.plain import inert
from pages.widgets.source_view import source_names

_SHOWN = 500  # characters of a quote
_VERDICTS = {
    FiveWay.SUPPORTED: "✓ Its citation says all of it",
    FiveWay.PARTIAL: "◐ Its citation says a part of it",
    FiveWay.UNSUPPORTED: "? Its citation does not say it",
    FiveWay.CONTRADICTED: "✗ Its citation says otherwise",
    FiveWay.NEI: "– What it cites does not decide it",
}
_BETTER = {Action.REPLACE: "Better cited", Action.ADD_ALTERNATE: "Cite as well"}
_kept_checker = cache(claim_checker)


@st.dialog("Citations, claim by claim", width="large")
def show_cited_claims(trace: Trace) -> None:
    """Read each claim by its citation alone; nothing is kept, and the verdict of the answer stands."""
    try:
        with st.spinner("Reading each claim by what it cites …"):
            checked = _kept_checker()(trace)
    except ProvenanceGuardError as error:
        st.warning(inert(str(error)))
        return
    whole = assembled(checked)
    st.text(f"{whole.summary}. The verdict of the answer does not change by this.")
    names = source_names(trace.sources)
    for one in checked:
        with st.container(border=True):
            st.markdown(f"**{_VERDICTS[one.verdict]}**")
            st.text(one.text)
            if one.verdict is not FiveWay.SUPPORTED:
                st.caption(inert(f"Because: {one.reason}"))
            _show_evidence(one, names)
    offer("Answer with its citations put right", whole.text, "cited.txt", key="cited-text")


def _show_evidence(one: CheckedClaim, names: dict[str, str]) -> None:
    rows = [("Cites", one.evidence)] if one.evidence else []
    rows += [(_BETTER[one.action], one.better)] if one.better else []
    rows += [("An inference: stands in neither, follows from both", span) for span in one.across]
    if one.action is Action.REMOVE:
        st.text("The citation has nothing of the claim: remove it.")
    for label, span in rows:
        st.caption(inert(f"{label}: {names[span.source_id]}"))
        st.text(span.quote[:_SHOWN])
