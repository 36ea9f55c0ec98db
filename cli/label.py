"""label: a packet's claims labelled by two judges, for people to confirm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cli.options import JsonPath, JudgeUrl, Packet
from cli.output import require, tell, tell_skipped, write_file
from core.errors import ComponentUnavailable, ConfigError, InputError


def label(
    packet: Packet,
    *,
    judge: Annotated[
        list[str],
        typer.Option(
            "--judge",
            help="Twice: who reads for entailment first, then who reads for contradiction first; each the "
            "address of an OpenAI-compatible endpoint, replay:FILE or record:FILE. Claims and sources "
            "are sent there.",
        ),
    ],
    judge_model: Annotated[
        list[str] | None,
        typer.Option("--judge-model", help="The model of both, or twice, of each."),
    ] = None,
    judge_url: JudgeUrl = None,
    out: Annotated[
        Path, typer.Option("--out", help="The packet with a pre_label in each row: JSON Lines.")
    ],
    json_path: JsonPath = None,
) -> None:
    """Label claims with two judge prompts; where they differ, the label that blocks stands (Table 21).

    A row's own label stays; people confirm or refuse the pre-label, which is not shown to them before.
    """
    from core.evaluation.packets import read_packet, row_to_json
    from core.workflows.judges import judge_named
    from core.workflows.label import PROMPTS, LabelsShape, label_packet

    if len(judge) != 2:
        raise ConfigError("--judge: give it twice, for the two prompts (it may be the same one)")
    models: list[str] | list[None] = judge_model or [None]
    models = models * 2 if len(models) == 1 else models
    if len(models) != 2:
        raise ConfigError("--judge-model: give one for both judges, or two")
    require(packet)
    first, second = (
        judge_named(named, model, url=judge_url, instructions=prompt, shape=LabelsShape)
        for named, model, prompt in zip(judge, models, PROMPTS, strict=True)
    )
    read = read_packet(packet)
    tell_skipped(read.problems)
    if not read.rows:
        raise InputError("no claim could be read", file=str(packet))
    made = label_packet(read.rows, (first, second))
    unlabelled = made.report["unlabelled"]
    if sum(unlabelled.values()) == len(read.rows):
        raise ComponentUnavailable(f"no claim was labelled: {next(iter(unlabelled))}")
    lines = [json.dumps(row_to_json(row), ensure_ascii=False) for row in made.rows]
    write_file(out, ("\n".join(lines) + "\n").encode("utf-8"))
    table = [f"{one['item']}: {one['count']}" for one in made.report["table_21"]]
    unread = [f"not labelled: {count} ({why})" for why, count in unlabelled.items()]
    tell(made.report, [*table, *unread], json_path)
