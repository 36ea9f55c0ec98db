"""verify: a verdict for every claim, from files or from the database."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.judging import judge_for as named_judge
from cli.judging import models_for, reader_for, tell_judge, verify_files, writing_database
from cli.options import (
    DatabaseUrl,
    Decides,
    Format,
    JsonPath,
    JudgeAsked,
    JudgedBy,
    JudgeDryRun,
    JudgeModel,
    JudgeUrl,
    Reader,
    WholeAnswers,
)
from cli.output import GATE_BLOCKED, Progress, counted, print_lines, require, say, write_json
from cli.verify_words import one_line, verify_json, verify_lines
from core.errors import ConfigError, InputError

if TYPE_CHECKING:
    from core.ports import Judge
    from core.records import Verification
    from core.workflows.verify import VerifyReport

EXAMPLE = "Example: provenanceguard verify traces.jsonl --out verdicts.jsonl --fail-on block"
JSON_STDOUT = Path("-")


class Engine(StrEnum):
    """What hands traces to workers."""

    HERE = "here"
    RAY = "ray"


class FailOn(StrEnum):
    """What makes a run end with exit code 1."""

    BLOCK = "block"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked of files, whoever hands them to workers."""

    files: Sequence[Path]
    out: Path | None
    format: str
    repair: bool
    workers: int
    cache: Path | None
    calibrator: str | None
    reader: str | None
    anew: bool
    by_kind: bool
    whole_answers: bool
    judge: Judge | None
    judge_for: str
    shown: Callable[[Verification], None]


@dataclass(slots=True)
class _Shown:
    """Each new verdict as lines on stdout (``printed``), or kept for the JSON document."""

    printed: bool
    kept: bool
    documents: list[dict[str, object]] = field(default_factory=list)

    def __call__(self, verified: Verification) -> None:
        if not (self.printed or self.kept):
            return
        from provenanceguard.results import verification_of
        from provenanceguard.text import block

        found = verification_of(verified)
        if self.kept:
            self.documents.append(found.to_dict())
        if self.printed:
            print_lines([*block(found), ""], None)


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
    allow_skipped: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-skipped",
            help="With --fail-on: a file whose unreadable records may be left out of the gate, "
            "by its name.",
        ),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair blocked answers, and verify them again.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Worker processes, for files.")
    ] = 1,
    engine: Annotated[
        Engine,
        typer.Option(
            "--engine",
            help="ray: the workers are those of the Ray cluster at RAY_ADDRESS, else of this "
            "machine; --out is a folder, whose files by name are the verdicts in order.",
        ),
    ] = Engine.HERE,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            help="A folder that keeps what was read, so that no run reads it again; at most 1 GB.",
        ),
    ] = None,
    threshold_by_kind: Annotated[
        bool,
        typer.Option(
            "--threshold-by-kind",
            help="Decide each kind of source by its own threshold, where the calibrator rests on "
            "enough labels of it, and the others by the one; for files.",
        ),
    ] = False,
    whole_answers: WholeAnswers = False,
    calibrator: Decides = None,
    reader: Reader = None,
    judge: JudgedBy = None,
    judge_model: JudgeModel = None,
    judge_url: JudgeUrl = None,
    judge_for: JudgeAsked = "unsure",
    judge_dry_run: JudgeDryRun = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print the counts alone, no answer and no claim.")
    ] = False,
    db: DatabaseUrl = None,
    json_path: JsonPath = None,
) -> None:
    """Verify traces: files, or all that wait in the database.

    Without --out each answer is printed claim by claim, what is wrong first; with it a run that was
    stopped goes on where it stopped when the same command is given again. Records that cannot be read
    are listed on stderr, and the others are verified; the exit code is 2 only when no trace could be
    read at all. With --fail-on every answer is judged in this run, whatever verdicts a database or
    --out already holds, and what could not be read fails the gate, unless its file is named with
    --allow-skipped.
    """
    started = time.monotonic()
    asked = named_judge(judge, judge_model, judge_url, dry_run=judge_dry_run)
    shown = _Shown(
        printed=out is None and not quiet and json_path != JSON_STDOUT,
        kept=out is None and json_path is not None,
    )
    if files:
        if db is not None:
            raise ConfigError("--db: files are verified without a database; leave out one of them")
        verifying = _verify_files if engine is Engine.HERE else _verify_on_ray
        report = verifying(
            Asked(
                files=files,
                out=out,
                format=format,
                repair=repair,
                workers=workers,
                cache=cache,
                calibrator=calibrator,
                reader=reader,
                anew=bool(fail_on),
                by_kind=threshold_by_kind,
                whole_answers=whole_answers,
                judge=asked,
                judge_for=judge_for,
                shown=shown,
            )
        )
        tell_judge(asked)
    else:
        if asked is not None:
            raise ConfigError(
                "--judge: give the files to verify; a database's are verified offline"
            )
        if engine is Engine.RAY:
            raise ConfigError("--engine ray: give the files to verify")
        if threshold_by_kind:
            raise ConfigError(
                "--threshold-by-kind: give the files to verify; a database's gate is the one threshold "
                "that a lead promoted"
            )
        if whole_answers:
            raise ConfigError(
                "--whole-answers: give the files to verify; in a database every claim passes by itself"
            )
        if workers > 1:
            raise ConfigError("--workers: give the files to verify; a database has one verifier")
        if out is not None:
            raise ConfigError(
                "--out: give the files to verify; the database keeps its own verdicts"
            )
        report = _verify_database(
            db, _judged_by(repair), calibrator, reader, cache, anew=bool(fail_on)
        )
    seconds = time.monotonic() - started
    document = verify_json(report, out, seconds)
    if files and shown.kept:
        document["answers"] = shown.documents
    write_json(json_path, document)
    brief = bool(files) and shown.printed
    lines = [one_line(report, seconds)] if brief else verify_lines(report, out, seconds)
    print_lines(lines, json_path)
    if fail_on and not report.traces:
        raise InputError("there is no trace to judge, so the gate cannot pass")
    if any(report.by_decision[_decision(named)] for named in fail_on or []):
        raise SystemExit(GATE_BLOCKED)
    if fail_on and (unread := _not_allowed(report, allow_skipped or [])):
        say(
            f"error: {counted(unread, 'record')} could not be read, so the gate cannot pass; "
            "--allow-skipped FILE leaves a file's out"
        )
        raise SystemExit(GATE_BLOCKED)


