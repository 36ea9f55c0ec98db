"""A fit in a process of its own: it ends with a candidate, or with nothing at all."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from databases import a_store, workspace_of
from labelled import a_labelled_office
from reviewing import Office, an_office

from core.workflows.fitting import (
    LOCK_FILE,
    FitState,
    fit,
    fitting_folder,
    is_fitting,
    read_status,
    start_fitting,
    stop_fitting,
)
from core.workflows.retraining import Retraining


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """A labelled store."""
    store = a_store(tmp_path_factory.mktemp("fitting") / "workbench.db", actor="tester")
    return a_labelled_office(workspace_of(store), traces=20)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    """A store whose claims nobody has read."""
    return an_office(a_store(tmp_path / "workbench.db", actor="tester"))


def _wait(folder: Path) -> None:
    """Until the process that holds the lock has ended."""
    file = os.open(folder / LOCK_FILE, os.O_RDWR)
    fcntl.flock(file, fcntl.LOCK_SH)
    os.close(file)


@pytest.mark.stress
def test_a_fit_that_is_killed_leaves_no_candidate(labelled: Office) -> None:
    folder = fitting_folder(labelled.workspace.data_folder)

    assert start_fitting(
        folder, labelled.people["Lea"], labelled.workspace.environment, with_shipped=False
    )
    assert is_fitting(folder)
    assert not start_fitting(
        folder, labelled.people["Lea"], labelled.workspace.environment, with_shipped=False
    )
    stop_fitting(folder)
    _wait(folder)

    status = read_status(folder)
    assert status is not None and status.state is FitState.RUNNING  # it said nothing more
    assert not is_fitting(folder)
    assert labelled.workspace.calibrators.candidates() == ()


@pytest.mark.stress
def test_a_fit_in_the_background_keeps_its_candidate(labelled: Office) -> None:
    folder = fitting_folder(labelled.workspace.data_folder)

    assert start_fitting(
        folder, labelled.people["Lea"], labelled.workspace.environment, with_shipped=False
    )
    _wait(folder)

    status = read_status(folder)
    assert status is not None and (status.state, status.message) == (FitState.DONE, "")
    [kept] = labelled.workspace.calibrators.candidates()
    assert kept.name == status.candidate
    assert kept.by == "Lea"


def test_a_fit_that_may_not_be_made_says_why(office: Office) -> None:
    folder = fitting_folder(office.workspace.data_folder)
    retraining = Retraining(workspace=office.workspace)
    state = fit(
        folder,
        lambda progress: retraining.fit(
            office.people["Ada"], with_shipped=False, progress=progress
        ),
    )

    status = read_status(folder)
    assert state is FitState.FAILED
    assert status is not None and "needs the role lead" in status.message
    assert office.workspace.calibrators.candidates() == ()


def test_nothing_is_stopped_where_nothing_runs(office: Office) -> None:
    folder = fitting_folder(office.workspace.data_folder)
    (folder / "process").write_text(str(os.getpid()), encoding="utf-8")

    stop_fitting(folder)  # or this process would end here

    assert not is_fitting(folder)
