"""probe: wrong credits made from supported claims, and how many are found out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.judging import reader_for
from cli.options import Calibrator, Files, Format, JsonPath, Reader
from cli.output import Progress, print_lines, require, say, write_json

EXAMPLE = "Example: provenanceguard probe traces.jsonl --out probes.jsonl --count 50"


def probe(
    files: Files,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the probes as a labelled claim packet.")
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, help="How many wrong credits; each has a twin.")
    ] = 50,
    seed: Annotated[int, typer.Option(help="Another seed gives other probes.")] = 20260607,
    calibrator: Calibrator = None,
    reader: Reader = None,
    format: Format = "auto",
    json_path: JsonPath = None,
) -> None:
    """Credit supported claims to the wrong kind of source, and count what is found out.

    Every wrong credit has a twin with the right one: flagging everything would not do.
    """
    from core.capture.reading import read_traces
    from core.config import Config
    from core.evaluation.tables import Material, make_table, table_to_json, table_to_markdown
    from core.workflows.models import load_models
    from core.workflows.probe import probe_traces, write_packet

    require(files)
    config = Config()
    with Progress() as progress:
        models = load_models(config, pair_reader=reader_for(reader), calibrator=calibrator)
        run = probe_traces(
            read_traces(files, format, config),
            models,
            config,
            count=count,
            seed=seed,
            progress=progress,
            skipped=lambda error: say(f"skipped: {error.located()}"),
        )
    if out is not None:
        write_packet(out, run.rows)
    made = Material(rows=run.rows, predictions=run.predictions, probes=run.outcomes)
    results = make_table(20, made)
    write_json(json_path, {**table_to_json(results), "out": str(out) if out else None})
    print_lines(table_to_markdown(results).splitlines(), json_path)
