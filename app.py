"""The workbench in a browser: which page is shown, and nothing else."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.components.routing import mark_routed

# A picture of our own: for a Material icon the browser would fetch the tab's icon from a font host.
ICON = Path(__file__).parent / "pages" / "components" / "frontend" / "icon.svg"

st.set_page_config(page_title="ProvenanceGuard Workbench", page_icon=ICON, layout="wide")

page = st.navigation(
    [
        st.Page(
            "pages/traces.py",
            title="Traces",
            icon=":material/list_alt:",
            default=True,
            help="Add captured agent traces, verify them, and find the answers that were blocked.",
        ),
        st.Page(
            "pages/verdict.py",
            title="Verdict",
            icon=":material/fact_check:",
            help="One answer: each claim, the source it was checked against, and why it passes or not.",
        ),
        st.Page(
            "pages/repair.py",
            title="Repair",
            icon=":material/build:",
            help="A blocked answer, revised: each edit with its reason and source, to accept or reject.",
        ),
    ],
    position="top",
)
mark_routed()
page.run()
