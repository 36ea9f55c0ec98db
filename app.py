"""The workbench in a browser: which page is shown, and nothing else."""

from __future__ import annotations

import gc
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

# A picture of our own: for a Material icon the browser would fetch the tab's icon from a font host.
ICON = Path(__file__).parent / "pages" / "frontend" / "icon.svg"

# Before the modules are there: until then the tab is called after this file.
st.set_page_config(page_title="ProvenanceGuard Workbench", page_icon=ICON, layout="wide")

# The first page of a process waits for its modules, long on a busy machine: it says so meanwhile.
with st.spinner("Opening the workbench …", show_time=True):
    import pages.widgets.verifying  # noqa: F401 - most of what pages load
    from pages.widgets.navigation import usable_pages
    from pages.widgets.presses import carry_out_presses
    from pages.widgets.routing import mark_routed
if not gc.get_freeze_count():
    gc.freeze()  # after every drawing Streamlit looks for garbage, but no more in what is imported

carry_out_presses()  # also where another page was asked for with the press

# What has the keyboard's focus is seen in both themes; Streamlit marks it by a shade alone. Captions
# and the names of fields that are closed are as readable as the rest; Streamlit's own grey is too faint.
FRAME = """<style>
:is(button, a, input, textarea, [role="radio"], [role="tab"], [tabindex="0"]):focus-visible {
  outline: 2.5px solid light-dark(#24508F, #9CC1F2) !important; outline-offset: 1px; }
[data-testid="stCaptionContainer"] {
  color: light-dark(#535C67, #A9B3BF) !important; opacity: 1 !important; }
[data-testid="stWidgetLabel"] { color: inherit !important; }
/* Beside a field its choices are as high as it is, and their labels on one line with its own. */
[data-testid="stColumn"] [data-variant="segmented_control"] { min-height: 2.5rem; }
/* A link on a page is seen to be one. */
[data-testid="stPageLink-NavLink"] :is(p, span) { color: light-dark(#24508F, #9CC1F2) !important; }
/* The accent carries white button text, so in the dark theme it is too dark to be text itself. */
:is([role="tab"][aria-selected="true"], button[role="radio"][aria-checked="true"],
  button[type="button"][data-variant][data-selected="true"], [data-testid="stSliderThumbValue"])
  { color: inherit !important; }
</style>"""
# The page that is open is inside a menu: the menu is marked as pages are.
OPEN_SECTION = """<style>
[data-testid="stTopNav"] > :nth-child({number} of :has([data-testid="stTopNavSection"])) button {{
  background: color-mix(in srgb, currentColor 12%, transparent); font-weight: 650; }}
</style>"""

# Each page: its file, title, icon, and what it is for.
WORK = (
    ("home", "Home", "home", "What waits for you, how far the team is, and what changed lately."),
    (
        "traces",
        "Traces",
        "list_alt",
        "Add captured agent traces, verify them, find what was blocked.",
    ),
    (
        "verdict",
        "Verdict",
        "fact_check",
        "One answer: each claim, the source it was checked against, and why it passes or not.",
    ),
    (
        "review",
        "Review",
        "rate_review",
        "Read claims yourself, blind, and see the machine's view after.",
    ),
    ("adjudicate", "Adjudicate", "balance", "Decide claims on which two reviewers differ."),
    (
        "repair",
        "Repair",
        "build",
        "A blocked answer, revised: each edit with its reason and source, to accept or reject.",
    ),
)
ANALYSE = (
    (
        "thresholds",
        "Thresholds",
        "tune",
        "What every support threshold costs: good claims stopped, bad claims passed, hours.",
    ),
    (
        "evaluation",
        "Evaluation",
        "monitoring",
        "How often the verifier is wrong on labelled claims, where, and on which of them.",
    ),
    (
        "agreement",
        "Agreement",
        "handshake",
        "How far reviewers agree with each other, and where not.",
    ),
    (
        "recalibrate",
        "Recalibrate",
        "model_training",
        "Fit a candidate on reviewers' labels, compare it, promote it or roll back.",
    ),
)
MANAGE = (
    ("export", "Export", "download", "Adjudicated packets, signed, in the formats others read."),
    ("audit", "Audit", "history", "Who did what, when and why, checked link by link."),
    ("people", "People", "group", "Who works here, in which roles, and who holds which claim."),
    ("settings", "Settings", "settings", "Reviewing, models, the guideline, your keys and words."),
)


USABLE = usable_pages(tuple(name for name, *_ in (*WORK, *ANALYSE, *MANAGE)))


def _pages(listed: tuple[tuple[str, str, str, str], ...]) -> list[StreamlitPage]:
    return [
        st.Page(
            f"pages/{name}.py",
            title=title,
            icon=f":material/{icon}:",
            help=words,
            default=name == "home",
            # Whoever has a link still gets there, and is told why there is nothing for them.
            visibility="visible" if name in USABLE else "hidden",
        )
        for name, title, icon, words in listed
    ]


LISTED = {"": _pages(WORK), "Analyse": _pages(ANALYSE), "Manage": _pages(MANAGE)}
page = st.navigation(LISTED, position="top")
st.html(FRAME)
MENUS = [
    listed
    for name, listed in LISTED.items()
    if name and any(each.visibility == "visible" for each in listed)
]
for number, menu in enumerate(MENUS, 1):
    if page in menu:
        st.html(OPEN_SECTION.format(number=number))
mark_routed()
page.run()
