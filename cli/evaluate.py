"""evaluate: labelled claims judged and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.judging import reader_for
from cli.options import Calibrator, JsonPath, Kept, Packet, Reader, kept_beside
from cli.output import Progress, metric_lines, print_lines, require, tell_skipped, write_json
from core.errors import InputError

EXAMPLE = "Example: provenanceguard evaluate packets.jsonl --json metrics.json --table 3 --table 6"


def evaluate(
    packet: Packet,
    calibrator: Calibrator = None,
    reader: Reader = None,
    ablation: Annotated[
        str | None, typer.Option("--ablation", help="Measure this variant instead, by name.")
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", help="Also run this source-blind baseline, by name."),
    ] = None,
    baseline_weights: Annotated[
        str | None, typer.Option(help="A folder with a published baseline's own weights.")
    ] = None,
    table: Annotated[
        list[int] | None,
        typer.Option("--table", help="Also print this table of the paper, ours beside it."),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="A training packet, for variants that are fitted.")
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="A validation packet, for their thresholds.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", help="Another system's predictions, as a row of Table 13."),
    ] = None,
    repairs: Annotated[
        Path | None,
        typer.Option("--repairs", help="Figures of `repair … --json`, for Table 19."),
    ] = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Judge labelled claims and compare: block precision and recall, source accuracy, and more.

    A run that was stopped goes on where it stopped when --keep or --json names a file.
    """
    from core.config import Config
    from core.evaluation.ranking import ranking_table
    from core.evaluation.tables import table_to_json, table_to_markdown
    from core.workflows.compare import evaluate_with
    from core.workflows.evaluation_options import Options, check_options
    from core.workflows.models import load_models

    options = Options(
        ablation=ablation,
        baselines=tuple(baseline or ()),
        baseline_weights=baseline_weights,
        tables=tuple(table or ()),
        train=train,
        validation=validation,
        beside=tuple(beside or ()),
        repairs=repairs,
    )
    check_options(options)
    given = (one for one in (train, validation, repairs, *options.beside) if one is not None)
    require([packet, *given])
    config = Config()
    with Progress() as progress:
        models = load_models(config, pair_reader=reader_for(reader), calibrator=calibrator)
        report, tables = evaluate_with(
            packet, models, config, options, kept=kept_beside(keep, json_path), progress=progress
        )
    problems = report["problems"]
    if isinstance(problems, list):
        tell_skipped(problems, len(problems))
    if not report["rows"]:
        raise InputError("no claim could be read", file=str(packet))
    if tables:
        report["tables"] = [table_to_json(one) for one in tables]
    write_json(json_path, report)
    shown = {name: value for name, value in report.items() if name not in ("tables", "ranking")}
    print_lines(metric_lines(shown), json_path)
    ranking = report["ranking"]
    if isinstance(ranking, dict) and ranking:
        print_lines(ranking_table(packet.name, ranking), json_path)
    print_lines([line for one in tables for line in table_to_markdown(one).splitlines()], json_path)
