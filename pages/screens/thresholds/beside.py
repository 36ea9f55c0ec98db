"""Two points side by side: another threshold, or another slice of the packet, beside the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from core.evaluation.outcomes import Outcomes, Weights, Workload, daily_cost, outcomes_at
from core.evaluation.threshold_view import ThresholdView
from pages.widgets.figures import Cell, percent, show_numbers

Sliced = Callable[[str], ThresholdView]


def show_beside(
    names: Sequence[str],
    slice_name: str,
    sliced: Sliced,
    chosen: tuple[float, float],
    in_use: float,
    workload: Workload,
    weights: Weights,
) -> None:
    """The controls of the second point, and both in one table; ``chosen``: threshold, review from."""
    threshold, review_from = chosen
    left, middle, right = st.columns(3)
    other_slice = left.selectbox(
        "Second slice", names, index=names.index(slice_name), key=f"beside-slice-{slice_name}"
    )
    other_threshold = float(
        middle.number_input("Second threshold", 0.0, 1.0, in_use, 0.01, key="beside-threshold")
    )
    other_from = float(
        right.number_input(
            "Needs a person from (second)", 0.0, 1.0, review_from, 0.01, key="beside-review-from"
        )
    )
    (one,) = outcomes_at(sliced(slice_name), [threshold], review_from)
    (other,) = outcomes_at(sliced(other_slice), [other_threshold], other_from)
    header, rows = beside_table(
        (f"{slice_name} at {threshold:.2f}", one),
        (f"{other_slice} at {other_threshold:.2f}", other),
        workload,
        weights,
    )
    show_numbers(header, rows, name="side-by-side", alt="Two points side by side")


def beside_table(
    first: tuple[str, Outcomes],
    second: tuple[str, Outcomes],
    workload: Workload,
    weights: Weights,
) -> tuple[Sequence[str], list[Sequence[Cell]]]:
    """A row a figure, a column a point."""
    columns = [_figures(outcomes, workload, weights) for _, outcomes in (first, second)]
    # Two alike names would be one column.
    names = ["First", "Second"]
    header = ("", *(f"{n}: {label}" for n, (label, _) in zip(names, (first, second), strict=True)))
    return header, [(name, value, columns[1][name]) for name, value in columns[0].items()]


def _figures(one: Outcomes, workload: Workload, weights: Weights) -> dict[str, str]:
    shares = one.shares if one.claims else (0.0, 0.0, 0.0)
    good, bad = one.good, one.bad
    return {
        "Labelled claims": f"{one.claims:,}, {bad.all:,} bad",
        "Bad claims passed": _part(bad.passed, bad.all),
        "Good claims stopped": _part(good.person + good.blocked, good.all),
        "Of these blocked": _part(good.blocked, good.all),
        "Needs a person": percent(shares[1]),
        "Hours of review a day": f"{workload.hours(shares[1]):,.1f} h",
        "Answers with a bad claim that pass": _part(one.bad_answers.passed, one.bad_answers.all),
        "Answers with no bad claim that pass": _part(one.good_answers.passed, one.good_answers.all),
        "Cost a day": f"{daily_cost(one, workload, weights):,.0f}" if one.claims else "–",
    }


def _part(part: int, whole: int) -> str:
    return f"{percent(part / whole)} ({part:,} of {whole:,})" if whole else "none here"
