"""What a list of traces can be narrowed by: conditions on a trace version and its latest verdict."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, false, func, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from storage.columns import plain_text
from storage.tables import ImportRecord, TraceSlice, TraceVersion, Verdict
from storage.triage_tables import ReadingRequest, TraceMark, VerdictCause


def same_trace() -> ColumnElement[bool]:
    """Whether the slice is one of the trace version."""
    return col(TraceVersion.position) == col(TraceSlice.position)


def with_cause(cause: str) -> ColumnElement[bool]:
    """Whether the verdict holds a claim back for that cause."""
    return (
        select(1)
        .where(
            col(VerdictCause.verdict_id) == col(Verdict.verdict_id),
            col(VerdictCause.cause) == cause,
        )
        .correlate(Verdict)
        .exists()
    )


def of_batch(connection: Connection, import_id: int) -> ColumnElement[bool]:
    """Whether the trace version came with that import.

    An import names its files and its end; what an earlier import brought from them came before.
    """
    rows = connection.execute(
        select(col(ImportRecord.import_id), col(ImportRecord.files), col(ImportRecord.imported_at))
        .where(col(ImportRecord.import_id) <= import_id)
        .order_by(col(ImportRecord.import_id).desc())
    ).all()
    if not rows or rows[0].import_id != import_id:
        return false()
    names = _names(rows[0].files)
    earlier = next((row.imported_at for row in rows[1:] if names & _names(row.files)), None)
    came = [
        col(TraceVersion.file).in_(sorted(names)),
        col(TraceVersion.imported_at) <= rows[0].imported_at,
    ]
    if earlier is not None:
        came.append(col(TraceVersion.imported_at) > earlier)
    return and_(*came)


def _names(files: str) -> set[str]:
    return {plain_text(str(each["file"])) for each in json.loads(files)}


def with_flag() -> ColumnElement[bool]:
    """Whether the latest word of somebody on a flag of the trace is that it is flagged."""
    return _standing("flag", "unflag")


def with_tag(tag: str) -> ColumnElement[bool]:
    """Whether the latest word on that tag is that the trace has it."""
    return _standing("tag", "untag", plain_text(tag))


def _standing(given: str, taken: str, text: str | None = None) -> ColumnElement[bool]:
    """Whether a mark was given that nobody (of a flag: its giver) has taken back later."""
    later = aliased(TraceMark)
    same = col(later.text) == col(TraceMark.text)
    if text is None:
        same = col(later.person_id) == col(TraceMark.person_id)
    taken_back = (
        select(1)
        .where(
            col(later.position) == col(TraceMark.position),
            col(later.kind) == taken,
            same,
            col(later.mark_id) > col(TraceMark.mark_id),
        )
        .correlate(TraceMark)
        .exists()
    )
    conditions = [
        col(TraceMark.position) == col(TraceVersion.position),
        col(TraceMark.kind) == given,
        ~taken_back,
    ]
    if text is not None:
        conditions.append(col(TraceMark.text) == text)
    return select(1).where(*conditions).correlate(TraceVersion).exists()


def with_reader(person_id: int) -> ColumnElement[bool]:
    """Whether somebody gave the trace to that person to read."""
    return (
        select(1)
        .where(
            col(ReadingRequest.position) == col(TraceVersion.position),
            col(ReadingRequest.person_id) == person_id,
            col(ReadingRequest.now) == false(),
        )
        .correlate(TraceVersion)
        .exists()
    )


def batches(connection: Connection) -> list[tuple[int, str, Any, int]]:
    """The imports that brought something, the latest first: (id, files, when, how many traces)."""
    rows = connection.execute(
        select(
            col(ImportRecord.import_id),
            col(ImportRecord.files),
            col(ImportRecord.imported_at),
            (col(ImportRecord.new) + col(ImportRecord.changed)).label("traces"),
        )
        .where(col(ImportRecord.new) + col(ImportRecord.changed) > 0)
        .order_by(col(ImportRecord.import_id).desc())
    )
    return [
        (row.import_id, " + ".join(sorted(_names(row.files))), row.imported_at, row.traces)
        for row in rows
    ]


def causes(connection: Connection) -> dict[str, int]:
    """How many stored verdicts hold a claim back for each cause."""
    rows = connection.execute(
        select(col(VerdictCause.cause), func.count()).group_by(col(VerdictCause.cause))
    )
    return {row[0]: row[1] for row in rows}
