"""import, convert, record, pull, push: captured traces into the database, into other formats, as they
pass, from where they are stored, and verdicts back to there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cli.judging import writing_database
from cli.options import DatabaseUrl, Files, Format, JsonPath
from cli.output import (
    Progress,
    counted,
    one_line,
    require,
    say,
    tell,
    tell_skipped,
    write_file,
    write_json,
)
from core.errors import ConfigError, InputError
from core.site_config import site_config

if TYPE_CHECKING:
    from core.records import IngestReport

Store = Annotated[
    Literal["langfuse", "langsmith", "phoenix"], typer.Argument(help="Where the traces are.")
]
ProjectOf = Annotated[
    str | None,
    typer.Option(
        "--project", help="Its name or id; Langfuse's keys are those of one project anyway."
    ),
]
SameIdOption = Annotated[
    str,
    typer.Option(
        "--same-id",
        help="A trace whose id another file has used for other content is kept 'apart', or "
        "becomes a new 'version'.",
    ),
]


def import_files(
    files: Files,
    format: Format = "auto",
    same_id: SameIdOption = "apart",
    unsigned: Annotated[
        bool,
        typer.Option(
            "--unsigned",
            help="Take a packet that nobody whom this machine trusts has signed; the trail says so.",
        ),
    ] = False,
    annotator: Annotated[
        str,
        typer.Option(
            "--annotator", help="Whose labels a table holds, where it has no such column."
        ),
    ] = "",
    pre_labels: Annotated[
        bool,
        typer.Option(
            "--pre-labels", help="A table's labels come in as pre-labels, not as annotations."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what a table's rows match; write nothing.")
    ] = False,
    unmatched: Annotated[
        Path | None,
        typer.Option("--unmatched", help="Where to write a table's rows that are not kept."),
    ] = None,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Read captured traces into the database. The same trace twice changes nothing.

    The folder of an exported packet brings its traces, verdicts and every annotation and decision with
    it: its manifest and its signatures are checked first, and reading it again changes nothing. It
    must be signed by somebody whose key `audit trust` has accepted, or taken with --unsigned.

    A packet that `label` has labelled brings its pre-labels, which Review shows after one's own answer.

    A table (.csv, .tsv) of claim, label and source, with trace_id, annotator and note where it has
    them, brings labels that exist already: each row to the claim of that text, and of that trace.

    Records that cannot be read are listed on stderr, and the others are kept; the exit code is 2
    only when no trace could be read at all.
    """
    from core.workflows.ingest import SameId, ingest

    if same_id not in set(SameId):
        raise ConfigError(f"--same-id: expected apart or version, found {same_id!r:.60}")
    require(*files)
    if all(file.suffix.casefold() in (".csv", ".tsv") for file in files):
        _import_labels(files, db, json_path, annotator, pre_labels, dry_run, unmatched)
        return
    if packets := _packets_among(files):
        _import_packets(packets, db, json_path, unsigned)
        return
    if labelled := _labelled_among(files):
        _import_pre_labels(labelled, db, json_path)
        return
    workspace = writing_database(db)
    store = workspace.store
    with Progress() as progress:
        report = ingest(files, store, site_config(), progress, format, SameId(same_id))
    store.put_import(report)
    tell_skipped(report.skipped, report.skipped_count)
    tell(asdict(report) | {"database": store.name}, _import_lines(report, store.name), json_path)
    workspace.close()
    if not report.traces:
        raise InputError("no trace could be read")


def _packets_among(files: Sequence[Path]) -> list[Path]:
    from core.workflows.packet_folder import is_packet

    packets = [file for file in files if file.is_dir() and is_packet(file)]
    if packets and len(packets) < len(files):
        raise ConfigError("import packets and captured traces one after the other")
    return packets


def _labelled_among(files: Sequence[Path]) -> list[Path]:
    from core.workflows.pre_label_import import is_labelled

    most = site_config().max_record_bytes
    labelled = [file for file in files if is_labelled(file, most)]
    if labelled and len(labelled) < len(files):
        raise ConfigError("import pre-labels and captured traces one after the other")
    return labelled


def _import_pre_labels(files: Sequence[Path], db: str | None, json_path: Path | None) -> None:
    from core.workflows.pre_label_import import import_pre_labels

    workspace = writing_database(db)
    user, most = workspace.people.local(), site_config().max_record_bytes
    done = {
        str(file): import_pre_labels(workspace.pre_labels, file, user, max_record_bytes=most)
        for file in files
    }
    lines = [
        f"{file}: {counted(one.rows, 'claim')}; {counted(one.new, 'pre-label')} new, "
        f"{len(one.skipped)} not kept"
        for file, one in done.items()
    ]
    tell_skipped([each for one in done.values() for each in one.skipped])
    documents = {file: asdict(one) for file, one in done.items()}
    tell({"pre_labels": documents, "database": workspace.name}, lines, json_path)
    workspace.close()


