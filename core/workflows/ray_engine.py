"""verify_on_ray: files judged in parts by the workers of a Ray cluster, as one process judges them.

Ray Data hands out the parts, starts workers, and gives the part of a machine that is gone to another.
A part's verdicts are one file in the folder of verdicts, written by its worker; one that was begun is
continued as ``verify_file`` continues any. Read in the order of their names these files are, seconds
apart, the bytes of a single process. Nothing is sorted, joined or sent between workers: what would be
read back from them is already where it belongs.

Traces are not read by Ray itself: it would infer one schema for all, and an absent field would become
a null one, a number another.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.capture.files import FilePart
from core.capture.parts import PART_BYTES, lines_in, parts_of, traces_of_part
from core.capture.reading import Names
from core.codec import versions_document, versions_from_document
from core.errors import (
    ComponentUnavailable,
    ConfigError,
    InputError,
    ProvenanceGuardError,
    fault_words,
)
from core.ports import Progress
from core.records import Decision, State, Trace, VerdictLabel
from core.site_config import site_config
from core.workflows.verify import BATCH_TRACES, Judge, VerifyReport, silent, verify_file

Row = dict[str, Any]
# What a worker counts of a part, and of what, where that is counted by value.
_COUNTED: Mapping[str, Callable[[str], Any] | None] = {
    "verified": None, "kept": None, "set_aside": None, "blocked_claims": None, "conflations": None,
    "by_decision": Decision, "by_state": State, "by_claim_state": State, "by_verdict": VerdictLabel,
}  # fmt: skip


def row_of(part: FilePart, number: int) -> Row:
    """The part as a row of plain values."""
    return {
        "number": number,
        "file": str(part.path),
        "start": part.start,
        "end": part.end,
        "rows": part.rows,
        "first_line": part.first_line,
    }


def part_file(folder: Path, number: int) -> Path:
    """Where the verdicts of a part are written; by name the parts stand in the order of the input."""
    return folder / f"part-{number:08d}.jsonl"


def index_part(row: Row) -> Row:
    """The ids of a part's traces in order, and its lines: one id may stand in several parts."""

    def index() -> Row:
        part = _part(row)
        found = traces_of_part(part, {}, site_config())
        ids = [one.trace_id for one in found if isinstance(one, Trace)]
        return {"ids": ids, "lines": lines_in(part)}

    return _told(row, index)


class PartJudge:
    """Judges parts with models that are loaded once, with the first of them."""

    def __init__(self) -> None:
        self._loaded: Judge | None = None

    def __call__(self, row: Row) -> Row:
        """What became of the part: counts, skipped records, versions, or what went wrong."""

        def judge() -> Row:
            told = json.loads(row["told"])
            loaded = self._loaded = self._loaded or _judge(told)
            return _judged_part(row, loaded, Path(told["out"]), anew=told["anew"])

        return _told(row, judge)


def _judge(told: Mapping[str, Any]) -> Judge:
    from core.workflows.workers import judge_of

    return judge_of(told)


def _judged_part(row: Row, judge: Judge, folder: Path, *, anew: bool) -> Row:
    numbers = {int(at): number for at, number in json.loads(row["numbers"]).items()}
    skipped: list[InputError] = []
    models: Any = None  # the judge has them
    report = verify_file(
        traces_of_part(_part(row), numbers, site_config()),
        part_file(folder, row["number"]),
        models,
        site_config(),
        batch=BATCH_TRACES,
        judged_by=lambda models, config: judge,
        skipped=skipped.append,
        anew=anew,
    )
    return {
        "report": json.dumps({name: getattr(report, name) for name in _COUNTED}),
        "skipped": json.dumps([[one.message, one.file, one.line, one.path] for one in skipped]),
        "versions": json.dumps(versions_document(judge.versions)),
    }


def _part(row: Row) -> FilePart:
    return FilePart(
        path=Path(row["file"]),
        start=row["start"],
        end=row["end"],
        rows=row["rows"],
        first_line=row["first_line"],
    )


def _told(row: Row, what: Callable[[], Row]) -> Row:
    """The row with what came of it. Every error is a value: Ray would log its message and values."""
    try:
        found = what()
    except (ProvenanceGuardError, OSError) as error:
        found = {"error": str(error), "kind": type(error).__name__}
    except Exception as error:
        found = {"error": fault_words(error), "kind": ""}
    return {"number": row["number"], "error": "", "kind": "", **found}


ATTEMPTS = 3  # a part that ends as many workers stops the run
MOST_BLOCKS = 10_000  # parts beyond as many are handed out several at once
MISSING = "Ray is not installed: pip install 'provenanceguard-workbench[ray]'"


@dataclass(frozen=True, slots=True, kw_only=True)
class RayRun:
    """What is judged, by how many workers and with which models, into which folder."""

    files: Sequence[Path]
    out: Path
    workers: int = 1
    nli: str | None = None
    calibrator: str | None = None
    repair: bool = False
    cache: Path | None = None
    anew: bool = False
    whole_answers: bool = False
    part_bytes: int = PART_BYTES


def verify_on_ray(
    run: RayRun,
    progress: Progress = silent,
    skipped: Callable[[InputError], None] = lambda error: None,
) -> VerifyReport:
    """Judge the files on the cluster that RAY_ADDRESS names, else on a Ray of this machine alone.

    The folder must be the same on all machines, as must files, models and this program. Raises
    ComponentUnavailable when Ray or a model is missing, workers differ, or a part ends several of
    them; InputError for files that cannot be read in parts.
    """
    ray = _ray()
    parts = parts_of(run.files, site_config(), run.part_bytes)
    if not parts:
        raise InputError("no trace could be read")
    _refuse_another_run(run.out, len(parts))
    # Ray prints what becomes of its workers; results stand on stdout.
    with redirect_stdout(sys.stderr), _cluster(ray):
        rows, traces = _indexed(ray, parts)
        progress(0, traces, "traces")
        return _collected(_judged(ray, rows, run), traces, progress, skipped)


