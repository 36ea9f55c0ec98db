"""Verifying what waits, in the background of this process, with progress that any session can see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.config import Config
from core.ports import Progress as ProgressReporter
from core.workflows.verify import VerifyReport, verify_pending
from pages.widgets.jobs import Job, estimate_words, show_failure, show_work
from pages.widgets.session import load_models_once, settings
from storage.store import SqlStore, newest_of_file, only, sample_of

if TYPE_CHECKING:
    from core.pipeline import Models

TRACES_A_STEP = 4  # verdicts are kept, and progress is seen, this often
SAMPLE_TRACES = 20  # drawn at random: enough steps to tell the pace, done in a minute or two
LARGE_TRACES = 100  # from so many on, a sample comes first


def verification() -> Job[VerifyReport]:
    """A job that verifies; none is under way yet."""
    return Job(doing="Verifying", noun="traces", before="Loading the models …")


def verify_waiting(
    store: SqlStore,
    config: Config,
    report: ProgressReporter,
    *,
    load: Callable[[Config], Models] = load_models_once,
) -> VerifyReport:
    """Verify what waits; ``load`` gives the models, which takes a while."""
    return verify_pending(store, load(config), config, report, batch=TRACES_A_STEP)


@st.cache_resource(show_spinner=False)
def _verification(store_name: str) -> Job[VerifyReport]:
    return verification()


def start_verifying(store: SqlStore, positions: Sequence[int] | None = None) -> None:
    """Begin to verify what waits, or what waits of those trace versions, unless that is being done."""
    part = store if positions is None else only(store, positions)
    _verification(store.name).start(partial(verify_waiting, part, settings()))


def start_sample(store: SqlStore, file: str | None) -> None:
    """Begin to verify a sample of a file (None: of everything), to see how long the rest takes."""
    start_verifying(store, sample_of(newest_of_file(store, file), SAMPLE_TRACES))


def show_verifying(store: SqlStore, *, waiting: int, button_in: DeltaGenerator) -> None:
    """How far a running verification is, or how the last one ended, and the verify button."""
    job = _verification(store.name)
    if job.running:
        show_work(job, key="stop")
        return
    if job.failure is not None:
        show_failure(job.failure, "The verification stopped", "What was verified so far is kept.")
    if not waiting:
        return
    noun = "trace" if waiting == 1 else "traces"
    sample_first = waiting >= LARGE_TRACES and job.pace is None
    place = button_in.container(horizontal=True, horizontal_alignment="right", gap="small")
    if sample_first:
        place.button(
            f"Verify {SAMPLE_TRACES} first",
            type="primary",
            key="verify-sample",
            help="Drawn at random. Nobody knows yet how long all take on this machine: they tell.",
            on_click=start_sample,
            args=(store, None),
        )
    place.button(
        f"All {waiting:,}" if sample_first else f"Verify {waiting:,} {noun}",
        type="secondary" if sample_first else "primary",
        icon=None if sample_first else ":material/play_arrow:",
        key="verify",
        on_click=start_verifying,
        args=(store,),
    )
    if job.pace is not None:
        st.caption(
            f"{waiting:,} {noun} wait: {estimate_words(job.pace, waiting)} at the pace of the "
            f"last {job.pace.n:,} here. Nothing has to stay open meanwhile."
        )
