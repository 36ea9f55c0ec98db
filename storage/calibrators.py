"""Calibrators and NLI models: what was fitted here, what rules since when, by whom and why.

A forest is kept as one zip archive of its three files, with the SHA-256 of the archive; it is read
through ``CalibratorFiles``, which checks the files again and unpickles nothing. The choice of the pair
NLI model is an event of the trail: nothing else has to be kept.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select
from sqlmodel import col

from core.errors import DamagedArtifact, NotFound
from core.records import JsonObject
from core.review.assignment import check_reason
from core.review.calibrators import (
    DOING,
    FILES,
    Action,
    CalibratorArtifact,
    CalibratorFiles,
    CurrentCalibrator,
    Reign,
    Standing,
    Step,
    StoredCalibrator,
    active_step,
    at_threshold,
    check_promotion,
    check_rejection,
    check_seen,
    check_threshold,
    earlier_reigns,
    label_of,
    roll_back_to,
    standings,
)
from core.review.nli_choice import CurrentNliModel
from core.review.records import Person, Role
from storage.audit import add_row, append_event, latest_event
from storage.columns import plain_text, read_as
from storage.people import allow
from storage.store import SqlStore
from storage.tables import CalibratorRow, Promotion

MOST_BYTES = 64 * 1024 * 1024  # of one file in an archive


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrators:
    """The calibrators of a store; only a lead changes them, which every write asks."""

    store: SqlStore
    files: CalibratorFiles

    def current(self) -> CurrentCalibrator:
        """What decides now: the latest step that is no rejection, else the shipped calibrator.

        Raises ComponentUnavailable, DamagedArtifact.
        """
        with self.store.database.reading() as connection:
            active = active_step(_steps(connection))
        if active is None:
            shipped = self._shipped()
            return CurrentCalibrator(
                name=shipped.name,
                threshold=shipped.threshold,
                label=label_of(None, shipped.name),
                folder=None,
                since=None,
                by=None,
                reason=None,
            )
        return CurrentCalibrator(
            name=active.calibrator,
            threshold=active.threshold,
            label=label_of(active, active.calibrator),
            folder=self.folder(active.calibrator),
            since=active.at,
            by=active.by,
            reason=active.reason,
        )

    def folder(self, name: str) -> Path:
        """A folder of this process with a kept calibrator's files; raises NotFound, DamagedArtifact."""
        with self.store.database.reading() as connection:
            row = connection.execute(
                select(col(CalibratorRow.artifact_sha256), col(CalibratorRow.artifact)).where(
                    col(CalibratorRow.name) == name
                )
            ).first()
        if row is None:
            raise NotFound(f"no calibrator {name!r:.200} in this database")
        found = _digest(row.artifact)
        if found != row.artifact_sha256:
            raise DamagedArtifact(
                f"calibrator {name}: its SHA-256 is {found}, {row.artifact_sha256} was recorded"
            )
        return _unpacked(found, row.artifact)

    def candidates(self) -> tuple[StoredCalibrator, ...]:
        """Every calibrator that was fitted here, the latest first."""
        with self.store.database.reading() as connection:
            table = CalibratorRow.__table__  # type: ignore[attr-defined]
            wanted = [column for column in table.c if column.name != "artifact"]
            rows = connection.execute(select(*wanted).order_by(table.c.calibrator_id.desc())).all()
            steps = _steps(connection)
        by_name = standings(steps)
        return tuple(
            StoredCalibrator(
                name=row.name,
                threshold=row.threshold,
                standing=by_name.get(row.name, Standing.WAITING),
                artifact_sha256=row.artifact_sha256,
                comparison=json.loads(row.comparison),
                lineage=json.loads(row.lineage),
                by=row.by,
                at=row.at,
            )
            for row in rows
        )

    def count(self) -> int:
        """How many calibrators were fitted here."""
        with self.store.database.reading() as connection:
            return connection.execute(
                select(func.count())
                .select_from(CalibratorRow)
                .where(col(CalibratorRow.comparison) != "{}")
            ).scalar_one()

    def kept(self, name: str) -> StoredCalibrator:
        """One of them; raises NotFound."""
        for found in self.candidates():
            if found.name == name:
                return found
        raise NotFound(f"no calibrator {name!r:.200} in this database")

    def steps(self) -> tuple[Step, ...]:
        """Every decision about calibrators, the first first."""
        with self.store.database.reading() as connection:
            return _steps(connection)

    def keep(self, folder: Path, comparison: JsonObject, lineage: JsonObject, by: Person) -> str:
        """Keep a fitted calibrator with what was compared and where it comes from; its name.

        The same forest twice is kept once, as it was first. Raises DamagedArtifact.
        """
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "keep a calibrator")
            # Nothing is kept that could not be loaded again.
            return self._keep(connection, self.files.read(folder), comparison, lineage, by.name)

    def promote(self, name: str, reason: str, by: Person, *, over: str | None = None) -> None:
        """Let a kept calibrator decide from now on, at its own threshold.

        ``over`` is the label that the lead saw in force: Conflict when another one is by now, or
        when the calibrator decides already. Raises NotFound, NotAllowed, and InputError without a
        reason. The shipped calibrator of a later release is promoted by its name as well.
        """
        shipped = self._shipped()
        with self.store.database.writing() as connection:
            active = active_step(_steps(connection))
            check_seen(over, active, shipped.name)
            if name == shipped.name:
                self._keep_shipped(connection, shipped, by.name)
            threshold = _threshold_of(connection, name)
            check_promotion(name, threshold, active, shipped.name)
            self._step(connection, name, threshold, Action.PROMOTE, reason, by)

    def reject(self, name: str, reason: str, by: Person) -> None:
        """Set a waiting calibrator aside; Conflict when it has been decided about."""
        with self.store.database.writing() as connection:
            threshold = _threshold_of(connection, name)
            check_rejection(name, _steps(connection))
            self._step(connection, name, threshold, Action.REJECT, reason, by)

    def adopt(self, connection: Connection, folder: Path, reason: str, by: Person) -> None:
        """Keep the calibrator of a folder and let it decide, inside the transaction of another change.

        Nothing changes when it decides already. Raises NotAllowed, and what loading it raises.
        """
        artifact = self.files.read(folder)
        active = active_step(_steps(connection))
        if active is None and artifact.name == self._shipped().name:
            return
        self._keep(connection, artifact, {}, {"adopted": True}, by.name)
        threshold = _threshold_of(connection, artifact.name)
        if active is None or (active.calibrator, active.threshold) != (artifact.name, threshold):
            self._step(connection, artifact.name, threshold, Action.PROMOTE, reason, by)

    def roll_back(self, name: str, reason: str, by: Person, *, over: str | None = None) -> None:
        """Let a calibrator that decided before decide again, at the threshold it had then.

        ``name`` may be the shipped calibrator's, or that of the present one at an earlier
        threshold. Raises NotFound, Conflict, NotAllowed, InputError.
        """
        shipped = self._shipped()
        with self.store.database.writing() as connection:
            steps = _steps(connection)
            check_seen(over, active_step(steps), shipped.name)
            earlier = roll_back_to(name, shipped, steps)
            if name == shipped.name:
                self._keep_shipped(connection, shipped, by.name)
            self._step(connection, name, earlier.threshold, Action.ROLL_BACK, reason, by)

    def use_threshold(
        self, threshold: float, reason: str, by: Person, *, over: str | None = None
    ) -> None:
        """Let the calibrator that decides now decide at another threshold.

        Raises Conflict, NotAllowed, InputError, and ConfigError for what is no threshold.
        """
        check_threshold(threshold)
        shipped = self._shipped()
        with self.store.database.writing() as connection:
            active = active_step(_steps(connection))
            check_seen(over, active, shipped.name)
            if active is None:
                self._keep_shipped(connection, shipped, by.name)
            wanted = at_threshold(threshold, active, shipped)
            self._step(connection, wanted.calibrator, threshold, Action.THRESHOLD, reason, by)

    def before(self) -> Reign | None:
        """What decided before what decides now; None when nothing else did."""
        with self.store.database.reading() as connection:
            return next(iter(earlier_reigns(self._shipped(), _steps(connection))), None)

    def _shipped(self) -> CalibratorArtifact:
        return self.files.read(self.files.shipped)

    def _keep_shipped(self, connection: Connection, shipped: CalibratorArtifact, by: str) -> None:
        """Once a lead has relied on it, it stays, whatever a later version of the program ships."""
        self._keep(connection, shipped, {}, {"shipped": True}, by)

    def _keep(
        self,
        connection: Connection,
        artifact: CalibratorArtifact,
        comparison: JsonObject,
        lineage: JsonObject,
        by: str,
    ) -> str:
        known = connection.execute(
            select(col(CalibratorRow.calibrator_id)).where(col(CalibratorRow.name) == artifact.name)
        ).first()
        if known is not None:
            return artifact.name
        packed = _packed(artifact.folder)
        at = self.store.now()
        add_row(
            connection,
            CalibratorRow,
            {
                "name": artifact.name,
                "artifact": packed,
                "artifact_sha256": _digest(packed),
                "threshold": artifact.threshold,
                "comparison": json.dumps(comparison, allow_nan=False),
                "lineage": json.dumps(lineage, allow_nan=False),
                "by": by,
                "at": at,
            },
            at=at,
            actor=by,
            action="calibrator.kept",
            entity=artifact.name,
            detail={"artifact": _digest(packed), "threshold": artifact.threshold},
        )
        return artifact.name

    def _step(
        self,
        connection: Connection,
        name: str,
        threshold: float,
        action: Action,
        reason: str,
        by: Person,
    ) -> None:
        allow(connection, by, Role.LEAD, DOING[action])
        stated = plain_text(check_reason(reason, "a change of what decides"))
        before, at = active_step(_steps(connection)), self.store.now()
        add_row(
            connection,
            Promotion,
            {
                "calibrator": name,
                "threshold": threshold,
                "action": action.value,
                "reason": stated,
                "by": by.name,
                "at": at,
            },
            at=at,
            actor=by.name,
            action=f"calibrator.{action.value}",
            entity=name,
            detail={
                "from": None
                if before is None
                else {"calibrator": before.calibrator, "threshold": before.threshold},
                "to": {"calibrator": name, "threshold": threshold},
                "reason": stated,
            },
        )


