"""recalibrate: a new calibrator from labelled claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.judging import reader_for
from cli.options import JsonPath, Kept, Packet, Reader, kept_beside
from cli.output import Progress, metric_lines, print_lines, require, tell_skipped, write_json

EXAMPLE = (
    "Example: provenanceguard recalibrate train.jsonl --validation validation.jsonl "
    "--out calibrator/"
)


def recalibrate(
    train: Packet,
    out: Annotated[Path, typer.Option("--out", help="The folder for the new calibrator.")],
    validation: Annotated[
        Path | None,
        typer.Option(help="Labelled claims for the threshold; else a fifth of the traces."),
    ] = None,
    reader: Reader = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Fit a new calibrator on labelled claims, and choose its threshold on others."""
    from core.config import Config
    from core.workflows.recalibrate import models_to_calibrate
    from core.workflows.recalibrate import recalibrate as fit

    require([train, *([validation] if validation else [])])
    config = Config()
    with Progress() as progress:
        models = models_to_calibrate(config, pair_reader=reader_for(reader))
        kept = kept_beside(keep, json_path)
        made = fit(train, validation, out, models, config, kept=kept, progress=progress)
    tell_skipped([problem.located() for problem in made.problems], len(made.problems))
    report = {
        "calibrator": made.name,
        "out": str(out),
        "threshold": made.fitted.choice.point.threshold,
        "train_claims": made.train_rows,
        "validation_claims": made.validation_rows,
        "left_out": list(made.left_out),
    }
    write_json(json_path, report)
    print_lines(metric_lines(report), json_path)
