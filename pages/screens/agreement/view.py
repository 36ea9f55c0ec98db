"""Agreement figures in plain words: every number with its n, its interval and its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from core.bootstrap import Interval
from core.review.agreement_records import (
    AgreementFigures,
    Figure,
    GroupAgreement,
    Grouping,
    LabelShare,
    Question,
)
from core.review.agreement_resamples import FEWEST_TRACES
from core.review.records import STATUS_WORDS, SUPPORT_LABELS, Judgement, ReviewedClaim, Unfit
from core.review.rounds import answer
from pages.widgets.counting import counted
from pages.widgets.figures import Cell, percent
from pages.widgets.plots import BLUE, interval_bars
from pages.widgets.review_layout import owner_words

QUESTIONS = {
    Question.CLAIM: "Is it a claim?",
    Question.SUPPORT: "Is it supported?",
    Question.SOURCE: "Which source says it?",
    Question.CONFLATION: "Wrong source credited?",
}
GROUPINGS = {
    Grouping.PAIR: "Reviewer pair",
    Grouping.SLICE: "Slice",
    Grouping.FAMILY: "Source family",
    Grouping.CATEGORY: "Category",
    Grouping.WEEK: "Week",
}
SKEWED = 0.8

Names = Mapping[str, str]  # source id → what the source is called


class Shown(NamedTuple):
    """One figure on the page: its name, what it is, and the words of its help."""

    name: str
    figure: Figure
    help: str


def shown_figures(figures: AgreementFigures) -> tuple[Shown, ...]:
    """Raw agreement, the kappa that fits the data, and AC1, in the order of the page.

    Cohen's where it is defined: always the same two people. Fleiss' where annotators change.
    """
    kappa = figures.cohen if figures.cohen.value is not None else figures.fleiss
    return (
        Shown(
            "Raw agreement",
            figures.raw,
            "The share of claims on which both annotations say the same. High by itself where one "
            "label dominates.",
        ),
        Shown(
            "Cohen's kappa" if kappa is figures.cohen else "Fleiss' kappa",
            kappa,
            "Agreement beyond what their habits would give two people by chance; Fleiss' pools the "
            "labels of all annotators. It collapses where one label dominates.",
        ),
        Shown(
            "Gwet's AC1",
            figures.ac1,
            "Agreement beyond chance that stays meaningful where one label dominates.",
        ),
    )


def show_figures(figures: AgreementFigures) -> None:
    """Three figures beside each other, each with its interval or with why it has none.

    Of fewer traces than an interval needs, only how many claims agree: a figure would be believed.
    """
    few = figures.traces < FEWEST_TRACES
    alike = f"{figures.claims - len(figures.differing):,} of {figures.claims:,}"
    for column, shown in zip(st.columns(3), shown_figures(figures), strict=True):
        value, told = number(shown.figure, shown.name), interval_words(shown.figure, shown.name)
        if few:
            value = alike if shown.figure is figures.raw else "Too few"
            told = (
                f"Too few to tell: {counted(figures.traces, 'trace')}, {FEWEST_TRACES} are needed."
            )
        with column.container(border=True, height="stretch"):
            st.metric(shown.name, value, help=shown.help)
            st.caption(told)


def number(figure: Figure, name: str) -> str:
    """A figure's value: a share as a percentage, a coefficient with two decimals."""
    if figure.value is None:
        return "–"
    return percent(figure.value) if name.startswith("Raw") else f"{figure.value:.2f}"


def interval_words(figure: Figure, name: str = "") -> str:
    """A figure's interval in words, or why it, or the figure, is not there."""
    if figure.value is None:
        return f"Not defined: {figure.reason}."
    if figure.interval is None:
        return f"No interval: {figure.reason}."
    return f"95 % interval {_ends(figure.interval, share=name.startswith('Raw'))}"


def _ends(interval: Interval, *, share: bool) -> str:
    low, high = interval.low, interval.high
    return f"{percent(low)} to {percent(high)}" if share else f"{low:.2f} to {high:.2f}"


def count_words(figures: AgreementFigures, tools: Names, what: str = "claim") -> str:
    """How many claims of how many traces, and how the labels are spread."""
    return (
        f"n = {counted(figures.claims, what)} of {counted(figures.traces, 'trace')}. "
        f"{said_words(figures.prevalence, tools)}"
    )


def said_words(prevalence: Sequence[LabelShare], tools: Names, most: int = 4) -> str:
    """How often each label was chosen, in words; sources of one tool count as one."""
    said = _said(prevalence, tools)
    more = f" and {len(said) - most} more" if len(said) > most else ""
    return f"Said: {', '.join(said[:most]) or 'nothing'}{more}."


def _said(prevalence: Sequence[LabelShare], tools: Names) -> list[str]:
    said = Counter[str]()
    for each in prevalence:
        said[label_words(each.label, tools)] += each.count
    return [f"{words} {percent(count / said.total())}" for words, count in said.most_common()]


