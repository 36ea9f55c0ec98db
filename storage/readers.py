"""Readers: which pair reader a database verifies with, since when, by whom and why.

The choice is an event of the trail, and the latest one counts: nothing else has to be kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select
from sqlmodel import col

from core.review.assignment import check_reason
from core.review.reader_choice import CurrentReader
from core.review.records import Person, Role
from storage.audit import append_event
from storage.calibrators import Calibrators
from storage.columns import plain_text
from storage.people import allow
from storage.store import SqlStore
from storage.tables import AuditEvent

CHOSEN = "reader.chosen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The choice of reader in a store; only a lead changes it."""

    store: SqlStore
    calibrators: Calibrators

    def current(self) -> CurrentReader:
        """What reads now: the latest choice, else the bundled reader."""
        with self.store.database.reading() as connection:
            return _current(connection)

    def choose(
        self, reader: str, reason: str, by: Person, *, calibrator: Path | None = None
    ) -> None:
        """Read with ``reader`` from now on, and let ``calibrator`` decide where one is given.

        Both change in one transaction, since a calibrator decides on one reader's readings only:
        whether the two fit is for ``core.workflows.models`` to say, before. Raises NotAllowed,
        InputError without a reason, and what a calibrator's folder that cannot be read raises.
        """
        stated = plain_text(check_reason(reason, "a change of the reader"))
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "choose the reader")
            if calibrator is not None:
                self.calibrators.adopt(connection, calibrator, stated, by)
            append_event(
                connection,
                at=self.store.now(),
                actor=by.name,
                action=CHOSEN,
                entity="reader",
                detail={
                    "from": _current(connection).reader,
                    "to": plain_text(reader),
                    "reason": stated,
                },
            )


def _current(connection: Connection) -> CurrentReader:
    row = connection.execute(
        select(col(AuditEvent.at), col(AuditEvent.actor), col(AuditEvent.detail))
        .where(col(AuditEvent.action) == CHOSEN)
        .order_by(col(AuditEvent.sequence).desc())
        .limit(1)
    ).first()
    if row is None:
        return CurrentReader()
    detail = json.loads(row.detail)
    return CurrentReader(reader=detail["to"], since=row.at, by=row.actor, reason=detail["reason"])
