"""Plots of an evaluation, in the palette of the theme: intervals drawn, units and n in every one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.bootstrap import Interval
from core.calibration.threshold import OperatingPoint
from core.evaluation.findings import Bin
from core.evaluation.metrics import Metric

# Streamlit's own names for the theme's chart colours: the browser puts the light or the dark one in
# their place, which the server cannot know.
BLUE, ORANGE, GREEN = "#000001", "#000002", "#000003"

# The legend between the title and the plot.
_ABOVE: Mapping[str, Mapping[str, Any]] = {
    "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 1, "xanchor": "right"},
    "margin": {"t": 70},
}


def reliability_figure(bins: Sequence[Bin]) -> go.Figure:
    """What was said against what was true, with intervals, above how many claims say so."""
    filled = [each for each in bins if each.claims and each.said is not None]
    figure = go.Figure()
    _add_diagonal(figure, 1, "as it should be")
    figure.add_scatter(
        x=[each.said for each in filled],
        y=[each.true for each in filled],
        mode="lines+markers",
        name="as it is",
        marker={"size": 9, "color": BLUE},
        line={"color": BLUE},
        error_y=interval_bars(
            [each.true or 0.0 for each in filled], [each.interval for each in filled]
        )
        | {"width": 5},
        customdata=[each.claims for each in filled],
        hovertemplate="said %{x:.2f}, true %{y:.2f}, %{customdata} claims<extra></extra>",
    )
    figure.add_bar(
        x=[(each.low + each.high) / 2 for each in bins],
        y=[each.claims for each in bins],
        width=0.09,
        name="claims",
        marker={"color": BLUE, "opacity": 0.35},
        yaxis="y2",
        text=[str(each.claims) if each.claims else "" for each in bins],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{y} claims<extra></extra>",
    )
    claims = sum(each.claims for each in bins)
    figure.update_layout(
        title=f"Support probability and what was true, n = {claims:,} judged claims",
        xaxis={
            "title": "support probability said (0 to 1)",
            "range": [-0.02, 1.02],
            "anchor": "y2",
            "dtick": 0.1,
        },
        yaxis={"title": "share supported", "range": [-0.04, 1.05], "domain": [0.34, 1]},
        yaxis2={"title": "claims", "domain": [0, 0.22], "rangemode": "tozero"},
        **_ABOVE,
        height=520,
    )
    return figure


def block_figure(
    points: Sequence[OperatingPoint], marked: Sequence[tuple[str, float]]
) -> go.Figure:
    """The paper's Fig. 3: block F1 and block recall over the threshold, with thresholds ``marked``."""
    figure = go.Figure()
    for name, color, values in (
        ("block F1", BLUE, [point.block_f1 for point in points]),
        ("block recall", ORANGE, [point.block_recall for point in points]),
    ):
        figure.add_scatter(
            x=[point.threshold for point in points],
            y=values,
            mode="lines",
            name=name,
            line={"color": color},
            hovertemplate=f"threshold %{{x:.2f}}: {name} %{{y:.3f}}<extra></extra>",
        )
    for place, (words, threshold) in enumerate(marked):
        # Names that stand one under the other stay apart where two thresholds are near.
        figure.add_vline(
            x=threshold,
            line={"dash": "dot", "width": 1, "color": GREEN},
            annotation={
                "text": words,
                "yref": "paper",
                "y": 0.02 + 0.08 * place,
                "yanchor": "bottom",
                "xanchor": "right" if threshold > 0.8 else "left",
            },
        )
    figure.update_layout(
        title=f"Block F1 and block recall (Fig. 3), n = {points[0].claims:,} labelled claims",
        xaxis={"title": "support threshold", "range": [-0.02, 1.02], "dtick": 0.1},
        yaxis={"title": "share", "range": [-0.02, 1.05]},
        **_ABOVE,
        height=420,
    )
    return figure


