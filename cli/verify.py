"""verify: a verdict for every claim, from files or from the database."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.judging import (
    Deciding,
    Judging,
    nli_model_for,
    tell_judge,
    verify_files,
    writing_database,
)
from cli.options import DatabaseUrl, Format, JsonPath, WholeAnswers
from cli.output import GATE_BLOCKED, Progress, counted, print_lines, say, tell
from core.errors import ConfigError, InputError
from core.site_config import site_config

if TYPE_CHECKING:
    from core.ports import Judge
    from core.records import Verification
    from core.workflows.verify import VerifyReport

JSON_STDOUT = Path("-")


class FailOn(StrEnum):
    """What makes a run end with exit code 1."""

    BLOCK = "block"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is asked of a run, whoever hands the traces to workers."""

    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write one verdict a line; continued when the file is there."),
    ] = None
    format: Format = "auto"
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option("--fail-on", help="End with exit code 1 when an answer has this decision."),
    ] = None
    allow_skipped: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-skipped",
            help="With --fail-on: a file whose unreadable records may be left out of the gate, "
            "by its name.",
        ),
    ] = None
    repair: Annotated[
        bool, typer.Option("--repair", help="Repair blocked answers, and verify them again.")
    ] = False
    workers: Annotated[
        int, typer.Option("--workers", min=1, help="Worker processes, for files.")
    ] = 1
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            help="A folder that keeps what was read, so that no run reads it again; at most 1 GB.",
        ),
    ] = None
    whole_answers: WholeAnswers = False

    @property
    def judged_by(self) -> Any:
        """What makes a judge of models and settings."""
        from core.workflows.verify import pipeline_judge

        if not self.repair:
            return pipeline_judge
        from core.workflows.repair import repairing_judge

        return repairing_judge()


@dataclass(slots=True)
class _Shown:
    """Each new verdict as lines on stdout (``printed``), or kept for the JSON document."""

    printed: bool
    kept: bool
    documents: list[dict[str, object]] = field(default_factory=list)
    began: bool = False

    def __call__(self, verified: Verification) -> None:
        if not (self.printed or self.kept):
            return
        from provenanceguard.results import verification_of
        from provenanceguard.text import LEGEND, block

        found = verification_of(verified)
        if self.kept:
            self.documents.append(found.to_dict())
        if self.printed:
            legend = [] if self.began else [LEGEND, ""]
            self.began = True
            print_lines([*legend, *block(found), ""], None)


def verify(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Captured traces; without any, what waits in the database."),
    ] = None,
    *,
    wanted: Run,
    deciding: Deciding,
    judging: Judging,
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
    judge, out = judging.asked(), wanted.out
    shown = _Shown(
        printed=out is None and not quiet and json_path != JSON_STDOUT,
        kept=out is None and json_path is not None,
    )
    if files:
        if db is not None:
            raise ConfigError("--db: files are verified without a database; leave out one of them")
        if judge is not None and wanted.workers > 1:
            raise ConfigError(
                "--judge: one process asks it, of several answers at once; leave out --workers"
            )
        if wanted.workers > 1:
            report = _verify_with_workers(files, wanted, deciding, shown)
        else:
            report = _verify_here(files, wanted, deciding, judging, judge, shown)
        tell_judge(judge)
    else:
        _refuse_for_database(wanted, judging)
        report = _verify_database(db, wanted, deciding, judging, judge)
    seconds = time.monotonic() - started
    document = verify_json(report, out, seconds)
    if files and shown.kept:
        document["answers"] = shown.documents
    brief = bool(files) and shown.printed
    lines = [one_line(report, seconds)] if brief else verify_lines(report, out, seconds)
    tell(document, lines, json_path)
    _gate(wanted, report)


def _gate(wanted: Run, report: VerifyReport) -> None:
    """End with exit code 1 where ``--fail-on`` asks for it."""
    from core.records import Decision

    if not wanted.fail_on:
        return
    if not report.traces:
        raise InputError("there is no trace to judge, so the gate cannot pass")
    if any(report.by_decision[Decision(named.value)] for named in wanted.fail_on):
        raise SystemExit(GATE_BLOCKED)
    if unread := _not_allowed(report, wanted.allow_skipped or []):
        say(
            f"error: {counted(unread, 'record')} could not be read, so the gate cannot pass; "
            "--allow-skipped FILE leaves a file's out"
        )
        raise SystemExit(GATE_BLOCKED)


def _not_allowed(report: VerifyReport, allowed: Sequence[str]) -> int:
    """How many unreadable records stand in files that were not named."""
    names = {Path(name).name for name in allowed}
    return sum(
        count
        for file, count in report.skipped_in.items()
        if file is None or not {Path(part).name for part in file.split(" + ")} <= names
    )


# ---------------------------------------------------------------- files