def _verify_files(asked: Asked) -> VerifyReport:
    if asked.workers == 1:
        return verify_files(
            asked.files,
            asked.out,
            asked.format,
            _judged_by(asked.repair),
            decides=asked.calibrator,
            reader=asked.reader,
            anew=asked.anew,
            cache=asked.cache,
            by_kind=asked.by_kind,
            whole_answers=asked.whole_answers,
            judge=asked.judge,
            asked=asked.judge_for,
            shown=asked.shown,
        )
    _of_one_process(asked)
    from core.workflows.workers import Crew

    with Crew(
        asked.workers,
        reader=reader_for(asked.reader),
        calibrator=_folder(asked.calibrator),
        repair=asked.repair,
        cache=asked.cache,
        by_kind=asked.by_kind,
        whole_answers=asked.whole_answers,
    ) as crew:
        judge = crew.judge()
        return verify_files(
            asked.files,
            asked.out,
            asked.format,
            lambda models, config: judge,
            anew=asked.anew,
            crew=crew,
            shown=asked.shown,
        )


def _of_one_process(asked: Asked) -> None:
    if asked.judge is not None:
        raise ConfigError(
            "--judge: one process asks it, of several answers at once; leave out --workers"
        )


def _verify_on_ray(asked: Asked) -> VerifyReport:
    _of_one_process(asked)
    from core.workflows.ray_engine import RayRun, verify_on_ray

    if asked.out is None:
        raise ConfigError("--engine ray: give a folder for the verdicts with --out")
    if asked.format not in ("auto", "native"):
        raise ConfigError("--engine ray: reads native traces; `convert --to native` makes them")
    require(asked.files)
    run = RayRun(
        files=[file.resolve() for file in asked.files],
        out=asked.out,
        workers=asked.workers,
        reader=_anywhere(reader_for(asked.reader)),
        calibrator=_folder(asked.calibrator),
        repair=asked.repair,
        cache=asked.cache,
        anew=asked.anew,
        by_kind=asked.by_kind,
        whole_answers=asked.whole_answers,
    )
    with Progress() as progress:
        return verify_on_ray(run, progress, lambda error: say(f"skipped: {error.located()}"))


def _folder(calibrator: str | None) -> str | None:
    """The calibrator for other processes, which open no database."""
    if calibrator == "promoted":
        raise ConfigError("several workers: give a calibrator's folder, not 'promoted'")
    return None if calibrator in (None, "shipped") else _anywhere(calibrator)


def _anywhere(named: str | None) -> str | None:
    """A folder by its whole path: other processes have other working folders."""
    return str(Path(named).resolve()) if named is not None and Path(named).is_dir() else named


def _not_allowed(report: VerifyReport, allowed: Sequence[str]) -> int:
    """How many unreadable records stand in files that were not named."""
    names = {Path(name).name for name in allowed}
    return sum(
        count
        for file, count in report.skipped_in.items()
        if file is None or not {Path(part).name for part in file.split(" + ")} <= names
    )


def _judged_by(repair: bool) -> Any:
    from core.workflows.verify import pipeline_judge

    if not repair:
        return pipeline_judge
    from core.workflows.repair import repairing_judge

    return repairing_judge()


def _verify_database(
    db: str | None,
    judged_by: Any,
    decides: str | None,
    reader: str | None,
    cache: Path | None,
    *,
    anew: bool,
) -> VerifyReport:
    from core.config import Config
    from core.workflows.verify import verify_pending

    config = Config()
    workspace = writing_database(db)
    with Progress() as progress:
        models = models_for(config, decides, workspace, reader, cache)
        report = verify_pending(
            workspace.store, models, config, progress, judged_by=judged_by, anew=anew
        )
    workspace.close()
    return report


def _decision(named: FailOn) -> Any:
    from core.records import Decision

    return Decision(named.value)