def skew_words(figures: AgreementFigures, tools: Names) -> str | None:
    """What to mind where one label dominates and kappa falls behind."""
    top, (_, kappa, ac1) = figures.prevalence[:1], shown_figures(figures)
    low = kappa.figure.value is None or kappa.figure.value < (ac1.figure.value or 0.0)
    few = figures.traces < FEWEST_TRACES  # no kappa is shown
    if few or not top or top[0].share < SKEWED or not low:
        return None
    return (
        f"Where one label dominates, as {label_words(top[0].label, tools)} does here, kappa is low even "
        "among people who agree: read AC1 beside it."
    )


def left_out_words(figures: AgreementFigures) -> str | None:
    """What the question could not compare, and why."""
    if not figures.left_out:
        return None
    parts = [f"{count:,}: {reason}" for reason, count in sorted(figures.left_out.items())]
    return f"Not compared: {'; '.join(parts)}."


def label_words(label: str | None, names: Names) -> str:
    """A label as people read it, a source by what it is called."""
    return _LABELS.get(label) or owner_words(label, names)


_LABELS: Mapping[str | None, str] = {
    each.value: each.value.replace("_", " ") for each in (*SUPPORT_LABELS, *Unfit)
}


def group_rows(
    groups: Sequence[GroupAgreement], grouping: Grouping, tools: Names
) -> list[list[Cell]]:
    """One row a group for GROUP_HEADER."""
    rows: list[list[Cell]] = []
    for group in groups:
        figures = group.figures
        row: list[Cell] = [group.name or f"no {GROUPINGS[grouping].lower()}"]
        row += [figures.claims, figures.traces, len(figures.differing)]
        row += figure_cells(figures, *(shown.figure for shown in shown_figures(figures)))
        row.append(next(iter(_said(figures.prevalence, tools)), None))
        rows.append(row)
    return rows


def figure_cells(figures: AgreementFigures, *shown: Figure) -> list[Cell]:
    """The value of each and its interval, where they are there: of too few traces nothing is."""
    few = figures.traces < FEWEST_TRACES
    return [
        None if few else cell
        for one in shown
        for cell in (
            one.value,
            _ends(one.interval, share=one is figures.raw) if one.interval else None,
        )
    ]


GROUP_HEADER = (
    "Group", "Claims", "Traces", "Differ", "Raw", "Raw, 95 %", "Kappa", "Kappa, 95 %",
    "AC1", "AC1, 95 %", "Most said",
)  # fmt: skip


def show_course(
    found: Sequence[tuple[str | None, str, AgreementFigures]], *, what: str, **layout: Any
) -> None:
    """Raw agreement in percent along weeks or rounds, with 95 % intervals; else what is missing.

    ``found`` has each one's name, what stands at its point, and its figures; ``layout`` is the
    figure's. One of fewer traces than an interval needs has its place and no point.
    """
    enough = [figures.traces >= FEWEST_TRACES for _, _, figures in found]
    if sum(enough) < 2:  # one point shows no course
        st.text(
            f"The plot needs two {what}s with {FEWEST_TRACES} traces or more each: "
            f"{sum(enough)} so far."
        )
        return
    values = [figures.raw.value or 0.0 for _, _, figures in found]
    figure = go.Figure(
        go.Scatter(
            x=[name for name, _, _ in found],
            y=[100 * value if told else None for value, told in zip(values, enough, strict=True)],
            mode="lines+markers+text",
            text=[at_point for _, at_point, _ in found],
            textposition="top right",  # beside the interval, not under it
            cliponaxis=False,
            marker={"size": 9, "color": BLUE},
            line={"color": BLUE},
            error_y=interval_bars(values, [each[2].raw.interval for each in found], scale=100),
            hovertemplate="%{x}: %{y:.1f} %<extra></extra>",
        )
    )
    figure.update_layout(height=320, margin={"t": 60}, **layout)
    figure.update_xaxes(type="category")
    figure.update_yaxes(range=[-2, 108])
    st.plotly_chart(figure, width="stretch", key=f"{what}s-plot")


def claim_rows(
    claims: Sequence[ReviewedClaim], question: Question, names: Mapping[int, Names]
) -> list[list[Cell]]:
    """One row a claim for CLAIM_HEADER: what each annotator said to the question, and what stands.

    ``names`` has what its sources are called under a claim's key.
    """

    def words(judgement: Judgement) -> str:
        return label_words(answer(judgement, question), names.get(claim.claim_key, {}))

    rows: list[list[Cell]] = []
    for claim in claims:
        answers = [
            f"{annotation.reviewer}: {words(annotation.first or annotation.judgement)}"
            for annotation in claim.annotations
        ]
        final = claim.resolution.final
        rows.append(
            [
                claim.text,
                *(answers + ["–", "–"])[:2],
                STATUS_WORDS[claim.resolution.status],
                words(final) if final else "–",
                claim.claim_id,
            ]
        )
    return rows


CLAIM_HEADER = ("Claim", "First reading", "Second reading", "Status", "Stands", "Claim id")
