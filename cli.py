"""The terminal's front door: the workflows as commands, with clear errors and exit codes.

Exit codes: 0 done, 1 the gate blocked (only with --fail-on), 2 bad usage or input, 3 a component was
unavailable, 130 and 143 stopped by a signal. Heavy packages are imported inside the commands, so
that --help answers at once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from core.errors import (
    ComponentUnavailable,
    ConfigError,
    InputError,
    ProvenanceGuardError,
    StoreError,
    UnreadableFile,
)

if TYPE_CHECKING:
    from core.config import Config
    from core.workflows.ingest import IngestReport
    from core.workflows.verify import VerifyReport

DONE, GATE_BLOCKED, BAD_INPUT, UNAVAILABLE = 0, 1, 2, 3

# Nothing is fetched on this program's own account; a trace may be patient data.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM)."""


class FrontDoor(TyperGroup):
    """Turns our own errors into one line and an exit code; a plain bug stays a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        signal.signal(signal.SIGTERM, _terminated)
        try:
            return super().invoke(ctx)
        except (InputError, ConfigError) as error:
            _fail(error, BAD_INPUT)
        except (ComponentUnavailable, StoreError) as error:
            _fail(error, UNAVAILABLE)
        except ProvenanceGuardError as error:
            _fail(error, BAD_INPUT)
        except KeyboardInterrupt as stopped:
            _say("Stopped. What was finished is kept: run the same command again to go on.")
            number = signal.SIGTERM if isinstance(stopped, Terminated) else signal.SIGINT
            raise SystemExit(128 + number) from None


def _terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def _fail(error: ProvenanceGuardError, code: int) -> NoReturn:
    _say(f"error: {error}")
    raise SystemExit(code)


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
audit_app = typer.Typer(rich_markup_mode=None, no_args_is_help=True, help="Check the audit trail.")
app.add_typer(audit_app, name="audit")


Files = Annotated[
    list[Path], typer.Argument(help="Captured traces: .json, .jsonl, .gz, or a folder of them.")
]
Format = Annotated[
    str, typer.Option("--format", help="The captured format; auto recognises each file's own.")
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="A SQLite file or postgresql+psycopg:// URL; else PROVENANCEGUARD_DB, else "
        "data/workbench.db.",
    ),
]
JsonPath = Annotated[
    Path | None, typer.Option("--json", help="Write the result as JSON to this file; - is stdout.")
]


Decides = Annotated[
    str | None,
    typer.Option(
        "--calibrator",
        help="A calibrator's folder, 'shipped', or 'promoted': the one in force in the database. "
        "Else promoted for the database's own traces, and shipped for files.",
    ),
]


class FailOn(StrEnum):
    """What makes a run end with exit code 1."""

    BLOCK = "block"
    UNAVAILABLE = "unavailable"


# ---------------------------------------------------------------- import


@app.command("import", epilog="Example: provenanceguard import traces.jsonl transcripts.jsonl.gz")
def import_files(
    files: Files, format: Format = "auto", db: DatabaseUrl = None, json_path: JsonPath = None
) -> None:
    """Read captured traces into the database. The same trace twice changes nothing.

    The folder of an exported packet brings its traces, verdicts and every reading and decision with
    it: its manifest is checked first, and reading it again changes nothing.

    Records that cannot be read are listed on stderr, and the others are kept; the exit code is 2
    only when no trace could be read at all.
    """
    from core.config import Config
    from core.workflows.ingest import ingest
    from storage.store import open_store

    _require(files)
    if packets := _packets_among(files):
        _import_packets(packets, db, json_path)
        return
    store = open_store(db, actor="terminal")
    with Progress() as progress:
        report = ingest(files, store, Config(), progress, format)
    store.put_import(report)
    _tell_skipped(report.skipped, report.skipped_count)
    _write_json(json_path, asdict(report) | {"database": store.name})
    _print(_import_lines(report, store.name), json_path)
    store.close()
    if not report.traces:
        raise InputError("no trace could be read")


def _packets_among(files: Sequence[Path]) -> list[Path]:
    from core.workflows.manifest import is_packet

    packets = [file for file in files if file.is_dir() and is_packet(file)]
    if packets and len(packets) < len(files):
        raise ConfigError("import packets and captured traces one after the other")
    return packets


def _import_packets(folders: Sequence[Path], db: str | None, json_path: Path | None) -> None:
    from core.config import Config
    from core.workflows.import_packet import import_packet
    from storage.people import People

    packets = _packets(db)
    lines, documents = [], []
    for folder in folders:
        with Progress() as progress:
            done = import_packet(
                packets,
                folder,
                People(store=packets.store).local(),
                max_record_bytes=Config().max_record_bytes,
                progress=progress,
            )
        put = done.reviews
        _tell_skipped(put.skipped, len(put.skipped))
        documents.append({"packet": str(folder), "changed": done.changed, **asdict(done)})
        lines += [
            f"{folder}: {_count(done.claims, 'claim')}; {_count(put.votes, 'reading')} and "
            f"{_count(put.adjudications, 'decision')} new, {put.votes_known} and "
            f"{put.adjudications_known} already there, {len(put.skipped)} not kept",
            *done.notes,
            *([] if done.changed else ["nothing changed"]),
        ]
    _write_json(json_path, {"packets": documents, "database": packets.store.name})
    _print(lines, json_path)
    packets.store.close()


def _packets(db: str | None) -> Any:
    from storage.packets import Packets
    from storage.projects import Projects
    from storage.store import open_store

    store = open_store(db, actor="terminal")
    return Packets(store=store, project=Projects(store=store).default())


def _import_lines(report: IngestReport, database: str) -> list[str]:
    lines = [
        f"{file.file}: {_count(file.traces, 'trace')} ({_joined(file.format, file.version)})"
        for file in report.files
    ]
    for tool in report.tools:
        unusable = f", {tool.not_evidence} of them no evidence" if tool.not_evidence else ""
        name = one_line(f"{tool.server}/{tool.tool}" if tool.server else tool.tool)
        lines.append(f"  {name}: {_count(tool.calls, 'output')}{unusable}")
    if report.without_answer:
        lines.append(f"{_count(report.without_answer, 'trace')} without an answer")
    if report.without_evidence:
        lines.append(f"{_count(report.without_evidence, 'trace')} without any evidence")
    lines.append(
        f"{report.new} new, {report.changed} new versions, {report.unchanged} already there, "
        f"{report.skipped_count} skipped; in {database}"
    )
    return lines


# ---------------------------------------------------------------- convert, record


@app.command(
    "convert", epilog="Example: provenanceguard convert traces.jsonl --to otel --out spans.jsonl"
)
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

    _require(files)
    config = Config()
    try:
        report = export_traces(read_traces(files, format, config), to, out, config)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from None
    _tell_skipped(report.refused, report.refused_count)
    for reason in report.partly:
        _say(f"not the same when read back: {reason}")
    _write_json(json_path, asdict(report) | {"out": str(out)})
    _print([f"{_count(report.written, 'trace')} written to {out} as {to}"], json_path)
    if not report.written:
        raise InputError("no trace could be written")


@app.command(
    "record",
    epilog="Example: provenanceguard record --log ehr.jsonl --http http://127.0.0.1:8000/mcp",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The command that starts a stdio server, behind --."),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option("--http", help="The address of a streamable-HTTP server to stand before."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", help="Where to listen with --http; 0 takes a free port.")
    ] = 0,
    log: Annotated[
        Path, typer.Option("--log", help="Where the messages are kept; a file there is continued.")
    ] = Path("mcp-log.jsonl"),
    name: Annotated[
        str | None,
        typer.Option("--name", help="The server's name; else the one it gives itself."),
    ] = None,
    json_path: JsonPath = None,
) -> None:
    """Keep what passes between an MCP client and its server, and change none of it.

    Where a client's settings say how to start a server, put "provenanceguard record --log ehr.jsonl
    --" before the server's own command. The log is an input of import and verify, together with a
    transcript or alone. A message is kept before it is passed on; when it cannot be kept, nothing
    more passes. The exit code is the server's.
    """
    import secrets

    from core.workflows.record import WireLog, record_stdio

    if bool(command) == bool(http):
        raise ConfigError("give either a server command behind -- or --http ADDRESS")
    wire = WireLog(log, secrets.token_hex(8), name)
    if command:
        if json_path is not None and str(json_path) == "-":
            raise ConfigError("--json: stdout belongs to the server; give a file")
        code = record_stdio(command, wire)
        _write_json(json_path, {"log": str(log), "messages": wire.messages, "exit_code": code})
        raise SystemExit(code)
    from core.workflows.record_http import Recorder

    with Recorder(str(http), wire, port) as recorder:
        _say(f"recording into {log}; connect the client to {recorder.url}")
        try:
            recorder.serve()
        except KeyboardInterrupt:
            _say(f"{_count(wire.messages, 'message')} recorded in {log}")
            _write_json(json_path, {"log": str(log), "messages": wire.messages, "exit_code": 0})


# ---------------------------------------------------------------- verify


@app.command(
    "verify",
    epilog="Example: provenanceguard verify traces.jsonl --out verdicts.jsonl --fail-on block",
)
def verify(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Captured traces; without any, what waits in the database."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write one verdict a line; continued when the file is there."),
    ] = None,
    format: Format = "auto",
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option("--fail-on", help="End with exit code 1 when an answer has this decision."),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair blocked answers, and verify them again.")
    ] = False,
    calibrator: Decides = None,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Verify traces: from files to a file of verdicts, or all that wait in the database.

    A run that was stopped goes on where it stopped when the same command is given again. Records
    that cannot be read are listed on stderr, and the others are verified; the exit code is 2 only
    when no trace could be read at all.
    """
    started = time.monotonic()
    if files:
        if db is not None:
            raise ConfigError("--db: files are verified without a database; leave out one of them")
        report = _verify_files(files, out, format, _judged_by(repair), decides=calibrator)
    else:
        if out is not None:
            raise ConfigError(
                "--out: give the files to verify; the database keeps its own verdicts"
            )
        report = _verify_database(db, _judged_by(repair), calibrator)
    seconds = time.monotonic() - started
    _write_json(json_path, _verify_json(report, out, seconds))
    _print(_verify_lines(report, out, seconds), json_path)
    if files and not report.traces:
        raise InputError("no trace could be read")
    if any(report.by_decision[_decision(named)] for named in fail_on or []):
        raise SystemExit(GATE_BLOCKED)


