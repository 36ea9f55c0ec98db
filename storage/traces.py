"""Traces: kept by content hash, every version of them, and found again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, exists, func, insert, select
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.codec import canonical_json, content_hash, trace_document, trace_from_document
from core.errors import NotFound
from core.records import Trace
from storage import records
from storage.audit import append_event, sha256_of
from storage.records import TracesPut
from storage.tables import SLICE_CHARACTERS, Run, TraceSlice, TraceVersion, Verdict

WINDOW_TRACES = 200
WINDOW_CHARACTERS = 16_000_000
NEAR = 2_000  # traces before and after one in which its conversation is looked for
NEAREST = 200


class Incoming:
    """A trace on its way in, with what is computed of it once."""

    __slots__ = ("content_hash", "document", "trace")

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.content_hash = content_hash(trace)
        self.document = canonical_json(trace_document(trace))


def windows(traces: Iterable[Trace]) -> Iterator[list[Incoming]]:
    """The traces in windows that fit into one transaction, and into memory."""
    window: list[Incoming] = []
    characters = 0
    for trace in traces:
        incoming = Incoming(trace)
        window.append(incoming)
        characters += len(incoming.document)
        if len(window) >= WINDOW_TRACES or characters >= WINDOW_CHARACTERS:
            yield window
            window, characters = [], 0
    if window:
        yield window


def put_window(
    connection: Connection, window: Sequence[Incoming], *, at: datetime, actor: str
) -> TracesPut:
    """Keep a window of traces; the caller's transaction holds the write lock."""
    count = TracesPut()
    known = _known_hashes(connection, [one.content_hash for one in window])
    versions = _last_versions(connection, [trace_key(one.trace.trace_id) for one in window])
    stored: list[tuple[str, str]] = []
    for one in window:
        if one.content_hash in known:
            count.unchanged += 1
            continue
        known.add(one.content_hash)
        key = trace_key(one.trace.trace_id)
        versions[key] = versions.get(key, 0) + 1
        if versions[key] == 1:
            count.new += 1
        else:
            count.changed += 1
        _insert(connection, one, version=versions[key], at=at)
        stored.append((one.content_hash, sha256_of(one.document)))
    if stored:
        append_event(connection, at, actor, "traces.stored", "traces", {"traces": stored})
    return count


def files_of(connection: Connection, trace_ids: Sequence[str]) -> dict[str, dict[str, str | None]]:
    """For each of these ids that is known: content hash → file, of every version of it."""
    keys = {trace_key(each): each for each in trace_ids}
    rows = connection.execute(
        select(
            col(TraceVersion.trace_key), col(TraceVersion.content_hash), col(TraceVersion.file)
        ).where(col(TraceVersion.trace_key).in_(list(keys)))
    )
    found: dict[str, dict[str, str | None]] = {}
    for row in rows:
        found.setdefault(keys[row.trace_key], {})[row.content_hash] = row.file
    return found


def trace_key(trace_id: str) -> str:
    """The hash by which the versions of one trace id are found, whatever its length."""
    return sha256_of(json.dumps(trace_id))


def _known_hashes(connection: Connection, hashes: Sequence[str]) -> set[str]:
    column = col(TraceVersion.content_hash)
    return set(connection.execute(select(column).where(column.in_(hashes))).scalars())


def _last_versions(connection: Connection, keys: Sequence[str]) -> dict[str, int]:
    key = col(TraceVersion.trace_key)
    rows = connection.execute(
        select(key, func.max(col(TraceVersion.version))).where(key.in_(keys)).group_by(key)
    )
    return {row[0]: row[1] for row in rows}


def _insert(connection: Connection, one: Incoming, *, version: int, at: datetime) -> None:
    trace, origin = one.trace, one.trace.origin
    inserted = connection.execute(
        insert(TraceVersion)
        .values(
            content_hash=one.content_hash,
            trace_key=trace_key(trace.trace_id),
            trace_id=trace.trace_id,
            version=version,
            category=trace.category,
            format=origin.format if origin else None,
            file=origin.file if origin else None,
            sources=len(trace.sources),
            imported_at=at,
            question=trace.question,
            answer=trace.answer,
            document_sha256=sha256_of(one.document),
            document=one.document,
        )
        .returning(col(TraceVersion.position))
    ).scalar_one()
    slices = sorted(set(_slices(trace)))
    if slices:
        connection.execute(
            insert(TraceSlice), [{"position": inserted, "slice": name} for name in slices]
        )


