"""Verdicts and the runs that gave them, with what lists filter by: added once, never changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, func, insert, select
from sqlmodel import col

from core.codec import content_hash as hash_of
from core.codec import verdict_document, verification_from_document
from core.errors import BadRecord, NotFound, StoreError
from core.provenance.triage import triage
from core.records import (
    Decision,
    State,
    VerdictLabel,
    Verification,
    Versions,
    answer_state,
    summarise,
)
from storage import queue, records
from storage.audit import append_event, sha256_of
from storage.claims import judged_claims, put_blocks, put_claims
from storage.columns import read_as
from storage.tables import Run, TraceVersion, Verdict, VerdictCause, VerdictState
from storage.traces import is_newest, trace_key


def put_verdicts(
    connection: Connection,
    run_key: str,
    verdicts: Sequence[Verification],
    *,
    at: datetime,
    actor: str,
) -> None:
    """Keep verdicts, each on the trace version it names; those already there stay as they are.

    Raises StoreError for a trace that is not stored.
    """
    contents = [one.content_hash or hash_of(one.trace) for one in verdicts]
    positions = _positions(connection, contents)
    run_id: int | None = None
    judged: set[int] = set()
    stored: list[tuple[str, str]] = []
    for content, verification in zip(contents, verdicts, strict=True):
        if content not in positions:
            raise StoreError(f"verdict on {content}: no such trace is stored")
        summary = summarise(verification)
        if run_id is None:
            run_id = _run_id(connection, run_key, summary.versions, at=at)
            judged = _already_judged(connection, run_id, list(positions.values()))
        if positions[content] in judged:
            continue
        judged.add(positions[content])
        text = json.dumps(verdict_document(verification), separators=(",", ":"), allow_nan=False)
        verdict_id = connection.execute(
            insert(Verdict)
            .values(
                position=positions[content],
                run_id=run_id,
                decision=summary.decision.value,
                **{label.value: count for label, count in summary.by_verdict.items()},
                set_aside=summary.set_aside,
                blocked=summary.blocked,
                conflations=summary.conflations,
                verified_at=at,
                document_sha256=sha256_of(text),
                document=text,
            )
            .returning(col(Verdict.verdict_id))
        ).scalar_one()
        assert verdict_id is not None
        _put_state(connection, verdict_id, verification)
        _put_causes(connection, verdict_id, verification)
        signals = put_claims(connection, positions[content], run_id, run_key, verification)
        queue.follow(connection, positions[content], signals)
        stored.append((content, sha256_of(text)))
    if stored:
        append_event(connection, at, actor, "verdicts.stored", run_key, {"verdicts": stored})


def _positions(connection: Connection, hashes: Sequence[str]) -> dict[str, int]:
    content = col(TraceVersion.content_hash)
    rows = connection.execute(
        select(content, col(TraceVersion.position)).where(content.in_(hashes))
    )
    return {row.content_hash: row.position for row in rows}


def _run_id(connection: Connection, run_key: str, versions: Versions, *, at: datetime) -> int:
    found = connection.execute(select(col(Run.run_id)).where(col(Run.run_key) == run_key)).scalar()
    if found is not None:
        return found
    return connection.execute(
        insert(Run)
        .values(run_key=run_key, started_at=at, **asdict(versions))
        .returning(col(Run.run_id))
    ).scalar_one()  # type: ignore[return-value]


def _already_judged(connection: Connection, run_id: int, positions: Sequence[int]) -> set[int]:
    position = col(Verdict.position)
    return set(
        connection.execute(
            select(position).where(col(Verdict.run_id) == run_id, position.in_(positions))
        ).scalars()
    )


def judged_by(connection: Connection, run_key: str, positions: Sequence[int]) -> set[int]:
    """Those of the trace versions that have a verdict of that run."""
    found = connection.execute(select(col(Run.run_id)).where(col(Run.run_key) == run_key)).scalar()
    return set() if found is None else _already_judged(connection, found, positions)


def get_verdict(
    connection: Connection,
    trace_id: str,
    *,
    content_hash: str | None = None,
    run_key: str | None = None,
) -> records.StoredVerdict:
    """The latest verdict on a trace's newest version, or on that version or by that run.

    Raises NotFound.
    """
    statement = (
        select(*COUNT_COLUMNS, col(Verdict.document), col(Verdict.verified_at))
        .add_columns(col(Verdict.decision), col(TraceVersion.content_hash), col(Run.run_key))
        .join_from(Verdict, TraceVersion, col(TraceVersion.position) == col(Verdict.position))
        .join(Run, col(Run.run_id) == col(Verdict.run_id))
        .where(col(TraceVersion.trace_key) == trace_key(trace_id))
        .order_by(col(Verdict.verdict_id).desc())
        .limit(1)
    )
    if content_hash is None:
        statement = statement.where(is_newest())
    else:
        statement = statement.where(col(TraceVersion.content_hash) == content_hash)
    if run_key is not None:
        statement = statement.where(col(Run.run_key) == run_key)
    row = connection.execute(statement).first()
    if row is None:
        raise NotFound(f"no verdict on trace {trace_id!r:.200}")
    return records.StoredVerdict(
        verification=stored_verification(row.document),
        content_hash=row.content_hash,
        run_key=row.run_key,
        decision=Decision(row.decision),
        counts=counts(row._mapping),
        verified_at=row.verified_at,
    )


def stored_verification(text: str) -> Verification:
    """The verification of a stored document; raises StoreError naming the path of a wrong value."""
    try:
        return verification_from_document(json.loads(text))
    except BadRecord as error:
        raise StoreError(f"a stored verdict cannot be read: {error.located()}") from None


COUNT_COLUMNS = (
    col(Verdict.supported),
    col(Verdict.unsupported),
    col(Verdict.contradicted),
    col(Verdict.not_enough_evidence),
    col(Verdict.unjudged),
    col(Verdict.set_aside),
    col(Verdict.blocked),
    col(Verdict.conflations),
)


def counts(row: object) -> records.VerdictCounts:
    """The counts in a row that holds COUNT_COLUMNS, given as its mapping."""
    assert isinstance(row, Mapping)
    return records.VerdictCounts(
        by_verdict={label: row[label.value] for label in VerdictLabel},
        set_aside=row["set_aside"],
        blocked=row["blocked"],
        conflations=row["conflations"],
    )


def runs(connection: Connection) -> tuple[records.StoredRun, ...]:
    """All runs, the latest first."""
    rows = connection.execute(
        select(Run.__table__, func.count(col(Verdict.verdict_id)).label("verdicts"))  # type: ignore[attr-defined]
        .outerjoin(Verdict, col(Verdict.run_id) == col(Run.run_id))
        .group_by(*Run.__table__.columns)  # type: ignore[attr-defined]
        .order_by(col(Run.run_id).desc())
    )
    return tuple(
        records.StoredRun(
            run_key=row.run_key,
            versions=read_as(Versions, row),
            started_at=row.started_at,
            verdicts=row.verdicts,
        )
        for row in rows
    )


def fill_states(connection: Connection) -> None:
    """Keep the states of the verdicts that were stored before they were kept."""
    for row in _kept(connection, select(col(Verdict.verdict_id))):
        _put_state(connection, row.verdict_id, stored_verification(row.document))


def fill_blocks(connection: Connection) -> None:
    """Keep which claims are shown to be wrong, of the verdicts stored before that was kept."""
    blocking = select(col(VerdictState.verdict_id)).where(
        col(VerdictState.state) == State.BLOCK.value
    )
    for row in _kept(connection, blocking):
        judged = judged_claims(stored_verification(row.document), "")
        put_blocks(connection, row.position, row.run_id, judged)


def _kept(connection: Connection, verdict_ids: Select[Any]) -> Iterator[Row[Any]]:
    """The verdicts of these ids, one in memory at a time."""
    for verdict_id in list(connection.execute(verdict_ids).scalars()):
        yield connection.execute(
            select(Verdict.__table__).where(col(Verdict.verdict_id) == verdict_id)  # type: ignore[attr-defined]
        ).one()


def _put_state(connection: Connection, verdict_id: int, verification: Verification) -> None:
    state = answer_state(verification).value
    connection.execute(insert(VerdictState).values(verdict_id=verdict_id, state=state))


def _put_causes(connection: Connection, verdict_id: int, verification: Verification) -> None:
    causes = triage(verification).causes
    if causes:
        rows = [{"verdict_id": verdict_id, "cause": cause} for cause in causes]
        connection.execute(insert(VerdictCause), rows)
