"""Readers: which pair reader a database verifies with, since when, by whom and why.

The choice is an event of the trail, and the latest one counts: nothing else has to be kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, select
from sqlmodel import col

from core.models.forest import DEFAULT_FOLDER, load_forest
from core.models.loading import ACCURATE, BUNDLED, PAPER, load_pair_reader
from core.review.assignment import check_reason
from core.review.records import Person, Role
from storage.audit import append_event
from storage.calibrators import Calibrators
from storage.columns import plain_text
from storage.people import allow
from storage.store import SqlStore
from storage.tables import AuditEvent

CHOSEN = "reader.chosen"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentReader:
    """What reads now; ``since``, ``by`` and ``reason`` are None as long as nobody has chosen."""

    reader: str
    since: datetime | None = None
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The choice of reader in a store; only a lead changes it."""

    store: SqlStore

    def current(self) -> CurrentReader:
        """What reads now: the latest choice, else the bundled reader."""
        with self.store.database.reading() as connection:
            return _current(connection)

    def check(self, reader: str, calibrator: Path | None = None) -> str:
        """The choice as it is kept, after the reader was loaded and held against what would decide.

        A folder is kept with its whole path. Raises ComponentUnavailable, DamagedArtifact, and
        ConfigError with the command that refits a calibrator of another reader.
        """
        # Imported here: who only asks what is in force does not wait for the learning libraries.
        from core.workflows.models import check_fitted_for

        name = reader.strip()
        loaded = load_pair_reader(name)
        decides = (
            Calibrators(store=self.store).forest()
            if calibrator is None
            else load_forest(calibrator)
        )
        check_fitted_for(decides, loaded.name, name)
        if name in (BUNDLED, ACCURATE, PAPER) or not Path(name).is_dir():
            return name
        return str(Path(name).resolve())

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
                Calibrators(store=self.store).adopt(connection, calibrator, stated, by)
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


def calibrator_folder(named: str | None) -> Path | None:
    """The folder that a calibrator's name means: "shipped", a folder, or None for the one in force."""
    if named is None or not named.strip():
        return None
    return DEFAULT_FOLDER if named.strip() == "shipped" else Path(named.strip())


def _current(connection: Connection) -> CurrentReader:
    row = connection.execute(
        select(col(AuditEvent.at), col(AuditEvent.actor), col(AuditEvent.detail))
        .where(col(AuditEvent.action) == CHOSEN)
        .order_by(col(AuditEvent.sequence).desc())
        .limit(1)
    ).first()
    if row is None:
        return CurrentReader(reader=BUNDLED)
    detail = json.loads(row.detail)
    return CurrentReader(reader=detail["to"], since=row.at, by=row.actor, reason=detail["reason"])
