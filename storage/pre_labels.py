"""Pre-labels of claims: what two judges said, kept in the trail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlmodel import col

from core.review.packet_reader import PacketReview
from core.review.pre_labels import LabelledClaim, PreLabel, pre_label_of
from core.review.records import Person, Role
from storage.audit import append_event, sha256_of
from storage.columns import plain_text
from storage.people import allow
from storage.store import SqlStore
from storage.tables import AuditEvent, ClaimRow, TraceVersion
from storage.traces import is_newest, trace_key

KEPT = "claim.pre_labelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreLabels:
    """The pre-labels of a store; of several of a claim the last one counts."""

    store: SqlStore

    def put(self, rows: Sequence[LabelledClaim], *, by: Person) -> tuple[int, list[str]]:
        """Keep those that are not here yet: how many, and the ids of claims that are not here at all.

        Raises NotAllowed.
        """
        new, unknown = 0, list[str]()
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "import pre-labels")
            here = _all(connection)
            for row in rows:
                key = key_of_claim(connection, row)
                if key is None:
                    unknown.append(row.claim_id)
                    continue
                if key in here and here[key].document == row.made.document:
                    continue
                new += 1
                append_event(
                    connection,
                    self.store.now(),
                    by.name,
                    KEPT,
                    f"claim {key}",
                    {"pre_label": row.made.document},
                )
        return new, unknown

    def of(self, key: int) -> PreLabel | None:
        """The pre-label of a claim: for whoever has decided it."""
        with self.store.database.reading() as connection:
            return _all(connection, f"claim {key}").get(key)

    def all(self) -> Mapping[int, PreLabel]:
        """The pre-labels by the key of their claim."""
        with self.store.database.reading() as connection:
            return _all(connection)


def _all(connection: Connection, entity: str | None = None) -> dict[int, PreLabel]:
    asked = (
        select(col(AuditEvent.entity), col(AuditEvent.detail))
        .where(col(AuditEvent.action) == KEPT)
        .order_by(col(AuditEvent.sequence))
    )
    if entity is not None:
        asked = asked.where(col(AuditEvent.entity) == entity)
    found: dict[int, PreLabel] = {}
    for row in connection.execute(asked):
        made = pre_label_of(json.loads(row.detail)["pre_label"])
        if made is not None:
            found[int(row.entity.split()[1])] = made
    return found


def key_of_claim(connection: Connection, review: PacketReview | LabelledClaim) -> int | None:
    """The claim with that id and text, of that trace version; else of the trace's newest one."""
    version = (
        (col(TraceVersion.trace_key) == trace_key(review.trace_id)) & is_newest()
        if review.content_hash is None
        else col(TraceVersion.content_hash) == review.content_hash
    )
    key: int | None = connection.execute(
        select(col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where(
            version,
            col(ClaimRow.claim_id) == plain_text(review.claim_id),
            col(ClaimRow.text_sha256) == sha256_of(plain_text(review.text)),
        )
    ).scalar()
    return key