def _verify_files(
    files: Sequence[Path],
    out: Path | None,
    format: str,
    judged_by: Any,
    config: Any = None,
    *,
    decides: str | None = None,
) -> VerifyReport:
    from core.capture.reading import read_traces
    from core.config import Config
    from core.workflows.verify import verify_file

    _require(files)
    config = config or Config()
    total = None
    with Progress() as progress:
        if progress.shown:
            # Read once more, so that the time left can be told: reading is quick, judging is not.
            total = sum(
                not isinstance(item, InputError) for item in read_traces(files, format, config)
            )
        return verify_file(
            read_traces(files, format, config),
            out,
            _models(config, decides),
            config,
            progress,
            total=total,
            skipped=lambda error: _say(f"skipped: {error.located()}"),
            judged_by=judged_by,
        )


def _judged_by(repair: bool) -> Any:
    from core.workflows.verify import pipeline_judge

    if not repair:
        return pipeline_judge
    from core.workflows.repair import repairing_judge

    return repairing_judge()


def _verify_database(db: str | None, judged_by: Any, decides: str | None) -> VerifyReport:
    from core.config import Config
    from core.workflows.verify import verify_pending
    from storage.store import open_store

    config = Config()
    store = open_store(db, actor="terminal")
    with Progress() as progress:
        models = _models(config, decides, store)
        report = verify_pending(store, models, config, progress, judged_by=judged_by)
    store.close()
    return report


