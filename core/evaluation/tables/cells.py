"""What more than one table needs: cells, rows of a system, and comparisons on the same resamples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from core.bootstrap import Interval, PairedDifference, paired_difference
from core.evaluation.ablations import apply_plain
from core.evaluation.columns import pair_columns
from core.evaluation.metrics import Metric, block_f1, sum_by_trace
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction
from core.evaluation.tables.records import (
    OURS,
    Cell,
    Material,
    Probes,
    System,
    Table,
)
from core.statistics import exact_binomial_interval, mcnemar


def compare_block_f1(
    material: Material, predictions: Sequence[Prediction]
) -> PairedDifference | None:
    """This verifier's block F1 minus another system's, on the same resamples of traces."""
    first = sum_by_trace(pair_columns(material.rows, material.predictions))
    second = sum_by_trace(pair_columns(material.rows, predictions))
    return paired_difference(
        first.per_trace,
        second.per_trace,
        lambda sums: block_f1(first.names, sums),
        resamples=max(1, material.resamples),
        seed=material.seed,
    )


def plain_predictions(material: Material, name: str) -> list[Prediction]:
    """The packet's predictions under one of the variants that need no fitting."""
    return apply_plain(name, material.predictions)


def own_system(material: Material) -> System:
    """This verifier, as a row among other systems."""
    return System(name="this verifier", note="", predictions=material.predictions)


def block_all_system(material: Material) -> System:
    """Blocking everything, as a row among other systems."""
    return System(
        name="block everything",
        note="",
        predictions=plain_predictions(material, "block-all"),
        emits_sources=False,
    )


def labelled_name(system: System) -> str:
    """A system's name, with its note where it has one."""
    return f"{system.name} ({system.note})" if system.note else system.name


def subset(material: Material, wanted: Callable[[PacketRow], bool]) -> Material:
    """The same material for the rows that are wanted, with their predictions."""
    pairs = [
        (row, found)
        for row, found in zip(material.rows, material.predictions, strict=True)
        if wanted(row)
    ]
    return Material(
        rows=[row for row, _ in pairs],
        predictions=[found for _, found in pairs],
        split=material.split,
        resamples=material.resamples,
        seed=material.seed,
    )


def claims_of(material: Material) -> int:
    """How many of the rows have a label."""
    return sum(row.scored for row in material.rows)


def metric_cell(metrics: Mapping[str, Metric], name: str) -> Cell:
    """A metric's value by name; None where nothing was measured."""
    return value_cell(metrics[name]) if name in metrics else None


def value_cell(metric: Metric) -> Cell:
    """A metric's value as a cell."""
    return metric.value


def reasons_of(metrics: Mapping[str, Metric], names: Sequence[str]) -> tuple[str, ...]:
    """Why metrics have no value, a note each."""
    return tuple(f"{name}: {metrics[name].reason}." for name in names if metrics[name].reason)


def interval_cell(interval: Interval | None) -> Cell:
    """An interval in brackets; None where there is none."""
    return None if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def difference_cell(compared: PairedDifference | None) -> Cell:
    """A paired difference with its interval; None where it is undefined."""
    if compared is None:
        return None
    return f"{compared.value:+.3f} {interval_cell(compared.interval)}"


def mcnemar_cell(material: Material, predictions: Sequence[Prediction]) -> Cell:
    """McNemar's p-value of the decisions against this verifier's."""
    if predictions is material.predictions:
        return None
    rows = [row for row in material.rows if row.scored]
    ours = {found.claim_id: found.blocked for found in material.predictions}
    theirs = {found.claim_id: found.blocked for found in predictions}
    return round(
        mcnemar(
            [ours[row.claim_id] == row.should_block for row in rows],
            [theirs[row.claim_id] == row.should_block for row in rows],
        ),
        6,
    )


def latency_table(
    number: int,
    title: str,
    seconds: Mapping[str, Sequence[float]],
    paper: tuple[tuple[Cell, ...], ...],
) -> Table:
    """Mean, P50, P95 and maximum of a stage's calls beside the paper's."""
    rows: list[tuple[Cell, ...]] = []
    for stage in sorted(seconds):
        spent = np.array(seconds[stage])
        if len(spent):
            p50, p95 = (round(float(q), 6) for q in np.quantile(spent, [0.5, 0.95]))
            mean, most = round(float(spent.mean()), 6), round(float(spent.max()), 6)
            rows.append((stage, OURS, len(spent), mean, p50, p95, most))
    return Table(
        number=number,
        title=title,
        header=("Stage", "Measured", "Count", "Mean s", "P50 s", "P95 s", "Max s"),
        rows=(*rows, *paper),
        notes=(
            "The paper prints <0.001 where 0.001 stands here. A batched call is shared among its "
            "claims by their part of the batch.",
            *(() if rows else ("No stage was timed: the predictions were read, not computed.",)),
        ),
    )


def rounded(value: float | None) -> Cell:
    """A number to six decimals, None as it is."""
    return None if value is None else round(value, 6)


def shown_cell(cell: Cell) -> str:
    """A cell as Markdown; text from packets is escaped."""
    if cell is None:
        return "n/a"
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return str(cell).replace("|", "\\|").replace("\n", " ")


def probe_row(probes: Probes, kind: str) -> tuple[Cell, ...]:
    """The outcomes of one kind of probe as a row of Table 20."""
    chosen = [
        outcome
        for outcome, own in zip(probes.outcomes, probes.kinds, strict=True)
        if kind in ("all", own)
    ]
    wrong = [flagged for should, flagged, _ in chosen if should]
    twins = [flagged for should, flagged, _ in chosen if not should]
    flagged = sum(wrong) + sum(twins)
    ends = exact_binomial_interval(sum(wrong), len(wrong))
    return (
        kind,
        OURS,
        len(wrong),
        sum(wrong),
        round(sum(wrong) / len(wrong), 6) if wrong else None,
        None if ends is None else f"[{ends[0]:.3f}, {ends[1]:.3f}]",
        len(twins),
        sum(twins),
        round(sum(wrong) / flagged, 6) if flagged else None,
    )


def probe_interval(probes: Probes) -> tuple[Cell, ...]:
    """The row of Table 18 for all probes."""
    row = probe_row(probes, "all")
    return ("conflation probes flagged", OURS, row[4], row[5], None, None)
