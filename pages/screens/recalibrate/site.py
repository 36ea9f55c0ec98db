"""How the active calibrator does on the site's labels, whether they are enough, and how far they are."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.calibration.rows import KeptRows, TrainingRow
from core.calibration.site import Drift, Rate, SiteErrors, drift_of, site_errors, whole_traces
from core.models.forest import Forest
from pages.widgets.figures import Cell, percent, rate_interval, show_numbers
from pages.widgets.plain import show_notice

# Deciding 50,000 labels again takes seconds; the intervals of 4,000 are within two points.
MEASURED_AT_MOST = 4_000


def show_site(rows: Sequence[TrainingRow], forest: Forest) -> None:
    """Errors on the labels with intervals, and plainly whether they are enough."""
    every, rows = len(rows), whole_traces(rows, MEASURED_AT_MOST)
    drawn = f"\nMeasured on whole answers drawn from {every:,} labels." if every > len(rows) else ""
    errors = _errors(rows, forest, _told_apart(rows), forest.name, forest.threshold)
    show_notice(
        "Enough labels to say something" if errors.enough else "Too few labels to say much",
        f"{error_words(errors, forest.threshold)}\n{errors.words}{drawn}",
        tone="good" if errors.enough else "careful",
    )


def show_drift(rows: Sequence[TrainingRow], shipped: KeptRows, forest: Forest) -> None:
    """How far each feature is from the rows that the shipped calibrator was fitted on."""
    rows = whole_traces(rows, MEASURED_AT_MOST)
    known = [*shipped.train, *shipped.validation]
    drift = _drift(rows, known, forest, _told_apart(rows), forest.name)
    if not drift:
        return
    with st.expander(drift_words(drift, len(rows), len(known))):
        header, table = drift_table(drift)
        show_numbers(
            header, table, name="drift", alt="How far each feature is from the shipped rows"
        )


@st.cache_resource(show_spinner="Deciding every label again …", max_entries=2)
def _errors(
    _rows: Sequence[TrainingRow], _forest: Forest, rows: int, name: str, threshold: float
) -> SiteErrors:
    """Measured once for the same labels: tens of thousands take seconds."""
    return site_errors(_rows, _forest)


@st.cache_resource(show_spinner=False, max_entries=2)
def _drift(
    _rows: Sequence[TrainingRow],
    _known: Sequence[TrainingRow],
    _forest: Forest,
    rows: int,
    name: str,
) -> tuple[Drift, ...]:
    return drift_of(_rows, _known, _forest.encoding.numeric)


def _told_apart(rows: Sequence[TrainingRow]) -> int:
    """A number that is another one for other labels or features."""
    return hash(
        tuple(
            (row.trace_id, row.should_block, row.forced, *row.features.numeric.values())
            for row in rows
        )
    )


def error_words(errors: SiteErrors, threshold: float) -> str:
    """Both rates on the site's labels with their intervals, as Evaluation words them."""
    return (
        f"The active calibrator at {threshold:g}: bad claims passed "
        f"{_rate(errors.bad_passed)}; good claims stopped {_rate(errors.good_blocked)}."
    )


def drift_words(drift: Sequence[Drift], here: int, there: int) -> str:
    """How many features are far from the rows that the calibrator was fitted on."""
    far = sum(one.words == "far" for one in drift)
    return (
        f"{far} of {len(drift)} features are far from the shipped rows "
        f"({here:,} claims here, {there:,} there)"
    )


def drift_table(drift: Sequence[Drift]) -> tuple[Sequence[str], list[Sequence[Cell]]]:
    """A row a feature, the farthest first."""
    return ("Feature", "Distance (0 to 1)", "", "Mean here", "Mean of the shipped rows"), [
        (one.feature, one.distance, one.words, one.here, one.there) for one in drift
    ]


def _rate(rate: Rate) -> str:
    if rate.interval is None:
        return "– (none is labelled)"
    ends = (rate.interval.low, rate.interval.high)
    return (
        f"{percent(rate.value)} of {rate.among:,} ({rate_interval(rate.errors, rate.among, ends)})"
    )
