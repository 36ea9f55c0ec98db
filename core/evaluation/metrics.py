"""Every metric of section V, from sums over claims, so that one resampling serves them all.

Each claim leaves a row of numbers (counts, mostly); a metric is a ratio of sums of them. Summing
within traces first and resampling traces gives every interval in one matrix product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import (
    RESAMPLES,
    SEED,
    Interval,
    interval,
    resampled_sums,
)
from core.evaluation.columns import LABELS, NOT_ONE, Columns
from core.evaluation.ranking_scores import auroc, auroc_spread

Array = NDArray[np.float64]

MAX_K = 5
CALIBRATION_BINS = 10

WHY_NOT: Mapping[str, str] = {
    "block_precision": "no claim was blocked",
    "block_recall": "no claim should be blocked",
    "block_f1": "no claim was blocked or should be",
    "false_block_rate": "every claim should be blocked",
    "false_pass_rate": "no claim should be blocked",
    "answer_false_block_rate": "no answer is free of claims to block",
    "answer_false_pass_rate": "no answer has a claim to block",
    "relation_accuracy": "no claim has a gold relation",
    "source_relation_accuracy": "no claim has both a gold source and a gold relation",
    "attribution_precision": "no labelled claim was called a conflation",
    "attribution_recall": "no claim is labelled a conflation",
    "attribution_f1": "no claim is a conflation or was called one",
    "brier": "no claim has a support probability",
    "ece": "no claim has a support probability",
    "auroc": "claims to block and claims to pass are needed, both",
}
NO_SOURCE = "no claim has a gold source"
NO_CLAIM = "no claim has a label"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A value with its trace-bootstrap interval, or the reason why there is none."""

    value: float | None
    interval: Interval | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Sums of the numbers that claims leave, per trace: shape (traces, len(names))."""

    names: tuple[str, ...]
    per_trace: Array

    def total(self) -> Array:
        """Sums over all traces, shape (1, k)."""
        return np.asarray(self.per_trace.sum(axis=0)[None], dtype=np.float64)


def measure(columns: Columns, *, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Metric]:
    """Every metric by name, each with its interval over ``resamples`` draws of traces.

    With ``resamples`` 0 there are no intervals. A metric with nothing to count says why.
    """
    sums = sum_by_trace(columns)
    points = ratios(sums.names, sums.total())
    spreads: dict[str, Array] = {}
    if resamples and len(columns):
        drawn = resampled_sums(sums.per_trace, resamples=resamples, seed=seed)
        spreads = ratios(sums.names, drawn)
    found = {
        name: _metric(name, float(point[0]), spreads.get(name)) for name, point in points.items()
    }
    return {**found, "auroc": _auroc(columns, resamples=resamples, seed=seed)}


def sum_by_trace(columns: Columns) -> Sums:
    """What each trace's claims leave, added up, with the answer-level counts of the trace."""
    claims = _claim_numbers(columns)
    traces = int(columns.trace.max()) + 1 if len(columns) else 1
    table = np.zeros((traces, len(claims)))
    for place, values in enumerate(claims.values()):
        table[:, place] = np.bincount(columns.trace, weights=values, minlength=traces)
    answers = _answer_numbers(table, tuple(claims))
    return Sums(
        names=(*claims, *answers),
        per_trace=np.hstack([table, np.stack(list(answers.values()), axis=1)]),
    )


def block_f1(names: tuple[str, ...], sums: Array) -> Array:
    """Block F1 of each row of sums, for paired comparisons."""
    return ratios(names, sums)["block_f1"]


def ratios(names: tuple[str, ...], sums: Array) -> dict[str, Array]:
    """Metrics of each row of ``sums`` (n, k), NaN where there is nothing to count."""
    s = {name: sums[:, place] for place, name in enumerate(names)}
    found = {
        "block_precision": _ratio(s["blocked_bad"], s["blocked_bad"] + s["blocked_good"]),
        "block_recall": _ratio(s["blocked_bad"], s["bad"]),
        "block_f1": _ratio(2 * s["blocked_bad"], s["bad"] + s["blocked_bad"] + s["blocked_good"]),
        "block_accuracy": _ratio(
            s["blocked_bad"] + s["claims"] - s["bad"] - s["blocked_good"], s["claims"]
        ),
        "block_all_f1": _ratio(2 * s["bad"], s["bad"] + s["claims"]),
        "false_block_rate": _ratio(s["blocked_good"], s["claims"] - s["bad"]),
        "false_pass_rate": _ratio(s["bad"] - s["blocked_bad"], s["bad"]),
        "answer_false_block_rate": _ratio(s["good_answers_blocked"], s["good_answers"]),
        "answer_false_pass_rate": _ratio(s["bad_answers_passed"], s["bad_answers"]),
        "verdict_accuracy": _ratio(s["verdict_right"], s["claims"]),
        "verdict_macro_f1": _macro_f1(s),
        "verdict_macro_f1_of_four": _macro_f1(s, all_four=True),
        "relation_accuracy": _ratio(s["relation_right"], s["relation_known"]),
        "source_accuracy": _ratio(s["source_right"], s["eligible"]),
        "mean_reciprocal_rank": _ratio(s["reciprocal_rank"], s["eligible"]),
        "source_set_jaccard": _ratio(s["jaccard"], s["eligible"]),
        "source_relation_accuracy": _ratio(s["source_relation_right"], s["source_relation_known"]),
        "attribution_precision": _ratio(
            s["conflation_hit"], s["conflation_hit"] + s["conflation_alarm"]
        ),
        "attribution_recall": _ratio(
            s["conflation_hit"], s["conflation_hit"] + s["conflation_miss"]
        ),
        "attribution_f1": _ratio(
            2 * s["conflation_hit"],
            2 * s["conflation_hit"] + s["conflation_alarm"] + s["conflation_miss"],
        ),
        "brier": _ratio(s["squared_error"], s["judged"]),
        "ece": _expected_calibration_error(s),
    }
    for k in range(1, MAX_K + 1):
        found[f"recall_at_{k}"] = _ratio(s[f"within_{k}"], s["eligible"])
    return found