def _verify_here(
    files: Sequence[Path],
    wanted: Run,
    deciding: Deciding,
    judging: Judging,
    judge: Judge | None,
    shown: _Shown,
) -> VerifyReport:

    config = site_config()

    def models() -> Any:
        found = deciding.models(
            config,
            cache=wanted.cache,
            whole_answers=wanted.whole_answers,
        )
        return judging.beside(found, judge)

    return verify_files(
        files,
        wanted.out,
        wanted.format,
        wanted.judged_by,
        models,
        config,
        anew=bool(wanted.fail_on),
        shown=shown,
    )


def _verify_with_workers(
    files: Sequence[Path], wanted: Run, deciding: Deciding, shown: _Shown
) -> VerifyReport:
    from core.workflows.workers import Crew

    with Crew(
        wanted.workers,
        nli=nli_model_for(deciding.nli),
        calibrator=_folder(deciding.calibrator),
        repair=wanted.repair,
        cache=wanted.cache,
        whole_answers=wanted.whole_answers,
    ) as crew:
        judge = crew.judge()
        return verify_files(
            files,
            wanted.out,
            wanted.format,
            lambda models, config: judge,
            lambda: None,  # each worker loads its own
            site_config(),
            anew=bool(wanted.fail_on),
            batch=crew.batch,
            shown=shown,
        )


def _folder(calibrator: str | None) -> str | None:
    """The calibrator for other processes, which open no database."""
    if calibrator == "promoted":
        raise ConfigError("several workers: give a calibrator's folder, not 'promoted'")
    return None if calibrator in (None, "shipped") else _anywhere(calibrator)


def _anywhere(named: str | None) -> str | None:
    """A folder by its whole path: other processes have other working folders."""
    return str(Path(named).resolve()) if named is not None and Path(named).is_dir() else named


# ---------------------------------------------------------------- the database


def _refuse_for_database(wanted: Run, judging: Judging) -> None:
    """Raise ConfigError for what can be asked of files alone."""
    for given, option, why in (
        (judging.judge_dry_run, "--judge-dry-run", "; a database would keep what nobody read"),
        (
            wanted.whole_answers,
            "--whole-answers",
            "; in a database every claim passes by itself",
        ),
        (wanted.workers > 1, "--workers", "; a database has one verifier"),
        (wanted.out is not None, "--out", "; the database keeps its own verdicts"),
    ):
        if given:
            raise ConfigError(f"{option}: give the files to verify{why}")


def _verify_database(
    db: str | None, wanted: Run, deciding: Deciding, judging: Judging, judge: Judge | None
) -> VerifyReport:
    from core.workflows.verify import verify_pending

    config = site_config()
    workspace = writing_database(db)
    with Progress() as progress:
        report = verify_pending(
            workspace.store,
            judging.beside(
                deciding.models(config, workspace, cache=wanted.cache), judge, workspace
            ),
            config,
            progress,
            judged_by=wanted.judged_by,
            anew=bool(wanted.fail_on),
        )
    workspace.close()
    return report


# ---------------------------------------------------------------- what a run comes to


def one_line(report: VerifyReport, seconds: float) -> str:
    """The counts of a run in one line."""
    from core.workflows.verify import states_in_words

    skipped = f"; {counted(report.skipped, 'record')} skipped" if report.skipped else ""
    states = states_in_words(report.by_state)
    return f"{counted(report.traces, 'answer')}: {states}{skipped} ({seconds:.1f} s)"


def verify_lines(report: VerifyReport, out: Path | None, seconds: float) -> list[str]:
    """The counts of a run, answers and claims, a line each."""
    from core.workflows.verify import states_in_words

    verdicts = [
        f"  {label.value.replace('_', ' '):<20} {report.by_verdict[label]:>7}"
        for label in report.by_verdict
    ]
    kept = f"{report.kept} of them from before" if report.kept else ""
    return [
        one_line(report, seconds),
        *([f"  {kept}"] if kept else []),
        f"{counted(sum(report.by_verdict.values()), 'claim')}: {states_in_words(report.by_claim_state)}; "
        f"{report.set_aside} more set aside",
        *verdicts,
        f"  {'credited wrongly':<20} {report.conflations:>7}",
        *([f"written to {out}"] if out is not None else []),
    ]


def verify_json(report: VerifyReport, out: Path | None, seconds: float) -> dict[str, object]:
    """The counts of a run as `verify --json` writes them."""
    from core.records import Decision, State, VerdictLabel

    return {
        "traces": report.traces,
        "verified": report.verified,
        "kept": report.kept,
        "decisions": {decision.value: report.by_decision[decision] for decision in Decision},
        "states": {state.value: report.by_state[state] for state in State},
        "claim_states": {state.value: report.by_claim_state[state] for state in State},
        "claims": {label.value: report.by_verdict[label] for label in VerdictLabel},
        "set_aside": report.set_aside,
        "blocked_claims": report.blocked_claims,
        "conflations": report.conflations,
        "skipped": {"count": report.skipped, "reasons": report.reasons},
        "versions": asdict(report.versions),
        "out": str(out) if out is not None else None,
        "seconds": round(seconds, 3),
    }