def reading_figure(curve: Sequence[tuple[float, float]]) -> go.Figure:
    """Errors found against claims read, both in per cent, above what reading in any order finds."""
    figure = go.Figure()
    _add_diagonal(figure, 100, "in any order")
    figure.add_scatter(
        x=[read for read, _ in curve],
        y=[found for _, found in curve],
        mode="lines+markers",
        name="in the order of the queue",
        line={"color": BLUE},
        marker={"size": 7, "color": BLUE},
        hovertemplate="%{x:.0f} % read, %{y:.0f} % of the errors found<extra></extra>",
    )
    figure.update_layout(
        title="Errors found against claims read",
        xaxis={"title": "claims read (%)", "range": [-1, 101], "dtick": 10},
        yaxis={"title": "errors found (%)", "range": [-2, 103]},
        **_ABOVE,
        height=420,
    )
    return figure


def slices_figure(named: Mapping[str, tuple[int, Metric, Metric]]) -> go.Figure:
    """Both error rates of each slice with their intervals; ``named``: slice → n, passes, blocks."""
    figure = go.Figure()
    passed = [(name, metric) for name, (_, metric, _) in named.items()]
    blocked = [(name, metric) for name, (_, _, metric) in named.items()]
    for title, rates, color, symbol in (
        ("bad claims passed", passed, ORANGE, "x"),
        ("good claims stopped", blocked, BLUE, "circle"),
    ):
        shown = [(name, metric) for name, metric in rates if metric.value is not None]
        values = [metric.value or 0.0 for _, metric in shown]
        figure.add_scatter(
            x=[100 * value for value in values],
            y=[f"{_short(name)} (n = {named[name][0]:,})" for name, _ in shown],
            mode="markers",
            name=title,
            marker={"color": color, "symbol": symbol, "size": 10},
            error_x=interval_bars(values, [metric.interval for _, metric in shown], scale=100)
            | {"width": 5},
            hovertemplate="%{x:.1f} %<extra>" + title + "</extra>",
        )
    figure.update_layout(
        title="Error rates by slice with 95 % intervals, n beside each slice",
        xaxis={"title": "rate (%)", "range": [-2, 102]},
        yaxis={"title": None, "autorange": "reversed", "type": "category"},
        **_ABOVE,
        height=150 + 30 * max(3, len(named)),
    )
    return figure


def matrix_figure(
    title: str, gold: Sequence[str], said: Sequence[str], counts: Sequence[Sequence[int]]
) -> go.Figure:
    """Counts of what is right (rows) against what the verifier said (columns)."""
    whole = [sum(row) or 1 for row in counts]
    figure = go.Figure(
        go.Heatmap(
            z=[[count / total for count in row] for row, total in zip(counts, whole, strict=True)],
            x=list(said),
            y=list(gold),
            text=[[str(count) if count else "" for count in row] for row in counts],
            texttemplate="%{text}",
            textfont={"size": 14},
            zmin=0,
            zmax=1,
            colorbar={"title": "share of row", "tickformat": ".0%"},
            hovertemplate="label %{y}, said %{x}: %{text}<extra></extra>",
            xgap=2,
            ygap=2,
        )
    )
    figure.update_layout(
        title=f"{title}, n = {sum(map(sum, counts)):,} claims",
        xaxis={"title": "what the verifier said", "side": "bottom", "type": "category"},
        yaxis={"title": "what is right", "autorange": "reversed", "type": "category"},
        height=170 + 56 * max(3, len(gold)),
    )
    return figure


def _add_diagonal(figure: go.Figure, end: float, name: str) -> None:
    line = {"dash": "dot", "width": 1, "color": GREEN}
    figure.add_scatter(x=[0, end], y=[0, end], mode="lines", name=name, line=line)


def interval_bars(
    values: Sequence[float], intervals: Sequence[Interval | None], *, scale: float = 1.0
) -> dict[str, object]:
    """The intervals of values as plotly draws them; both are multiplied by ``scale``."""
    pairs = [
        (v, i.low if i else v, i.high if i else v) for v, i in zip(values, intervals, strict=True)
    ]
    above = [max(0.0, scale * (high - v)) for v, _, high in pairs]
    below = [max(0.0, scale * (v - low)) for v, low, _ in pairs]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below}


def _short(name: str) -> str:
    """A slice's name as plain text for an axis: plotly reads a little markup, so none is left."""
    plain = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return plain if len(plain) <= 42 else plain[:41] + "…"
