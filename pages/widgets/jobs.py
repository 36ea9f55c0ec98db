"""Work in the background: begun once for everybody, seen and stopped from every session."""

from __future__ import annotations

import itertools
import logging
import math
import statistics
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Generic, Protocol, TypeVar

import streamlit as st

from core.errors import ProvenanceGuardError
from core.ports import Progress as ProgressReporter
from pages.widgets.plain import show_notice

_log = logging.getLogger(__name__)
Result = TypeVar("Result")
# Shares done from which time left is told: as a range, as one figure.
STEADY_FROM, SURE_FROM = 0.1, 0.5
STEADY_SECONDS = 120.0  # of work that takes hours a range is told after so long


class Stopped(Exception):
    """Someone pressed Stop; what was kept stays kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far some work is, as a share and in words."""

    share: float
    words: str


class Work(Protocol):
    """Something under way in a thread or in a process of its own."""

    @property
    def running(self) -> bool: ...
    @property
    def stopping(self) -> bool: ...
    def progress(self) -> Progress | None: ...
    def stop(self) -> None: ...


@dataclass(slots=True, kw_only=True)
class Job(Generic[Result]):
    """One task at a time in a thread of this process; it goes on when its page is closed.

    ``before`` is said until the task has reported something; ``began`` is that moment, and ``steps``
    are (how many done, when) since then.
    """

    doing: str
    noun: str
    before: str
    future: Future[Result] | None = None
    done: int = 0
    total: int | None = None
    began: float | None = None
    steps: list[tuple[int, float]] = field(default_factory=list)
    stopping: bool = False
    starting: Lock = field(default_factory=Lock)

    @property
    def running(self) -> bool:
        """Whether the task is under way now."""
        return self.future is not None and not self.future.done()

    @property
    def result(self) -> Result | None:
        """What the last task came to; None before its end, and when it was stopped or failed."""
        if self.future is None or self.running or self.future.exception() is not None:
            return None
        return self.future.result()

    @property
    def failure(self) -> BaseException | None:
        """What ended the last task early, other than Stop."""
        if self.future is None or self.running:
            return None
        error = self.future.exception()
        return None if isinstance(error, Stopped) else error

    def start(self, task: Callable[[ProgressReporter], Result]) -> None:
        """Begin the task, unless one is running already."""
        with self.starting:  # two sessions may press the button at once
            if self.running:
                return
            self.done, self.total, self.began, self.stopping = 0, None, None, False
            self.steps = []
            self.future = Future()
            # A daemon, unlike an executor's thread, lets Ctrl-C end the workbench at once: tasks keep
            # what they have done step by step, so nothing is lost but the step under way.
            Thread(target=self._run, args=(self.future, task), daemon=True).start()

    def stop(self) -> None:
        """Ask it to end after the step under way."""
        self.stopping = True

    def progress(self) -> Progress:
        """How far it is."""
        share = min(1.0, self.done / self.total) if self.total else 0.0
        return Progress(share=share, words=f"{self.doing}: {self.words()}")

    def words(self, now: float | None = None) -> str:
        """How far it is, how fast, and how long it may still take; ``now`` as time.monotonic()."""
        if self.began is None or not self.total:
            return self.before
        at = time.monotonic() if now is None else now
        reported = self.steps[-1][1] if self.steps else at
        return pace_words(
            self.done, self.total, self.noun, reported - self.began, since=at - reported
        )

    @property
    def pace(self) -> Pace | None:
        """What the steps so far cost; None before there are two of them."""
        return pace_of([(0, self.began), *self.steps]) if self.began is not None else None

    def _run(self, future: Future[Result], task: Callable[[ProgressReporter], Result]) -> None:
        try:
            result = task(self._report)
        except Exception as error:
            future.set_exception(error)  # raised again for, and shown by, whoever looks at the end
        else:
            future.set_result(result)

    def _report(self, done: int, total: int | None, what: str) -> None:
        if self.began is None:
            self.began = time.monotonic()
        self.done, self.total = done, total
        if done:
            self.steps.append((done, time.monotonic()))
        if self.stopping:
            raise Stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds one thing took: the mean of ``n`` and its 95 % interval, as far as steps tell."""

    seconds: float
    low: float
    high: float
    n: int


def pace_of(steps: Sequence[tuple[int, float]]) -> Pace | None:
    """The pace of steps (how many done, when), the first being the start; None with fewer than two.

    A normal interval of the steps' means: rough, and honest about work of very different sizes.
    """
    each = [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for earlier, later in itertools.pairwise(steps)
        if later[0] > earlier[0]
    ]
    if len(each) < 2:
        return None
    done = steps[-1][0] - steps[0][0]
    mean = (steps[-1][1] - steps[0][1]) / done
    spread = 1.96 * statistics.stdev(each) / math.sqrt(len(each))
    return Pace(seconds=mean, low=max(0.0, mean - spread), high=mean + spread, n=done)


def estimate_words(pace: Pace, left: int) -> str:
    """How long so many more take at that pace, with the range that it leaves open."""
    low, high = span_words(pace.low * left), span_words(pace.high * left)
    about = f"about {span_words(pace.seconds * left)}"
    return about if low == high else f"{about} (between {low} and {high})"


def span_words(seconds: float) -> str:
    """Seconds as a person says them: "40 s", "12 min", "3 h 20 min"."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, rest = divmod(round(minutes / 10) * 10, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def pace_words(
    done: int, total: int, noun: str, seconds: float, *, before: int = 0, since: float = 0.0
) -> str:
    """How far, how fast and how long still; ``before`` were done when the seconds began.

    ``since`` are the seconds since the last of them was done: meanwhile the time left goes down, and
    when it is overdue that is said, instead of a pace that seems to fall. In the first tenth and two
    minutes no time is told, and a range until the half: one process more on two cores takes half the pace.
    """
    text = f"{done:,} of {total:,} {noun}"
    if done <= before or seconds <= 0:
        return f"{text} · reading the first ones"
    rate = (done - before) / seconds
    left = (total - done) / rate
    speed = f"{rate:.1f} a second" if rate >= 1 else f"{rate * 60:.0f} a minute"
    overdue = since > max(10.0, 5 / rate)
    share, ahead = (done - before) / (total - before), max(1.0, left - since)
    told = f" · about {span_words(ahead)} left"
    if share < STEADY_FROM and seconds < STEADY_SECONDS:
        told = ""
    elif share < SURE_FROM:
        told = f" · {span_words(ahead)} to {span_words(2 * ahead)} left"
    late = " · the ones under way take longer than those before" if overdue else ""
    return f"{text} · {speed}{told}{late}"


@st.fragment(run_every="1s")
def show_work(work: Work, *, key: str) -> None:
    """How far the work is and its Stop button; at its end the whole page is drawn again."""
    if not work.running:
        st.rerun()
    progress = work.progress()
    if progress is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(progress.share, text=progress.words)
        st.button("Stop", key=key, on_click=work.stop, disabled=work.stopping, width="content")


def show_failure(error: BaseException, title: str, kept: str) -> None:
    """Say what ended some work early; ``kept`` says what becomes of what was done."""
    if isinstance(error, ProvenanceGuardError):
        show_notice(title, str(error), tone="bad")
        return
    # The kind and place of a bug, without its message: that may quote a trace.
    where = "".join(traceback.format_tb(error.__traceback__))
    _log.error("%s: %s\n%s", title, type(error).__name__, where)
    show_notice(
        f"{title} because of a fault in this program",
        f"{type(error).__name__}; the terminal shows where. {kept}",
        tone="bad",
    )