def _models(config: Config, decides: str | None = None, store: Any = None) -> Any:
    from core.workflows.models import load_models

    return load_models(config, calibrator=_decider(decides, store))


def _decider(decides: str | None, store: Any) -> Any:
    """What ``--calibrator`` means: None is the shipped one, and what a database has in force goes first."""
    if decides == "shipped" or (decides is None and store is None):
        return None
    if decides not in (None, "promoted"):
        return Path(decides)
    from storage.calibrators import Calibrators
    from storage.store import open_store

    opened = store or open_store(actor="terminal")
    try:
        return Calibrators(store=opened).forest()
    finally:
        if store is None:
            opened.close()


def _decision(named: FailOn) -> Any:
    from core.records import Decision

    return Decision(named.value)


def _verify_lines(report: VerifyReport, out: Path | None, seconds: float) -> list[str]:
    decisions = {decision.value: count for decision, count in report.by_decision.items()}
    verdicts = [
        f"  {label.value.replace('_', ' '):<20} {report.by_verdict[label]:>7}"
        for label in report.by_verdict
    ]
    kept = f" ({report.kept} of them from before)" if report.kept else ""
    return [
        f"{_count(report.traces, 'answer')} in {seconds:.1f} s{kept}",
        f"  {'allowed':<20} {decisions.get('allow', 0):>7}",
        f"  {'blocked':<20} {decisions.get('block', 0):>7}",
        f"  {'unavailable':<20} {decisions.get('unavailable', 0):>7}",
        f"{_count(sum(report.by_verdict.values()), 'claim')}, {report.set_aside} more set aside",
        *verdicts,
        f"  {'credited wrongly':<20} {report.conflations:>7}",
        *([f"{_count(report.skipped, 'record')} skipped"] if report.skipped else []),
        *([f"written to {out}"] if out is not None else []),
    ]


def _verify_json(report: VerifyReport, out: Path | None, seconds: float) -> dict[str, object]:
    from core.records import Decision, VerdictLabel

    return {
        "traces": report.traces,
        "verified": report.verified,
        "kept": report.kept,
        "decisions": {decision.value: report.by_decision[decision] for decision in Decision},
        "claims": {label.value: report.by_verdict[label] for label in VerdictLabel},
        "set_aside": report.set_aside,
        "blocked_claims": report.blocked_claims,
        "conflations": report.conflations,
        "skipped": {"count": report.skipped, "reasons": report.reasons},
        "versions": asdict(report.versions),
        "out": str(out) if out is not None else None,
        "seconds": round(seconds, 3),
    }