def _slices(trace: Trace) -> list[str]:
    found = trace.extra.get("slices")
    names = found if isinstance(found, list | tuple) else []
    return [name[:SLICE_CHARACTERS] for name in names if isinstance(name, str) and name]


# ---------------------------------------------------------------- without a verdict of a run


def waiting(connection: Connection, run_key: str | None, *, after: int, limit: int) -> list[int]:
    """Positions of the newest trace versions without a verdict of the run (None: of all of them)."""
    position = col(TraceVersion.position)
    asked = () if run_key is None else (~_has_verdict(run_key),)
    statement = (
        select(position)
        .where(position > after, is_newest(), *asked)
        .order_by(position)
        .limit(limit)
    )
    return [row.position for row in connection.execute(statement)]


def count_waiting(connection: Connection, run_key: str) -> int:
    """How many newest trace versions have no verdict of the run."""
    return connection.execute(
        select(func.count()).select_from(TraceVersion).where(is_newest(), ~_has_verdict(run_key))
    ).scalar_one()


def is_newest() -> ColumnElement[bool]:
    """Whether no later version of the trace is known."""
    later = aliased(TraceVersion)
    return ~exists().where(
        col(later.trace_key) == col(TraceVersion.trace_key),
        col(later.version) > col(TraceVersion.version),
    )


def _has_verdict(run_key: str) -> ColumnElement[bool]:
    return (
        select(1)
        .select_from(Verdict)
        .join(Run, col(Run.run_id) == col(Verdict.run_id))
        .where(col(Verdict.position) == col(TraceVersion.position), col(Run.run_key) == run_key)
        .correlate(TraceVersion)
        .exists()
    )


# ---------------------------------------------------------------- one trace


def get_trace(
    connection: Connection, trace_id: str, wanted_hash: str | None = None
) -> records.StoredTrace:
    """The newest version of a trace, or the one of that content hash; raises NotFound."""
    rows = connection.execute(
        select(col(TraceVersion.content_hash), col(TraceVersion.position))
        .where(col(TraceVersion.trace_key) == trace_key(trace_id))
        .order_by(col(TraceVersion.version))
    ).all()
    position = next(
        (row.position for row in reversed(rows) if wanted_hash in (None, row.content_hash)), None
    )
    if position is None:
        version = f" with content {wanted_hash}" if rows else ""
        raise NotFound(f"no trace {trace_id!r:.200}{version}")
    row = connection.execute(
        select(
            col(TraceVersion.document),
            col(TraceVersion.content_hash),
            col(TraceVersion.version),
            col(TraceVersion.imported_at),
        ).where(col(TraceVersion.position) == position)
    ).one()
    return records.StoredTrace(
        trace=stored_trace(row.document),
        content_hash=row.content_hash,
        version=row.version,
        imported_at=row.imported_at,
        versions=tuple(each.content_hash for each in rows),
    )


def near(connection: Connection, trace_id: str, words: str, slice: str | None) -> list[Trace]:
    """The nearest traces that came with one in its file whose documents hold the words, the nearest first.

    With a ``slice`` those of it alone.
    """
    position, file = col(TraceVersion.position), col(TraceVersion.file)
    own = connection.execute(
        select(position, file)
        .where(col(TraceVersion.trace_key) == trace_key(trace_id))
        .order_by(position.desc())
    ).first()
    if own is None:
        return []
    statement = (
        select(col(TraceVersion.document))
        .where(
            position.between(own.position - NEAR, own.position + NEAR),
            file.is_not_distinct_from(own.file),
            col(TraceVersion.document).contains(words, autoescape=True),
            is_newest(),
        )
        .order_by(func.abs(position - own.position))
        .limit(NEAREST)
    )
    if slice is not None:
        statement = statement.join(TraceSlice, col(TraceSlice.position) == position).where(
            col(TraceSlice.slice) == slice
        )
    return [stored_trace(document) for document in connection.execute(statement).scalars()]


def trace_at(connection: Connection, position: int) -> Trace:
    """The trace of that import position; raises NotFound when it was erased meanwhile."""
    document = connection.execute(
        select(col(TraceVersion.document)).where(col(TraceVersion.position) == position)
    ).scalar()
    if document is None:
        raise NotFound(f"no trace at position {position}")
    return stored_trace(document)


def stored_trace(document: str) -> Trace:
    """The trace of a stored document."""
    return trace_from_document(json.loads(document))
