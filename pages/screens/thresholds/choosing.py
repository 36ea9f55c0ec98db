"""Choosing a threshold by a rule: at most so many errors, or as many claims as people can read."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from core.calibration.threshold import (
    Choice,
    OperatingPoint,
    by_budget,
    by_false_block,
    by_false_pass,
    sweep,
)
from core.evaluation.outcomes import Workload
from core.evaluation.threshold_view import ThresholdView
from pages.widgets.figures import percent

Move = Callable[[float], None]


def show_workload() -> Workload:
    """How many claims come in a day, and how long one takes to review."""
    left, right = st.columns(2)
    claims = left.number_input(
        "Claims a day", min_value=1, max_value=10_000_000, value=1_000, step=100, key="claims-a-day"
    )
    minutes = right.number_input(
        "Minutes a claim",
        min_value=0.1,
        max_value=240.0,
        value=2.0,
        step=0.5,
        key="minutes-a-claim",
    )
    return Workload(claims_a_day=int(claims), minutes_a_claim=float(minutes))


def show_rules(view: ThresholdView, workload: Workload, move: Move) -> None:
    """Three rules, each with its limit and a button that moves the slider; what the last one found."""
    columns = st.columns(3, vertical_alignment="bottom")
    with columns[0], st.container(horizontal=True, vertical_alignment="bottom"):
        passes = st.number_input(
            "At most bad passed (%)", 0.0, 100.0, 2.5, 0.5, key="max-false-pass"
        )
        st.button(
            "Set", key="by-false-pass", on_click=_choose, help="Fewest good claims stopped",
            args=(view, move, lambda points: by_false_pass(points, passes / 100)),
        )  # fmt: skip
    with columns[1], st.container(horizontal=True, vertical_alignment="bottom"):
        blocks = st.number_input(
            "At most good stopped (%)", 0.0, 100.0, 20.0, 1.0, key="max-false-block"
        )
        st.button(
            "Set", key="by-false-block", on_click=_choose, help="Fewest bad claims passed",
            args=(view, move, lambda points: by_false_block(points, blocks / 100)),
        )  # fmt: skip
    with columns[2], st.container(horizontal=True, vertical_alignment="bottom"):
        reviews = st.number_input(
            "People can read a day", 0, 10_000_000, 300, 50, key="reviews-a-day"
        )
        st.button(
            "Set", key="by-budget", on_click=_choose, help="Fewest bad claims passed",
            args=(
                view, move,
                lambda points: by_budget(
                    points, claims_a_day=workload.claims_a_day, reviews_a_day=reviews
                ),
            ),
        )  # fmt: skip
    if said := st.session_state.get("rule-said"):
        st.text(said)


def _choose(
    view: ThresholdView, move: Move, rule: Callable[[tuple[OperatingPoint, ...]], Choice]
) -> None:
    choice = rule(sweep(view.deciding, view.bad, np.isneginf(view.deciding)))
    move(choice.point.threshold)
    st.session_state["rule-said"] = choice_words(choice)


def choice_words(choice: Choice) -> str:
    """What a rule chose, or that it cannot be met and what comes nearest."""
    point = choice.point
    costs = (
        f"bad claims passed {percent(point.false_pass_rate)}, "
        f"good claims stopped {percent(point.false_block_rate)}"
    )
    if choice.met:
        return f"Threshold {point.threshold:g}: {choice.rule}; {costs}."
    return f"No threshold meets this limit ({choice.rule}). The nearest is {point.threshold:g}: {costs}."
