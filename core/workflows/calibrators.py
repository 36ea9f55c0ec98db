"""The active calibrator of a database, loaded, and how the repository that keeps it reads folders."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.models.forest import ACCURATE_FOLDER, DEFAULT_FOLDER, Forest, load_forest
from core.models.loading import ACCURATE, BUNDLED
from core.review.calibrators import CalibratorArtifact, CalibratorFiles, CurrentCalibrator


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestFiles:
    """Implements core.review.calibrators.CalibratorFiles for folders of forests."""

    shipped: Path = DEFAULT_FOLDER

    def read(self, folder: Path) -> CalibratorArtifact:
        """The artifact in a folder, loaded to see that it is whole."""
        forest = load_forest(folder)
        return CalibratorArtifact(folder=folder, name=forest.name, threshold=forest.threshold)


class ActiveCalibrator(Protocol):
    """What says which calibrator decides, and has its files."""

    @property
    def files(self) -> CalibratorFiles:
        """How folders of calibrators are read, and which one ships with the program."""
        ...

    def current(self) -> CurrentCalibrator:
        """What decides now."""
        ...


def active_forest(calibrators: ActiveCalibrator) -> Forest:
    """What decides now, loaded, under the name that verdicts give it."""
    current = calibrators.current()
    if current.folder is None:
        return load_forest(calibrators.files.shipped)
    return load_forest(current.folder).at(current.threshold, name=current.label)


def calibrator_folder(named: str | None) -> Path | None:
    """The folder that a calibrator's name means: "shipped", a folder, or None for the active one."""
    if named is None or not named.strip():
        return None
    return DEFAULT_FOLDER if named.strip() == "shipped" else Path(named.strip())


def shipped_with(reader: str | Path | None) -> Path | None:
    """The folder of the calibrator that ships with a reader; None for a reader that has none."""
    ours = {None: DEFAULT_FOLDER, BUNDLED: DEFAULT_FOLDER, ACCURATE: ACCURATE_FOLDER}
    folder = ours.get(reader) if not isinstance(reader, Path) else None
    return folder if folder is not None and folder.is_dir() else None
