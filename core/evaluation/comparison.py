"""Another way to decide the same claims, beside this verifier: its figures, and our lead over it."""

from __future__ import annotations

from collections.abc import Sequence

from core.bootstrap import RESAMPLES, SEED
from core.evaluation.columns import pair_columns
from core.evaluation.metrics import measure
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction
from core.evaluation.report import Report, metric_entry
from core.evaluation.tables import Material, compare_block_f1

BLOCK_ALL, CENTROID = "block-all", "centroid-router"
SHOWN = (
    "block_precision",
    "block_recall",
    "block_f1",
    "false_block_rate",
    "false_pass_rate",
    "verdict_macro_f1",
    "source_accuracy",
    "source_relation_accuracy",
)


def compare_with(
    name: str,
    how: str,
    rows: Sequence[PacketRow],
    ours: Sequence[Prediction],
    theirs: Sequence[Prediction],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Report:
    """Their metrics on the same rows, and ``block_f1_lead``: ours minus theirs, on the same draws."""
    metrics = measure(pair_columns(rows, theirs), resamples=resamples, seed=seed)
    entry: Report = {"name": name, "how": how}
    for metric in SHOWN:
        if name == BLOCK_ALL and metric.startswith("source"):
            continue  # it names no source
        entry.update(metric_entry(metrics, metric))
    material = Material(rows=rows, predictions=ours, resamples=resamples, seed=seed)
    lead = compare_block_f1(material, theirs)
    entry["block_f1_lead"] = None if lead is None else lead.value
    if lead is None:
        entry["block_f1_lead_reason"] = "block F1 is undefined for one of them"
    else:
        entry["block_f1_lead_ci95"] = [lead.interval.low, lead.interval.high]
    return entry
