"""The steps of the recalibrate page that only show something: labels, split, comparison."""

from __future__ import annotations

import streamlit as st

from core.review.calibrators import StoredCalibrator
from core.review.records import Person
from core.workflows.retraining import Material
from pages.screens.recalibrate.view import (
    FLIPS_SHOWN,
    SIDE_WORDS,
    comparison_table,
    curves_figure,
    effect_words,
    flips_of,
    gain_of_fit,
    label_facts,
    sides_of,
    split_table,
    trace_table,
)
from pages.widgets.figures import show_numbers
from pages.widgets.flips import Flip, show_flips
from pages.widgets.forms import one_of
from pages.widgets.navigation import link_review
from pages.widgets.plain import show_cards, show_notice


def show_labels(material: Material, user: Person) -> None:
    """What reviewers settled, and how."""
    if not material.rows:
        show_notice(
            "No labels yet",
            "A calibrator learns from claims that reviewers have settled. Read a few claims first; "
            "what you decide there can be fitted here.",
        )
        link_review(user)
        if not material.left_out:
            return
    show_cards(
        [{"title": "What has been settled so far", "facts": label_facts(material)}], key="labels"
    )


def show_split(material: Material) -> None:
    """On which side each trace stands."""
    st.text(
        "Traces, not claims, are split: claims of one answer never stand on two sides. A trace keeps "
        "its side for good, as its record says or as drawn by a fixed seed."
    )
    header, rows = split_table(material)
    show_numbers(header, rows, name="split", alt="Traces and claims on each side")
    if material.rows:
        with st.expander("Every trace with its side"):
            header, rows = trace_table(material)
            show_numbers(header, rows, name="traces-by-side", alt="Traces with their sides")
        show_next("Fit")


def show_comparison(chosen: StoredCalibrator) -> Flip | None:
    """A candidate beside the active one; the claim that was just opened, if any."""
    st.text(effect_words(chosen))
    show_next("Promote", wanted=gain_of_fit(chosen.comparison).shown)
    opened = None
    if flips := flips_of(chosen.comparison):
        st.subheader("Claims that flip", anchor=False)
        if len(flips) > FLIPS_SHOWN:
            st.caption(f"The first {FLIPS_SHOWN} are listed.")
        opened = show_flips(flips[:FLIPS_SHOWN], page="verdict", key="changes")
    with st.expander("Both error rates with intervals, and the curves"):
        st.text("Each at its own threshold.")
        header, rows = comparison_table(chosen.comparison)
        show_numbers(header, rows, name="comparison", alt="Both calibrators' error rates")
        if sides := sides_of(chosen.comparison):
            side = one_of("Curves of", {side: SIDE_WORDS[side] for side in sides}, key="side")
            st.plotly_chart(curves_figure(chosen.comparison, side), key="curves")
    return opened


def show_next(step: str, *, wanted: bool = True) -> None:
    """The button to the next step; not the page's main one where nothing speaks for it."""
    st.button(
        f"Next: {step.lower()}",
        type="primary" if wanted else "secondary",
        icon=":material/arrow_forward:",
        key="next",
        on_click=_go,
        args=(step,),
    )


def _go(step: str) -> None:
    st.session_state["step"] = step
