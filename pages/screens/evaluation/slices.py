"""Both error rates by slice, as a plot and a table."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.evaluation.metrics import Metric
from core.evaluation.report import read_metrics
from core.records import JsonObject
from pages.screens.evaluation.cells import count_in, number_of
from pages.screens.evaluation.view import METRIC_WORDS
from pages.widgets.figures import Cell, show_numbers
from pages.widgets.plain import show_notice
from pages.widgets.plots import slices_figure


def show_slices(report: JsonObject) -> None:
    """Both error rates by slice, as a plot and a table, filtered by name and size."""
    found = report.get("by_slice")
    if not isinstance(found, Mapping) or not found:
        show_notice(
            "This packet names no slices",
            "Rows may carry a list named slices; each name in it is then measured on its own.",
        )
        return
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    wanted = left.text_input("Filter by name", key="slice-filter", type="search", max_chars=80)
    least = right.number_input("At least n claims", min_value=1, value=1, step=5, key="slice-n")
    shown = {
        str(name): part
        for name, part in found.items()
        if isinstance(part, Mapping)
        and (wanted or "").casefold() in str(name).casefold()
        and count_in(part, "claims") >= least
    }
    if not shown:
        show_notice("No slice matches", "Widen the filter.")
        return
    metrics = {name: read_metrics(part) for name, part in shown.items()}
    order = sorted(shown, key=lambda name: -(metrics[name]["false_pass_rate"].value or 0.0))
    figure = slices_figure(
        {
            name: (
                count_in(shown[name], "claims"),
                metrics[name]["false_pass_rate"],
                metrics[name]["false_block_rate"],
            )
            for name in order[:40]
        }
    )
    st.plotly_chart(figure, key="slices-plot", alt="Error rates by slice; the numbers are below")
    if len(order) > 40:
        st.caption(
            f"The 40 slices where most bad claims pass; all {len(order):,} are in the table."
        )
    _show_table(shown, metrics, order)


def _show_table(
    shown: Mapping[str, JsonObject], metrics: Mapping[str, Mapping[str, Metric]], order: list[str]
) -> None:
    names = ("false_pass_rate", "false_block_rate", "block_f1", "source_accuracy",
             "source_relation_accuracy", "verdict_macro_f1")  # fmt: skip
    header = ["Slice", "Claims", "To block"]
    for name in names:
        header += [METRIC_WORDS[name][0], f"{METRIC_WORDS[name][0]}: 95 %"]
    rows = []
    for name in order:
        cells: list[Cell] = [name, count_in(shown[name], "claims")]
        cells.append(count_in(shown[name], "claims_to_block"))
        for each in names:
            metric = metrics[name][each]
            cells += [number_of(metric.value), _interval_or_reason(metric)]
        rows.append(cells)
    show_numbers(header, rows, name="slices", alt="Every metric by slice with intervals")


def _interval_or_reason(metric: Metric) -> str:
    if metric.value is None:
        return metric.reason or ""
    ends = metric.interval
    return "" if ends is None else f"{ends.low:.3f} to {ends.high:.3f}"
