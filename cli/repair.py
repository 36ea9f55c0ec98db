"""repair: revised answers, from files or from the database."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.judging import Deciding, open_database, verify_files, writing_database
from cli.options import DatabaseUrl, Format, JsonPath
from cli.output import (
    Progress,
    counted,
    metric_lines,
    print_lines,
    say,
    write_file,
    write_json,
)
from core.errors import ConfigError, InputError, UnreadableFile

if TYPE_CHECKING:
    from core.config import Config
    from core.workflows.repair import RepairReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Editing:
    """How often answers are revised, and the language model that words it, if any."""

    iterations: Annotated[
        int, typer.Option("--iterations", help="How many revisions an answer may get, 1 to 3.")
    ] = 1
    editor_model: Annotated[
        str | None,
        typer.Option(
            "--editor-model",
            help="Let this language model word what is reworded; off unless it is named.",
        ),
    ] = None
    editor_url: Annotated[
        str | None,
        typer.Option(
            "--editor-url",
            help="Its OpenAI-compatible endpoint; else http://127.0.0.1:11434/v1. A key, if one is "
            "needed, is read from PROVENANCEGUARD_EDITOR_KEY.",
        ),
    ] = None
    editor_timeout: Annotated[
        float, typer.Option("--editor-timeout", help="Seconds until the rules write it instead.")
    ] = 30.0
    allow_remote_editor: Annotated[
        bool,
        typer.Option(
            "--allow-remote-editor",
            help="Allow an endpoint on another machine: statements and their evidence leave this one.",
        ),
    ] = False

    def editor(self) -> Any:
        """The editor, None where no model is named."""
        if self.editor_model is None:
            if self.editor_url is not None:
                raise ConfigError("--editor-url: name the model too, with --editor-model")
            return None
        from core.models.editor import LOCAL_ENDPOINT, EditorSettings, load_editor

        return load_editor(
            EditorSettings(
                model=self.editor_model,
                endpoint=self.editor_url or LOCAL_ENDPOINT,
                timeout_seconds=self.editor_timeout,
                allow_remote=self.allow_remote_editor,
                api_key=os.environ.get("PROVENANCEGUARD_EDITOR_KEY", "none"),
            )
        )


def repair(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Captured traces; without any, the blocked answers in the database."),
    ] = None,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write one verdict with its repair a line; continued."),
    ] = None,
    choices: Annotated[
        Path | None,
        typer.Option("--choices", help="Write the stored repairs with what reviewers chose."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="Labelled claims (.jsonl, .jsonl.gz) of these traces: count the true ones that the "
            "edits take out and the false ones that they leave. Needs --out.",
        ),
    ] = None,
    remove_unconfirmed: Annotated[
        bool,
        typer.Option(
            "--remove-unconfirmed",
            help="Take out what could not be confirmed, as the paper does; else it is marked.",
        ),
    ] = False,
    editing: Editing,
    deciding: Deciding,
    format: Format = "auto",
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Propose edits of blocked answers: correct what the sources say otherwise, mark the rest.

    Everything that is supported stays, and so does what could not be confirmed, with a mark. Nothing
    is final before a person has decided each edit and the text that results was verified. From files
    to a file of verdicts, or into the database, where reviewers accept, edit or reject each edit.
    """
    from core.config import Config
    from core.workflows.repair import RepairReport, repairing_judge

    config = Config(
        repair_iterations=editing.iterations, repair_removes_unconfirmed=remove_unconfirmed
    )
    if labels is not None and (out is None or not files):
        raise ConfigError("--labels: give the traces, and --out for what became of them")
    editor = editing.editor()
    report = RepairReport()
    if choices is not None:
        _write_choices(choices, db)
    elif files:
        if db is not None:
            raise ConfigError("--db: files are repaired without a database; leave out one of them")
        made = verify_files(
            files,
            out,
            format,
            repairing_judge(editor, report),
            lambda: deciding.models(config),
            config,
        )
        if made.kept and out is not None:  # the figures are of the whole file
            report = report_of(out)
    else:
        if out is not None:
            raise ConfigError("--out: give the files to repair; the database keeps its own repairs")
        _repair_database(db, config, editor, report, deciding)
    figures = dict(report.document())
    if labels is not None and out is not None:
        figures["labelled"] = _labelled(out, labels)
    write_json(json_path, figures)
    if choices is None:
        print_lines(metric_lines(figures), json_path)


def report_of(out: Path) -> RepairReport:
    """The figures of a whole file of repaired verdicts."""
    from core.codec import repair_from_document
    from core.workflows.repair import RepairReport

    report = RepairReport()
    for document in _json_lines(out):
        report.add(repair_from_document(document["repair"]))
    return report


def _labelled(out: Path, labels: Path) -> Mapping[str, object]:
    """What the repairs of a file did to the statements that are labelled true or false."""
    from core.codec import verification_from_document
    from core.workflows.repair_labels import count_labelled, labels_of

    found = labels_of(_json_lines(labels))
    repaired = map(verification_from_document, _json_lines(out))
    return count_labelled(repaired, found).document()


def _repair_database(
    db: str | None, config: Config, editor: Any, report: RepairReport, deciding: Deciding
) -> None:
    from core.repair.loop import overruled
    from core.workflows.repair import repair_trace, settled_of, stale_repairs

    workspace = writing_database(db)
    store, repairs = workspace.store, workspace.repairs
    with Progress() as progress:
        waiting = [row for row, _ in repairs.without(stale_repairs(repairs.on_labels()))]
        models = deciding.models(config, workspace)
        for done, row in enumerate(waiting, start=1):
            version = row.content_hash
            read = store.get_verdict(row.trace_id, content_hash=version).verification
            people = store.by_people(version)
            settled = settled_of(read, people.labels if people else {})
            trace = store.get_trace(row.trace_id, version).trace
            outcome = repair_trace(trace, models, config, editor, settled)
            repairs.put(version, outcome, overruled(read, settled))
            report.add(outcome)
            progress(done, len(waiting), "answers")
    workspace.close()


def _write_choices(path: Path, db: str | None) -> None:

    workspace = open_database(db)
    rows = workspace.repairs.export()
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_file(path, text.encode("utf-8"))
    workspace.close()
    say(f"{counted(len(rows), 'repair')} written to {path}")


def _json_lines(path: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
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
