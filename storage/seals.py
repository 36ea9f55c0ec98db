"""Seals: after every write, one keyed row that binds the trail's head and the rows written so far.

The trail's own hashes need no key: whoever can change a row can compute them again. A seal is an
HMAC with a key that lies outside the database, over the head of the trail, the hashes of the rows
that were added since the last seal, the state of the small tables that may change, and that seal.
"""

from __future__ import annotations

import hashlib
import heapq
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, Table, func, insert, inspect, select
from sqlmodel import SQLModel, col

from core.errors import NotFound
from storage import tables
from storage.audit import BEGINNING, erased_rows, rewritten_rows, row_hash, sha256_of
from storage.keys import trail_key
from storage.tables import AuditEvent, TrailSeal

# Rows are only ever added to these; each seal holds what was added since the one before it.
APPENDED: tuple[type[SQLModel], ...] = (
    tables.ImportRecord,
    tables.TraceVersion,
    tables.Run,
    tables.Verdict,
    tables.RepairRow,
    tables.RepairChoice,
    tables.ClaimRow,
    tables.ClaimSignal,
    tables.PreLabelRow,
    tables.VerdictOpening,
    tables.PacketSignatureRow,
    tables.TraceMark,
    tables.TraceSlice,
    tables.VerdictState,
    tables.VerdictCause,
    tables.ClaimBlock,
)
# Few rows, which may change: each seal after a change holds all of them.
WHOLE: tuple[type[SQLModel], ...] = (tables.ProjectRow, tables.PersonRow)
# What no seal covers, and why; `python -m bench tamper` shows what of each is noticed all the same.
UNCOVERED: Mapping[str, str] = {
    "trail_seal": "each seal covers the one before it, and anchors the last",
    "queue": "worked out again from claims, signals, settings and annotations; else only the order",
    "assignment": "compared with events and annotations; when it was taken and shown is in progress",
    "reading_request": "in progress: what is read first; who asked for it is an event",
    "job": "in progress: what workers are to verify; each verdict is an event",
    "draft": "in progress: typed and not handed in; whoever hands it in sees it before",
    "alembic_version": "compared with the tables that are there",
}
COVERED = frozenset(
    model.__table__.name  # type: ignore[attr-defined]
    for model in (*APPENDED, *WHOLE, AuditEvent)
)


RETIRED = "key.retired"  # an event: whoever holds the key here answers for seals of another one


@dataclass(frozen=True, slots=True, kw_only=True)
class SealReport:
    """What the seals say: how many there are, how many of another key that the key here has retired,
    and what is wrong. A seal of any other key tells nothing: whoever wrote the file could have made it.
    """

    seals: int
    other_keys: int
    problems: tuple[str, ...]


def key_id(key: bytes) -> str:
    """Sixteen hexadecimal digits that name a key and do not tell it."""
    return hashlib.sha256(b"provenanceguard trail key " + key).hexdigest()[:16]


def seal(connection: Connection, touched: Mapping[str, int]) -> None:
    """Add a seal when one of the covered tables was written; the caller holds the write lock.

    ``touched`` says how many inserts there were into each table that was written.
    """
    if not COVERED & set(touched) or not inspect(connection).has_table("trail_seal"):
        return
    add_seal(connection, own=touched.get(table_of(AuditEvent).name, 0))


def add_seal(connection: Connection, own: int | None = None) -> None:
    """Seal what is there now: everything that was added since the last seal.

    It says of events that stood there before the ``own`` ones of this transaction that no seal told of
    them: somebody else added them, and a seal that covers them makes them none of ours.
    """
    last = connection.execute(_SEALS.order_by(col(TrailSeal.seal_id).desc()).limit(1)).first()
    before = json.loads(last.covered) if last else {}
    reach: dict[str, int] = dict(before.get("reach", {}))
    ranges = []
    for model in APPENDED:
        table = table_of(model)
        start = reach.get(table.name, 0)
        end, count, digest = _range(connection, table, start, None)
        if count:
            ranges.append([table.name, start, end, count, digest])
            reach[table.name] = end
    head = _head(connection)
    sealed = last.sequence if last else 0
    strange = head[0] - sealed - own if last and own is not None else 0
    values = {
        "seal_id": last.seal_id + 1 if last else 1,
        "at": datetime.now(UTC),
        "sequence": head[0],
        "head": head[1],
        "covered": json.dumps(
            {
                "reach": reach,
                "ranges": ranges,
                "whole": {
                    table_of(model).name: _state(connection, table_of(model)) for model in WHOLE
                },
                **({"strange": [sealed + 1, sealed + strange]} if strange > 0 else {}),
            },
            sort_keys=True,
        ),
        "previous": last.mac if last else BEGINNING,
    }
    key = trail_key()
    connection.execute(
        insert(TrailSeal).values(**values, key_id=key_id(key), mac=_mac(key, values))
    )