def _ray() -> Any:
    # Nothing leaves these machines: read when Ray is imported.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what ends a run is raised
    try:
        import ray
        import ray.data
    except ImportError:
        raise ComponentUnavailable(MISSING) from None
    return ray


class _cluster:
    """Ray for as long as the block runs; its own complaints become one of ours."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray

    def __enter__(self) -> None:
        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)
        address = os.environ.get("RAY_ADDRESS")
        alone = {} if address else {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
        try:
            self._ray.init(
                address=address or "local", logging_level="ERROR", log_to_driver=False, **alone
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            first = str(error).strip().splitlines()[0]
            raise ComponentUnavailable(f"Ray at {address or 'this machine'}: {first}") from None
        context = self._ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.print_on_execution_start = False
        context.execution_options.preserve_order = True

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._ray.shutdown()
        if isinstance(error, self._ray.exceptions.RayError):
            raise ComponentUnavailable(
                f"Ray gave up ({type(error).__name__}): a part ended {ATTEMPTS} workers, or no "
                "machine is left; what was judged is kept"
            ) from None


def _indexed(ray: Any, parts: Sequence[FilePart]) -> tuple[list[Row], int]:
    """The parts as rows that know their first line, and which of their ids stood there before."""
    found = ray.data.from_items(
        [row_of(part, number) for number, part in enumerate(parts)],
        override_num_blocks=min(len(parts), MOST_BLOCKS),
    ).map(index_part, num_cpus=1)
    rows, traces, line = [], 0, 1
    names = Names()
    for part, (number, index) in zip(parts, enumerate(_sound(found)), strict=True):
        if number and part.path != parts[number - 1].path:
            names, line = Names(), 1
        each = [names.number(trace_id) for trace_id in index["ids"]]
        again = {at: count for at, count in enumerate(each) if count > 1}
        row = row_of(dataclasses.replace(part, first_line=line), number)
        rows.append(row | {"numbers": json.dumps(again)})
        traces, line = traces + len(each), line + index["lines"]
    return rows, traces


def _judged(ray: Any, rows: Sequence[Row], run: RayRun) -> Iterator[Row]:
    told = {
        "reader": run.nli,
        "calibrator": run.calibrator,
        "repair": run.repair,
        "cache": None if run.cache is None else str(run.cache.resolve()),
        "out": str(run.out.resolve()),
        "anew": run.anew,
        "whole_answers": run.whole_answers,
        "threads": 1,  # Ray counts a worker as one processor
    }
    run.out.mkdir(parents=True, exist_ok=True, mode=0o700)
    each = [row | {"told": json.dumps(told)} for row in rows]
    with warnings.catch_warnings():
        # Without a limit Ray would give a part that ends workers to the next for ever.
        warnings.filterwarnings("ignore", message=".*ray_remote_args")
        blocks = min(len(each), MOST_BLOCKS)
        judged = ray.data.from_items(each, override_num_blocks=blocks).map(
            PartJudge,
            compute=ray.data.ActorPoolStrategy(size=min(run.workers, blocks)),
            num_cpus=1,
            max_task_retries=ATTEMPTS - 1,
            runtime_env={"env_vars": _environment()},
        )
    return _sound(judged)


def _environment() -> dict[str, str]:
    """What libraries read before a worker's first line runs."""
    passed = {
        name: os.environ[name] for name in ("PROVENANCEGUARD_FAMILIES",) if name in os.environ
    }
    # Ray would give each worker one: sums outside torch are shared among as many as in one process.
    threads = str(os.cpu_count() or 1)
    return {"OMP_NUM_THREADS": threads, "HF_HUB_OFFLINE": "1", **passed}


def _sound(rows: Any) -> Iterator[Row]:
    """The rows as they come; raises what a worker says went wrong."""
    for row in rows.iter_rows():
        if row["error"]:
            kinds = {"ConfigError": ConfigError, "InputError": InputError}
            raise kinds.get(row["kind"], ComponentUnavailable)(str(row["error"]))
        yield row


def _collected(
    rows: Iterator[Row],
    traces: int,
    progress: Progress,
    skipped: Callable[[InputError], None],
) -> VerifyReport:
    report: VerifyReport | None = None
    for row in rows:
        versions = versions_from_document(json.loads(row["versions"]))
        report = report or VerifyReport(versions=versions)
        if versions != report.versions:
            raise ComponentUnavailable("the workers did not load the same models")
        _add(report, json.loads(row["report"]))
        for message, file, line, path in json.loads(row["skipped"]):
            error = InputError(message, file=file, line=line, path=path)
            report.skip(error)
            skipped(error)
        progress(report.traces, traces, "traces")
    assert report is not None  # there is a part, and each gives a row or raises
    return report


def _add(report: VerifyReport, counts: Mapping[str, Any]) -> None:
    for name, kind in _COUNTED.items():
        found = counts[name]
        if kind is not None:
            found = Counter({kind(value): count for value, count in found.items()})
        setattr(report, name, getattr(report, name) + found)


def _refuse_another_run(folder: Path, parts: int) -> None:
    """Verdicts of more parts than there are would be read with these."""
    if folder.exists() and not folder.is_dir():
        raise InputError(
            "--engine ray writes a folder of verdicts; this is a file", file=str(folder)
        )
    known = {part_file(folder, number).name for number in range(parts)}
    if folder.is_dir() and (strange := {one.name for one in folder.iterdir()} - known):
        raise InputError(
            f"holds {min(strange)}, which is no part of this run; give another folder",
            file=str(folder),
        )
