"""Splits: on which side of the line each trace stands, said once and never again.

Whatever is fitted sees training traces only, a threshold is chosen on validation traces, and what
is said about error rates in the end comes from traces that neither has seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlmodel import col

from core.errors import Conflict
from core.review.records import SPLIT_WORDS, Split
from storage.audit import add_rows
from storage.columns import in_pieces
from storage.store import SqlStore
from storage.tables import TraceSplit, TraceVersion
from storage.traces import trace_key

SEED = 20260607
TRAIN_SHARE, VALIDATION_SHARE = 0.6, 0.2  # the rest is held out
DRAWN = "drawn"  # nobody chose: the seed and the trace's id did
TRACE = "the trace's own record"

_NAMES = {
    **dict.fromkeys(("train", "training"), Split.TRAIN),
    **dict.fromkeys(("validation", "valid", "val", "dev"), Split.VALIDATION),
    **dict.fromkeys(("held_out", "held-out", "heldout", "test", "locked_test"), Split.HELD_OUT),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """The splits of a store's traces; a trace has one for all its versions."""

    store: SqlStore

    def of(self, trace_ids: Collection[str]) -> Mapping[str, Split]:
        """The split of each trace; one that has none yet is given its own, for good.

        A trace whose record names its split (``split``, ``held_out``, or a slice of that name)
        keeps it; the others are drawn by seed and id, so that every database draws alike.
        """
        wanted = sorted(set(trace_ids))
        found = dict(self.known(wanted))
        missing = [trace_id for trace_id in wanted if trace_id not in found]
        for some in in_pieces(missing):
            with self.store.database.writing() as connection:
                found |= self._draw(connection, some)
        return found

    def known(self, trace_ids: Collection[str]) -> Mapping[str, Split]:
        """The split of each trace that has one; draws nothing."""
        wanted = sorted(set(trace_ids))
        found: dict[str, Split] = {}
        with self.store.database.reading() as connection:
            for some in in_pieces(wanted):
                found |= _known(connection, some)
        return found

    def say(self, trace_id: str, split: Split, *, by: str) -> None:
        """Say on which side a trace stands; Conflict when something else was said before."""
        with self.store.database.writing() as connection:
            before = _known(connection, [trace_id]).get(trace_id)
            if before is split:
                return
            if before is not None:
                raise Conflict(
                    f"trace {trace_id!r:.200} is {SPLIT_WORDS[before]} already; what was fitted or "
                    "measured with it would no longer be true"
                )
            self._keep(connection, {trace_id: split}, {trace_id: by}, actor=by)

    def _draw(self, connection: Connection, trace_ids: Sequence[str]) -> Mapping[str, Split]:
        # Asked again under the lock: another process may have drawn meanwhile.
        known = _known(connection, trace_ids)
        new = [trace_id for trace_id in trace_ids if trace_id not in known]
        said = _own(connection, new)
        drawn = {trace_id: said.get(trace_id) or draw(trace_id) for trace_id in new}
        reasons = {trace_id: TRACE if trace_id in said else DRAWN for trace_id in new}
        self._keep(connection, drawn, reasons, actor=self.store.actor)
        return {**known, **drawn}

    def _keep(
        self,
        connection: Connection,
        splits: Mapping[str, Split],
        by: Mapping[str, str],
        *,
        actor: str,
    ) -> None:
        if not splits:
            return
        at = self.store.now()
        add_rows(
            connection,
            TraceSplit,
            [
                {
                    "trace_key": trace_key(trace_id),
                    "split": split.value,
                    "by": by[trace_id],
                    "at": at,
                }
                for trace_id, split in splits.items()
            ],
            at=at,
            actor=actor,
            action="split.said",
            entity="traces",
            detail={
                "splits": {trace_key(trace_id): split.value for trace_id, split in splits.items()}
            },
        )


def draw(trace_id: str) -> Split:
    """The split that a trace's id and the seed give, whatever other traces there are."""
    digest = hashlib.sha256(f"{SEED}:{trace_id}".encode("utf-8", "surrogatepass")).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    if place < TRAIN_SHARE:
        return Split.TRAIN
    return Split.VALIDATION if place < TRAIN_SHARE + VALIDATION_SHARE else Split.HELD_OUT


def said_by(extra: Mapping[str, object]) -> Split | None:
    """The split that a trace's own record names; None when it names none. Held out goes first."""
    slices = extra.get("slices")
    names = [extra.get("split"), *(slices if isinstance(slices, list | tuple) else ())]
    found = {_NAMES.get(name.lower()) for name in names if isinstance(name, str)}
    if extra.get("held_out") is True or Split.HELD_OUT in found:
        return Split.HELD_OUT
    return next((split for split in (Split.VALIDATION, Split.TRAIN) if split in found), None)


def _known(connection: Connection, trace_ids: Sequence[str]) -> dict[str, Split]:
    by_key = {trace_key(trace_id): trace_id for trace_id in trace_ids}
    rows = connection.execute(
        select(col(TraceSplit.trace_key), col(TraceSplit.split)).where(
            col(TraceSplit.trace_key).in_(by_key)
        )
    )
    return {by_key[row.trace_key]: Split(row.split) for row in rows}


def _own(connection: Connection, trace_ids: Sequence[str]) -> dict[str, Split]:
    by_key = {trace_key(trace_id): trace_id for trace_id in trace_ids}
    rows = connection.execute(
        select(col(TraceVersion.trace_key), col(TraceVersion.document))
        .where(col(TraceVersion.trace_key).in_(by_key))
        .order_by(col(TraceVersion.version))
    )
    found: dict[str, Split] = {}
    for row in rows:
        extra = json.loads(row.document).get("extra")
        said = said_by(extra) if isinstance(extra, Mapping) else None
        # Any version that was held out keeps the trace held out.
        if said is not None and found.get(by_key[row.trace_key]) is not Split.HELD_OUT:
            found[by_key[row.trace_key]] = said
    return found
