"""The evaluation report: formats.md section 5's keys, each metric with its interval or its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import RESAMPLES, SEED, Interval
from core.evaluation.columns import LABELS, RELATIONS, Columns, pair_columns, scored_rows
from core.evaluation.metrics import Metric, measure
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction
from core.records import State, Versions, worst_state

FLAT = (
    "block_accuracy",
    "block_all_f1",
    "false_block_rate",
    "false_pass_rate",
    "answer_false_block_rate",
    "answer_false_pass_rate",
    "verdict_accuracy",
    "verdict_macro_f1",
    "verdict_macro_f1_of_four",
    "relation_accuracy",
    "mean_reciprocal_rank",
    "source_set_jaccard",
    "source_relation_accuracy",
    "brier",
    "ece",
    "auroc",
    *(f"recall_at_{k}" for k in range(1, 6)),
)

Codes = NDArray[np.int64]
Report = dict[str, object]


def evaluation_report(
    rows: Sequence[PacketRow],
    predictions: Sequence[Prediction],
    *,
    threshold: float,
    versions: Versions | None = None,
    seconds: float | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Report:
    """Everything ``evaluate`` prints, for the rows that have a label.

    A metric with nothing to count is None with ``<name>_reason`` beside it. ``seconds`` is what
    scoring took; it is the only entry that differs between two runs.
    """
    columns = pair_columns(rows, predictions)
    metrics = measure(columns, resamples=resamples, seed=seed)
    report: Report = {
        "rows": len(rows),
        "claims": len(columns),
        "unresolved_claims": sum(not row.scored for row in rows),
        "answers": int(columns.trace.max()) + 1 if len(columns) else 0,
        "claims_to_block": int(columns.bad.sum()),
        "blocked_claims": int(columns.blocked.sum()),
        "unjudged_claims": int(np.isnan(columns.probability).sum()),
        "source_eligible_claims": int(columns.eligible.sum()),
        **_metric_entries(metrics),
        "states": state_counts(rows, predictions),
        "by_slice": by_slice(rows, columns, resamples=resamples, seed=seed),
        "confusion": confusion(columns),
        "threshold": threshold,
        "bootstrap": {"resamples": resamples, "seed": seed, "unit": "trace", "level": 0.95},
        "seconds": None if seconds is None else round(seconds, 3),
        "claims_per_second": round(len(rows) / seconds, 3) if seconds else None,
        "versions": None if versions is None else asdict(versions),
    }
    for name in ("seconds", "claims_per_second"):
        if report[name] is None:
            report[f"{name}_reason"] = "the predictions were read, not computed"
    return report


def state_counts(rows: Sequence[PacketRow], predictions: Sequence[Prediction]) -> dict[str, Any]:
    """Claims and answers by state: good and bad claims, faithful answers and those with an error.

    ``good_stopped`` are good claims that are blocked or need review. An answer is allowed where every
    one of its labelled claims is, and has the worst state of them.
    """
    claims = {kind: dict.fromkeys(map(str, State), 0) for kind in ("good", "bad")}
    answers: dict[str, tuple[list[State], list[bool]]] = {}
    for row, found in zip(rows, predictions, strict=True):
        if not row.scored:
            continue
        claims["bad" if row.should_block else "good"][found.state.value] += 1
        states, bad = answers.setdefault(row.trace_id, ([], []))
        states.append(found.state)
        bad.append(row.should_block)
    of_answers = {kind: dict.fromkeys(map(str, State), 0) for kind in ("faithful", "with_error")}
    for states, bad in answers.values():
        of_answers["with_error" if any(bad) else "faithful"][worst_state(states).value] += 1
    good = claims["good"]
    return {
        "claims": claims,
        "answers": of_answers,
        "bad_passed": claims["bad"]["allow"],
        "good_blocked": good["block"],
        "good_stopped": good["block"] + good["needs_review"],
    }


def by_slice(
    rows: Sequence[PacketRow],
    columns: Columns,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Report:
    """The same metrics for every slice that a row names; slices overlap."""
    scored = scored_rows(rows)
    names = sorted({name for row in scored for name in row.slices})
    found: Report = {}
    for name in names:
        inside = columns.where(np.array([name in row.slices for row in scored]))
        metrics = measure(inside, resamples=resamples, seed=seed)
        found[name] = {
            "claims": len(inside),
            "claims_to_block": int(inside.bad.sum()),
            "source_eligible_claims": int(inside.eligible.sum()),
            **_metric_entries(metrics),
        }
    return found


def confusion(columns: Columns) -> Report:
    """Counts of gold against predicted, for verdicts, relations and decisions."""
    verdicts = [label.value for label in LABELS] + ["unjudged"]
    relations = [relation.value for relation in RELATIONS] + ["none"]
    known = columns.gold_relation >= 0
    return {
        "verdict": _crossed(columns.label, columns.verdict, verdicts),
        "relation": _crossed(columns.gold_relation[known], columns.relation[known], relations),
        "decision": _crossed(
            columns.bad.astype(np.int64), columns.blocked.astype(np.int64), ["allow", "block"]
        ),
    }


def metric_entry(metrics: Mapping[str, Metric], name: str) -> Report:
    """``{name: value, name_reason: why not, name_ci95: [low, high]}`` for one metric."""
    metric = metrics[name]
    entry: Report = {name: metric.value}
    if metric.reason is not None:
        entry[f"{name}_reason"] = metric.reason
    if metric.interval is not None:
        entry[f"{name}_ci95"] = _ends(metric)
    return entry


def read_metrics(report: Mapping[str, object]) -> dict[str, Metric]:
    """The metrics of a report, or of one of its slices, by the names that ``measure`` gives them."""
    nested: dict[str, tuple[Mapping[str, object], str]] = {
        f"{group}_{name}": (part, name)
        for group in ("block", "attribution")
        if isinstance(part := report.get(group), Mapping)
        for name in ("precision", "recall", "f1")
    }
    if isinstance(source := report.get("source_accuracy"), Mapping):
        nested["source_accuracy"] = (source, "value")
    flat = {name: (report, name) for name in FLAT if name in report}
    return {name: _read_metric(*place) for name, place in {**nested, **flat}.items()}


def _read_metric(part: Mapping[str, object], name: str) -> Metric:
    value = part.get(name)
    # ``source_accuracy`` is an object with ``ci95`` and ``reason``; the others carry their own name.
    prefix = "" if name == "value" else f"{name}_"
    ends, reason = part.get(f"{prefix}ci95"), part.get(f"{prefix}reason")
    return Metric(
        value=float(value) if isinstance(value, int | float) else None,
        interval=Interval(low=float(ends[0]), high=float(ends[1]))
        if isinstance(ends, Sequence) and len(ends) == 2
        else None,
        reason=str(reason) if reason is not None else None,
    )


def _metric_entries(metrics: Mapping[str, Metric]) -> Report:
    block = {
        short: value
        for name in ("precision", "recall", "f1")
        for short, value in _renamed(metric_entry(metrics, f"block_{name}"), "block_").items()
    }
    block["ci95"] = _ends(metrics["block_f1"])
    source = _renamed(metric_entry(metrics, "source_accuracy"), "source_accuracy")
    report: Report = {
        "block": block,
        "source_accuracy": {
            "value": source.pop(""),
            **{name.lstrip("_"): value for name, value in source.items()},
        },
        "attribution": {
            short: value
            for name in ("precision", "recall", "f1")
            for short, value in _renamed(
                metric_entry(metrics, f"attribution_{name}"), "attribution_"
            ).items()
        },
    }
    for name in FLAT:
        report.update(metric_entry(metrics, name))
    return report


def _renamed(entry: Report, prefix: str) -> Report:
    return {name.removeprefix(prefix): value for name, value in entry.items()}


def _ends(metric: Metric) -> list[float] | None:
    return None if metric.interval is None else [metric.interval.low, metric.interval.high]


def _crossed(gold: Codes, said: Codes, names: Sequence[str]) -> dict[str, dict[str, int]]:
    table = np.zeros((len(names), len(names)), dtype=np.int64)
    # Code -1 (unjudged, no relation) falls on the last name.
    np.add.at(table, (gold, said), 1)
    return {
        row: {column: int(table[i, j]) for j, column in enumerate(names) if table[i, j]}
        for i, row in enumerate(names)
        if table[i].any()
    }