# ---------------------------------------------------------------- repair

Iterations = Annotated[
    int, typer.Option("--iterations", help="How many revisions an answer may get, 1 to 3.")
]
EditorModel = Annotated[
    str | None,
    typer.Option(
        "--editor-model",
        help="Let this language model word what is reworded; off unless it is named.",
    ),
]
EditorUrl = Annotated[
    str | None,
    typer.Option(
        "--editor-url",
        help="Its OpenAI-compatible endpoint; else http://127.0.0.1:11434/v1. A key, if one is "
        "needed, is read from PROVENANCEGUARD_EDITOR_KEY.",
    ),
]
EditorTimeout = Annotated[
    float, typer.Option("--editor-timeout", help="Seconds until the rules write it instead.")
]
RemoteEditor = Annotated[
    bool,
    typer.Option(
        "--allow-remote-editor",
        help="Allow an endpoint on another machine: statements and their evidence leave this one.",
    ),
]


@app.command(
    "repair",
    epilog="Example: provenanceguard repair traces.jsonl --out repaired.jsonl --json figures.json",
)
def repair(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Captured traces; without any, the blocked answers in the database."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write one verdict with its repair a line; continued."),
    ] = None,
    choices: Annotated[
        Path | None,
        typer.Option("--choices", help="Write the stored repairs with what reviewers chose."),
    ] = None,
    probes: Annotated[
        Path | None,
        typer.Option(
            "--probes",
            help="Labels (.jsonl) that name the wrong credits in these traces: count those left.",
        ),
    ] = None,
    iterations: Iterations = 1,
    editor_model: EditorModel = None,
    editor_url: EditorUrl = None,
    editor_timeout: EditorTimeout = 30.0,
    allow_remote_editor: RemoteEditor = False,
    calibrator: Decides = None,
    format: Format = "auto",
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Revise blocked answers: correct what is miscredited, take out what no source says, verify again.

    Everything that is supported stays. From files to a file of verdicts, or into the database, where
    reviewers accept, edit or reject each edit.
    """
    from core.config import Config
    from core.workflows.repair import RepairReport, repairing_judge

    config = Config(repair_iterations=iterations)
    editor = _editor(editor_model, editor_url, editor_timeout, allow_remote_editor)
    report = RepairReport()
    if choices is not None:
        _write_choices(choices, db)
    elif files and probes is not None:
        _repair_probes(files, format, probes, config, editor, json_path, calibrator)
        return
    elif files:
        if db is not None:
            raise ConfigError("--db: files are repaired without a database; leave out one of them")
        made = _verify_files(
            files, out, format, repairing_judge(editor, report), config, decides=calibrator
        )
        if not made.traces:
            raise InputError("no trace could be read")
        if made.kept and out is not None:  # the figures are of the whole file
            report = _report_of(out)
    else:
        if out is not None:
            raise ConfigError("--out: give the files to repair; the database keeps its own repairs")
        _repair_database(db, config, editor, report, calibrator)
    figures = dict(report.document())
    _write_json(json_path, figures)
    if choices is None:
        _print(_metric_lines(figures), json_path)


def _editor(model: str | None, url: str | None, timeout: float, allow_remote: bool) -> Any:
    if model is None:
        if url is not None:
            raise ConfigError("--editor-url: name the model too, with --editor-model")
        return None
    from core.models.editor import LOCAL_ENDPOINT, EditorSettings, load_editor

    return load_editor(
        EditorSettings(
            model=model,
            endpoint=url or LOCAL_ENDPOINT,
            timeout_seconds=timeout,
            allow_remote=allow_remote,
            api_key=os.environ.get("PROVENANCEGUARD_EDITOR_KEY", "none"),
        )
    )


def _report_of(out: Path) -> Any:
    import gzip

    from core.workflows.repair import RepairReport

    report = RepairReport()
    opener: Any = gzip.open if out.suffix == ".gz" else open
    with opener(out, "rt", encoding="utf-8") as lines:
        for line in lines:
            report.add(json.loads(line)["repair"])
    return report


def _repair_database(
    db: str | None, config: Config, editor: Any, report: Any, decides: str | None
) -> None:
    from core.workflows.repair import repair_blocked
    from storage.repairs import Repairs
    from storage.store import open_store

    store = open_store(db, actor="terminal")
    repairs = Repairs(store=store)
    with Progress() as progress:
        waiting = list(repairs.without())
        for trace, document in repair_blocked(
            (store.get_trace(row.trace_id, row.content_hash).trace for row in waiting),
            _models(config, decides, store),
            config,
            editor,
            progress,
            total=len(waiting),
        ):
            repairs.put(trace, document)
            report.add(document)
    store.close()


def _write_choices(path: Path, db: str | None) -> None:
    from storage.repairs import Repairs
    from storage.store import open_store

    store = open_store(db, actor="terminal")
    rows = Repairs(store=store).export()
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None
    store.close()
    _say(f"{_count(len(rows), 'repair')} written to {path}")


def _repair_probes(
    files: Sequence[Path],
    format: str,
    gold: Path,
    config: Config,
    editor: Any,
    json_path: Path | None,
    decides: str | None,
) -> None:
    from core.capture.reading import read_traces
    from core.records import Trace
    from core.workflows.repair import probes_of, run_probes

    _require([*files, gold])
    probes = probes_of(_json_lines(gold))
    traces = (t for t in read_traces(files, format, config) if isinstance(t, Trace))
    with Progress() as progress:
        report = run_probes(traces, probes, _models(config, decides), config, editor, progress)
    if not report.probes:
        raise InputError("names no wrong credit in these traces", file=str(gold))
    figures = dict(report.document())
    _write_json(json_path, figures)
    _print(_metric_lines(figures), json_path)


def _json_lines(path: Path) -> list[Mapping[str, object]]:
    found: list[Mapping[str, object]] = []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"cannot be read: {error}", file=str(path)) from None
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            value = json.loads(line) if line.strip() else None
        except ValueError as error:
            raise InputError(f"not valid JSON: {error}", file=str(path), line=number) from None
        if isinstance(value, Mapping):
            found.append(value)
        elif value is not None:
            raise InputError("expected an object", file=str(path), line=number)
    return found


# ---------------------------------------------------------------- evaluate, sweep, recalibrate

Packet = Annotated[Path, typer.Argument(help="Labelled claim packets: .jsonl or .jsonl.gz.")]
Calibrator = Annotated[
    Path | None,
    typer.Option("--calibrator", help="A calibrator's folder; else the one that is shipped."),
]
Kept = Annotated[
    Path | None,
    typer.Option("--keep", help="Keep predictions in this file, so that a stopped run goes on."),
]


@app.command(
    "evaluate",
    epilog="Example: provenanceguard evaluate packets.jsonl --json metrics.json --table 3 --table 6",
)
def evaluate(
    packet: Packet,
    calibrator: Calibrator = None,
    ablation: Annotated[
        str | None, typer.Option("--ablation", help="Measure this variant instead, by name.")
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option("--baseline", help="Also run this source-blind baseline, by name."),
    ] = None,
    baseline_weights: Annotated[
        str | None, typer.Option(help="A folder with a published baseline's own weights.")
    ] = None,
    table: Annotated[
        list[int] | None,
        typer.Option("--table", help="Also print this table of the paper, ours beside it."),
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="A training packet, for variants that are fitted.")
    ] = None,
    validation: Annotated[
        Path | None, typer.Option(help="A validation packet, for their thresholds.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", help="Another system's predictions, as a row of Table 13."),
    ] = None,
    repairs: Annotated[
        Path | None,
        typer.Option("--repairs", help="Figures of `repair … --json`, for Table 19."),
    ] = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Judge labelled claims and compare: block precision and recall, source accuracy, and more.

    A run that was stopped goes on where it stopped when --keep or --json names a file.
    """
    from core.config import Config
    from core.evaluation.tables import table_to_json, table_to_markdown
    from core.workflows.compare import Options, check_options, evaluate_with
    from core.workflows.models import load_models

    options = Options(
        ablation=ablation,
        baselines=tuple(baseline or ()),
        baseline_weights=baseline_weights,
        tables=tuple(table or ()),
        train=train,
        validation=validation,
        beside=tuple(beside or ()),
        repairs=repairs,
    )
    check_options(options)
    given = (one for one in (train, validation, repairs, *options.beside) if one is not None)
    _require([packet, *given])
    config = Config()
    with Progress() as progress:
        models = load_models(config, calibrator=calibrator)
        report, tables = evaluate_with(
            packet, models, config, options, kept=_beside(keep, json_path), progress=progress
        )
    problems = report["problems"]
    if isinstance(problems, list):
        _tell_skipped(problems, len(problems))
    if not report["rows"]:
        raise InputError("no claim could be read", file=str(packet))
    if tables:
        report["tables"] = [table_to_json(one) for one in tables]
    _write_json(json_path, report)
    shown = {name: value for name, value in report.items() if name != "tables"}
    _print(_metric_lines(shown), json_path)
    _print([line for one in tables for line in table_to_markdown(one).splitlines()], json_path)


