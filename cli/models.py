"""nli-model, recalibrate, snapshot: what judges, and by which threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.judging import nli_model_for, open_database
from cli.options import DatabaseUrl, JsonPath, Kept, NliModel, Packet, kept_beside
from cli.output import Progress, metric_lines, print_lines, require, tell, tell_skipped
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
