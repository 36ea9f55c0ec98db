"""BatchingVerifier: one set of warm models for many callers, whose traces are read in one batch.

A trace waits for company no longer than the latency bound; while a batch is being read the next one
gathers by itself. What a batch holds never shows in a result (core/pipeline.py).
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from core.codec import content_hash
from core.config import Config
from core.errors import Busy, ComponentUnavailable, Overdue
from core.judge.asking import AT_ONCE
from core.pipeline import Models, ask_judge, verify_offline, versions
from core.records import Trace, Verification, Versions
from core.repair.loop import repair_answer
from core.verification.prepare import GOING
from core.workflows.cache import IN_MEMORY_BYTES, Shelf, keeping
from core.workflows.repair import outcome_of, repair_versions
from core.workflows.verify import BATCH_CHARACTERS, BATCH_TRACES

LATENCY_BOUND_SECONDS = 0.005
MOST_WAITING = 64
_SECONDS_A_TRACE = 1.0  # a first guess of how long one takes, until one was seen
_WEIGHT = 0.5  # of the newest in the running mean


class Step(StrEnum):
    """Where a trace is on its way to a verdict."""

    WAITING = "waiting"
    JUDGING = "judging"
    REPAIRING = "repairing"
    DONE = "done"


Told = Callable[[Step], None]


class Allowed:
    """How long the work on a trace may take: from now on, or until nobody wants it any more."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds, self._until = seconds, time.monotonic() + seconds

    def end(self) -> None:
        """Whatever still works for it stops at its next step."""
        self._until = -math.inf

    def check(self) -> None:
        """Raise Overdue when the time is up."""
        if time.monotonic() >= self._until:
            raise Overdue(f"not judged within {self.seconds:g} s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """What one pass over the models held, and how long it took."""

    traces: int
    claims: int
    seconds: float
    waited_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    trace: Trace
    future: Future[Verification]
    told: Told
    since: float
    allowed: Allowed


def _nobody(step: Step) -> None:
    """Tells nobody."""


class BatchingVerifier:
    """Judges traces of many threads with one set of models; close it, or use it as a context.

    ``most_waiting`` traces may wait; ``watch`` is told of every batch, from the judging thread.
    """

    def __init__(
        self,
        models: Models,
        config: Config,
        *,
        latency_bound_seconds: float = LATENCY_BOUND_SECONDS,
        most_waiting: int = MOST_WAITING,
        watch: Callable[[Batch], None] = lambda batch: None,
    ) -> None:
        self.models: Models = keeping(models, Shelf(most_bytes=IN_MEMORY_BYTES))
        self.config = config
        self._bound, self._most, self._watch = latency_bound_seconds, most_waiting, watch
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closed, self._in_hand, self._began = False, 0, 0.0
        self._seconds_a_trace = _SECONDS_A_TRACE
        self._repairing = ThreadPoolExecutor(1, thread_name_prefix="repair")
        # A judge's reply takes seconds, in which the models read what others sent.
        self._asking = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="ask")
        self._asked = 0
        self._judging = threading.Thread(target=self._run, name="judge", daemon=True)
        self._judging.start()

    def __enter__(self) -> BatchingVerifier:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def versions(self) -> Versions:
        """What names its verdicts."""
        return versions(self.models, self.config)

    @property
    def waiting(self) -> int:
        """Traces that wait or are being judged."""
        return len(self._queue) + self._in_hand + self._asked

    @property
    def retry_seconds(self) -> int:
        """In how many seconds about half of what waits is judged."""
        return max(1, math.ceil(self.waiting * self._a_trace_takes() / 2))

    def _a_trace_takes(self) -> float:
        """Seconds: what traces took so far, or more where those in hand take longer."""
        if not (in_hand := self._in_hand):
            return self._seconds_a_trace
        return max(self._seconds_a_trace, (time.monotonic() - self._began) / in_hand)

    @property
    def running(self) -> bool:
        """Whether it still takes traces."""
        return not self._closed and self._judging.is_alive()

    def submit(
        self, trace: Trace, told: Told = _nobody, allowed: Allowed | None = None
    ) -> Future[Verification]:
        """The verification to come; a future that is cancelled while it waits is never judged.

        Work that takes longer than ``allowed`` is ended, and the future then raises Overdue.
        Raises Busy when as much waits as may wait, or as would take the time that is allowed, and
        ComponentUnavailable when it is closed.
        """
        return self._enqueue(trace, told, self._most, allowed or Allowed())

    def submit_repairing(
        self, trace: Trace, told: Told = _nobody, allowed: Allowed | None = None
    ) -> Future[Verification]:
        """The same with the repair of the answer, each of whose rounds joins the batches."""
        time_left = allowed or Allowed()
        first = self.submit(trace, told, time_left)
        named = repair_versions(self.models, self.config, None)

        def repaired() -> Verification:
            verification = first.result()
            told(Step.REPAIRING)
            repair = repair_answer(
                verification,
                lambda again: self._enqueue(again, _nobody, None, time_left).result(),
                self.config,
                self.models.families,
                None,
            )
            return replace(verification, repair=outcome_of(repair), versions=named)

        return self._repairing.submit(repaired)

    def close(self) -> None:
        """Judge what is in hand, refuse what waits."""
        with self._changed:
            self._closed = True
            while self._queue:
                self._queue.popleft().future.cancel()
            self._changed.notify_all()
        self._repairing.shutdown(wait=True, cancel_futures=True)
        self._judging.join()
        self._asking.shutdown(wait=True, cancel_futures=True)

    def _enqueue(
        self, trace: Trace, told: Told, most: int | None, allowed: Allowed
    ) -> Future[Verification]:
        # A repair was let in with its answer: its rounds are not turned away (``most`` None).
        future: Future[Verification] = Future()
        with self._changed:
            if self._closed:
                raise ComponentUnavailable("the verifier is stopping")
            # Whoever comes alone is let in, however long others took: else it would never be known better.
            takes = (self.waiting + 1) * self._a_trace_takes()
            late = self.waiting and 0 < allowed.seconds <= takes
            if most is not None and (self.waiting >= most or late):
                raise Busy(self.retry_seconds)
            self._queue.append(
                _Waiting(
                    trace=trace,
                    future=future,
                    told=told,
                    since=time.monotonic(),
                    allowed=allowed,
                )
            )
            self._changed.notify_all()
        told(Step.WAITING)
        return future

    def _run(self) -> None:
        while batch := self._gather():
            self._judge(batch)

    def _gather(self) -> list[_Waiting]:
        """The next batch, as soon as it is full or its first trace has waited for the bound."""
        with self._changed:
            while True:
                while not self._queue and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return []
                left = self._queue[0].since + self._bound - time.monotonic()
                if len(self._queue) < BATCH_TRACES and left > 0:
                    self._changed.wait(left)
                    continue
                if batch := self._taken():
                    self._in_hand, self._began = len(batch), time.monotonic()
                    return batch

    def _taken(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        characters = 0
        while self._queue and len(batch) < BATCH_TRACES and characters < BATCH_CHARACTERS:
            one = self._queue.popleft()
            if one.future.set_running_or_notify_cancel():
                batch.append(one)
                characters += len(one.trace.answer or "") + sum(
                    len(source.text) for source in one.trace.sources
                )
        return batch

    def _judge(self, batch: Sequence[_Waiting]) -> None:
        started = time.monotonic()
        for one in batch:
            one.told(Step.JUDGING)
        claims = 0
        judged = self._verified(batch)
        with self._changed:
            self._in_hand = 0
            self._asked += len(batch) if self.models.judge else 0
        for one, outcome in zip(batch, judged, strict=True):
            if not isinstance(outcome, Exception):
                claims += len(outcome.claims)
            if self.models.judge is None:
                _settle(one, outcome)
            else:
                self._asking.submit(self._ask, one, outcome).add_done_callback(
                    partial(self._given_up, one)
                )
        seconds = time.monotonic() - started
        mean = seconds / len(batch)
        self._seconds_a_trace += _WEIGHT * (mean - self._seconds_a_trace)
        self._watch(
            Batch(
                traces=len(batch),
                claims=claims,
                seconds=seconds,
                waited_seconds=started - batch[0].since,
            )
        )

    def _ask(self, one: _Waiting, outcome: Verification | Exception) -> None:
        """Let the judge read what the models have read, unless nobody waits for it any more."""
        try:
            if not isinstance(outcome, Exception):
                one.allowed.check()
                (outcome,) = ask_judge([outcome], self.models, self.config)
        except Exception as error:
            outcome = error
        _settle(one, outcome)

    def _given_up(self, one: _Waiting, asked: Future[None]) -> None:
        with self._changed:
            self._asked -= 1
        if asked.cancelled():
            one.future.set_exception(ComponentUnavailable("the verifier is stopping"))

    def _verified(self, batch: Sequence[_Waiting]) -> Sequence[Verification | Exception]:
        """What came of each; one whose time is up meanwhile takes no other with it."""

        def going() -> None:
            for one in batch:
                one.allowed.check()

        before = GOING.set(going)
        try:
            going()
            return [*verify_offline([one.trace for one in batch], self.models, self.config)]
        except Overdue as error:
            return [error] if len(batch) == 1 else [self._verified([one])[0] for one in batch]
        except Exception as error:
            return [error] * len(batch)
        finally:
            GOING.reset(before)


def _settle(one: _Waiting, outcome: Verification | Exception) -> None:
    if isinstance(outcome, Exception):
        one.future.set_exception(outcome)
    else:
        one.future.set_result(replace(outcome, content_hash=content_hash(one.trace)))