def _beside(keep: Path | None, json_path: Path | None) -> Path | None:
    """Where predictions are kept: as asked, else beside the JSON file, else nowhere."""
    if keep is not None or json_path is None or str(json_path) == "-":
        return keep
    return json_path.with_name(json_path.name + ".predictions.jsonl")


@app.command("sweep", epilog="Example: provenanceguard sweep packets.jsonl --json sweep.json")
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
    calibrator: Calibrator = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Both error rates at every threshold, and the threshold that each rule would choose."""
    from core.workflows.evaluate import Budget, sweep_packet

    budget = None
    if claims_a_day is not None and reviews_a_day is not None:
        budget = Budget(claims_a_day=claims_a_day, reviews_a_day=reviews_a_day)
    elif claims_a_day is not None or reviews_a_day is not None:
        raise ConfigError("a budget needs both --claims-a-day and --reviews-a-day")
    report = sweep_packet(
        _scored(packet, calibrator, _beside(keep, json_path)),
        max_false_pass=max_false_pass,
        max_false_block=max_false_block,
        budget=budget,
    )
    _write_json(json_path, report)
    _print(_metric_lines(report), json_path)


@app.command(
    "recalibrate",
    epilog="Example: provenanceguard recalibrate train.jsonl --validation validation.jsonl "
    "--out calibrator/",
)
def recalibrate(
    train: Packet,
    out: Annotated[Path, typer.Option("--out", help="The folder for the new calibrator.")],
    validation: Annotated[
        Path | None,
        typer.Option(help="Labelled claims for the threshold; else a fifth of the traces."),
    ] = None,
    keep: Kept = None,
    json_path: JsonPath = None,
) -> None:
    """Fit a new calibrator on labelled claims, and choose its threshold on others."""
    from core.config import Config
    from core.workflows.recalibrate import models_to_calibrate
    from core.workflows.recalibrate import recalibrate as fit

    _require([train, *([validation] if validation else [])])
    config = Config()
    with Progress() as progress:
        models = models_to_calibrate(config)
        kept = _beside(keep, json_path)
        made = fit(train, validation, out, models, config, kept=kept, progress=progress)
    _tell_skipped([problem.located() for problem in made.problems], len(made.problems))
    report = {
        "calibrator": made.name,
        "out": str(out),
        "threshold": made.fitted.choice.point.threshold,
        "train_claims": made.train_rows,
        "validation_claims": made.validation_rows,
        "left_out": list(made.left_out),
    }
    _write_json(json_path, report)
    _print(_metric_lines(report), json_path)


@app.command(
    "probe", epilog="Example: provenanceguard probe traces.jsonl --out probes.jsonl --count 50"
)
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

    _require(files)
    config = Config()
    with Progress() as progress:
        models = load_models(config, calibrator=calibrator)
        run = probe_traces(
            read_traces(files, format, config),
            models,
            config,
            count=count,
            seed=seed,
            progress=progress,
        )
    if out is not None:
        write_packet(out, run.rows)
    made = Material(rows=run.rows, predictions=run.predictions, probes=run.outcomes)
    results = make_table(20, made)
    _write_json(json_path, {**table_to_json(results), "out": str(out) if out else None})
    _print(table_to_markdown(results).splitlines(), json_path)


def _scored(packet: Path, calibrator: Path | None, keep: Path | None) -> Any:
    from core.config import Config
    from core.workflows.evaluate import score_packet
    from core.workflows.models import load_models

    _require([packet])
    config = Config()
    with Progress() as progress:
        models = load_models(config, calibrator=calibrator)
        evaluated = score_packet(packet, models, config, kept=keep, progress=progress)
    problems = evaluated.packet.problems
    _tell_skipped([problem.located() for problem in problems], len(problems))
    if not evaluated.rows:
        raise InputError("no claim could be read", file=str(packet))
    return evaluated


def _metric_lines(report: Mapping[str, object], indent: str = "") -> list[str]:
    """The report for people: numbers and names, groups indented, long lists counted."""
    lines = []
    for name, value in report.items():
        shown = f"{indent}{name.replace('_', ' '):<{32 - len(indent)}}"
        if isinstance(value, Mapping):
            lines += [shown.rstrip(), *_metric_lines(value, indent + "  ")]
        elif isinstance(value, list) and len(value) > 4:
            lines.append(f"{shown} {len(value)} (with --json)")
        elif not name.endswith("_sha256"):
            lines.append(f"{shown} {_figure(value)}")
    return lines


def _figure(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " to ".join(_figure(item) for item in value) or "none"
    return "not defined" if value is None else str(value)


# ---------------------------------------------------------------- train-reader


@app.command(
    "train-reader",
    epilog="Example: provenanceguard train-reader --data nli/ --out reader/ --minutes 60",
)
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
    _require([data])
    from training.pair_reader import TrainingOptions
    from training.pair_reader import train_reader as train

    def progress(event: str, figures: Mapping[str, float]) -> None:
        told = ", ".join(f"{name} {_figure(float(value))}" for name, value in figures.items())
        _say(f"{event}: {told}")

    options = TrainingOptions(
        data=data, out=out, start=start, minutes=minutes, steps=steps, threads=threads
    )
    if clinical_pairs is not None:
        options = replace(options, clinical_pairs=clinical_pairs)
    if learning_rate is not None:
        options = replace(options, learning_rate=learning_rate)
    report = asdict(train(options, progress))
    _write_json(json_path, report)
    _print(_metric_lines(report), json_path)


# ---------------------------------------------------------------- audit


@audit_app.command("verify", epilog="Example: provenanceguard audit verify --db data/workbench.db")
def audit_verify(
    packet: Annotated[
        Path | None,
        typer.Option(
            "--packet", help="Check an exported packet instead: its files, its signatures."
        ),
    ] = None,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Check that nothing was changed or removed: the database's events and documents, or a packet.

    A packet is checked on its own; with --db its signatures are also compared with that database.
    """
    if packet is not None:
        _verify_packet(packet, db, json_path)
        return
    from storage.store import open_store

    store = open_store(db, actor="terminal")
    report = store.verify_chain()
    _write_json(json_path, asdict(report) | {"intact": report.intact, "database": store.name})
    found = "intact" if report.intact else f"NOT INTACT, {_count(len(report.problems), 'problem')}"
    _print(
        [
            *report.problems,
            f"{_count(report.events, 'event')}, {_count(report.traces, 'trace')}, "
            f"{_count(report.verdicts, 'verdict')}: {found}",
        ],
        json_path,
    )
    store.close()
    if not report.intact:
        raise SystemExit(BAD_INPUT)