def _steps(connection: Connection) -> tuple[Step, ...]:
    step = col(Promotion.promotion_id)
    rows: Sequence[Any] = connection.execute(
        select(Promotion.__table__, step.label("step")).order_by(step)  # type: ignore[attr-defined]
    ).all()
    return tuple(read_as(Step, row) for row in rows)


def _threshold_of(connection: Connection, name: str) -> float:
    found = connection.execute(
        select(col(CalibratorRow.threshold)).where(col(CalibratorRow.name) == name)
    ).scalar()
    if found is None:
        raise NotFound(f"no calibrator {name!r:.200} in this database")
    return float(found)


def _packed(folder: Path) -> bytes:
    """The three files as a zip archive whose bytes hold no time of writing."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, (folder / name).read_bytes())
    return stream.getvalue()


def _digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


@lru_cache(maxsize=1)
def _own_folder() -> Path:
    """A folder for unpacked calibrators, of this process and its owner alone."""
    folder = Path(tempfile.mkdtemp(prefix="provenanceguard-calibrators-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _unpacked(digest: str, artifact: bytes) -> Path:
    folder = _own_folder() / digest.removeprefix("sha256:")
    if (folder / FILES[-1]).is_file():  # written last
        return folder
    folder.mkdir(exist_ok=True, mode=0o700)
    try:
        with zipfile.ZipFile(io.BytesIO(artifact)) as archive:
            # By their known names: what else an archive may hold is never written anywhere.
            for name in FILES:
                with archive.open(name) as packed:
                    content = packed.read(MOST_BYTES + 1)
                if len(content) > MOST_BYTES:
                    raise DamagedArtifact(
                        f"calibrator archive: {name}: more than {MOST_BYTES} bytes"
                    )
                (folder / name).write_bytes(content)
    except (KeyError, zipfile.BadZipFile, EOFError) as error:
        raise DamagedArtifact(f"calibrator archive: {error}") from None
    return folder


CHOSEN = "reader.chosen"


@dataclass(frozen=True, slots=True, kw_only=True)
class NliModels:
    """The choice of NLI model in a store; only a lead changes it."""

    store: SqlStore
    calibrators: Calibrators

    def current(self) -> CurrentNliModel:
        """What reads now: the latest choice, else the bundled NLI model."""
        with self.store.database.reading() as connection:
            return _current(connection)

    def choose(self, nli: str, reason: str, by: Person, *, calibrator: Path | None = None) -> None:
        """Read with ``nli`` from now on, and let ``calibrator`` decide where one is given.

        Both change in one transaction, since a calibrator decides on one NLI model's NLI scores only:
        whether the two fit is for ``core.workflows.models`` to say, before. Raises NotAllowed,
        InputError without a reason, and what a calibrator's folder that cannot be read raises.
        """
        stated = plain_text(check_reason(reason, "a change of the NLI model"))
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "choose the NLI model")
            if calibrator is not None:
                self.calibrators.adopt(connection, calibrator, stated, by)
            append_event(
                connection,
                self.store.now(),
                by.name,
                CHOSEN,
                "reader",
                {"from": _current(connection).nli, "to": plain_text(nli), "reason": stated},
            )


def _current(connection: Connection) -> CurrentNliModel:
    row = latest_event(connection, CHOSEN)
    if row is None:
        return CurrentNliModel()
    detail = json.loads(row.detail)
    return CurrentNliModel(nli=detail["to"], since=row.at, by=row.actor, reason=detail["reason"])
