"""The terminal's front door: the workflows as commands, with clear errors and exit codes.

Exit codes: 0 done, 1 the gate blocked (gate, or --fail-on), 2 bad usage or input, 3 a component was
unavailable, 130 and 143 stopped by a signal. Heavy packages are imported inside the commands, so
that --help answers at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cli import (
    audit,
    citations,
    doctor,
    evaluate,
    export,
    gate,
    label,
    models,
    queue,
    repair,
    report,
    serve,
    traces,
    verify,
)
from cli.front_door import AUDIT, EVALUATE, EVERYDAY, REVIEW, SERVE, FrontDoor
from cli.options import grouped

# Nothing is fetched on this program's own account; a trace may be patient data.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")

app = typer.Typer(
    cls=FrontDoor,
    name="provenanceguard",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # they would print values, and values may be patient data
    help="Check every claim of an agent's answer against the source it should be credited to. "
    "Nothing leaves this machine.",
)


def _version(asked: bool) -> None:
    """Print the version and end."""
    if asked:
        from importlib.metadata import version

        typer.echo(f"provenanceguard {version('provenanceguard-workbench')}")
        raise typer.Exit


@app.callback()
def site(
    families: Annotated[
        Path | None,
        typer.Option(
            help="The site's own families of sources, a TOML file; else PROVENANCEGUARD_FAMILIES, "
            "else the packaged ones. `doctor` says which are in use."
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """What every command is told."""
    if families is not None:
        os.environ["PROVENANCEGUARD_FAMILIES"] = str(families.resolve())


GROUPS = {
    "audit": (AUDIT, "Check the audit trail."),
    "serve": (SERVE, "Verify as a service: MCP, HTTP, or a proxy."),
    "queue": (SERVE, "Leave a database's traces to workers."),
}
# Panel of `--help` (None within a group), name, what runs, and what its example gives it.
COMMANDS: tuple[tuple[str | None, str, Callable[..., None], str], ...] = (
    (EVERYDAY, "import", traces.import_files, "traces.jsonl transcripts.jsonl.gz"),
    (EVERYDAY, "convert", traces.convert, "traces.jsonl --to otel --out spans.jsonl"),
    (EVERYDAY, "record", traces.record, "--log ehr.jsonl --http http://127.0.0.1:8000/mcp"),
    (EVERYDAY, "pull", traces.pull, "langfuse --since 2026-11-01 --out observations.jsonl"),
    (EVERYDAY, "push", traces.push, "langfuse verdicts.jsonl --dry-run"),
    (EVERYDAY, "verify", verify.verify, "traces.jsonl --out verdicts.jsonl --fail-on block"),
    (EVERYDAY, "gate", gate.gate, "traces/ --policy policy.toml --junit gate.xml"),
    (EVERYDAY, "repair", repair.repair, "traces.jsonl --out repaired.jsonl --json figures.json"),
    (EVALUATE, "evaluate", evaluate.evaluate, "packets.jsonl --json metrics.json --table 3 --table 6"),
    (EVALUATE, "sweep", evaluate.sweep, "packets.jsonl --json sweep.json"),
    (REVIEW, "label", label.label,
     "packet.jsonl --judge replay:a.jsonl --judge replay:b.jsonl --out labelled.jsonl"),
    (REVIEW, "snapshot", models.snapshot, "thresholds-3f2a91c0.json"),
    (REVIEW, "recalibrate", models.recalibrate,
     "train.jsonl --validation validation.jsonl --out calibrator/"),
    (EVALUATE, "probe", evaluate.probe, "traces.jsonl --labels packet.jsonl --json probes.json"),
    (REVIEW, "nli-model", models.nli, "models/nli/ --calibrator calibrator/ --reason 'reads better'"),
    (AUDIT, "audit-citations", citations.audit_citations, "traces.jsonl --json citations.json"),
    (AUDIT, "audit-envelope", citations.audit_envelope, "envelope.json --root . --trace traces.jsonl"),
    (AUDIT, "audit-lattice", citations.audit_lattice, "answer.txt --evidence evidence.json"),
    (AUDIT, "report", report.report, "verdicts.jsonl --out report.md --json report.json"),
    (None, "audit verify", audit.audit_verify, "--db data/workbench.db"),
    (None, "audit anchor", audit.audit_anchor, "--to /mnt/other/anchors.jsonl"),
    (None, "audit retire-key", audit.audit_retire_key, '--reason "new server, compared with the backup"'),
    (None, "audit erase-person", audit.audit_erase_person, '"Ada Example" --reason "asked for on 3 May"'),
    (None, "audit acknowledge", audit.audit_acknowledge, '--reason "the time server was wrong until noon"'),
    (None, "audit trust", audit.audit_trust, "Ines bWFkZSB1cCBmb3IgdGhpcyBleGFtcGxlIG9ubHkhISE="),
    (None, "serve mcp", serve.serve_mcp, "--http 127.0.0.1:8790"),
    (None, "serve http", serve.serve_http, "--at 127.0.0.1:8791 --tokens service.tokens"),
    (None, "serve proxy", serve.serve_proxy, "-- python ehr_server.py"),
    (None, "queue add", queue.queue_add, "--db postgresql://me@host/traces"),
    (None, "queue work", queue.queue_work, "--workers 2 --db postgresql://me@host/traces"),
    (None, "queue show", queue.queue_show, ""),
    (None, "queue retry", queue.queue_retry, ""),
    (REVIEW, "export", export.export, "--out packet/ --status unanimous --status adjudicated"),
    (EVERYDAY, "doctor", doctor.doctor, ""),
)  # fmt: skip
# What stands behind -- belongs to the server's own command.
BEHIND = {"ignore_unknown_options": True, "allow_interspersed_args": False}

groups = {
    name: typer.Typer(rich_markup_mode=None, no_args_is_help=True, help=told)
    for name, (_, told) in GROUPS.items()
}
for name, group in groups.items():
    app.add_typer(group, name=name, rich_help_panel=GROUPS[name][0])
for panel, command, run, example in COMMANDS:
    *of, own = command.split()
    (groups[of[0]] if of else app).command(
        own,
        rich_help_panel=panel,
        epilog=f"Example: provenanceguard {command} {example}".strip(),
        context_settings=BEHIND if command in ("record", "serve proxy") else None,
    )(grouped(run))
