"""Fitting a candidate in a process of its own, and the labelled rows that it is fitted on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.calibration.rows import KeptRows
from core.workflows.fitting import FitState, fitting_folder, is_fitting, read_status, stop_fitting
from core.workflows.retraining import Material, Retraining
from pages.widgets.jobs import Progress, show_work
from pages.widgets.plain import show_notice
from storage.workspace import Workspace


def known_material(workspace: Workspace, retraining: Retraining) -> Material:
    """The settled claims of a database by side, read once until something is written down again."""
    events = workspace.store.audit_events(limit=1)
    return _material(workspace.name, events[0].sequence if events else 0, retraining)


@st.cache_resource(show_spinner=False, max_entries=2)
def _material(store_name: str, sequence: int, _retraining: Retraining) -> Material:
    return _retraining.material()


@st.cache_resource(show_spinner=False)
def shipped_rows(_retraining: Retraining, nli: str) -> KeptRows | None:
    """The rows that the shipped calibrator was fitted on, read once; None where they do not count."""
    return _retraining.shipped()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The fit that tells in a folder how far it is."""

    folder: Path
    stopping: bool = False

    @property
    def running(self) -> bool:
        """Whether a process is fitting now."""
        return is_fitting(self.folder)

    def stop(self) -> None:
        """End it; nothing of it is kept."""
        stop_fitting(self.folder)

    def progress(self) -> Progress | None:
        """How far it is; None before it has said so."""
        status = read_status(self.folder)
        if status is None:
            return None
        seconds = max(0, round(time.time() - status.started))
        share = status.done / status.total if status.total else 0.0
        return Progress(share=share, words=f"Fitting: {status.what} · {seconds} s")


def show_fitting(workspace: Workspace) -> bool:
    """How far a fit is, or how the last one ended badly; True while one is under way."""
    fit = Fit(folder=fitting_folder(workspace.data_folder))
    if fit.running:
        show_work(fit, key="stop-fit")
        return True
    status = read_status(fit.folder)
    if status is None or status.state is FitState.DONE:
        return False
    if status.state is FitState.FAILED:
        show_notice("The fit ended early", status.message, tone="bad")
    else:
        show_notice(
            "The last fit was stopped",
            "Nothing of it was kept. Fit again when you like.",
            tone="careful",
        )
    return False