def _import_labels(
    files: Sequence[Path],
    db: str | None,
    json_path: Path | None,
    annotator: str,
    pre_labels: bool,
    dry_run: bool,
    unmatched: Path | None,
) -> None:
    from core.workflows.label_import import import_labels, left_csv, plan_labels, read_labels

    if unmatched is not None and len(files) > 1:
        raise ConfigError("--unmatched: one table at a time")
    workspace = writing_database(db)
    user, intake = workspace.people.local(), workspace.label_intake()
    lines: list[str] = []
    documents = {}
    noun = "pre-label" if pre_labels else "annotation"
    for file in files:
        table = read_labels(file.name, file.read_bytes())
        plan = plan_labels(intake, table, annotator, pre_labels=pre_labels)
        put = None
        if not dry_run:
            with Progress() as progress:
                put = import_labels(intake, plan, user, pre_labels=pre_labels, progress=progress)
        new, later = (len(plan.labels), []) if put is None else (put.votes, put.skipped)
        tell_skipped([*plan.reasons(), *later])
        if unmatched is not None:
            write_file(unmatched, left_csv(plan).encode())
        lines += table.notes
        lines.append(
            f"{file}: {plan.matched} of {counted(len(table.rows), 'row')} match; "
            f"{counted(new, noun)} {'would be ' if dry_run else ''}new, {plan.known} already there, "
            f"{len(plan.left) + len(later)} not kept"
        )
        documents[str(file)] = {
            "rows": len(table.rows), "matched": plan.matched, "new": new, "known": plan.known,
            "skipped": [*plan.reasons(), *later], "written": not dry_run,
        }  # fmt: skip
    tell({"labels": documents, "database": workspace.name}, lines, json_path)
    workspace.close()


def _import_packets(
    folders: Sequence[Path], db: str | None, json_path: Path | None, unsigned: bool
) -> None:
    from core.workflows.packet_import import import_packet

    workspace = writing_database(db)
    lines, documents = [], []
    for folder in folders:
        with Progress() as progress:
            done = import_packet(
                workspace.packet_intake(),
                folder,
                workspace.people.local(),
                max_record_bytes=site_config().max_record_bytes,
                unsigned=unsigned,
                progress=progress,
            )
        put = done.reviews
        tell_skipped(put.skipped)
        documents.append({"packet": str(folder), "changed": done.changed, **asdict(done)})
        lines += [
            f"{folder}: {counted(done.claims, 'claim')}; {counted(put.votes, 'annotation')} and "
            f"{counted(put.adjudications, 'decision')} new, {put.votes_known} and "
            f"{put.adjudications_known} already there, {len(put.skipped)} not kept",
            *done.notes,
            *([] if done.changed else ["nothing changed"]),
        ]
    tell({"packets": documents, "database": workspace.name}, lines, json_path)
    workspace.close()


def _import_lines(report: IngestReport, database: str) -> list[str]:
    lines = [
        f"{file.file}: {counted(file.traces, 'trace')} ({_joined(file.format, file.version)})"
        for file in report.files
    ]
    for tool in report.tools:
        unusable = f", {tool.not_evidence} of them no evidence" if tool.not_evidence else ""
        name = one_line(f"{tool.server}/{tool.tool}" if tool.server else tool.tool)
        lines.append(f"  {name}: {counted(tool.calls, 'output')}{unusable}")
    if report.without_answer:
        lines.append(f"{counted(report.without_answer, 'trace')} without an answer")
    if report.clashes:
        lines.append(f"{counted(report.clashes, 'trace')} with an id that another file has used")
    if report.without_evidence:
        lines.append(f"{counted(report.without_evidence, 'trace')} without any evidence")
    lines.append(
        f"{report.new} new, {report.changed} new versions, {report.unchanged} already there, "
        f"{report.skipped_count} skipped; in {database}"
    )
    return lines


def _joined(name: str, version: str | None) -> str:
    return f"{name} {version}" if version else name


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
    from core.workflows.trace_export import export_traces

    require(*files)
    config = site_config()
    try:
        report = export_traces(read_traces(files, format, config), to, out, config)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(out)) from None
    tell_skipped(report.refused, report.refused_count)
    for reason in report.partly:
        say(f"not the same when read back: {reason}")
    written = f"{counted(report.written, 'trace')} written to {out} as {to}"
    tell(asdict(report) | {"out": str(out)}, [written], json_path)
    if not report.written:
        raise InputError("no trace could be written")


