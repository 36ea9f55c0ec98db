"""Other systems on the same packet: source-blind baselines, each read and calibrated alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.calibration.threshold import by_block_f1, sweep
from core.errors import ComponentUnavailable, ConfigError, InputError
from core.evaluation.baselines import Baseline
from core.evaluation.baselines.checkpoints import load_published
from core.evaluation.baselines.pooled import AlignScoreStyle, MiniCheckStyle, RagasStyle
from core.evaluation.baselines.summac import SummacZS, load_summac_conv
from core.evaluation.blind import blind_predictions, blind_scores
from core.evaluation.columns import pair_columns
from core.evaluation.metrics import measure
from core.evaluation.packets import PacketRow
from core.evaluation.report import Report, metric_entry
from core.evaluation.tables import System
from core.ports import PairReader, Progress
from core.workflows.evaluate import Evaluated

OUR_READER = ("SummaC-ZS", "SummaC-Conv", "MiniCheck-style", "RAGAS-style", "AlignScore-style")
PUBLISHED = ("MiniCheck", "RAGAS Faithfulness", "AlignScore", "SummaC-ZS")


def baseline_report(system: System, evaluated: Evaluated, *, resamples: int) -> Report:
    """The metrics of one baseline, or why it is unavailable."""
    if system.predictions is None:
        return {"baseline": system.name, "available": False, "reason": system.reason}
    columns = pair_columns(evaluated.rows, system.predictions)
    metrics = measure(columns, resamples=resamples)
    entries: Report = {"baseline": system.name, "available": True, "how": system.note}
    for name in (
        "block_precision",
        "block_recall",
        "block_f1",
        "false_block_rate",
        "false_pass_rate",
        "verdict_accuracy",
        "verdict_macro_f1",
    ):
        entries.update(metric_entry(metrics, name))
    return entries


def baseline_names() -> tuple[str, ...]:
    """Every name that ``load_baseline`` takes."""
    return (*OUR_READER, *(f"published:{name}" for name in PUBLISHED))


def load_baseline(name: str, reader: PairReader, where: str | None = None) -> Baseline:
    """A baseline by name: ``published:NAME`` for published weights, else on our pair reader.

    ComponentUnavailable says why one cannot be had; nothing is imitated.
    """
    if name.startswith("published:"):
        return load_published(name.removeprefix("published:"), where)
    if name == "SummaC-ZS":
        return SummacZS(reader)
    if name == "SummaC-Conv":
        return load_summac_conv(reader)
    styles: Mapping[str, type[MiniCheckStyle] | type[RagasStyle] | type[AlignScoreStyle]] = {
        "MiniCheck-style": MiniCheckStyle,
        "RAGAS-style": RagasStyle,
        "AlignScore-style": AlignScoreStyle,
    }
    if name not in styles:
        raise ConfigError(
            f"baseline: expected one of {', '.join(baseline_names())}, found {name!r}"
        )
    return styles[name](reader)


def run_baseline(
    name: str,
    evaluated: Evaluated,
    reader: PairReader,
    *,
    validation: Sequence[PacketRow] = (),
    where: str | None = None,
    progress: Progress | None = None,
) -> System:
    """A baseline's predictions for the packet, or the reason why it is unavailable.

    Its threshold is its published one, or is chosen by block F1 on ``validation`` when given.
    """
    try:
        baseline = load_baseline(name, reader, where)
    except ComponentUnavailable as error:
        return System(name=name, note="", predictions=None, emits_sources=False, reason=str(error))
    threshold, origin = baseline.natural_threshold, baseline.origin
    note = f"{origin}, threshold {threshold:g}"
    if validation:
        threshold = _chosen_threshold(validation, baseline)
        note = f"{origin}, threshold {threshold:g} from validation"
    scores = blind_scores(evaluated.rows, baseline, progress=progress)
    return System(
        name=baseline.name,
        note=note,
        predictions=blind_predictions(evaluated.rows, scores, threshold),
        emits_sources=False,
    )


def _chosen_threshold(rows: Sequence[PacketRow], baseline: Baseline) -> float:
    labelled = [row for row in rows if row.scored]
    if not labelled:
        raise InputError("the validation packet has no labelled claim to choose a threshold on")
    scores = np.nan_to_num(blind_scores(labelled, baseline), nan=-2.0)
    bad = np.array([row.should_block for row in labelled])
    low = -0.99 if scores.min() < 0 else 0.01
    grid = [round(float(step), 2) for step in np.arange(low, 1.0, 0.01)]
    return by_block_f1(sweep(scores, bad, np.zeros(len(bad), dtype=bool), grid)).point.threshold
