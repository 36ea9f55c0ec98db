"""recalibrate: labelled claims to a new calibrator artifact, with its threshold and its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.attribution.families import load_families
from core.calibration.fit import (
    FittedCalibrator,
    ForestSettings,
    fit_calibrator,
)
from core.calibration.rows import ROWS_FILE, TrainingRow, write_training_rows
from core.config import Config
from core.errors import InputError
from core.evaluation.columns import is_target
from core.evaluation.packets import Packet, PacketRow, read_packet
from core.evaluation.predictions import Prediction
from core.evaluation.scoring import PredictionFile, Uncalibrated, score_rows
from core.evaluation.splits import split_by_trace
from core.models.loading import load_embedder, load_nli_model
from core.pipeline import Models, versions
from core.ports import Progress
from core.records import VerdictLabel

VALIDATION_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """A new calibrator: its name, what it was fitted on, and what could not be used."""

    name: str
    fitted: FittedCalibrator
    train_rows: int
    validation_rows: int
    left_out: tuple[str, ...]
    problems: tuple[InputError, ...]


def models_to_calibrate(config: Config, *, nli_model: str | Path | None = None) -> Models:
    """The models that make features, with no calibrator yet."""
    return Models(
        embedder=load_embedder(),
        nli=load_nli_model(nli_model, max_tokens=config.nli_max_tokens),
        calibrator=Uncalibrated(),
        families=load_families(),
    )


def recalibrate(
    train_file: Path,
    validation_file: Path | None,
    out: Path,
    models: Models,
    config: Config,
    *,
    settings: ForestSettings | None = None,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> Recalibration:
    """Fit a calibrator on a packet and write its artifact folder to ``out``.

    Without a validation file a fifth of the traces is set apart for the threshold. ``kept`` is a
    file of predictions that lets a killed run go on. Raises InputError on held-out rows, before
    anything is read by a model.
    """
    settings = settings or ForestSettings()
    train = read_packet(train_file, max_record_bytes=config.max_record_bytes)
    validation = (
        read_packet(validation_file, max_record_bytes=config.max_record_bytes)
        if validation_file
        else None
    )
    train_rows, validation_rows = _sides(train, validation, settings.seed)
    rows = (*train_rows, *validation_rows)
    refuse_held_out(rows)
    refuse_unusable(rows)
    file = PredictionFile(kept, models, config) if kept else None
    predictions = score_rows(rows, models, config, kept=file, progress=progress).predictions
    usable = training_rows(rows, predictions)
    on_train = {row.claim_id for row in train_rows}
    fit_on = [row for row in usable if row.claim_id in on_train]
    chosen_on = [row for row in usable if row.claim_id not in on_train]
    made = versions(models, config)
    fitted = fit_calibrator(
        fit_on,
        chosen_on,
        settings=settings,
        made_with=made.fitted_with()
        | {
            "train_file_sha256": train.sha256,
            "validation_file_sha256": (validation or train).sha256,
        },
    )
    judged = {row.claim_id for row in usable}
    name = fitted.save(out)
    # Beside the forest, so that reviewers' labels can later be added to what it was fitted on.
    write_training_rows(fit_on, out / ROWS_FILE, validation=chosen_on)
    return Recalibration(
        name=name,
        fitted=fitted,
        train_rows=len(fit_on),
        validation_rows=len(chosen_on),
        left_out=tuple(row.claim_id for row in rows if row.claim_id not in judged),
        problems=(*train.problems, *(validation.problems if validation else ())),
    )


def training_rows(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction]
) -> list[TrainingRow]:
    """Rows to fit to: those with a label that were judged, with their features and target."""
    found = []
    for row, prediction in zip(rows, predictions, strict=True):
        if row.claim_id != prediction.claim_id:
            raise InputError(f"prediction {prediction.claim_id!r} stands at {row.claim_id!r}")
        if not row.scored or prediction.features is None:
            continue
        found.append(
            TrainingRow(
                claim_id=row.claim_id,
                trace_id=row.trace_id,
                features=prediction.features,
                supported_by_route=is_target(row, prediction),
                should_block=row.should_block,
                forced=prediction.forced,
                contradicted=row.label is VerdictLabel.CONTRADICTED,
                held_out=row.held_out,
            )
        )
    return found


def refuse_held_out(rows: Sequence[PacketRow]) -> None:
    """InputError when any row is marked held-out: it may be measured on, never fitted to."""
    held_out = [row.claim_id for row in rows if row.held_out]
    if held_out:
        raise InputError(
            f"{len(held_out)} rows are marked held-out and may not be fitted to, "
            f"{held_out[0]!r} first"
        )


def refuse_unusable(rows: Sequence[PacketRow]) -> None:
    """InputError where labels contradict each other, or are all of one kind, naming what is missing.

    Both are said before anything is read by a model, which takes minutes.
    """
    labelled = [row for row in rows if row.scored]
    bad = sum(row.should_block for row in labelled)
    if bad in (0, len(labelled)):
        missing = "claims to block (any label but supported)" if bad == 0 else "supported claims"
        raise InputError(
            f"all {len(labelled)} labels are of one kind: a calibrator needs {missing} as well"
        )
    first: dict[tuple[str, str, str | None], PacketRow] = {}
    opposed = [
        (before, row)
        for row in labelled
        if (before := first.setdefault((row.trace_id, row.claim, row.stated_attribution), row))
        and before.should_block is not row.should_block
    ]
    if opposed:
        one, other = opposed[0]
        raise InputError(
            f"{len(opposed)} claims have labels that contradict each other, {one.claim_id!r} and "
            f"{other.claim_id!r} first: the same words of trace {one.trace_id!r}, once to pass and once "
            "to block; decide which label is right and leave out the other"
        )


def _sides(
    train: Packet, validation: Packet | None, seed: int
) -> tuple[tuple[PacketRow, ...], tuple[PacketRow, ...]]:
    if validation is None:
        left, right = split_by_trace(train.rows, validation_share=VALIDATION_SHARE, seed=seed)
        return tuple(left), tuple(right)
    known = {row.claim_id for row in train.rows}
    shared = [row.claim_id for row in validation.rows if row.claim_id in known]
    if shared:
        raise InputError(
            f"{len(shared)} claims are in both files, {shared[0]!r} first: split by trace"
        )
    return train.rows, validation.rows
