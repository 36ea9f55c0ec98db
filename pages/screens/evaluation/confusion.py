"""What is taken for what: labels, probabilities and kinds of source, as plots with their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.attribution.families import load_families
from core.evaluation.findings import confused_families, reliability_bins
from core.records import JsonObject
from pages.screens.evaluation.cells import number_of
from pages.widgets.evaluated import Opened
from pages.widgets.figures import show_numbers
from pages.widgets.forms import one_of
from pages.widgets.palette import family_words
from pages.widgets.plain import show_notice
from pages.widgets.plots import matrix_figure, reliability_figure

LABEL_WORDS = {
    "supported": "supported",
    "unsupported": "unsupported",
    "contradicted": "contradicted",
    "not_enough_evidence": "not enough evidence",
    "unjudged": "not judged",
    "allow": "pass",
    "block": "block",
    "none": "no relation",
}


def show_confusion(report: JsonObject) -> None:
    """What is right against what was said: verdicts, decisions, relations."""
    found = report.get("confusion")
    assert isinstance(found, Mapping)
    kinds = {"verdict": "Verdicts", "decision": "Decisions", "relation": "Relations"}
    kind = one_of("Compare", kinds, key="confusion-kind")
    table = found.get(kind)
    if not isinstance(table, Mapping) or not table:
        show_notice("Nothing to compare", f"No claim has a gold {kind}.")
        return
    gold = [str(name) for name in table]
    said = _in_order({str(name) for row in table.values() for name in row}, gold)
    counts = [[int(table[row].get(column, 0)) for column in said] for row in gold]
    _show_matrix(kinds[kind], gold, said, counts, LABEL_WORDS, name=f"confusion-{kind}")


def show_reliability(opened: Opened) -> None:
    """Whether a probability means what it says, with the claims behind each point."""
    bins = reliability_bins(opened.columns)
    st.plotly_chart(
        reliability_figure(bins),
        key="reliability-plot",
        alt="Reliability curve with intervals and counts; the numbers are below",
    )
    st.caption(
        "True: the label is supported, by the source that the claim was checked against. "
        "A point above the dotted line: the verifier is more careful than it need be."
    )
    show_numbers(
        ("From", "To", "Claims", "Mean said", "Share true", "95 % low", "95 % high"),
        [
            (
                each.low, each.high, each.claims, number_of(each.said), number_of(each.true),
                each.interval.low if each.interval else None,
                each.interval.high if each.interval else None,
            )
            for each in bins
        ],
        name="reliability",
        alt="The reliability curve as numbers",
    )  # fmt: skip


def show_sources(opened: Opened) -> None:
    """Which kinds of source are taken for which, where a right source is known."""
    counts = confused_families(opened.rows, opened.predictions, load_families())
    if not counts:
        show_notice(
            "No claim has a gold source", "Source confusion needs gold_source_ids in the packet."
        )
        return
    gold = sorted({pair[0] for pair in counts})
    said = _in_order({pair[1] for pair in counts}, gold)
    table = [[counts.get((row, column), 0) for column in said] for row in gold]
    words = {name: family_words(name) or name for name in {*gold, *said}}
    _show_matrix("Source families", gold, said, table, words, name="families")
    st.caption(
        "By family: two outputs of one kind may still be confused with each other; "
        "see Right source under Figures, and the errors named checked against a wrong source."
    )


def _show_matrix(
    title: str,
    gold: Sequence[str],
    said: Sequence[str],
    counts: Sequence[Sequence[int]],
    words: Mapping[str, str],
    *,
    name: str,
) -> None:
    rows = [words.get(each, each) for each in gold]
    columns = [words.get(each, each) for each in said]
    st.plotly_chart(
        matrix_figure(title, rows, columns, counts),
        key=f"{name}-plot",
        alt=f"{title}: what is right against what was said; the numbers are below",
    )
    show_numbers(
        ("What is right", *(f"said: {each}" for each in columns)),
        [(row, *line) for row, line in zip(rows, counts, strict=True)],
        name=name,
        alt=f"{title} as counts",
    )


def _in_order(names: set[str], first: Sequence[str]) -> list[str]:
    return [*(name for name in first if name in names), *sorted(names - set(first))]
