"""Pass, needs a person, block: three areas in one plot, and what each means for claims and answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go
import streamlit as st

from core.evaluation.outcomes import (
    Outcomes,
    Sorted3,
    Weights,
    Workload,
    cheapest,
    daily_cost,
    outcomes_at,
)
from core.evaluation.threshold_view import ThresholdView
from core.workflows.models import ActiveCalibrator, active_forest
from pages.widgets.figures import Cell, percent, show_numbers
from pages.widgets.plots import BLUE, GREEN, ORANGE

Move = Callable[[float], None]
HEADER = ("", "Pass", "Needs a person", "Block")
AREAS = (("pass", GREEN, ""), ("needs a person", BLUE, "/"), ("block", ORANGE, "x"))


@st.cache_resource(show_spinner=False, max_entries=8)
def middle_begins(_calibrators: ActiveCalibrator, label: str) -> float:
    """Where the middle of the active calibrator begins; 0 of one that was fitted without."""
    return active_forest(_calibrators).review_from or 0.0


def show_review_from(default: float) -> float:
    """Where the middle begins; the active calibrator's own to start with."""
    return float(
        st.number_input(
            "Needs a person from",
            0.0,
            1.0,
            default,
            0.01,
            key="review-from",
            help="Between this and the threshold a claim needs a person; below it, it is blocked.",
        )
    )


def show_weights() -> Weights:
    """What each outcome costs: only the proportion counts."""
    left, middle, right = st.columns(3)
    return Weights(
        bad_passed=left.number_input(
            "Cost of a bad claim passed", 0.0, 1e6, 10.0, 1.0, key="weight-bad"
        ),
        good_blocked=middle.number_input(
            "Cost of a good claim blocked", 0.0, 1e6, 1.0, 0.5, key="weight-good"
        ),
        hour_of_review=right.number_input(
            "Cost of an hour of review", 0.0, 1e6, 5.0, 0.5, key="weight-hour"
        ),
    )


def show_three(
    view: ThresholdView,
    thresholds: Sequence[float],
    threshold: float,
    review_from: float,
    workload: Workload,
    weights: Weights,
    move: Move,
) -> None:
    """The areas at every threshold, the point chosen in numbers, and the cheapest by the weights."""
    found = outcomes_at(view, thresholds, review_from)
    (here,) = outcomes_at(view, [threshold], review_from)
    st.plotly_chart(
        areas_figure(found, threshold, review_from), width="stretch", key="outcome-areas"
    )
    header, rows = outcome_table(here, workload)
    show_numbers(header, rows, name="outcomes", alt="Claims and answers by outcome")
    best = cheapest(found, workload, weights)
    words, button = st.columns([4, 1.3], vertical_alignment="center")
    words.text(cost_words(here, best, workload, weights))
    button.button(
        "Go to the cheapest",
        key="by-cost",
        disabled=best.threshold == threshold,
        on_click=move,
        args=(best.threshold,),
        width="stretch",
    )


def areas_figure(found: Sequence[Outcomes], threshold: float, review_from: float) -> go.Figure:
    """Shares of all claims that pass, need a person and are blocked, stacked to 100 %."""
    figure = go.Figure()
    places = [one.threshold for one in found]
    # Block lies at the bottom, so that the first trace drawn is the last of the outcomes.
    for (name, color, pattern), at in reversed(list(zip(AREAS, range(3), strict=True))):
        figure.add_scatter(
            x=places,
            y=[100 * one.shares[at] for one in found],
            mode="lines",
            name=name,
            stackgroup="claims",
            line={"color": color, "width": 1.5, "shape": "hv"},
            fillpattern={"shape": pattern, "solidity": 0.25, "size": 9},
            hovertemplate="at %{x:.2f}: %{y:.1f} %<extra>" + name + "</extra>",
        )
    figure.add_vline(x=threshold, line={"width": 2, "color": BLUE})
    if review_from < threshold:
        figure.add_vline(x=review_from, line={"width": 1.5, "dash": "dot", "color": BLUE})
    claims = found[0].claims
    figure.update_layout(
        title=f"Three outcomes at every threshold, n = {claims:,} labelled claims; needs a person "
        f"from {review_from:.2f}",
        xaxis={"title": "threshold to pass (0 to 1)", "range": [0, 1], "dtick": 0.1},
        yaxis={"title": "share of claims (%)", "range": [0, 100]},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        height=330,
        margin={"t": 70, "b": 10},
    )
    return figure


def outcome_table(here: Outcomes, workload: Workload) -> tuple[Sequence[str], list[Sequence[Cell]]]:
    """A row a kind of thing: how much of it passes, needs a person, is blocked."""
    shares = here.shares
    reading = workload.hours(shares[1])
    return HEADER, [
        ("All claims", *(percent(share) for share in shares)),
        ("Good claims", *_row(here.good)),
        ("Bad claims", *_row(here.bad)),
        ("Answers with no bad claim", *_row(here.good_answers)),
        ("Answers with a bad claim", *_row(here.bad_answers)),
        ("Claims a day", *(f"{share * workload.claims_a_day:,.0f}" for share in shares)),
        (
            "Hours of review a day",
            "–",
            f"{reading:,.1f} h",
            f"{workload.hours(shares[2]):,.1f} h more, if these are read as well",
        ),
    ]


def cost_words(here: Outcomes, best: Outcomes, workload: Workload, weights: Weights) -> str:
    """What a day costs here, and where it would cost least; by labels like these."""
    now = daily_cost(here, workload, weights)
    said = f"By the costs above a day costs {now:,.0f} here"
    if best.threshold == here.threshold:
        return f"{said}, the least at any threshold."
    least = daily_cost(best, workload, weights)
    return f"{said}; the least is {least:,.0f}, at {best.threshold:.2f}."


def _row(found: Sorted3) -> tuple[str, ...]:
    return tuple(_counted(part, found.all) for part in (found.passed, found.person, found.blocked))


def _counted(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({percent(part / whole)})" if whole else "none here"
