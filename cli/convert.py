"""convert: captured traces in another captured format."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.options import Files, Format, JsonPath
from cli.output import counted, print_lines, require, say, tell_skipped, write_json
from core.errors import InputError

EXAMPLE = "Example: provenanceguard convert traces.jsonl --to otel --out spans.jsonl"


def convert(
    files: Files,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="native, chat, responses, anthropic, otel, openinference, langsmith, langfuse or "
            "inspect_ai.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="The file to write; it is replaced.")],
    format: Format = "auto",
    json_path: JsonPath = None,
) -> None:
    """Write captured traces in another captured format.

    Each trace is read back before it counts: one that the format cannot carry is named and left
    out, and the exit code is 2 only when no trace could be written at all.
    """
    from core.capture.reading import read_traces
    from core.config import Config
    from core.workflows.trace_export import export_traces

    require(files)
    config = Config()
    try:
        report = export_traces(read_traces(files, format, config), to, out, config)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from None
    tell_skipped(report.refused, report.refused_count)
    for reason in report.partly:
        say(f"not the same when read back: {reason}")
    write_json(json_path, asdict(report) | {"out": str(out)})
    print_lines([f"{counted(report.written, 'trace')} written to {out} as {to}"], json_path)
    if not report.written:
        raise InputError("no trace could be written")
