"""nli-model, train-nli-model, recalibrate, snapshot: what judges, and by which threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from cli.judging import nli_model_for, open_database
from cli.options import DatabaseUrl, JsonPath, Kept, NliModel, Packet, kept_beside
from cli.output import Progress, figure, metric_lines, print_lines, require, say, tell, tell_skipped
from core.errors import ConfigError, UnreadableFile
from core.site_config import site_config


def nli(
    choice: Annotated[
        str | None,
        typer.Argument(
            metavar="[NLI_MODEL]",
            help="bundled, accurate, paper, a folder, or a model of the hub (owner/name); without "
            "it, what the database reads with now.",
        ),
    ] = None,
    calibrator: Annotated[
        str | None,
        typer.Option(
            "--calibrator",
            help="A calibrator's folder, or 'shipped': it decides from then on. Else the active "
            "one, or where that was fitted on another NLI model the one that ships with this.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stands in the trail.")] = "",
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Show or choose the NLI model of a database; what waits is verified with it from then on.

    The NLI model is loaded first, and refused with the command that refits the calibrator where the
    two do not belong together.
    """
    workspace = open_database(db)
    if choice is not None:
        from core.workflows.models import choose_nli_model

        local = workspace.people.local()
        choose_nli_model(workspace, choice, reason, local, calibrator=calibrator)
    elif calibrator is not None or reason:
        raise ConfigError("name the NLI model too")
    now = workspace.nli_models.current()
    said = f", chosen by {now.by} on {now.since:%d %b %Y}: {now.reason}" if now.since else ""
    tell(
        {
            "nli_model": now.nli,
            "reader": now.nli,  # as it was called until 0.19.0
            "since": now.since.isoformat() if now.since else None,
            "by": now.by,
            "reason": now.reason,
            "database": workspace.name,
        },
        [f"{workspace.name} is read by {now.nli}{said}"],
        json_path,
    )
    workspace.close()


def train_nli_model(
    data: Annotated[Path, typer.Option(help="A folder with train/, binary/ and validation/.")],
    out: Annotated[Path, typer.Option(help="The folder for the weights and the checkpoint.")],
    start: Annotated[
        str | None, typer.Option(help="A folder to start from; else the packaged encoder.")
    ] = None,
    minutes: Annotated[float | None, typer.Option(help="How long to train.")] = None,
    steps: Annotated[int | None, typer.Option(help="Or how many steps.")] = None,
    clinical_pairs: Annotated[
        int | None,
        typer.Option(help="Made pairs in the shape of tool output, a pass over the data."),
    ] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Its peak.")] = None,
    threads: Annotated[int, typer.Option(help="Processor cores to train on.")] = 2,
    json_path: JsonPath = None,
) -> None:
    """Train the NLI model; a run that was stopped goes on from its checkpoint in --out."""
    if (minutes is None) == (steps is None):
        raise ConfigError("give either --minutes or --steps")
    require(data)
    from training.nli_model import TrainingOptions
    from training.nli_model import train_nli_model as train

    def progress(event: str, figures: Mapping[str, float]) -> None:
        told = ", ".join(f"{name} {figure(float(value))}" for name, value in figures.items())
        say(f"{event}: {told}")

    options = TrainingOptions(
        data=data, out=out, start=start, minutes=minutes, steps=steps, threads=threads
    )
    if clinical_pairs is not None:
        options = replace(options, clinical_pairs=clinical_pairs)
    if learning_rate is not None:
        options = replace(options, learning_rate=learning_rate)
    report = asdict(train(options, progress))
    tell(report, metric_lines(report), json_path)


def recalibrate(
    train: Packet,
    out: Annotated[Path, typer.Option("--out", help="The folder for the new calibrator.")],
    validation: Annotated[
        Path | None,
        typer.Option(help="Labelled claims for the threshold; else a fifth of the traces."),
    ] = None,
    nli: NliModel = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Fit a new calibrator on labelled claims, and choose its threshold on others."""
    from core.workflows.recalibrate import models_to_calibrate
    from core.workflows.recalibrate import recalibrate as fit

    require(train, validation)
    config = site_config()
    with Progress() as progress:
        models = models_to_calibrate(config, nli_model=nli_model_for(nli))
        kept = kept_beside(keep, json_path)
        made = fit(train, validation, out, models, config, kept=kept, progress=progress)
    tell_skipped(made.problems)
    report = {
        "calibrator": made.name,
        "out": str(out),
        "threshold": made.fitted.choice.point.threshold,
        "train_claims": made.train_rows,
        "validation_claims": made.validation_rows,
        "left_out": list(made.left_out),
    }
    tell(report, metric_lines(report), json_path)


def snapshot(
    file: Annotated[Path, typer.Argument(help="A snapshot that the page Thresholds saved.")],
) -> None:
    """Open a threshold snapshot: its settings and figures, once its digest is found to hold."""
    from core.evaluation.snapshot import MAX_BYTES, read_snapshot, snapshot_lines

    require(file)
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableFile(str(error.strerror), file=str(file)) from None
    lines = snapshot_lines(read_snapshot(content, file=str(file)))
    width = max(len(name) for name, _ in lines)
    print_lines([f"{name:<{width}}  {value}" for name, value in lines], None)
