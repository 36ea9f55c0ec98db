"""The paper's curve and rule (Fig. 3, III.5) beside the guarantee and what is in use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from core.calibration.guarantee import OperatingPoints
from core.calibration.threshold import by_block_f1, sweep
from core.evaluation.threshold_view import ThresholdView
from pages.widgets.figures import percent, show_numbers
from pages.widgets.plots import block_figure


def show_paper_curve(
    view: ThresholdView, guarantee: OperatingPoints, current: float, move: Callable[[float], None]
) -> None:
    """Block F1 and recall at every threshold, and what the paper's rule would choose and cost."""
    points = sweep(view.deciding, view.bad, np.isneginf(view.deciding))
    rule, shown = by_block_f1(points).point, guarantee.pooled.threshold
    marked = [("the paper's rule", rule.threshold), ("in use", current)]
    marked += [("the guarantee", shown)] if shown is not None else []
    words, button = st.columns([4, 1.3], vertical_alignment="center")
    words.text(
        f"The paper's rule, the best block F1, chooses {rule.threshold:g}: bad claims passed "
        f"{percent(rule.false_pass_rate)}, good claims stopped {percent(rule.false_block_rate)}. "
        + (
            "The labels here show no threshold for the guarantee."
            if shown is None
            else f"The guarantee chooses {shown:g}."
        )
    )
    button.button(
        "Go there", key="by-block-f1", on_click=move, args=(rule.threshold,), width="stretch"
    )
    st.plotly_chart(
        block_figure(points, marked),
        key="block-plot",
        alt="Block F1 and block recall at every threshold; the numbers are below",
    )
    show_numbers(
        ("Threshold", "Block F1", "Block recall", "Block precision"),
        [
            (one.threshold, *(None if value is None else round(value, 4) for value in
                              (one.block_f1, one.block_recall, one.block_precision)))
            for one in points
        ],
        name="block-curve",
        alt="Block F1, recall and precision at every threshold",
    )  # fmt: skip
