"""probe: wrong credits planted in whole answers, and how many are found out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.judging import reader_for
from cli.options import Calibrator, Files, Format, JsonPath, Reader
from cli.output import Progress, print_lines, require, say, tell_skipped, write_json
from core.errors import ConfigError

EXAMPLE = "Example: provenanceguard probe traces.jsonl --labels packet.jsonl --json probes.json"


def probe(
    files: Files,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="A labelled packet of these traces: its gold sources say which facts are whose. "
            "Else exact values do, which stand in one source and in no other.",
        ),
    ] = None,
    single_claims: Annotated[
        bool,
        typer.Option(
            "--single-claims",
            help="The easier probes of earlier versions: claims that the verifier allows, alone.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="With --single-claims: write the probes as a claim packet."),
    ] = None,
    count: Annotated[
        int, typer.Option(min=1, help="How many wrong credits at most; each has a twin.")
    ] = 50,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Also judge and repair the whole answers, for Table 20's counts; slow."
        ),
    ] = False,
    cache: Annotated[
        Path | None, typer.Option("--cache", help="A folder for what the models read.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives other probes.")] = 20260607,
    calibrator: Calibrator = None,
    reader: Reader = None,
    format: Format = "auto",
    json_path: JsonPath = None,
) -> None:
    """Credit facts of whole answers to the wrong source of the same trace; count what is found out.

    The facts are not the verifier's choice. Every wrong credit has a twin with the right one in the
    same words: flagging everything would not do.
    """
    from core.capture.reading import read_traces
    from core.config import Config
    from core.workflows.kept_readings import kept_in
    from core.workflows.models import load_models

    require([*files, *([labels] if labels else [])])
    if single_claims and labels is not None:
        raise ConfigError(
            "--single-claims takes no labels: its facts are the verifier's own choice"
        )
    if out is not None and not single_claims:
        raise ConfigError("--out goes with --single-claims; --json writes these probes one by one")
    config = Config()
    with Progress() as progress:
        models = load_models(config, pair_reader=reader_for(reader), calibrator=calibrator)
        models = models if cache is None else kept_in(cache, models)
        traces = read_traces(files, format, config)
        if single_claims:
            _single_claims(traces, models, config, count, seed, progress, out, json_path)
        else:
            _whole_answers(traces, labels, models, config, count, seed, repair, progress, json_path)


def _whole_answers(
    found: Any,
    labels: Path | None,
    models: Any,
    config: Any,
    count: int,
    seed: int,
    repair: bool,
    progress: Progress,
    json_path: Path | None,
) -> None:
    from core.errors import InputError
    from core.evaluation.packets import read_packet
    from core.evaluation.planted_facts import by_trace
    from core.evaluation.planting import plant
    from core.workflows.planted import planted_document, planted_lines, run_planted

    rows = None
    if labels is not None:
        packet = read_packet(labels)
        tell_skipped([problem.located() for problem in packet.problems], len(packet.problems))
        rows = by_trace(packet.rows)
    traces = []
    for one in found:
        if isinstance(one, InputError):
            say(f"skipped: {one.located()}")
        elif rows is None or one.trace_id in rows:
            traces.append(one)
    planted = plant(traces, rows, models.families, count=count, seed=seed)
    outcomes = run_planted(planted, traces, models, config, repair=repair, progress=progress)
    write_json(json_path, planted_document(outcomes))
    print_lines(planted_lines(outcomes), json_path)


def _single_claims(
    traces: Any,
    models: Any,
    config: Any,
    count: int,
    seed: int,
    progress: Progress,
    out: Path | None,
    json_path: Path | None,
) -> None:
    from core.evaluation.tables import Material, make_table, table_to_json, table_to_markdown
    from core.workflows.probe import probe_traces, write_packet

    run = probe_traces(
        traces,
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
