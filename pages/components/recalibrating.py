"""The two long tasks of recalibration, in the background: fitting, and deciding stored answers again."""

from __future__ import annotations

import logging
import time
import traceback
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

import streamlit as st

from core.calibration.rows import KeptRows
from core.config import Config
from core.errors import ProvenanceGuardError
from core.workflows.fitting import FitState, fitting_folder, is_fitting, read_status, stop_fitting
from core.workflows.rescore import RescoreReport
from core.workflows.retrain import Material
from core.workflows.retraining import Retraining
from pages.components.plain import show_notice
from pages.components.session import settings
from storage.workspace import Workspace

_log = logging.getLogger(__name__)


def known_material(workspace: Workspace, retraining: Retraining) -> Material:
    """The settled claims of a database by side, read once until something is written down again."""
    events = workspace.store.audit_events(limit=1)
    return _material(workspace.name, events[0].sequence if events else 0, retraining)


@st.cache_resource(show_spinner=False, max_entries=2)
def _material(store_name: str, sequence: int, _retraining: Retraining) -> Material:
    return _retraining.material()


@st.cache_resource(show_spinner=False)
def shipped_rows(_retraining: Retraining, reader: str) -> KeptRows | None:
    """The rows that the shipped calibrator was fitted on, read once; None where they do not count."""
    return _retraining.shipped()


# ---------------------------------------------------------------- fitting


def show_fitting(workspace: Workspace) -> bool:
    """How far a fit is, or how the last one ended badly; True while one is under way."""
    folder = fitting_folder(workspace.data_folder)
    if is_fitting(folder):
        _show_fit(folder)
        return True
    status = read_status(folder)
    if status is None or status.state is FitState.DONE:
        return False
    if status.state is FitState.FAILED:
        show_notice("The fit ended early", status.message, key="fit-failed", tone="bad")
    else:
        show_notice(
            "The last fit was stopped",
            "Nothing of it was kept. Fit again when you like.",
            key="fit-stopped",
            tone="careful",
        )
    return False


@st.fragment(run_every="2s")
def _show_fit(folder: Path) -> None:
    if not is_fitting(folder):
        st.rerun()  # the whole page: there is a candidate
    status = read_status(folder)
    if status is None:
        return
    share = status.done / status.total if status.total else 0.0
    seconds = max(0, round(time.time() - status.started))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(share, text=f"Fitting: {status.what} · {seconds} s")
        st.button("Stop", key="stop-fit", on_click=stop_fitting, args=(folder,), width="content")


# ---------------------------------------------------------------- deciding again


class Stopped(Exception):
    """Someone pressed Stop; what was decided again stays so."""


@dataclass(slots=True)
class Rescoring:
    """One rescoring at a time for the whole process; it goes on when its page is closed."""

    future: Future[RescoreReport] | None = None
    done: int = 0
    total: int = 0
    began: float = 0.0
    stopping: bool = False
    starting: Lock = field(default_factory=Lock)

    @property
    def running(self) -> bool:
        """Whether answers are being decided again now."""
        return self.future is not None and not self.future.done()

    def start(self, workspace: Workspace, config: Config) -> None:
        """Begin, unless it is running already."""
        with self.starting:  # two sessions may press the button at once
            if self.running:
                return
            self.done = self.total = 0
            self.stopping, self.began = False, time.monotonic()
            self.future = Future()
            # A daemon lets Ctrl-C end the workbench at once; each window of answers is kept.
            Thread(target=self._run, args=(self.future, workspace, config), daemon=True).start()

    def stop(self) -> None:
        """Ask it to end after the answers in hand."""
        self.stopping = True

    def words(self, now: float | None = None) -> str:
        """How far it is, and how long it may still take; ``now`` as time.monotonic()."""
        if not self.total:
            return "looking for stored answers …"
        text = f"{self.done:,} of {self.total:,} answers"
        seconds = (time.monotonic() if now is None else now) - self.began
        if not self.done or seconds <= 0:
            return text
        left = (self.total - self.done) * seconds / self.done
        return f"{text} · about {max(1, round(left))} s left"

    def _run(self, future: Future[RescoreReport], workspace: Workspace, config: Config) -> None:
        try:
            report = Retraining(workspace=workspace).rescore(config, self._tell)
        except Exception as error:
            future.set_exception(error)  # shown to whoever looks at the end
        else:
            future.set_result(report)

    def _tell(self, done: int, total: int | None, what: str) -> None:
        self.done, self.total = done, total or 0
        if self.stopping:
            raise Stopped


@st.cache_resource(show_spinner=False)
def _rescoring(store_name: str) -> Rescoring:
    return Rescoring()


def start_rescoring(workspace: Workspace) -> None:
    """Begin to decide every stored answer again, unless that is being done."""
    _rescoring(workspace.name).start(workspace, settings())


def show_rescoring(workspace: Workspace, *, waiting: int) -> None:
    """How far a rescoring is or what the last one did, and the button for answers that wait."""
    job = _rescoring(workspace.name)
    if job.running:
        _show_progress(workspace.name)
        return
    left_out = _show_end(job.future) if job.future is not None else 0
    if waiting <= left_out:
        return  # what is left needs the models, which the report has said
    with st.container(horizontal=True, vertical_alignment="center"):
        noun = "answer was" if waiting == 1 else "answers were"
        st.text(
            f"{waiting:,} stored {noun} decided by another calibrator than the one in force.",
            width="content",
        )
        st.button(
            "Decide them again",
            key="rescore",
            icon=":material/refresh:",
            on_click=start_rescoring,
            args=(workspace,),
            help="From stored readings: no model runs, and nobody's judgement changes.",
        )


@st.fragment(run_every="1s")
def _show_progress(store_name: str) -> None:
    job = _rescoring(store_name)
    if not job.running:
        st.rerun()
    share = min(1.0, job.done / job.total) if job.total else 0.0
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(share, text=f"Deciding stored answers again: {job.words()}")
        st.button("Stop", key="stop-rescore", on_click=job.stop, disabled=job.stopping)


def _show_end(future: Future[RescoreReport]) -> int:
    """Say how it ended; the number of answers that it could not decide again."""
    error = future.exception()
    if isinstance(error, Stopped):
        return 0
    if isinstance(error, ProvenanceGuardError):
        show_notice("Deciding again stopped", str(error), key="rescore-error", tone="bad")
        return 0
    if error is not None:
        # The kind and place of a bug, without its message: that may quote a trace.
        where = "".join(traceback.format_tb(error.__traceback__))
        _log.error("rescoring failed with %s\n%s", type(error).__name__, where)
        show_notice(
            "Deciding again stopped because of a fault in this program",
            f"{type(error).__name__}; the terminal shows where. What was done so far is kept.",
            key="rescore-error",
            tone="bad",
        )
        return 0
    report = future.result()
    left_out = sum(report.left_out.values())
    show_notice(
        f"{report.rescored:,} stored answers were decided again",
        report_words(report),
        key="rescored",
        tone="careful" if left_out else "good",
    )
    return left_out


def report_words(report: RescoreReport) -> str:
    """What a rescoring changed, and what it could not decide."""
    words = (
        f"{report.now_blocked:,} are blocked now, {report.now_allowed:,} are allowed now; "
        f"{report.claims_changed:,} claims changed."
    )
    for reason, count in sorted(report.left_out.items()):
        words += f" {count:,} kept their old verdict: {reason}. Verify them on the page Traces."
    return words
