"""A fit in a process of its own, for the page Recalibrate. ``python -m cli.fitting FOLDER --user ID``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from core.ports import Progress
from core.workflows.fitting import FitState, fit
from core.workflows.models import ForestFiles
from core.workflows.retraining import Retraining
from storage.workspace import open_workspace


def main() -> int:
    """Fit a candidate for the user that the command line names; the exit code.

    The database is the one that PROVENANCEGUARD_DB names.
    """
    parser = argparse.ArgumentParser(description="Fit a candidate calibrator on reviewers' labels.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--user", type=int, required=True)
    parser.add_argument("--shipped", action="store_true")
    given = parser.parse_args()
    workspace = open_workspace(actor="fitting", files=ForestFiles())

    def make(progress: Progress) -> str:
        user = workspace.people.at(given.user)
        return Retraining(workspace=workspace).fit(
            user, with_shipped=given.shipped, progress=progress
        )

    state = fit(given.folder, make)
    workspace.close()
    return 0 if state is FitState.DONE else 3


if __name__ == "__main__":
    sys.exit(main())