def pull(
    store: Store,
    since: Annotated[
        str,
        typer.Option("--since", help="The day or time (ISO 8601, UTC without a zone) to begin at."),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The file of JSON lines to write; one there is continued.")
    ],
    project: ProjectOf = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on after the last record of the file: the last pull broke off."
        ),
    ] = False,
    json_path: JsonPath = None,
) -> None:
    """Fetch the records of a trace store into a file that import and verify read.

    Address and key come from the variables of the store's own client. Records are written as they
    were sent, the newest first, each once: the same command again adds what is new or came late.
    Nothing is sent but the question for records.
    """
    from datetime import datetime

    from core.workflows.pull import Wanted
    from core.workflows.pull import pull as pull_records

    try:
        began = datetime.fromisoformat(since)
    except ValueError:
        raise ConfigError(f"--since: expected 2026-11-01 or a time, found {since!r:.60}") from None
    wanted = Wanted(store=store, project=project, since=began, resume=resume)
    with Progress() as progress:
        pulled = pull_records(wanted, out, progress=progress)
    lines = [f"{counted(pulled.written, 'record')} written to {out}, {pulled.known} there already"]
    if pulled.unfinished:
        lines.append(
            f"{counted(pulled.unfinished, 'record')} not finished, left out: pull again later"
        )
    if pulled.unreadable:
        lines.append(f"{counted(pulled.unreadable, 'record')} without an id, left out")
    if pulled.headless:
        lines.append(
            f"{counted(pulled.headless, 'trace')} without the outermost record: not finished, or begun "
            "before --since; an answer may be missing there"
        )
    tell(pulled.document() | {"out": str(out)}, lines, json_path)


def push(
    store: Store,
    verdicts: Annotated[list[Path], typer.Argument(help="Verdicts that verify wrote.")],
    project: ProjectOf = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="Also write one for each judged claim.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Write the reasons and the claims' texts too: they quote the answer."
        ),
    ] = False,
    workbench: Annotated[
        str | None,
        typer.Option(
            "--workbench", help="The address of the workbench, for a link to the verdict."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only look what is there already; write nothing.")
    ] = False,
    json_path: JsonPath = None,
) -> None:
    """Write verdicts back to the trace store that the traces were pulled from.

    Each answer gets its state (provenanceguard.answer) and how many of its claims do not pass
    (provenanceguard.claims_stopped): scores in Langfuse, feedback in LangSmith, annotations in
    Phoenix. The same command again, also after one that broke off, writes only what differs.
    """
    from datetime import UTC, datetime

    from core.models.chat_client import http_address
    from core.workflows.push import Target, Telling, marks_of
    from core.workflows.push import push as push_marks
    from core.workflows.verdict_file import read_verdicts

    require(*verdicts)
    if workbench is not None:
        http_address("--workbench", workbench)
    found = list(read_verdicts(verdicts))
    skipped = [item for item in found if isinstance(item, InputError)]
    tell_skipped(skipped[:20], len(skipped))
    made = datetime.fromtimestamp(max(path.stat().st_mtime for path in verdicts), UTC)
    telling = Telling(claims=claims, explained=explain, workbench=workbench)
    marks = marks_of((one for one in found if not isinstance(one, InputError)), made, telling)
    if not marks:
        raise InputError("no verdict was found")
    target = Target(store=store, project=project, dry_run=dry_run)
    with Progress() as progress:
        pushed = push_marks(target, marks, progress=progress)
    done = "would be written" if dry_run else "written"
    lines = [
        f"{counted(pushed.answers, 'answer')}: {counted(pushed.written, 'mark')} {done} to {store}, "
        f"{pushed.unchanged} there already"
    ]
    if pushed.unknown:
        lines.append(f"{counted(pushed.unknown, 'mark')} of traces that {store} does not have")
    tell(pushed.document(), lines, json_path)


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
        write_json(json_path, {"log": str(log), "messages": wire.messages, "exit_code": code})
        raise SystemExit(code)
    from core.workflows.record import Recorder

    with Recorder(str(http), wire, port) as recorder:
        say(f"recording into {log}; connect the client to {recorder.url}")
        try:
            recorder.serve()
        except KeyboardInterrupt:
            say(f"{counted(wire.messages, 'message')} recorded in {log}")
            write_json(json_path, {"log": str(log), "messages": wire.messages, "exit_code": 0})
