"""Pre-labels of claims: what two judges said, kept in the trail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlmodel import col

from core.review.pre_labels import LabelledClaim, PreLabel, pre_label_of
from core.review.records import Person, Role
from storage.audit import append_event
from storage.packet_intake import key_of_claim
from storage.people import allow
from storage.store import SqlStore
from storage.tables import AuditEvent

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
                    at=self.store.now(),
                    actor=by.name,
                    action=KEPT,
                    entity=f"claim {key}",
                    detail={"pre_label": row.made.document},
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
