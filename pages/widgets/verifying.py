"""Verifying what waits, in the background of this process, with progress that any session can see."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.config import Config
from core.errors import ProvenanceGuardError
from core.workflows.verify import VerifyReport, verify_pending
from pages.widgets.plain import show_notice
from pages.widgets.session import load_models_once, settings
from storage.store import SqlStore

if TYPE_CHECKING:
    from core.pipeline import Models

_log = logging.getLogger(__name__)

TRACES_A_STEP = 4  # verdicts are kept, and progress is seen, this often


class Stopped(Exception):
    """Someone pressed Stop; what was kept stays kept."""


@dataclass(slots=True)
class Verification:
    """One verification at a time for the whole process; it goes on when its page is closed.

    ``load`` gives the models; it is called in the background, since it takes a while.
    """

    load: Callable[[Config], Models] = load_models_once
    future: Future[VerifyReport] | None = None
    done: int = 0
    total: int | None = None
    started: float | None = None
    stopping: bool = False
    starting: Lock = field(default_factory=Lock)

    @property
    def running(self) -> bool:
        """Whether traces are being verified now."""
        return self.future is not None and not self.future.done()

    def start(self, store: SqlStore, config: Config) -> None:
        """Begin, unless it is running already."""
        with self.starting:  # two sessions may press the button at once
            if self.running:
                return
            self.done, self.total, self.started, self.stopping = 0, None, None, False
            self.future = Future()
            # A daemon, unlike an executor's thread, lets Ctrl-C end the workbench at once: what is
            # verified is kept step by step, so nothing is lost but the step under way.
            Thread(target=self._run, args=(self.future, store, config), daemon=True).start()

    def stop(self) -> None:
        """Ask it to end after the traces that it is reading now."""
        self.stopping = True

    def _run(self, future: Future[VerifyReport], store: SqlStore, config: Config) -> None:
        try:
            models = self.load(config)
            report = verify_pending(store, models, config, self._tell, batch=TRACES_A_STEP)
        except Exception as error:
            future.set_exception(error)  # raised again for, and shown by, whoever looks at the end
        else:
            future.set_result(report)

    def _tell(self, done: int, total: int | None, what: str) -> None:
        if self.started is None:
            self.started = time.monotonic()
        self.done, self.total = done, total
        if self.stopping:
            raise Stopped

    def words(self, now: float | None = None) -> str:
        """How far it is, how fast, and how long it may still take; ``now`` as time.monotonic()."""
        if self.started is None or self.total is None:
            return "Loading the models …"
        text = f"{self.done:,} of {self.total:,} traces"
        seconds = (time.monotonic() if now is None else now) - self.started
        if not self.done or seconds <= 0:
            return f"{text} · reading the first ones"
        rate = self.done / seconds
        return f"{text} · {_rate_words(rate)} · {_left_words((self.total - self.done) / rate)}"


@st.cache_resource(show_spinner=False)
def _verification(store_name: str) -> Verification:
    return Verification()


def start_verifying(store: SqlStore) -> None:
    """Begin to verify what waits, unless that is being done."""
    _verification(store.name).start(store, settings())


def show_verifying(store: SqlStore, *, waiting: int, button_in: DeltaGenerator) -> None:
    """How far a running verification is, or how the last one ended, and the verify button."""
    job = _verification(store.name)
    if job.running:
        _show_progress(store.name)
        return
    if job.future is not None:
        _show_end(job.future)
    if waiting:
        noun = "trace" if waiting == 1 else "traces"
        button_in.button(
            f"Verify {waiting:,} {noun}",
            type="primary",
            icon=":material/play_arrow:",
            width="stretch",
            key="verify",
            on_click=start_verifying,
            args=(store,),
        )


@st.fragment(run_every="1s")
def _show_progress(store_name: str) -> None:
    job = _verification(store_name)
    if not job.running:
        st.rerun()  # the whole page: the list has new verdicts
    share = job.done / job.total if job.total else 0.0
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(share, text=f"Verifying: {job.words()}")
        st.button("Stop", key="stop", on_click=job.stop, disabled=job.stopping)


def _show_end(future: Future[VerifyReport]) -> None:
    error = future.exception()
    if error is None or isinstance(error, Stopped):
        return  # the list says it all
    if isinstance(error, ProvenanceGuardError):
        show_notice("The verification stopped", str(error), key="verify-error", tone="bad")
        return
    # The kind and place of a bug, without its message: that may quote a trace.
    where = "".join(traceback.format_tb(error.__traceback__))
    _log.error("verification failed with %s\n%s", type(error).__name__, where)
    show_notice(
        "The verification stopped because of a fault in this program",
        f"{type(error).__name__}; the terminal shows where. What was verified so far is kept.",
        key="verify-error",
        tone="bad",
    )


def _rate_words(rate: float) -> str:
    return f"{rate:.1f} a second" if rate >= 1 else f"{rate * 60:.0f} a minute"


def _left_words(seconds: float) -> str:
    if seconds < 90:
        return f"about {max(1, round(seconds))} s left"
    return f"about {round(seconds / 60)} min left"
