"""Other systems on the same packet: ablations, source-blind baselines, and the tables made of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from core.bootstrap import RESAMPLES
from core.config import Config
from core.errors import BadRecord, ConfigError, InputError
from core.evaluation.kept import read_predictions
from core.evaluation.probes import probe_outcomes
from core.evaluation.report import Report
from core.evaluation.tables import TABLES, Probes, RepairRun, System, Table, make_table
from core.pipeline import Models
from core.ports import Progress
from core.workflows.ablations import (
    FITTED,
    Development,
    ablate,
    ablation_names,
)
from core.workflows.baselines import baseline_names, baseline_report, run_baseline
from core.workflows.evaluate import Evaluated, evaluate, score_packet
from core.workflows.rebuilt import repair_rebuilt_answers, repair_run
from core.workflows.table_material import gather_material, router_system


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What ``evaluate`` was asked for besides the packet itself."""

    ablation: str | None = None
    baselines: tuple[str, ...] = ()
    baseline_weights: str | None = None
    tables: tuple[int, ...] = ()
    train: Path | None = None
    validation: Path | None = None
    beside: tuple[Path, ...] = ()  # other systems' predictions for the packet, rows of Table 13
    repairs: Path | None = None  # figures of a repair run on captured answers, for Table 19
    resamples: int = RESAMPLES


def evaluate_with(
    packet_file: Path,
    models: Models,
    config: Config,
    options: Options,
    *,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Report, tuple[Table, ...]]:
    """The evaluation report under the options, and the tables that were asked for.

    With an ablation, the report is the variant's. Baselines stand in the report under
    ``baselines``, with their own metrics or the reason why they are unavailable. Tables 9 and 10
    repair answers rebuilt from the packet; 11 and 13 read it anew with the other router; what needs
    a development packet says so.
    """
    check_options(options)
    development = _development(options, models, config, kept, progress)
    evaluated = score_packet(packet_file, models, config, kept=kept, progress=progress)
    if options.ablation is not None:
        evaluated = ablate(
            options.ablation,
            evaluated,
            models,
            config,
            development=development,
            kept=kept,
            progress=progress,
        )
    report = evaluate(evaluated, resamples=options.resamples)
    if options.ablation is not None:
        report["ablation"] = options.ablation
    labelled = development.validation.rows if development else ()
    systems = tuple(
        run_baseline(
            name,
            evaluated,
            models.reader,
            validation=labelled,
            where=options.baseline_weights,
            progress=progress,
        )
        for name in options.baselines
    )
    if systems:
        report["baselines"] = [
            baseline_report(one, evaluated, resamples=options.resamples) for one in systems
        ]
    material = gather_material(
        evaluated,
        split=packet_file.name,
        development=development,
        routers=_routers(options, evaluated, models, config, kept, progress),
        baselines=systems,
        probes=_probes(evaluated),
        repair=_repair(options, evaluated, models, config, packet_file.name, progress),
        captured=None if options.repairs is None else _captured(options.repairs),
        resamples=options.resamples,
    )
    return report, tuple(make_table(number, material) for number in options.tables)


def check_options(options: Options) -> None:
    """ConfigError for a table, ablation or baseline that does not exist, before any reading."""
    if options.ablation is not None and options.ablation not in ablation_names():
        known = ", ".join(ablation_names())
        raise ConfigError(f"ablation: expected one of {known}, found {options.ablation!r}")
    for name in options.baselines:
        if name not in baseline_names():
            known = ", ".join(baseline_names())
            raise ConfigError(f"baseline: expected one of {known}, found {name!r}")
    for number in options.tables:
        if number not in TABLES:
            known = ", ".join(str(one) for one in sorted(TABLES))
            raise ConfigError(f"table: expected one of {known}, found {number}")
    if (options.train is None) != (options.validation is None):
        raise ConfigError("fitted variants need both a training and a validation packet")
    if options.ablation in FITTED and options.train is None:
        raise ConfigError(f"{options.ablation}: is fitted; give a training and a validation packet")


def _development(
    options: Options,
    models: Models,
    config: Config,
    kept: Path | None,
    progress: Progress | None,
) -> Development | None:
    if options.train is None or options.validation is None:
        return None
    return Development(
        train=score_packet(options.train, models, config, kept=kept, progress=progress),
        validation=score_packet(options.validation, models, config, kept=kept, progress=progress),
    )


def _routers(
    options: Options,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    kept: Path | None,
    progress: Progress | None,
) -> tuple[System, ...]:
    if not {11, 13} & set(options.tables):
        return ()
    other = "evidence-router" if config.router == "centroid" else "centroid-router"
    found = router_system(other, evaluated, models, config, kept=kept, progress=progress)
    return (found, *(_beside(path, evaluated) for path in options.beside))


def _beside(path: Path, evaluated: Evaluated) -> System:
    """A system whose predictions are in a file, as ``training.joint`` writes them."""
    known = {found.claim_id: found for found in read_predictions(path)}
    missing = [row.claim_id for row in evaluated.rows if row.claim_id not in known]
    if missing:
        raise InputError(
            f"{len(missing)} claims of the packet have no prediction, {missing[0]!r} first",
            file=path.name,
        )
    return System(
        name=path.stem,
        note="Predictions from a file.",
        predictions=[known[row.claim_id] for row in evaluated.rows],
    )


def _repair(
    options: Options,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    packet: str,
    progress: Progress | None,
) -> RepairRun | None:
    if not {9, 10} & set(options.tables):
        return None
    return repair_rebuilt_answers(evaluated.rows, models, config, packet=packet, progress=progress)


def _captured(path: Path) -> RepairRun:
    try:
        figures = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON: {error}", file=path.name) from error
    if not isinstance(figures, dict):
        raise InputError("expected the figures that `repair --json` writes", file=path.name)
    try:
        return repair_run(figures, path.name)
    except BadRecord as error:
        raise InputError(str(error), file=path.name) from None


def _probes(evaluated: Evaluated) -> Probes | None:
    """Outcomes of a packet that ``probe`` wrote; None for any other packet."""
    if not evaluated.rows or not all({"probe", "twin"} & set(row.slices) for row in evaluated.rows):
        return None
    return probe_outcomes(evaluated.rows, evaluated.predictions)


# ---------------------------------------------------------------- tables
