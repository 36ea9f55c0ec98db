"""The terminal's front door: the workflows as commands, one a file, with clear errors and exit codes.

Exit codes: 0 done, 1 the gate blocked (gate, or --fail-on), 2 bad usage or input, 3 a component was
unavailable, 130 and 143 stopped by a signal. Heavy packages are imported inside the commands, so
that --help answers at once.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from cli import (
    audit,
    audit_anchor,
    audit_citations,
    audit_envelope,
    audit_lattice,
    audit_retire_key,
    audit_trust,
    convert,
    doctor,
    evaluate,
    export,
    gate,
    import_files,
    probe,
    queue_add,
    queue_retry,
    queue_show,
    queue_work,
    reader,
    recalibrate,
    record,
    repair,
    report,
    serve_http,
    serve_mcp,
    serve_proxy,
    snapshot,
    sweep,
    train_reader,
    verify,
)
from cli.front_door import AUDIT, EVALUATE, EVERYDAY, REVIEW, SERVE, FrontDoor

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


audit_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help="Check the audit trail.")
app.add_typer(audit_app, name="audit", rich_help_panel=AUDIT)
serve_app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Verify as a service: MCP, HTTP, or a proxy."
)
app.add_typer(serve_app, name="serve", rich_help_panel=SERVE)
queue_app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Leave a database's traces to workers."
)
app.add_typer(queue_app, name="queue", rich_help_panel=SERVE)

app.command("import", rich_help_panel=EVERYDAY, epilog=import_files.EXAMPLE)(
    import_files.import_files
)
app.command("convert", rich_help_panel=EVERYDAY, epilog=convert.EXAMPLE)(convert.convert)
app.command(
    "record",
    rich_help_panel=EVERYDAY,
    epilog=record.EXAMPLE,
    # What stands behind -- belongs to the server's own command.
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)(record.record)
app.command("verify", rich_help_panel=EVERYDAY, epilog=verify.EXAMPLE)(verify.verify)
app.command("gate", rich_help_panel=EVERYDAY, epilog=gate.EXAMPLE)(gate.gate)
app.command("repair", rich_help_panel=EVERYDAY, epilog=repair.EXAMPLE)(repair.repair)
app.command("evaluate", rich_help_panel=EVALUATE, epilog=evaluate.EXAMPLE)(evaluate.evaluate)
app.command("sweep", rich_help_panel=EVALUATE, epilog=sweep.EXAMPLE)(sweep.sweep)
app.command("snapshot", rich_help_panel=REVIEW, epilog=snapshot.EXAMPLE)(snapshot.snapshot)
app.command("recalibrate", rich_help_panel=REVIEW, epilog=recalibrate.EXAMPLE)(
    recalibrate.recalibrate
)
app.command("probe", rich_help_panel=EVALUATE, epilog=probe.EXAMPLE)(probe.probe)
app.command("train-reader", rich_help_panel=EVALUATE, epilog=train_reader.EXAMPLE)(
    train_reader.train_reader
)
app.command("reader", rich_help_panel=REVIEW, epilog=reader.EXAMPLE)(reader.reader)
app.command("audit-citations", rich_help_panel=AUDIT, epilog=audit_citations.EXAMPLE)(
    audit_citations.audit_citations
)
app.command("audit-envelope", rich_help_panel=AUDIT, epilog=audit_envelope.EXAMPLE)(
    audit_envelope.audit_envelope
)
app.command("audit-lattice", rich_help_panel=AUDIT, epilog=audit_lattice.EXAMPLE)(
    audit_lattice.audit_lattice
)
app.command("report", rich_help_panel=AUDIT, epilog=report.EXAMPLE)(report.report)
audit_app.command("verify", epilog=audit.EXAMPLE)(audit.audit_verify)
audit_app.command("anchor", epilog=audit_anchor.EXAMPLE)(audit_anchor.audit_anchor)
audit_app.command("retire-key", epilog=audit_retire_key.EXAMPLE)(audit_retire_key.audit_retire_key)
audit_app.command("trust", epilog=audit_trust.EXAMPLE)(audit_trust.audit_trust)
serve_app.command("mcp", epilog=serve_mcp.EXAMPLE)(serve_mcp.serve_mcp)
serve_app.command("http", epilog=serve_http.EXAMPLE)(serve_http.serve_http)
serve_app.command(
    "proxy",
    epilog=serve_proxy.EXAMPLE,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)(serve_proxy.serve_proxy)
queue_app.command("add", epilog=queue_add.EXAMPLE)(queue_add.queue_add)
queue_app.command("work", epilog=queue_work.EXAMPLE)(queue_work.queue_work)
queue_app.command("show", epilog=queue_show.EXAMPLE)(queue_show.queue_show)
queue_app.command("retry", epilog=queue_retry.EXAMPLE)(queue_retry.queue_retry)
app.command("export", rich_help_panel=REVIEW, epilog=export.EXAMPLE)(export.export)
app.command("doctor", rich_help_panel=EVERYDAY, epilog=doctor.EXAMPLE)(doctor.doctor)
