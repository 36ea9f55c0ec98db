"""Other systems on the same packet: ablations, source-blind baselines, and the tables made of them."""

from __future__ import annotations

from pathlib import Path

from core.config import Config
from core.evaluation.report import Report
from core.evaluation.tables import Table, make_table
from core.pipeline import Models
from core.ports import Progress
from core.workflows.ablations import Development, ablate
from core.workflows.baselines import baseline_report, run_baseline
from core.workflows.evaluate import evaluate, score_packet
from core.workflows.evaluation_options import Options, check_options
from core.workflows.table_material import (
    captured_repair,
    gather_material,
    other_routers,
    packet_probes,
    packet_repair,
)


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
    if options.judged is not None:
        from core.workflows.judged_packet import judged_report  # imported only where one is asked

        predictions = {found.claim_id: found for found in evaluated.predictions}
        report["judge"] = judged_report(evaluated.rows, predictions, options.judged)
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
        routers=other_routers(options, evaluated, models, config, kept, progress),
        baselines=systems,
        probes=packet_probes(evaluated),
        repair=packet_repair(options, evaluated, models, config, packet_file.name, progress),
        captured=None if options.repairs is None else captured_repair(options.repairs),
        resamples=options.resamples,
    )
    return report, tuple(make_table(number, material) for number in options.tables)


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
