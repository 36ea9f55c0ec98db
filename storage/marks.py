"""Marks: flags, comments and tags on traces, added and never changed; the latest word counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Connection, false, insert, select
from sqlmodel import col

from core.errors import InputError
from core.review.records import Person
from storage.audit import append_event
from storage.columns import plain_text
from storage.records import TraceMarks
from storage.review_tables import PersonRow
from storage.tables import TraceVersion
from storage.traces import trace_key
from storage.triage_tables import ReadingRequest, TraceMark

COMMENT_CHARACTERS, TAG_CHARACTERS = 4_000, 60


class MarkKind(StrEnum):
    """What a mark says."""

    FLAG = "flag"
    UNFLAG = "unflag"
    COMMENT = "comment"
    TAG = "tag"
    UNTAG = "untag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A mark as written: by whom, when, on which claim (None: the whole answer)."""

    kind: MarkKind
    text: str
    claim_id: str | None
    person: str
    at: datetime


def add_marks(
    connection: Connection,
    positions: Sequence[int],
    kind: MarkKind,
    text: str,
    *,
    by: Person,
    at: datetime,
    claim_id: str | None = None,
) -> None:
    """Say the same of each trace; the trail tells that it was said, not what. Raises InputError."""
    said = " ".join(plain_text(text).split()) if kind is not MarkKind.COMMENT else plain_text(text)
    limit = COMMENT_CHARACTERS if kind is MarkKind.COMMENT else TAG_CHARACTERS
    if kind in (MarkKind.COMMENT, MarkKind.TAG, MarkKind.UNTAG) and not said.strip():
        raise InputError("there is nothing in it", path=kind.value)
    if len(said) > limit:
        raise InputError(f"expected at most {limit:,} characters", path=kind.value)
    if not positions:
        return
    connection.execute(
        insert(TraceMark),
        [
            {
                "position": position,
                "claim_id": claim_id,
                "kind": kind.value,
                "text": said.strip(),
                "person_id": by.person_id,
                "at": at,
            }
            for position in positions
        ],
    )
    append_event(
        connection,
        at=at,
        actor=by.name,
        action="trace.marked",
        entity=f"{len(positions)} traces" if len(positions) > 1 else f"trace {positions[0]}",
        detail={"kind": kind.value, "positions": list(positions)},
    )


def marks_on(connection: Connection, position: int) -> tuple[Mark, ...]:
    """Every mark on a trace as written, the oldest first."""
    rows = connection.execute(
        select(TraceMark.__table__, col(PersonRow.name))  # type: ignore[attr-defined]
        .join(PersonRow, col(PersonRow.person_id) == col(TraceMark.person_id))
        .where(col(TraceMark.position) == position)
        .order_by(col(TraceMark.mark_id))
    )
    return tuple(
        Mark(
            kind=MarkKind(row.kind),
            text=row.text,
            claim_id=row.claim_id,
            person=row.name,
            at=row.at,
        )
        for row in rows
    )


def standing_marks(connection: Connection, positions: Collection[int]) -> Mapping[int, TraceMarks]:
    """What stands of the marks on these traces, and who is to read them: position → marks."""
    flags: dict[int, dict[str, bool]] = {}
    tags: dict[int, dict[str, bool]] = {}
    comments: dict[int, int] = {}
    readers: dict[int, list[str]] = {}
    for row in connection.execute(
        select(
            col(TraceMark.position), col(TraceMark.kind), col(TraceMark.text), col(PersonRow.name)
        )
        .join(PersonRow, col(PersonRow.person_id) == col(TraceMark.person_id))
        .where(col(TraceMark.position).in_(positions))
        .order_by(col(TraceMark.mark_id))
    ):
        kind = MarkKind(row.kind)
        if kind is MarkKind.COMMENT:
            comments[row.position] = comments.get(row.position, 0) + 1
        elif kind in (MarkKind.FLAG, MarkKind.UNFLAG):
            flags.setdefault(row.position, {})[row.name] = kind is MarkKind.FLAG
        else:
            tags.setdefault(row.position, {})[row.text] = kind is MarkKind.TAG
    for asked in connection.execute(
        select(col(ReadingRequest.position), col(PersonRow.name))
        .outerjoin(PersonRow, col(PersonRow.person_id) == col(ReadingRequest.person_id))
        .where(col(ReadingRequest.position).in_(positions), col(ReadingRequest.now) == false())
        .order_by(col(ReadingRequest.request_id))
    ):
        readers.setdefault(asked.position, []).append(asked.name or "")
    return {
        position: TraceMarks(
            flagged_by=tuple(name for name, on in flags.get(position, {}).items() if on),
            tags=tuple(sorted(name for name, on in tags.get(position, {}).items() if on)),
            comments=comments.get(position, 0),
            readers=tuple(dict.fromkeys(readers.get(position, ()))),
        )
        for position in positions
    }


def tags_in_use(connection: Connection) -> tuple[str, ...]:
    """Every tag that was ever given, by name."""
    rows = connection.execute(
        select(col(TraceMark.text)).where(col(TraceMark.kind) == MarkKind.TAG.value).distinct()
    )
    return tuple(sorted(rows.scalars()))


def newest_positions(connection: Connection, trace_ids: Sequence[str]) -> dict[str, int]:
    """The newest version of each of these traces: id → position; unknown ones are left out."""
    keys = {trace_key(each): each for each in trace_ids}
    rows = connection.execute(
        select(col(TraceVersion.trace_key), col(TraceVersion.position))
        .where(col(TraceVersion.trace_key).in_(list(keys)))
        .order_by(col(TraceVersion.version))
    )
    return {keys[row.trace_key]: row.position for row in rows}
