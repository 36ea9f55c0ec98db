"""One evaluated packet, shown: figures in words, metrics, slices, confusion, reliability, sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.attribution.families import load_families
from core.bootstrap import RESAMPLES
from core.evaluation.findings import confused_families, reliability_bins
from core.evaluation.kept import KeptRun
from core.evaluation.metrics import Metric
from core.evaluation.report import read_metrics
from core.evaluation.tables import TABLES, Material, Table, make_table, table_to_markdown
from core.records import JsonObject
from pages.widgets.evaluated import Opened
from pages.widgets.figures import Cell, percent, rate_interval, show_numbers
from pages.widgets.palette import family_words
from pages.widgets.plain import show_notice
from pages.widgets.plots import matrix_figure, reliability_figure, slices_figure

METRIC_WORDS: Mapping[str, tuple[str, str]] = {
    "false_pass_rate": ("Bad claims passed", "of the claims that should be blocked"),
    "false_block_rate": ("Good claims blocked", "of the claims that should pass"),
    "answer_false_pass_rate": ("Bad answers passed", "of the answers with a claim to block"),
    "answer_false_block_rate": ("Good answers blocked", "of the answers without one"),
    "block_f1": ("Block F1", "blocking is the positive class"),
    "block_precision": ("Block precision", "of what was blocked, how much is bad"),
    "block_recall": ("Block recall", "of what is bad, how much was blocked"),
    "block_accuracy": ("Block accuracy", "rightly blocked or passed"),
    "block_all_f1": ("Block F1 of blocking everything", "what any verifier must beat"),
    "verdict_accuracy": ("Verdict accuracy", "over the four verdicts"),
    "verdict_macro_f1": ("Verdict macro F1", "mean over the labels that occur"),
    "relation_accuracy": ("Relation accuracy", "after lexical rescue"),
    "source_accuracy": ("Right source", "checked against a right source"),
    "source_relation_accuracy": ("Right source and relation", "both at once"),
    "recall_at_1": ("Right source ranked first", "recall at 1"),
    "recall_at_2": ("Right source in the first 2", "recall at 2"),
    "recall_at_3": ("Right source in the first 3", "recall at 3"),
    "recall_at_4": ("Right source in the first 4", "recall at 4"),
    "recall_at_5": ("Right source in the first 5", "recall at 5"),
    "mean_reciprocal_rank": ("Mean reciprocal rank", "of the first right source"),
    "source_set_jaccard": ("Source-set overlap", "Jaccard of right and best ranked sources"),
    "attribution_precision": ("Wrong credits: precision", "of what was called wrong, how much is"),
    "attribution_recall": ("Wrong credits: recall", "of the wrong credits, how many were seen"),
    "attribution_f1": ("Wrong credits: F1", "harmonic mean of the two"),
    "auroc": ("AUROC of the support probability", "0.5 is chance"),
    "brier": ("Brier score", "lower is better"),
    "ece": ("Expected calibration error", "lower is better; ten bins"),
}
COMPARED_WORDS = {
    "block-all": "Blocking everything",
    "centroid-router": "With the paper's centroid router",
}
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
HEADLINE = (
    ("false_pass_rate", "claims_to_block", "claims to block"),
    ("false_block_rate", "good", "claims to pass"),
    ("source_accuracy", "source_eligible_claims", "with a known source"),
    ("block_f1", "claims", "labelled claims"),
)


def show_headline(report: JsonObject) -> None:
    """The four figures that decide, each with its interval, its n and what it means."""
    metrics = read_metrics(report)
    counts = {name: _count(report, name) for name in ("claims", "claims_to_block")}
    counts["good"] = counts["claims"] - counts["claims_to_block"]
    counts["source_eligible_claims"] = _count(report, "source_eligible_claims")
    for column, (name, n, noun) in zip(st.columns(4), HEADLINE, strict=True):
        metric = metrics[name]
        with column.container(border=True, height="stretch"):
            number = None if metric.value is None else f"{metric.value:.3f}"
            shown = number if name == "block_f1" else percent(metric.value)
            st.metric(METRIC_WORDS[name][0], shown if metric.value is not None else "–")
            st.caption(_headline_words(metric, counts[n], noun, name == "block_f1"))
    st.text(_sentence(metrics, counts))


def _headline_words(metric: Metric, n: int, noun: str, plain: bool) -> str:
    if metric.value is None:
        return f"Not measured: {metric.reason}."
    ends = metric.interval
    if not plain:
        pair = (ends.low, ends.high) if ends else None
        words = rate_interval(round(metric.value * n), n, pair)
    elif ends is None:
        words = "no interval"
    else:
        words = f"95 % interval {ends.low:.3f} to {ends.high:.3f}"
    return f"{words}; n = {n:,} {noun}"


def _sentence(metrics: Mapping[str, Metric], counts: Mapping[str, int]) -> str:
    """The answer to "can I trust it?" as one sentence."""
    passed, blocked = metrics["false_pass_rate"].value, metrics["false_block_rate"].value
    parts = []
    if passed is not None:
        parts.append(f"of 100 bad claims about {round(100 * passed)} would pass unseen")
    if blocked is not None:
        parts.append(f"of 100 good claims about {round(100 * blocked)} would be held back")
    f1, everything = metrics["block_f1"].value, metrics["block_all_f1"].value
    if f1 is not None and everything is not None:
        than = "better than" if f1 > everything else "no better than"
        parts.append(f"its block F1 is {than} blocking everything ({everything:.3f})")
    if not parts:
        return "No claim of this packet has a label to compare with."
    return f"On this packet: {'; '.join(parts)}."


# ---------------------------------------------------------------- metrics


def show_metrics(report: JsonObject) -> None:
    """Every metric with its interval over resampled traces, or the reason why it has none."""
    metrics = read_metrics(report)
    rows = [
        _metric_row(words, meaning, metrics[name])
        for name, (words, meaning) in METRIC_WORDS.items()
        if name in metrics
    ]
    st.caption(
        f"{_count(report, 'claims'):,} labelled claims of {_count(report, 'answers'):,} answers. "
        f"Intervals: {RESAMPLES:,} resamples of whole traces, seeded; the same packet gives the same."
    )
    show_numbers(
        ("Metric", "Value", "95 % low", "95 % high", "What it says, or why it is missing"),
        rows,
        name="metrics",
        alt="Every metric with its 95 percent interval",
        height=560,
    )
    _show_compared(report, metrics)


def _metric_row(words: str, meaning: str, metric: Metric) -> tuple[Cell, ...]:
    ends = metric.interval
    note = meaning if metric.value is not None else f"not measured: {metric.reason}"
    low, high = (ends.low, ends.high) if ends else (None, None)
    return (words, _rounded(metric.value), _rounded(low), _rounded(high), note)


def _show_compared(report: JsonObject, ours: Mapping[str, Metric]) -> None:
    compared = report.get("compared")
    if not isinstance(compared, Sequence) or not compared:
        return
    st.subheader("Beside other ways to decide", anchor=False)
    names = ("block_f1", "false_pass_rate", "false_block_rate", "source_accuracy",
             "source_relation_accuracy")  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        ("This verifier", *(_rounded(ours[name].value) for name in names), None, None, None)
    ]
    for entry in compared:
        assert isinstance(entry, Mapping)
        lead, ends = entry.get("block_f1_lead"), entry.get("block_f1_lead_ci95")
        low, high = ends if isinstance(ends, Sequence) else (None, None)
        rows.append(
            (
                COMPARED_WORDS.get(str(entry["name"]), str(entry["name"])),
                *(_number(entry.get(name)) for name in names),
                _number(lead),
                _number(low),
                _number(high),
            )
        )
    show_numbers(
        (
            "System", *(METRIC_WORDS[name][0] for name in names),
            "Our lead in block F1", "lead 95 % low", "lead 95 % high",
        ),
        rows,
        name="compared",
        alt="This verifier beside blocking everything and the centroid router",
    )  # fmt: skip
    if len(compared) == 1:
        st.caption(
            "The paper's centroid router is compared when the packet is read a second time with it: "
            "tick the box beside Evaluate."
        )


# ---------------------------------------------------------------- slices


def show_slices(report: JsonObject) -> None:
    """Both error rates by slice, as a plot and a table, filtered by name and size."""
    found = report.get("by_slice")
    if not isinstance(found, Mapping) or not found:
        show_notice(
            "This packet names no slices",
            "Rows may carry a list named slices; each name in it is then measured on its own.",
            key="no-slices",
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
        and _count(part, "claims") >= least
    }
    if not shown:
        show_notice("No slice matches", "Widen the filter.", key="no-slice-match")
        return
    metrics = {name: read_metrics(part) for name, part in shown.items()}
    order = sorted(shown, key=lambda name: -(metrics[name]["false_pass_rate"].value or 0.0))
    figure = slices_figure(
        {
            name: (
                _count(shown[name], "claims"),
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
    names = ("false_pass_rate", "false_block_rate", "block_f1", "source_accuracy",
             "source_relation_accuracy", "verdict_macro_f1")  # fmt: skip
    header = ["Slice", "Claims", "To block"]
    for name in names:
        header += [METRIC_WORDS[name][0], f"{METRIC_WORDS[name][0]}: 95 %"]
    rows = []
    for name in order:
        cells: list[Cell] = [name, _count(shown[name], "claims")]
        cells.append(_count(shown[name], "claims_to_block"))
        for each in names:
            metric = metrics[name][each]
            cells += [_rounded(metric.value), _interval_or_reason(metric)]
        rows.append(cells)
    show_numbers(header, rows, name="slices", alt="Every metric by slice with intervals")


def _interval_or_reason(metric: Metric) -> str:
    if metric.value is None:
        return metric.reason or ""
    ends = metric.interval
    return "" if ends is None else f"{ends.low:.3f} to {ends.high:.3f}"


# ---------------------------------------------------------------- confusion, reliability, sources


def show_confusion(report: JsonObject) -> None:
    """What is right against what was said: verdicts, decisions, relations."""
    found = report.get("confusion")
    assert isinstance(found, Mapping)
    kinds = {"verdict": "Verdicts", "decision": "Decisions", "relation": "Relations"}
    kind = st.segmented_control(
        "Compare", list(kinds), format_func=kinds.__getitem__, default="verdict", required=True,
        key="confusion-kind",
    )  # fmt: skip
    table = found.get(kind)
    if not isinstance(table, Mapping) or not table:
        show_notice("Nothing to compare", f"No claim has a gold {kind}.", key="no-confusion")
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
                each.low, each.high, each.claims, _rounded(each.said), _rounded(each.true),
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
            "No claim has a gold source",
            "Source confusion needs gold_source_ids in the packet.",
            key="no-gold-source",
        )
        return
    gold = sorted({pair[0] for pair in counts})
    said = _in_order({pair[1] for pair in counts}, gold)
    table = [[counts.get((row, column), 0) for column in said] for row in gold]
    words = {name: family_words(name) for name in {*gold, *said}}
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


# ---------------------------------------------------------------- the paper's tables


def show_paper_tables(opened: Opened, run: KeptRun, packet_name: str) -> None:
    """One of the paper's tables with this packet's rows beside the paper's."""
    number = st.selectbox(
        "Table of the paper", sorted(TABLES), key="paper-table",
        help="Tables that need fitted variants, other systems or repairs are printed by "
        "provenanceguard evaluate --table N.",
    )  # fmt: skip
    seconds = run.report.get("latency_seconds")
    material = Material(
        rows=opened.rows,
        predictions=opened.predictions,
        split=packet_name,
        latency_seconds=seconds if isinstance(seconds, Mapping) else {},
    )
    with st.spinner("Computing the table …"):
        table = _table(material, number, f"{run.folder}:{run.written}")
    st.text(f"Table {table.number}. {table.title}")
    show_numbers(
        table.header, table.rows, name=f"table-{number}", alt=f"Table {number}: {table.title}"
    )
    for note in table.notes:
        st.text(note)
    st.download_button(
        "Download as Markdown",
        data=table_to_markdown(table),
        file_name=f"table-{number}.md",
        mime="text/markdown",
        icon=":material/download:",
        type="tertiary",
        key="paper-markdown",
    )


@st.cache_data(show_spinner=False, max_entries=64)
def _table(_material: Material, number: int, run: str) -> Table:
    return make_table(number, _material)


# ---------------------------------------------------------------- cells


def _in_order(names: set[str], first: Sequence[str]) -> list[str]:
    return [*(name for name in first if name in names), *sorted(names - set(first))]


def _count(part: JsonObject, name: str) -> int:
    value = part.get(name)
    return int(value) if isinstance(value, int | float) else 0


def _number(value: object) -> float | None:
    return round(float(value), 4) if isinstance(value, int | float) else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