def check_seals(connection: Connection, heads: Mapping[int, str]) -> SealReport:
    """Compare every seal with the trail (``heads``: sequence → hash) and with the tables."""
    rows = connection.execute(_SEALS.order_by(col(TrailSeal.seal_id))).all()
    problems = list(_chained(rows))
    key = trail_key()
    ours = key_id(key)
    retired = _retired(connection, rows, ours)
    unknown = [row for row in rows if row.key_id != ours and row.seal_id not in retired]
    problems += [
        f"seal {row.seal_id}: of a key that is not here ({row.key_id}): what it covers may have been "
        "rewritten; `audit retire-key` where that key was replaced"
        for row in unknown[:_TOLD_ONE_BY_ONE]
    ]
    if len(unknown) > _TOLD_ONE_BY_ONE:
        problems.append(f"{len(unknown) - _TOLD_ONE_BY_ONE} more seals of keys that are not here")
    for row in rows:
        if row.key_id == ours and not hmac.compare_digest(row.mac, _mac(key, row._asdict())):
            problems.append(f"seal {row.seal_id}: is not the one that was made with the key")
        if row.sequence and heads.get(row.sequence) != row.head:
            problems.append(
                f"seal {row.seal_id}: event {row.sequence} is gone"
                if row.sequence not in heads
                else f"seal {row.seal_id}: event {row.sequence} is not the one that was sealed"
            )
    newest = max(heads, default=0)
    sealed = max((row.sequence for row in rows), default=0)
    if sealed > newest:
        problems.append(f"events {newest + 1} to {sealed}: were written, and are gone")
    if newest > sealed:
        problems.append(f"events {sealed + 1} to {newest}: no seal tells of them")
    problems += _check_tables(connection, rows)
    return SealReport(
        seals=len(rows),
        other_keys=len(retired),
        problems=tuple(problems),
    )


def retirement(connection: Connection) -> dict[str, object]:
    """What an event says that retires the keys of the seals made so far which are not of the key here.

    Raises NotFound where there is none.
    """
    ours = key_id(trail_key())
    rows = connection.execute(_SEALS.order_by(col(TrailSeal.seal_id))).all()
    others = [row for row in rows if row.key_id != ours]
    if not others:
        raise NotFound("every seal here is of the key that is here")
    return {
        "keys": sorted({row.key_id for row in others}),
        "through_seal": others[-1].seal_id,
        "seals": _digest(others),
    }


def _retired(connection: Connection, rows: Sequence[Any], ours: str) -> frozenset[int]:
    """The seals of other keys that the key here has answered for, and that are as they were then.

    Only an event counts that a seal of ours covers: nobody without the key can have written it.
    """
    sealed = max((row.sequence for row in rows if row.key_id == ours), default=0)
    found = connection.execute(
        select(col(AuditEvent.sequence), col(AuditEvent.detail)).where(
            col(AuditEvent.action) == RETIRED
        )
    ).all()
    retired: set[int] = set()
    for event in found:
        try:
            said = json.loads(event.detail)
            others = [
                row for row in rows if row.key_id != ours and row.seal_id <= said["through_seal"]
            ]
            if event.sequence <= sealed and _digest(others) == said["seals"]:
                retired |= {row.seal_id for row in others}
        except (ValueError, KeyError, TypeError):
            continue
    return frozenset(retired)


def _digest(rows: Sequence[Any]) -> str:
    return sha256_of(
        json.dumps([[*map(str, row)] for row in rows])  # every column: nobody can check their HMAC
    )


_TOLD_ONE_BY_ONE = 3
_SEALS = select(TrailSeal.__table__)  # type: ignore[attr-defined]


def _chained(rows: Sequence[Any]) -> Iterator[str]:
    previous, sequence = BEGINNING, 0
    for number, row in enumerate(rows, 1):
        if row.seal_id != number:
            yield f"seal {number}: missing"
            return
        if row.previous != previous or row.sequence < sequence:
            yield f"seal {row.seal_id}: does not follow the seal before it"
        previous, sequence = row.mac, row.sequence


