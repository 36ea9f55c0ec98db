"""sweep: both error rates at every threshold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.judging import reader_for
from cli.options import Calibrator, JsonPath, Kept, Packet, Reader, kept_beside
from cli.output import Progress, metric_lines, print_lines, require, tell_skipped, write_json
from core.errors import ConfigError, InputError

EXAMPLE = "Example: provenanceguard sweep packets.jsonl --json sweep.json"


def sweep(
    packet: Packet,
    max_false_pass: Annotated[
        float,
        typer.Option(help="Choose the threshold that passes at most this share of bad claims."),
    ] = 0.025,
    max_false_block: Annotated[
        float, typer.Option(help="Choose the one that blocks at most this share of good claims.")
    ] = 0.2,
    claims_a_day: Annotated[
        float | None, typer.Option(help="With --reviews-a-day: how many claims come in a day.")
    ] = None,
    reviews_a_day: Annotated[
        float | None, typer.Option(help="How many blocked claims people can read in a day.")
    ] = None,
    risk: Annotated[
        float,
        typer.Option(
            help="Show which threshold keeps the share of bad claims that pass below this."
        ),
    ] = 0.05,
    calibrator: Calibrator = None,
    reader: Reader = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Both error rates at every threshold, and the threshold that each rule would choose."""
    from core.calibration.guarantee import (
        bad_labels_needed,
        guarantee_lines,
        operating_points,
        points_report,
    )
    from core.workflows.evaluate import Budget, labelled_scores, sweep_packet

    bad_labels_needed(risk)  # a rate that cannot be bounded is told before anything is judged

    budget = None
    if claims_a_day is not None and reviews_a_day is not None:
        budget = Budget(claims_a_day=claims_a_day, reviews_a_day=reviews_a_day)
    elif claims_a_day is not None or reviews_a_day is not None:
        raise ConfigError("a budget needs both --claims-a-day and --reviews-a-day")
    evaluated, families = _scored(packet, calibrator, reader, kept_beside(keep, json_path))
    report = sweep_packet(
        evaluated,
        max_false_pass=max_false_pass,
        max_false_block=max_false_block,
        budget=budget,
    )
    points = operating_points(
        labelled_scores(evaluated.rows, evaluated.predictions, families), risk=risk
    )
    write_json(json_path, {**report, "guarantee": points_report(points)})
    print_lines([*metric_lines(report), *guarantee_lines(points)], json_path)


def _scored(
    packet: Path, calibrator: Path | None, reader: str | None, keep: Path | None
) -> tuple[Any, Any]:
    from core.config import Config
    from core.workflows.evaluate import score_packet
    from core.workflows.models import load_models

    require([packet])
    config = Config()
    with Progress() as progress:
        models = load_models(config, pair_reader=reader_for(reader), calibrator=calibrator)
        evaluated = score_packet(packet, models, config, kept=keep, progress=progress)
    problems = evaluated.packet.problems
    tell_skipped([problem.located() for problem in problems], len(problems))
    if not evaluated.rows:
        raise InputError("no claim could be read", file=str(packet))
    return evaluated, models.families