def _verify_packet(folder: Path, db: str | None, json_path: Path | None) -> None:
    from core.workflows.manifest import check_packet

    _require([folder])
    check = check_packet(folder)
    problems, signatures = list(check.problems), check.signatures
    if db is not None:
        packets = _packets(db)
        here = packets.signatures(check.manifest_sha256)
        problems += [
            f"signatures.json: {one.signer} ({one.meaning}) is not what the database says"
            for one in signatures
            if (one.signer, one.meaning, one.at) not in {(h.signer, h.meaning, h.at) for h in here}
        ]
        signatures = here or signatures
        packets.store.close()
    intact = not problems
    _write_json(
        json_path,
        {
            "packet": str(folder),
            "intact": intact,
            "problems": problems,
            "manifest_sha256": check.manifest_sha256,
            "signatures": [asdict(one) for one in signatures],
        },
    )
    found = "intact" if intact else f"NOT INTACT, {_count(len(problems), 'problem')}"
    _print(
        [
            *problems,
            *(
                f"signed by {one.signer} ({one.meaning}) at {one.at.isoformat()}"
                + (", taken back since" if one.taken_back else "")
                for one in signatures
            ),
            f"{_count(check.files, 'file')}, manifest {check.manifest_sha256}: {found}",
        ],
        json_path,
    )
    if not intact:
        raise SystemExit(BAD_INPUT)