def _check_tables(connection: Connection, rows: Sequence[Any]) -> Iterator[str]:
    reach: dict[str, int] = {}
    whole: Mapping[str, object] = {}
    known = {table_of(model).name: table_of(model) for model in APPENDED}
    erased, rewritten = erased_rows(connection), rewritten_rows(connection)
    for row in rows:
        try:
            covered = json.loads(row.covered)
            whole = covered["whole"]
            if strange := covered.get("strange"):
                yield (
                    f"events {strange[0]} to {strange[1]}: stood there before this program went on with "
                    f"seal {row.seal_id}, and it had not written them"
                )
            for name, start, end, count, digest in covered["ranges"]:
                if start != reach.get(name, 0):
                    yield f"seal {row.seal_id}: {name} rows {reach.get(name, 0) + 1} to {start}: missing"
                reach[name] = end
                gone = erased.get(name, ())
                _, now, found = _range(connection, known[name], start, end, gone, rewritten)
                if (now, found) != (count, digest):
                    what = f"{count - now} gone" if now < count else "changed"
                    yield f"{name} rows {start + 1} to {end}: {what} after they were written"
        except (ValueError, KeyError, TypeError) as error:
            yield f"seal {row.seal_id}: cannot be read ({type(error).__name__})"
    for table in known.values():
        _, count, _ = _range(connection, table, reach.get(table.name, 0), None)
        if count:
            yield f"{table.name}: {count} rows that no seal tells of"
    for table in (*known.values(), *map(table_of, WHOLE)):
        key, *_ = table.primary_key.columns  # counted from 1, which is where the seals begin
        if connection.execute(select(key).where(key <= 0).limit(1)).first() is not None:
            yield f"{table.name}: a row has a key that this program never gives"
    if rows:
        for model in WHOLE:
            table = table_of(model)
            if whole.get(table.name) != _state(connection, table):
                yield f"{table.name}: was changed outside this program"


def _range(
    connection: Connection,
    table: Table,
    start: int,
    end: int | None,
    erased: Sequence[tuple[int, str]] = (),
    rewritten: Mapping[tuple[str, object], tuple[str, str]] = MappingProxyType({}),
) -> tuple[int, int, str]:
    """The last key, the number and the digest of the rows behind ``start``, up to ``end``.

    Rows that were ``erased`` (key, hash) count as if they were there, those that were ``rewritten``
    as they were before.
    """
    key, *_ = table.primary_key.columns
    statement = select(table).where(key > start).order_by(key)
    if end is not None:
        statement = statement.where(key <= end)
    digest, count, last = hashlib.sha256(), 0, start
    gone = [(at, said) for at, said in erased if at > start and (end is None or at <= end)]
    rows = (row._mapping for row in connection.execute(statement).yield_per(100))

    def before(at: object, row: Mapping[Any, Any]) -> str:
        said = row_hash(row)
        old, new = rewritten.get((table.name, at), (said, said))
        return old if said == new else said

    there = (
        (int(at), said)
        for at, some in groupby(rows, lambda row: row[key])
        for said in sorted(before(at, one) for one in some)  # several of one key stand in no order
    )
    for at, said in heapq.merge(sorted(gone), there):
        digest.update(said.encode())
        count, last = count + 1, at
    return last, count, "sha256:" + digest.hexdigest()


def _state(connection: Connection, table: Table) -> list[object]:
    _, count, digest = _range(connection, table, 0, None)
    return [count, digest]


def _head(connection: Connection) -> tuple[int, str]:
    newest = select(func.max(col(AuditEvent.sequence))).scalar_subquery()
    found = connection.execute(
        select(col(AuditEvent.sequence), col(AuditEvent.hash)).where(
            col(AuditEvent.sequence) == newest
        )
    ).first()
    return (found.sequence, found.hash) if found else (0, BEGINNING)


def _mac(key: bytes, values: Mapping[str, Any]) -> str:
    told = [
        values["seal_id"],
        values["at"].astimezone(UTC).isoformat(timespec="microseconds"),
        values["sequence"],
        values["head"],
        sha256_of(values["covered"]),
        values["previous"],
    ]
    return "hmac:" + hmac.new(key, json.dumps(told).encode(), hashlib.sha256).hexdigest()


def table_of(model: type[SQLModel]) -> Table:
    """The table of a model."""
    found: Table = model.__table__  # type: ignore[attr-defined]
    return found
