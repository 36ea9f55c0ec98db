"""One evaluated packet, shown: figures in words, metrics, slices, confusion, reliability, sources."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import streamlit as st

from core.bootstrap import RESAMPLES, Interval
from core.evaluation.metrics import Metric
from core.evaluation.report import read_metrics
from core.records import JsonObject
from core.statistics import exact_binomial_interval
from core.workflows.judged_packet import judged_columns
from pages.screens.evaluation.cells import count_in, number_of
from pages.widgets.figures import Cell, percent, rate_interval, show_numbers
from pages.widgets.plain import inert

METRIC_WORDS: Mapping[str, tuple[str, str]] = {
    "false_pass_rate": ("Bad claims passed", "of the claims that should be stopped"),
    "false_block_rate": ("Good claims stopped", "of the claims that should pass"),
    "answer_false_pass_rate": ("Bad answers passed", "of the answers with a claim to stop"),
    "answer_false_block_rate": ("Good answers stopped", "of the answers without one"),
    "block_f1": ("Block F1", "bad claims stopped, few good ones with them; 1 is best"),
    "block_precision": ("Block precision", "of what was stopped, how much is bad"),
    "block_recall": ("Block recall", "of what is bad, how much was stopped"),
    "block_accuracy": ("Block accuracy", "rightly stopped or passed"),
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
    "auroc": ("AUROC", "a good claim is ranked above a bad one; 0.5 is chance"),
    "brier": ("Brier score", "lower is better"),
    "ece": ("Expected calibration error", "lower is better; ten bins"),
}
COMPARED_WORDS = {
    "block-all": "Blocking everything",
    "centroid-router": "With the paper's centroid router",
}
HEADLINE = (
    ("false_pass_rate", "claims_to_block", "bad claims"),
    ("false_block_rate", "good", "good claims"),
    ("source_accuracy", "source_eligible_claims", "with a known source"),
    ("block_f1", "claims", "labelled claims"),
    ("auroc", "claims", "labelled claims"),
)
PLAIN = ("block_f1", "auroc")  # no shares of anything
TOO_WIDE = 0.3  # an interval from there on says nothing of a figure between 0 and 1


def show_headline(report: JsonObject) -> None:
    """The five figures that decide, each with its interval, its n and what it means.

    One that so few labels cannot tell gives way to how many would: it stands among all figures.
    """
    metrics = read_metrics(report)
    counts = {name: count_in(report, name) for name in ("claims", "claims_to_block")}
    counts["good"] = counts["claims"] - counts["claims_to_block"]
    counts["source_eligible_claims"] = count_in(report, "source_eligible_claims")
    needed = {name: _needed(name, metrics[name], counts, counts[n]) for name, n, _ in HEADLINE}
    for column, (name, n, noun) in zip(st.columns(5), HEADLINE, strict=True):
        metric = metrics[name]
        with column.container(border=True, height="stretch"):
            number = None if metric.value is None else f"{metric.value:.3f}"
            shown = number if name in PLAIN else percent(metric.value)
            told = _headline_words(metric, counts[n], noun, name in PLAIN)
            if metric.value is not None and needed[name]:
                shown = "Too few"
                few = f"{counts[n]:,} {noun}; about {needed[name]:,} are needed"
                told = f"Too few labels to tell ({few})"
            words, meaning = METRIC_WORDS[name]
            st.metric(words, shown if metric.value is not None else "–", help=meaning)
            st.caption(told)
    st.text(_sentence(metrics, counts, needed))


def _needed(name: str, metric: Metric, counts: Mapping[str, int], n: int) -> int:
    """About how many labels would tell the figure, to tens; 0 where those that are there do.

    An interval narrows as the root of their number. Resamples of a figure at its end never leave it:
    there the exact interval of the fewer of what is told apart stands in.
    """
    if metric.value is None:
        return 0
    ends = metric.interval
    if ends is None or ends.low == ends.high:
        rarer = {"block_f1": counts["claims_to_block"],
                 "auroc": min(counts["good"], counts["claims_to_block"])}.get(name, n)  # fmt: skip
        low, high = exact_binomial_interval(round(metric.value * rarer), rarer) or (0.0, 1.0)
    else:
        low, high = ends.low, ends.high
    wide = (high - low) / TOO_WIDE
    return 0 if wide <= 1 else 10 * math.ceil(n * wide**2 / 10)


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


def _sentence(
    metrics: Mapping[str, Metric], counts: Mapping[str, int], needed: Mapping[str, int]
) -> str:
    """The answer to "can I trust it?" as one sentence, of the figures that so many labels tell."""
    if metrics["false_pass_rate"].value is metrics["false_block_rate"].value is None:
        return "No claim of this packet has a label to compare with."
    told = {name: None if needed.get(name) else metrics[name].value for name in metrics}
    parts = []
    if (passed := told["false_pass_rate"]) is not None:
        parts.append(f"of 100 bad claims about {round(100 * passed)} would pass unseen")
    if (blocked := told["false_block_rate"]) is not None:
        parts.append(f"of 100 good claims about {round(100 * blocked)} would be stopped")
    f1, everything = told["block_f1"], metrics["block_all_f1"].value
    if f1 is not None and everything is not None:
        parts.append(_beside_everything(f1, metrics["block_f1"].interval, everything))
    if not parts:
        return f"{counts['claims']:,} labelled claims are too few to say how good it is."
    return f"On this packet: {'; '.join(parts)}."


def _beside_everything(f1: float, ends: Interval | None, everything: float) -> str:
    """Whether it beats blocking everything, as far as so many claims can tell."""
    beside = f"blocking everything ({everything:.3f})"
    if ends is None:
        return f"its block F1 is {f1:.3f}, without an interval to compare with {beside}"
    if ends.low > everything:
        return f"its block F1 is better than {beside}"
    if ends.high < everything:
        return f"its block F1 is worse than {beside}"
    return (
        f"its block F1 is not shown to differ from {beside}: its interval is "
        f"{ends.low:.3f} to {ends.high:.3f}"
    )


# ---------------------------------------------------------------- with a judge


def show_with_judge(report: JsonObject, *, replies: bool) -> None:
    """Offline, a judge alone, and both on the same claims; what to do where none has read them.

    ``replies`` says whether some that a judge gave before are kept with the packet.
    """
    judged = report.get("judge")
    if not isinstance(judged, Mapping):
        st.caption(
            "What a judge replied to these claims before is kept and left out here: it counts while that "
            "judge is asked. A lead chooses it again on Settings, Models; then Evaluate again."
            if replies
            else "No judge has read these claims. A lead chooses one on Settings, Models; then tick "
            "the box beside Evaluate."
        )
        return
    header, *rows = judged_columns(judged)
    asked, unread = judged["claims_asked"], judged["unread"]
    st.subheader("With a judge", anchor=False)
    show_numbers(
        ("On the same claims", *header[1:]),
        rows,
        name="with-judge",
        alt="Offline, the judge alone and both together on the same claims",
    )
    st.caption(
        f"Read by {inert(str(judged['by']).partition('#')[0])}: {asked - unread:,} of {asked:,} claims"
        + (f"; {unread:,} were not read and count as they do offline. " if unread else ". ")
        + "Stopped: needs review or blocked. Judge: nothing passes that it does not prove."
    )


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
        f"{count_in(report, 'claims'):,} labelled claims of {count_in(report, 'answers'):,} answers. "
        f"Intervals: {RESAMPLES:,} resamples of whole traces, seeded; the same packet gives the same."
    )
    with st.expander(f"All {len(rows)} figures, each with its interval"):
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
    return (words, number_of(metric.value), number_of(low), number_of(high), note)


def _show_compared(report: JsonObject, ours: Mapping[str, Metric]) -> None:
    compared = report.get("compared")
    if not isinstance(compared, Sequence) or not compared:
        return
    names = ("block_f1", "false_pass_rate", "false_block_rate", "source_accuracy",
             "source_relation_accuracy")  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        ("This verifier", *(number_of(ours[name].value) for name in names), None, None, None)
    ]
    for entry in compared:
        assert isinstance(entry, Mapping)
        lead, ends = entry.get("block_f1_lead"), entry.get("block_f1_lead_ci95")
        low, high = ends if isinstance(ends, Sequence) else (None, None)
        rows.append(
            (
                COMPARED_WORDS.get(str(entry["name"]), str(entry["name"])),
                *(number_of(entry.get(name)) for name in names),
                number_of(lead),
                number_of(low),
                number_of(high),
            )
        )
    with st.expander("Beside other ways to decide"):
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
