"""The thresholds that are shown to keep a bad-pass rate, by kind of source, with what they rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from core.attribution.families import load_families
from core.calibration.guarantee import (
    COVERS,
    HEADER,
    GuaranteedPoint,
    LabelledScores,
    OperatingPoints,
    point_words,
    points_table,
)
from core.calibration.whole import whole_words
from core.models.forest import Forest
from core.workflows.evaluate import labelled_scores
from core.workflows.models import ActiveCalibrator, active_forest
from pages.widgets.evaluated import EVERY_CLAIM, Opened
from pages.widgets.figures import percent, show_numbers

Move = Callable[[float], None]


def show_risk() -> None:
    """The field for the share of bad claims that may pass."""
    st.number_input(
        "At most this share of the bad claims may pass (%)", 0.5, 50.0, 5.0, 0.5, key="risk"
    )


def asked_risk() -> float:
    """The share of bad claims that may pass, 0 to 1, as its field was last set."""
    return float(st.session_state.get("risk", 5.0)) / 100


def kept_words(point: GuaranteedPoint, in_use: float) -> str:
    """Whether the labels show that the threshold in use keeps to the share, and which one would."""
    if point.threshold is None:
        shown = "these labels show it of no threshold"
    elif in_use >= point.threshold:
        shown = "shown at the threshold in use"
    else:
        shown = f"shown at {point.threshold:g}, not shown at the threshold in use"
    return f"At most {percent(point.risk)} of bad claims pass: {shown}."


def labels_of(found: Opened, slice_name: str) -> LabelledScores:
    """A slice's labelled claims."""
    labels = labelled_scores(found.rows, found.predictions, load_families())
    return _only(labels, found, slice_name)


@st.cache_resource(show_spinner=False, max_entries=8)
def _in_force(_calibrators: ActiveCalibrator, label: str) -> Forest:
    return active_forest(_calibrators)


def told_in_force(
    calibrators: ActiveCalibrator, label: str, labels: LabelledScores
) -> tuple[str, str]:
    """The active calibrator's threshold, and its point for whole answers with what it does to the
    labelled claims' answers, in words."""
    decides = _in_force(calibrators, label)
    one = f"In force: one threshold, {decides.threshold:.2f}, for every claim by itself."
    return one, whole_words(decides.card, labels)


def show_guarantee(points: OperatingPoints, in_force: Sequence[str], move: Move) -> None:
    """What is in force, then what the labels show: the pooled point with a button, and each kind."""
    for told in in_force:
        st.text(told)
    words, button = st.columns([4, 1.3], vertical_alignment="center")
    words.text(f"By the labels shown here, all sources. {point_words(points.pooled)}")
    threshold = points.pooled.threshold
    button.button(
        "Go there",
        key="by-guarantee",
        disabled=threshold is None,
        on_click=move,
        args=(threshold,),
        width="stretch",
    )
    show_numbers(
        HEADER,
        points_table(points),
        name="guarantee",
        alt="Guaranteed thresholds by kind of source",
    )
    st.caption(COVERS)


def _only(labels: LabelledScores, found: Opened, slice_name: str) -> LabelledScores:
    if slice_name == EVERY_CLAIM:
        return labels
    scored = [row for row in found.rows if row.scored]
    return labels.where(np.array([slice_name in row.slices for row in scored], dtype=np.bool_))
