"""What runs on a Ray worker: read a part of a file, judge it, write its verdicts beside the others'.

Rows name parts and carry counts; no text of a trace passes through Ray, its store or its logs.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.capture.files import FilePart
from core.capture.parts import lines_in, traces_of_part
from core.codec import versions_document
from core.config import Config
from core.errors import InputError, ProvenanceGuardError
from core.records import Trace
from core.workflows.verify import BATCH_TRACES, Judge, VerifyReport, verify_file

Row = dict[str, Any]


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
        found = traces_of_part(part, {}, Config())
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
            return _judged(row, loaded, Path(told["out"]), anew=told["anew"])

        return _told(row, judge)


def _judge(told: Mapping[str, Any]) -> Judge:
    from core.workflows.worker import judge_of

    return judge_of(told)


def _judged(row: Row, judge: Judge, folder: Path, *, anew: bool) -> Row:
    numbers = {int(at): number for at, number in json.loads(row["numbers"]).items()}
    skipped: list[InputError] = []
    models: Any = None  # the judge has them
    report = verify_file(
        traces_of_part(_part(row), numbers, Config()),
        part_file(folder, row["number"]),
        models,
        Config(),
        batch=BATCH_TRACES,
        judged_by=lambda models, config: judge,
        skipped=skipped.append,
        anew=anew,
    )
    return {
        "report": json.dumps(_counts(report)),
        "skipped": json.dumps([[one.message, one.file, one.line, one.path] for one in skipped]),
        "versions": json.dumps(versions_document(judge.versions)),
    }


def _counts(report: VerifyReport) -> dict[str, object]:
    return {
        "verified": report.verified,
        "kept": report.kept,
        "by_decision": {one.value: count for one, count in report.by_decision.items()},
        "by_state": {one.value: count for one, count in report.by_state.items()},
        "by_claim_state": {one.value: count for one, count in report.by_claim_state.items()},
        "by_verdict": {one.value: count for one, count in report.by_verdict.items()},
        "set_aside": report.set_aside,
        "blocked_claims": report.blocked_claims,
        "conflations": report.conflations,
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
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}, line {last.lineno}"
        found = {"error": f"a fault in this program: {type(error).__name__} in {place}", "kind": ""}
    return {"number": row["number"], "error": "", "kind": "", **found}