# ---------------------------------------------------------------- export


class PacketStatus(StrEnum):
    """How a label came about."""

    SINGLE = "single"
    UNANIMOUS = "unanimous"
    ADJUDICATED = "adjudicated"
    UNRESOLVED = "unresolved"


class Meaning(StrEnum):
    """What a signature under a packet means."""

    REVIEW = "review"
    APPROVAL = "approval"
    RESPONSIBILITY = "responsibility"
    AUTHORSHIP = "authorship"


class PacketLabel(StrEnum):
    """What reviewers say about a claim."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    NOT_ENOUGH_EVIDENCE = "not_enough_evidence"


Day = Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="A day, in UTC.")]


@app.command(
    "export",
    epilog="Example: provenanceguard export --out packet/ --status unanimous --status adjudicated",
)
def export(
    out: Annotated[Path, typer.Option("--out", help="A new folder for the packet.")],
    status: Annotated[
        list[PacketStatus] | None,
        typer.Option("--status", help="How the label came about; all but unresolved unless named."),
    ] = None,
    label: Annotated[
        list[PacketLabel] | None, typer.Option("--label", help="Only claims with this label.")
    ] = None,
    slice: Annotated[str | None, typer.Option("--slice", help="Only this slice.")] = None,
    since: Day = None,
    until: Day = None,
    reports: Annotated[bool, typer.Option(help="A page to read for each trace.")] = True,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="The pages as PDF too, printed by this machine's browser.")
    ] = False,
    sign: Annotated[
        Meaning | None, typer.Option("--sign", help="Lock the packet and sign it in your name.")
    ] = None,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Write what reviewers decided as a packet: labels, readings, sources, trail, manifest.

    --since and --until are the first and the last day of the decision. What is left out is counted.
    """
    from core.records import VerdictLabel
    from core.review.records import ReviewStatus
    from core.workflows.export import DECIDED, ExportFilters, export_packet
    from core.workflows.manifest import MANIFEST, write_signatures
    from storage.people import People

    packets = _packets(db)
    who = People(store=packets.store).local()
    filters = ExportFilters(
        statuses=frozenset(ReviewStatus(each) for each in status) if status else DECIDED,
        labels=frozenset(VerdictLabel(each) for each in label or ()),
        slice=slice,
        since=since.replace(tzinfo=UTC) if since else None,
        until=until.replace(tzinfo=UTC) + timedelta(days=1) if until else None,
    )
    with Progress() as progress:
        report = export_packet(
            packets, who, out, at=packets.store.now(), filters=filters, reports=reports, pdf=pdf,
            progress=progress,
        )  # fmt: skip
    if sign is not None:
        packets.lock((out / MANIFEST).read_text(encoding="utf-8"), sign.value, by=who)
        write_signatures(out, packets.signatures(report.manifest_sha256))
    _write_json(json_path, asdict(report) | {"signed": sign.value if sign else None})
    _print(
        [
            f"{_count(report.claims, 'claim')} of {_count(report.traces, 'trace')} with "
            f"{_count(report.votes, 'reading')} in {out}",
            *(
                f"  {status.value:<20} {count:>7}"
                for status, count in report.by_status.items()
                if count
            ),
            *(f"left out: {count}, {reason}" for reason, count in report.left_out.items()),
            f"manifest {report.manifest_sha256}"
            + (f", signed by {who.name} ({sign.value})" if sign else ""),
        ],
        json_path,
    )
    packets.store.close()


