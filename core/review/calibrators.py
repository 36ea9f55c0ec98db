"""Calibrators as leads decide about them: which one is active, which were before, what may follow.

Every decision is a step that stays; all of this is worked out from the steps, the first first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from core.errors import ConfigError, Conflict, NotFound
from core.models.forest import CARD_FILE, MANIFEST_FILE, TREES_FILE
from core.records import JsonObject

FILES = (CARD_FILE, TREES_FILE, MANIFEST_FILE)  # the manifest is written last


class Action(StrEnum):
    """What a lead did with a calibrator."""

    PROMOTE = "promote"
    REJECT = "reject"
    ROLL_BACK = "roll_back"
    THRESHOLD = "threshold"


class Standing(StrEnum):
    """Where a fitted calibrator stands."""

    WAITING = "waiting"  # nobody has decided
    ACTIVE = "in_force"
    EARLIER = "earlier"  # it was active before
    REJECTED = "rejected"


DOING = {
    Action.PROMOTE: "promote a calibrator",
    Action.REJECT: "reject a calibrator",
    Action.ROLL_BACK: "roll a calibrator back",
    Action.THRESHOLD: "change the threshold",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratorArtifact:
    """A folder with a calibrator's files, found whole, and what they say of themselves."""

    folder: Path
    name: str
    threshold: float


class CalibratorFiles(Protocol):
    """Reads calibrators from folders; the repository that keeps them knows none of their trees."""

    @property
    def shipped(self) -> Path:
        """The folder of the calibrator that ships with the program."""
        ...

    def read(self, folder: Path) -> CalibratorArtifact:
        """The artifact in a folder; raises ComponentUnavailable, DamagedArtifact."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentCalibrator:
    """What decides now; ``folder`` is None for the calibrator that ships with the program.

    ``label`` is what verdicts name: the forest, its threshold, and which promotion made it active,
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


def active_step(steps: Sequence[Step]) -> Step | None:
    """The step that made the active calibrator active; None: the shipped one decides."""
    return next((step for step in reversed(steps) if step.action is not Action.REJECT), None)


def label_of(active: Step | None, shipped: str) -> str:
    """What verdicts call the active calibrator."""
    return shipped if active is None else f"{active.calibrator}@{active.threshold:g}#{active.step}"


def standings(steps: Sequence[Step]) -> Mapping[str, Standing]:
    """Where each calibrator stands that somebody has decided about."""
    by_name: dict[str, Standing] = {}
    active: str | None = None
    for step in steps:
        if step.action is Action.REJECT:
            by_name[step.calibrator] = Standing.REJECTED
            continue
        if active is not None:
            by_name[active] = Standing.EARLIER
        active = step.calibrator
        by_name[active] = Standing.ACTIVE
    return by_name


def earlier_reigns(shipped: CalibratorArtifact, steps: Sequence[Step]) -> tuple[Reign, ...]:
    """What decided earlier, the latest first, without what decides now."""
    reigns = [
        Reign(calibrator=shipped.name, threshold=shipped.threshold),
        *(
            Reign(calibrator=step.calibrator, threshold=step.threshold)
            for step in steps
            if step.action is not Action.REJECT
        ),
    ]
    return tuple(reign for reign in reversed(reigns) if reign != reigns[-1])


def check_seen(seen: str | None, active: Step | None, shipped: str) -> None:
    """Raise Conflict unless the calibrator that a lead saw active still is; None: they saw none."""
    label = label_of(active, shipped)
    if seen is not None and seen != label:
        raise Conflict(f"somebody else put {label} in force meanwhile; look at it first")


def check_promotion(name: str, threshold: float, active: Step | None, shipped: str) -> None:
    """Raise Conflict when that calibrator decides already, at that threshold."""
    already = (
        name == shipped
        if active is None
        else (active.calibrator, active.threshold) == (name, threshold)
    )
    if already:
        raise Conflict(f"calibrator {name} decides already")


def check_rejection(name: str, steps: Sequence[Step]) -> None:
    """Raise Conflict for a calibrator that somebody has decided about."""
    standing = standings(steps).get(name, Standing.WAITING)
    if standing is not Standing.WAITING:
        raise Conflict(f"calibrator {name} is not waiting: somebody has decided about it")


def roll_back_to(name: str, shipped: CalibratorArtifact, steps: Sequence[Step]) -> Reign:
    """The latest earlier reign of that calibrator; raises NotFound."""
    for reign in earlier_reigns(shipped, steps):
        if reign.calibrator == name:
            return reign
    raise NotFound(f"calibrator {name!r:.200} did not decide before here")


def check_threshold(threshold: float) -> None:
    """Raise ConfigError for what is no threshold."""
    if not 0.0 < threshold < 1.0:
        raise ConfigError(f"threshold: expected a number between 0 and 1, found {threshold!r}")


def at_threshold(threshold: float, active: Step | None, shipped: CalibratorArtifact) -> Reign:
    """The active calibrator at another threshold; raises Conflict when it is that one already."""
    name, before = (
        (shipped.name, shipped.threshold)
        if active is None
        else (active.calibrator, active.threshold)
    )
    if before == threshold:
        raise Conflict(f"the threshold is {threshold:g} already")
    return Reign(calibrator=name, threshold=threshold)
