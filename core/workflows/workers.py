"""A crew of worker processes that judge one file's traces together, as one judge.

Each loads the models once, and has its share of the cores: no verdict hangs on how many threads there
are (core/models/lanes.py). What a worker had in hand when it was killed is given to the next: nothing is
lost, and no verdict is taken twice.

One worker process of ``verify --workers``: models loaded once, a line of traces in, of verdicts out.

in   {"reader": …, "calibrator": …, "repair": …, "cache": …,
      "whole_answers": …, "threads": …}                once
out  {"versions": …}  or  {"error": …, "kind": …}                   once
in   {"traces": [trace document, …]}                                until the parent hangs up
out  {"verdicts": [verdict document, …]}
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from core.codec import (
    trace_document,
    trace_from_document,
    verdict_document,
    verification_from_document,
    versions_document,
    versions_from_document,
)
from core.errors import ComponentUnavailable, ConfigError, ProvenanceGuardError
from core.records import Trace, Verification, Versions
from core.site_config import site_config
from core.workflows.cache import kept_in
from core.workflows.models import deciding, load_models
from core.workflows.repair import repairing_judge
from core.workflows.verify import BATCH_TRACES, Judge, judge_window, pipeline_judge

ATTEMPTS = 3  # a trace that ends as many workers stops the run
LOOK_SECONDS = 0.2  # how often a worker that still loads looks whether it is needed
STARTS = 30  # of a worker that is killed again and again while it loads
WINDOWS_AHEAD = 4  # of every worker: how much is judged before it is written


@dataclass(slots=True)
class _Part:
    """Traces for one worker, at their place in the window."""

    start: int
    traces: Sequence[Trace]
    attempts: int = 0


@dataclass(slots=True)
class _Window:
    """What is to be judged, and what was: ``judged`` by place."""

    parts: deque[_Part]
    size: int
    judged: dict[int, Verification] = field(default_factory=dict)
    failed: list[Exception] = field(default_factory=list)
    changing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def over(self) -> bool:
        """Whether nothing is left to judge, or nothing may be."""
        return bool(self.failed) or len(self.judged) == self.size


class _Gone(Exception):
    """The worker ended while it was waited for."""


class Worker:
    """One process, started again when it was killed."""

    def __init__(self, told: Mapping[str, object]) -> None:
        self._told = told
        self.process: subprocess.Popen[bytes] | None = None
        self._starting: Future[Versions] | None = None
        self._starter = ThreadPoolExecutor(1)
        self._closed = False

    def start(self) -> Versions:
        """Start it; raises what it says is missing, or ComponentUnavailable when it says nothing.

        One that is killed while it loads the models is started again, a few times over.
        """
        for _ in range(STARTS):
            try:
                return self._started()
            except _Gone:
                if self._ended() >= 0 or self._closed:
                    break
        raise ComponentUnavailable("a worker ended while it loaded the models")

    def _started(self) -> Versions:
        root = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(part for part in (root, os.environ.get("PYTHONPATH")) if part)
        waiting = {
            "OMP_WAIT_POLICY": "PASSIVE"
        }  # more threads than cores: none may wait by spinning
        self.process = subprocess.Popen(
            [sys.executable, "-m", "core.workflows.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | waiting | {"PYTHONPATH": path},
            start_new_session=True,  # an interrupt is the parent's to handle
        )
        hello = self._ask(self._told)
        if "error" in hello:
            kind = ConfigError if hello["kind"] == "ConfigError" else ComponentUnavailable
            raise kind(str(hello["error"]))
        return versions_from_document(hello["versions"])

    def _ended(self) -> int:
        """The exit status of the process that is gone; below 0 when a signal ended it."""
        process = self.process
        assert process is not None
        process.communicate()
        return process.returncode

    def start_again(self) -> None:
        """Start it beside the others, which go on judging meanwhile."""
        self._starting = self._starter.submit(self.start)

    def ready(self, seconds: float) -> bool:
        """Whether it can judge, or can within so many seconds; raises what keeps it from starting."""
        if self._starting is not None:
            try:
                self._starting.result(seconds)
            except TimeoutError:
                return False
            self._starting = None
        return True

    def judge(self, traces: Sequence[Trace]) -> list[Verification]:
        """The verifications of these traces; raises _Gone when it was killed meanwhile."""
        reply = self._ask({"traces": [trace_document(trace) for trace in traces]})
        return [verification_from_document(document) for document in reply["verdicts"]]

    def stop(self) -> None:
        """Let it end: it has nothing in hand, or what it has is not wanted."""
        self._closed = True
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def _ask(self, document: Mapping[str, object]) -> Any:
        process = self.process
        assert process is not None and process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(document).encode("utf-8") + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise _Gone from None
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            raise _Gone
        return json.loads(line)


class Crew:
    """Worker processes as one judge; use it as a context."""

    def __init__(
        self,
        count: int,
        *,
        nli: str | None = None,
        calibrator: str | None = None,
        repair: bool = False,
        cache: Path | None = None,
        whole_answers: bool = False,
    ) -> None:
        if count < 1:
            raise ConfigError(f"workers: expected at least 1, found {count}")
        told = {
            "reader": nli,
            "calibrator": calibrator,
            "repair": repair,
            "cache": None if cache is None else str(cache),
            "whole_answers": whole_answers,
            "threads": max(1, (os.cpu_count() or 1) // count),
        }
        self.workers = [Worker(told) for _ in range(count)]
        self.batch = BATCH_TRACES * WINDOWS_AHEAD * count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="crew")

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def judge(self) -> Judge:
        """Start all workers; raises ComponentUnavailable, ConfigError, or when they differ."""
        found = list(self._threads.map(Worker.start, self.workers))
        if any(one != found[0] for one in found):
            raise ComponentUnavailable("the workers did not load the same models")
        return Judge(versions=found[0], verify=self._verify)

    def _verify(self, traces: Sequence[Trace]) -> Iterator[Verification]:
        size = min(BATCH_TRACES, max(1, len(traces) // (2 * len(self.workers))))
        window = _Window(
            deque(_Part(at, traces[at : at + size]) for at in range(0, len(traces), size)),
            len(traces),
        )
        working = [self._threads.submit(self._work, worker, window) for worker in self.workers]
        for one in working:
            one.result()
        if window.failed:
            raise window.failed[0]
        return (window.judged[at] for at in range(len(traces)))

    def _work(self, worker: Worker, window: _Window) -> None:
        """Take parts until there are none; a part whose worker was killed is put back."""
        while True:
            try:
                while not worker.ready(LOOK_SECONDS):
                    if window.over:
                        return  # the others judged the rest; it goes on loading
            except Exception as error:
                window.failed.append(error)
                return
            if (part := _next(window)) is None:
                return
            try:
                judged = worker.judge(part.traces)
            except _Gone:
                _put_back(window, part)
                worker.start_again()
                continue
            except Exception as error:
                window.failed.append(error)
                return
            with window.changing:
                window.judged.update(enumerate(judged, part.start))


def _next(window: _Window) -> _Part | None:
    with window.changing:
        return window.parts.popleft() if window.parts and not window.failed else None


def _put_back(window: _Window, part: _Part) -> None:
    """Once more; of several traces each by itself, so that the one that kills is known."""
    attempts = part.attempts + 1
    with window.changing:
        if attempts < ATTEMPTS or len(part.traces) > 1:
            again = [
                _Part(part.start + at, [trace], 0 if len(part.traces) > 1 else attempts)
                for at, trace in enumerate(part.traces)
            ]
            window.parts.extendleft(reversed(again))
            return
        name = part.traces[0].trace_id
        window.failed.append(
            ComponentUnavailable(f"{name}: {ATTEMPTS} workers ended while they judged it")
        )


def main() -> None:
    """Answer the parent until it hangs up."""
    # Whatever a library prints must not stand between two lines of ours.
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        lines = sys.stdin.buffer
        try:
            judge = judge_of(json.loads(lines.readline()))
        except ProvenanceGuardError as error:
            _say(out, {"error": str(error), "kind": type(error).__name__})
            return
        _say(out, {"versions": versions_document(judge.versions)})
        for line in lines:
            traces = [trace_from_document(document) for document in json.loads(line)["traces"]]
            verdicts = [verdict_document(one) for one in judge_window(judge, traces)]
            _say(out, {"verdicts": verdicts})


def judge_of(told: Mapping[str, Any]) -> Judge:
    """The judge with the models that were asked for; raises what is missing."""
    import torch

    torch.set_num_threads(told["threads"])
    config = site_config()
    calibrator = Path(told["calibrator"]) if told["calibrator"] else None
    models = load_models(config, nli_model=told["reader"], calibrator=calibrator)
    models = deciding(models, whole_answers=told["whole_answers"])
    if told["cache"]:
        models = kept_in(Path(told["cache"]), models)
    judged_by = repairing_judge() if told["repair"] else pipeline_judge
    return judged_by(models, config)


def _say(out: BinaryIO, document: Mapping[str, object]) -> None:
    out.write(json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n")
    out.flush()


if __name__ == "__main__":
    main()
