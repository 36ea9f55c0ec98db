"""Errors found against claims read: which share of the errors is found by reading how much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from core.evaluation.ranking_scores import reading_entry, reading_words
from pages.widgets.figures import show_numbers
from pages.widgets.plain import show_notice
from pages.widgets.plots import reading_figure


def show_reading(score: NDArray[np.float64], bad: NDArray[np.bool_]) -> None:
    """The curve of claims read in the order of the queue, in words, as a plot and as numbers."""
    reading = reading_entry(score, bad)
    if reading is None:
        show_notice("No errors to find", "No claim here is labelled bad.")
        return
    words = reading_words(reading)
    st.text(f"{words[0].upper()}{words[1:]}.")
    points = cast("Sequence[Mapping[str, float]]", reading["curve"])
    curve = [(100 * point["read"], 100 * point["found"]) for point in points]
    st.plotly_chart(
        reading_figure(curve),
        key="reading-plot",
        alt="Errors found against claims read; the numbers are below",
    )
    show_numbers(
        ("Claims read (%)", "Errors found (%)"),
        [(round(read, 1), round(found, 1)) for read, found in curve],
        name="reading",
        alt="Errors found against claims read in the order of the queue",
    )
