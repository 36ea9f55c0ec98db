"""train-reader: new weights for the pair reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from cli.options import JsonPath
from cli.output import figure, metric_lines, print_lines, require, say, write_json
from core.errors import ConfigError

EXAMPLE = "Example: provenanceguard train-reader --data nli/ --out reader/ --minutes 60"


def train_reader(
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
    """Train the pair reader; a run that was stopped goes on from its checkpoint in --out."""
    if (minutes is None) == (steps is None):
        raise ConfigError("give either --minutes or --steps")
    require([data])
    from training.pair_reader import train_reader as train
    from training.reader_options import TrainingOptions

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
    write_json(json_path, report)
    print_lines(metric_lines(report), json_path)
