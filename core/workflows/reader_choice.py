"""choose_reader: read with another pair reader from now on, after it was loaded and found to fit."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from core.models.forest import load_forest
from core.models.loading import ACCURATE, BUNDLED, PAPER, load_pair_reader
from core.review.reader_choice import CurrentReader
from core.review.records import Person
from core.workflows.calibrators import ActiveCalibrator, active_forest, calibrator_folder
from core.workflows.models import check_fitted_for


class ReaderChoices(Protocol):
    """A repository of which reader was chosen when."""

    def current(self) -> CurrentReader:
        """What reads now."""
        ...

    def choose(
        self, reader: str, reason: str, by: Person, *, calibrator: Path | None = None
    ) -> None:
        """Read with ``reader`` from now on, and let ``calibrator`` decide where one is given."""
        ...


class ReaderWorkspace(Protocol):
    """A database that is read by one reader and decided by one calibrator."""

    @property
    def readers(self) -> ReaderChoices:
        """Its choices of a reader."""
        ...

    @property
    def calibrators(self) -> ActiveCalibrator:
        """Its calibrators."""
        ...


def choose_reader(
    workspace: ReaderWorkspace,
    choice: str,
    reason: str,
    user: Person,
    *,
    calibrator: str | None = None,
) -> None:
    """Read with ``choice`` from now on; with a calibrator's folder or "shipped", that decides.

    Raises ComponentUnavailable, DamagedArtifact, ConfigError with the command that refits a
    calibrator of another reader, NotAllowed, and InputError without a reason.
    """
    folder = calibrator_folder(calibrator)
    kept = check_reader(workspace.calibrators, choice, folder)
    workspace.readers.choose(kept, reason, user, calibrator=folder)


def check_reader(calibrators: ActiveCalibrator, choice: str, folder: Path | None = None) -> str:
    """The choice as it is kept, after the reader was loaded and held against what would decide.

    A folder is kept with its whole path. Raises ComponentUnavailable, DamagedArtifact, ConfigError.
    """
    name = choice.strip()
    loaded = load_pair_reader(name)
    decides = active_forest(calibrators) if folder is None else load_forest(folder)
    check_fitted_for(decides, loaded.name, name)
    if name in (BUNDLED, ACCURATE, PAPER) or not Path(name).is_dir():
        return name
    return str(Path(name).resolve())