def _claim_numbers(c: Columns) -> dict[str, Array]:
    judged = np.isfinite(c.probability)
    probability = np.where(judged, c.probability, 0.0)
    relation_known = c.gold_relation != NOT_ONE
    relation_right = relation_known & (c.relation == c.gold_relation)
    ranked = c.eligible & (c.rank > 0)
    named: dict[str, NDArray[np.bool_] | Array] = {
        "claims": np.ones(len(c)),
        "bad": c.bad,
        "blocked_bad": c.blocked & c.bad,
        "blocked_good": c.blocked & ~c.bad,
        "verdict_right": c.verdict == c.label,
        "relation_known": relation_known,
        "relation_right": relation_right,
        "eligible": c.eligible,
        "source_right": c.eligible & c.right_source,
        "source_relation_known": c.eligible & relation_known,
        "source_relation_right": c.eligible & c.right_source & relation_right,
        "reciprocal_rank": np.where(ranked, 1.0 / np.maximum(c.rank, 1), 0.0),
        "jaccard": np.where(c.eligible, c.jaccard, 0.0),
        "conflation_hit": c.attribution_known & c.gold_conflation & c.conflation,
        "conflation_alarm": c.attribution_known & ~c.gold_conflation & c.conflation,
        "conflation_miss": c.attribution_known & c.gold_conflation & ~c.conflation,
        "judged": judged,
        "squared_error": np.where(judged, (probability - c.supported_by_route) ** 2, 0.0),
    }
    for k in range(1, MAX_K + 1):
        named[f"within_{k}"] = ranked & (c.rank <= k)
    for code in range(len(LABELS)):
        named[f"label_{code}"] = c.label == code
        named[f"verdict_{code}"] = c.verdict == code
        named[f"both_{code}"] = (c.label == code) & (c.verdict == code)
    place = np.minimum((probability * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    for bin_ in range(CALIBRATION_BINS):
        inside = judged & (place == bin_)
        named[f"bin_said_{bin_}"] = np.where(inside, probability, 0.0)
        named[f"bin_true_{bin_}"] = inside & c.supported_by_route
    return {name: np.asarray(values, dtype=np.float64) for name, values in named.items()}


def _answer_numbers(table: Array, names: tuple[str, ...]) -> dict[str, Array]:
    """An answer is bad when any of its claims is, and blocked when any is blocked (III.7)."""
    at = {name: table[:, place] for place, name in enumerate(names)}
    any_claim = at["claims"] > 0
    bad = any_claim & (at["bad"] > 0)
    blocked = (at["blocked_bad"] + at["blocked_good"]) > 0
    named = {
        "good_answers": any_claim & ~bad,
        "good_answers_blocked": any_claim & ~bad & blocked,
        "bad_answers": bad,
        "bad_answers_passed": bad & ~blocked,
    }
    return {name: values.astype(np.float64) for name, values in named.items()}


def _ratio(part: Array, whole: Array) -> Array:
    found: Array = np.full(len(part), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def _macro_f1(s: Mapping[str, Array], *, all_four: bool = False) -> Array:
    """Mean F1 over the gold labels that occur; the paper divides by all four, whichever occur."""
    total, occurring = np.zeros(len(s["claims"])), np.zeros(len(s["claims"]))
    for code in range(len(LABELS)):
        occurs = s[f"label_{code}"] > 0
        f1 = _ratio(2 * s[f"both_{code}"], s[f"label_{code}"] + s[f"verdict_{code}"])
        total += np.where(occurs, np.nan_to_num(f1), 0.0)
        occurring += occurs
    return _ratio(total, np.where(occurring > 0, len(LABELS), 0.0) if all_four else occurring)


def _expected_calibration_error(s: Mapping[str, Array]) -> Array:
    gap = sum(
        (np.abs(s[f"bin_said_{b}"] - s[f"bin_true_{b}"]) for b in range(CALIBRATION_BINS)),
        start=np.zeros(len(s["judged"])),
    )
    return _ratio(gap, s["judged"])


def _auroc(c: Columns, *, resamples: int, seed: int) -> Metric:
    """How well the verifier ranks good claims above bad ones, as the table of rankings has it."""
    value = auroc(c.ranked_by, c.bad)
    if value is None:
        return Metric(value=None, reason=WHY_NOT["auroc"])
    ends = (
        auroc_spread(c.ranked_by, c.bad, c.trace, resamples=resamples, seed=seed)
        if resamples
        else None
    )
    return Metric(value=round(value, 6), interval=ends)


def _metric(name: str, value: float, spread: Array | None) -> Metric:
    if not np.isfinite(value):
        default = NO_SOURCE if _is_about_sources(name) else NO_CLAIM
        return Metric(value=None, reason=WHY_NOT.get(name, default))
    found = interval(spread, value) if spread is not None else None
    return Metric(value=round(value, 6), interval=found)


def _is_about_sources(name: str) -> bool:
    return name.startswith(("source", "recall_at", "mean_reciprocal"))
