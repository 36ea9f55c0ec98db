"""Calibrators: every forest that was fitted here, and which one rules since when, by whom and why.

A forest is kept as one zip archive of its three files, with the SHA-256 of the archive; it is read
by ``core.models.forest``, which checks the files again and unpickles nothing.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from sqlalchemy import Connection, func, select
from sqlmodel import col

from core.errors import ConfigError, Conflict, DamagedArtifact, NotFound
from core.models.forest import (
    CARD_FILE,
    DEFAULT_FOLDER,
    MANIFEST_FILE,
    TREES_FILE,
    Forest,
    load_forest,
)
from core.records import JsonObject
from core.review.assignment import check_reason
from core.review.records import Person, Role
from storage.audit import add_row
from storage.columns import plain_text
from storage.people import allow
from storage.review_tables import CalibratorRow, Promotion
from storage.store import SqlStore

FILES = (CARD_FILE, TREES_FILE, MANIFEST_FILE)
MOST_BYTES = 64 * 1024 * 1024  # of one file in an archive


class Action(StrEnum):
    """What a lead did with a calibrator."""

    PROMOTE = "promote"
    REJECT = "reject"
    ROLL_BACK = "roll_back"
    THRESHOLD = "threshold"


class Standing(StrEnum):
    """Where a fitted calibrator stands."""

    WAITING = "waiting"  # nobody has decided
    IN_FORCE = "in_force"
    EARLIER = "earlier"  # it ruled before
    REJECTED = "rejected"


DOING = {
    Action.PROMOTE: "promote a calibrator",
    Action.REJECT: "reject a calibrator",
    Action.ROLL_BACK: "roll a calibrator back",
    Action.THRESHOLD: "change the threshold",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentCalibrator:
    """What decides now; ``folder`` is None for the calibrator that ships with the program.

    ``label`` is what verdicts name: the forest, its threshold, and which promotion put it in force,
    so that verdicts of two reigns of one forest are two runs. ``since``, ``by`` and ``reason`` are
    None as long as nobody has promoted anything.
    """

    name: str
    threshold: float
    label: str
    folder: Path | None
    since: datetime | None
    by: str | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCalibrator:
    """A fitted calibrator with its comparison and lineage, as they were kept with it."""

    name: str
    threshold: float
    standing: Standing
    artifact_sha256: str
    comparison: JsonObject
    lineage: JsonObject
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reign:
    """A calibrator at a threshold, as it decided."""

    calibrator: str
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One decision about calibrators."""

    step: int
    calibrator: str
    threshold: float
    action: Action
    reason: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrators:
    """The calibrators of a store; only a lead changes them, which every write asks."""

    store: SqlStore
    shipped: Path = DEFAULT_FOLDER

    def current(self) -> CurrentCalibrator:
        """What decides now: the latest step that is no rejection, else the shipped calibrator.

        Raises ComponentUnavailable, DamagedArtifact.
        """
        with self.store.database.reading() as connection:
            row = _ruling(connection)
        if row is None:
            forest = load_forest(self.shipped)
            return CurrentCalibrator(
                name=forest.name,
                threshold=forest.threshold,
                label=forest.name,
                folder=None,
                since=None,
                by=None,
                reason=None,
            )
        return CurrentCalibrator(
            name=row.calibrator,
            threshold=row.threshold,
            label=f"{row.calibrator}@{row.threshold:g}#{row.step}",
            folder=self.folder(row.calibrator),
            since=row.at,
            by=row.by,
            reason=row.reason,
        )

    def active_label(self) -> str:
        """The name of the calibrator that decides."""
        return self.current().label

    def forest(self) -> Forest:
        """What decides now, loaded, under the name that verdicts give it."""
        found = self.current()
        if found.folder is None:
            return load_forest(self.shipped)
        return load_forest(found.folder).at(found.threshold, name=found.label)

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
            rows = connection.execute(
                select(
                    col(CalibratorRow.name),
                    col(CalibratorRow.threshold),
                    col(CalibratorRow.artifact_sha256),
                    col(CalibratorRow.comparison),
                    col(CalibratorRow.lineage),
                    col(CalibratorRow.by),
                    col(CalibratorRow.at),
                ).order_by(col(CalibratorRow.calibrator_id).desc())
            ).all()
            steps = _steps(connection)
        standing = _standing(steps)
        return tuple(
            StoredCalibrator(
                name=row.name,
                threshold=row.threshold,
                standing=standing.get(row.name, Standing.WAITING),
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
            return self._keep(connection, folder, comparison, lineage, by.name)

    def promote(self, name: str, reason: str, by: Person, *, over: str | None = None) -> None:
        """Let a kept calibrator decide from now on, at its own threshold.

        ``over`` is the label that the lead saw in force: Conflict when another one is by now, or
        when the calibrator decides already. Raises NotFound, NotAllowed, and InputError without a
        reason. The shipped calibrator of a later release is promoted by its name as well.
        """
        shipped = load_forest(self.shipped)
        with self.store.database.writing() as connection:
            before = _ruling(connection)
            _still(over, before, self.shipped)
            if before is None and name == shipped.name:
                raise Conflict(f"calibrator {name} decides already")
            if name == shipped.name:
                self._keep_shipped(connection, by.name)
            threshold = _threshold_of(connection, name)
            if before is not None and (before.calibrator, before.threshold) == (name, threshold):
                raise Conflict(f"calibrator {name} decides already")
            self._step(connection, name, threshold, Action.PROMOTE, reason, by)

    def reject(self, name: str, reason: str, by: Person) -> None:
        """Set a waiting calibrator aside; Conflict when it has been decided about."""
        with self.store.database.writing() as connection:
            threshold = _threshold_of(connection, name)
            standing = _standing(_steps(connection)).get(name, Standing.WAITING)
            if standing is not Standing.WAITING:
                raise Conflict(f"calibrator {name} is not waiting: {standing.value}")
            self._step(connection, name, threshold, Action.REJECT, reason, by)

    def adopt(self, connection: Connection, folder: Path, reason: str, by: Person) -> None:
        """Keep the calibrator of a folder and let it decide, inside the transaction of another change.

        Nothing changes when it decides already. Raises NotAllowed, and what loading it raises.
        """
        forest = load_forest(folder)
        ruling = _ruling(connection)
        if ruling is None and forest.name == load_forest(self.shipped).name:
            return
        self._keep(connection, folder, {}, {"adopted": True}, by.name)
        threshold = _threshold_of(connection, forest.name)
        if ruling is None or (ruling.calibrator, ruling.threshold) != (forest.name, threshold):
            self._step(connection, forest.name, threshold, Action.PROMOTE, reason, by)

    def roll_back(self, name: str, reason: str, by: Person, *, over: str | None = None) -> None:
        """Let a calibrator that decided before decide again, at the threshold it had then.

        ``name`` may be the shipped calibrator's, or that of the present one at an earlier
        threshold. Raises NotFound, Conflict, NotAllowed, InputError.
        """
        with self.store.database.writing() as connection:
            _still(over, _ruling(connection), self.shipped)
            earlier = next(
                (one for one in self._reigns_before(connection) if one.calibrator == name), None
            )
            if earlier is None:
                raise NotFound(f"calibrator {name!r:.200} did not decide before here")
            if name == load_forest(self.shipped).name:
                self._keep_shipped(connection, by.name)
            self._step(connection, name, earlier.threshold, Action.ROLL_BACK, reason, by)

    def use_threshold(
        self, threshold: float, reason: str, by: Person, *, over: str | None = None
    ) -> None:
        """Let the calibrator that decides now decide at another threshold.

        Raises Conflict, NotAllowed, InputError, and ConfigError for what is no threshold.
        """
        if not 0.0 < threshold < 1.0:
            raise ConfigError(f"threshold: expected a number between 0 and 1, found {threshold!r}")
        with self.store.database.writing() as connection:
            before = _ruling(connection)
            _still(over, before, self.shipped)
            if before is None:
                shipped = load_forest(self.shipped)
                name, was = shipped.name, shipped.threshold
                self._keep_shipped(connection, by.name)
            else:
                name, was = before.calibrator, before.threshold
            if was == threshold:
                raise Conflict(f"the threshold is {threshold:g} already")
            self._step(connection, name, threshold, Action.THRESHOLD, reason, by)

    def before(self) -> Reign | None:
        """What decided before what decides now; None when nothing else did."""
        with self.store.database.reading() as connection:
            return next(self._reigns_before(connection), None)

    def _reigns_before(self, connection: Connection) -> Iterator[Reign]:
        """What decided earlier, the latest first, without what decides now."""
        shipped = load_forest(self.shipped)
        reigns = [
            Reign(calibrator=shipped.name, threshold=shipped.threshold),
            *(
                Reign(calibrator=step.calibrator, threshold=step.threshold)
                for step in _steps(connection)
                if step.action is not Action.REJECT
            ),
        ]
        return (reign for reign in reversed(reigns) if reign != reigns[-1])

    def _keep_shipped(self, connection: Connection, by: str) -> None:
        """Once a lead has relied on it, it stays, whatever a later version of the program ships."""
        self._keep(connection, self.shipped, {}, {"shipped": True}, by)

    def _keep(
        self,
        connection: Connection,
        folder: Path,
        comparison: JsonObject,
        lineage: JsonObject,
        by: str,
    ) -> str:
        forest = load_forest(folder)  # nothing is kept that could not be loaded again
        known = connection.execute(
            select(col(CalibratorRow.calibrator_id)).where(col(CalibratorRow.name) == forest.name)
        ).first()
        if known is not None:
            return forest.name
        artifact = _packed(folder)
        at = self.store.now()
        add_row(
            connection,
            CalibratorRow,
            {
                "name": forest.name,
                "artifact": artifact,
                "artifact_sha256": _digest(artifact),
                "threshold": forest.threshold,
                "comparison": json.dumps(comparison, allow_nan=False),
                "lineage": json.dumps(lineage, allow_nan=False),
                "by": by,
                "at": at,
            },
            at=at,
            actor=by,
            action="calibrator.kept",
            entity=forest.name,
            detail={"artifact": _digest(artifact), "threshold": forest.threshold},
        )
        return forest.name

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
        before, at = _ruling(connection), self.store.now()
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
    rows = connection.execute(
        select(Promotion.__table__).order_by(col(Promotion.promotion_id))  # type: ignore[attr-defined]
    )
    return tuple(
        Step(
            step=row.promotion_id,
            calibrator=row.calibrator,
            threshold=row.threshold,
            action=Action(row.action),
            reason=row.reason,
            by=row.by,
            at=row.at,
        )
        for row in rows
    )


def _ruling(connection: Connection) -> Step | None:
    return next(
        (step for step in reversed(_steps(connection)) if step.action is not Action.REJECT), None
    )


def _standing(steps: tuple[Step, ...]) -> Mapping[str, Standing]:
    found: dict[str, Standing] = {}
    ruling: str | None = None
    for step in steps:
        if step.action is Action.REJECT:
            found[step.calibrator] = Standing.REJECTED
            continue
        if ruling is not None:
            found[ruling] = Standing.EARLIER
        ruling = step.calibrator
        found[ruling] = Standing.IN_FORCE
    return found


def _threshold_of(connection: Connection, name: str) -> float:
    found = connection.execute(
        select(col(CalibratorRow.threshold)).where(col(CalibratorRow.name) == name)
    ).scalar()
    if found is None:
        raise NotFound(f"no calibrator {name!r:.200} in this database")
    return float(found)


def _still(seen: str | None, ruling: Step | None, shipped: Path) -> None:
    """Conflict unless what the lead saw in force still is."""
    if seen is None:
        return
    now = (
        load_forest(shipped).name
        if ruling is None
        else f"{ruling.calibrator}@{ruling.threshold:g}#{ruling.step}"
    )
    if seen != now:
        raise Conflict(f"somebody else put {now} in force meanwhile; look at it first")


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
    if (folder / MANIFEST_FILE).is_file():  # written last
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