# ---------------------------------------------------------------- doctor


@app.command("doctor", epilog="Example: provenanceguard doctor")
def doctor(db: DatabaseUrl = None, json_path: JsonPath = None) -> None:
    """Check that everything a verification needs is here, and say what to do where it is not."""
    from core.workflows.doctor import check_installation
    from storage.health import check_database

    checks = [*check_installation(), *check_database(db)]
    _write_json(
        json_path,
        {"ok": all(check.passed for check in checks), "checks": [asdict(c) for c in checks]},
    )
    lines = []
    for check in checks:
        lines.append(f"{'ok    ' if check.passed else 'NOT OK'} {check.name:<12} {check.found}")
        if not check.passed:
            lines.append(f"{'':<19} → {check.remedy}")
    _print(lines, json_path)
    if not all(check.passed for check in checks):
        raise SystemExit(UNAVAILABLE)


# ---------------------------------------------------------------- what commands share


class Progress:
    """How far a long task is, on stderr, with rate and time left; silent where nobody watches."""

    REDRAW_SECONDS = 0.1

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        self._started: tuple[float, int] | None = None
        self._drawn = 0.0
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def __call__(self, done: int, total: int | None, what: str) -> None:
        """Redraw the line, a few times a second at most."""
        now = time.monotonic()
        if self._started is None:
            self._started = (now, done)
        if not self.shown or (now - self._drawn < self.REDRAW_SECONDS and done != total):
            return
        self._drawn = now
        text = progress_text(done, total, what, now - self._started[0], self._started[1])
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)


def progress_text(done: int, total: int | None, what: str, seconds: float, before: int) -> str:
    """``12 of 45 traces · 1.5 a second · 22 s left``; ``before`` were done when time began."""
    text = f"{done} {what}" if total is None else f"{done} of {total} {what}"
    rate = (done - before) / seconds if seconds > 0 else 0.0
    if rate <= 0:
        return text
    text += f" · {rate:.1f} a second" if rate >= 0.1 else f" · {rate * 60:.1f} a minute"
    if total is not None and done < total:
        text += f" · {_duration((total - done) / rate)} left"
    return text


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _require(files: Sequence[Path]) -> None:
    """A name that is mistyped stops the command before any work is done."""
    for file in files:
        if not file.exists():
            raise UnreadableFile("no such file", file=str(file))


def _tell_skipped(reasons: Sequence[str], count: int) -> None:
    for reason in reasons:
        _say(f"skipped: {reason}")
    if count > len(reasons):
        _say(f"skipped: {count - len(reasons)} more")


def _write_json(path: Path | None, document: Mapping[str, object]) -> None:
    if path is None:
        return
    text = json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None


def _print(lines: Sequence[str], json_path: Path | None) -> None:
    """For people: on stdout, unless that carries JSON."""
    stream = sys.stderr if json_path is not None and str(json_path) == "-" else sys.stdout
    for line in lines:
        stream.write(one_line(line) + "\n")


def _say(line: str) -> None:
    sys.stderr.write(one_line(line) + "\n")


def one_line(text: str) -> str:
    """The text without control characters: names from a trace must not steer a terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _joined(name: str, version: str | None) -> str:
    return f"{name} {version}" if version else name


if __name__ == "__main__":
    app()
