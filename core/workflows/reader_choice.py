"""choose_reader: read with another pair reader from now on, after it was loaded and found to fit."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from core.models.forest import load_forest
from core.models.loading import ACCURATE, BUNDLED, PAPER, load_pair_reader
from core.review.reader_choice import CurrentReader
from core.review.records import Person
from core.workflows.calibrators import (
    ActiveCalibrator,
    active_forest,
    calibrator_folder,
    shipped_with,
)
from core.workflows.models import check_fitted_for, fitted_for


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

    Where the active one was fitted on another reader, the calibrator that ships with the choice takes
    over.

    Raises ComponentUnavailable, DamagedArtifact, ConfigError with the command that refits a
    calibrator of another reader, NotAllowed, and InputError without a reason.
    """
    name = choice.strip()
    loaded = load_pair_reader(name).name
    active = active_forest(workspace.calibrators)
    folder = calibrator_folder(calibrator)
    if folder is None and not fitted_for(active, loaded):
        folder = shipped_with(name)
    check_fitted_for(active if folder is None else load_forest(folder), loaded, name)
    # A folder is kept with its whole path.
    of_this_machine = name not in (BUNDLED, ACCURATE, PAPER) and Path(name).is_dir()
    kept = str(Path(name).resolve()) if of_this_machine else name
    workspace.readers.choose(kept, reason, user, calibrator=folder)
