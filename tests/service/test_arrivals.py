"""Traces judged as their spans come: each once, in whatever parts, and also after a kill."""

from __future__ import annotations

import dataclasses
import errno
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.config import Config
from core.errors import Busy, ComponentUnavailable, InputError
from core.records import Features, Trace, Verification
from core.workflows.batching import BatchingVerifier
from core.workflows.verdict_file import read_verdicts
from service.arrivals import Arrivals
from service.otlp import JSON, SpanFile
from tests.lexical import LexicalCalibrator, lexical_models
from tests.serving import ROOT

pytest.importorskip("fastapi", reason="the extra [service] is not installed")

FIXTURES = Path(__file__).parents[1] / "core/capture/formats/fixtures"
ROOM = 10_000_000


def spans_of(trace_id: str = "c0ffee00c0ffee00c0ffee00c0ffee00") -> list[dict[str, Any]]:
    """The spans of a recorded run, its root last, as BatchSpanProcessor exports them."""
    document = json.loads((FIXTURES / "openinference/otlp.json").read_text("utf-8"))
    (scope,) = document["resourceSpans"][0]["scopeSpans"]
    return [{**span, "traceId": trace_id} for span in reversed(scope["spans"])]


def request_of(*spans: dict[str, Any]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def until(what: Callable[[], Any], seconds: float = 60) -> Any:
    """The first thing that is there."""
    end, pause = monotonic() + seconds, Event()
    while not (found := what()):
        assert monotonic() < end
        pause.wait(0.02)
    return found


@pytest.fixture(scope="module")
def verifier() -> Iterator[BatchingVerifier]:
    with BatchingVerifier(lexical_models(), Config()) as found:
        yield found


class Place:
    """Where a service keeps its files."""

    def __init__(self, folder: Path, verifier: BatchingVerifier) -> None:
        self.spans, self.verdicts, self._verifier = folder / "s.jsonl", folder / "v.jsonl", verifier

    @contextmanager
    def open(
        self, quiet: float = 0.05, most: int = ROOM, again: bool = False
    ) -> Iterator[Arrivals]:
        arrivals = Arrivals(
            SpanFile(self.spans),
            self.verdicts,
            self._verifier,
            quiet_seconds=quiet,
            most_bytes=most,
        )
        if again:
            arrivals.retry_set_aside()
        with arrivals:
            yield arrivals

    def written(self) -> list[Verification | InputError]:
        return list(read_verdicts([self.verdicts])) if self.verdicts.stat().st_size else []


@pytest.fixture
def place(tmp_path: Path, verifier: BatchingVerifier) -> Place:
    return Place(tmp_path, verifier)


def test_a_trace_in_parts_is_judged_once_and_its_state_is_told(place: Place) -> None:
    one, two = spans_of("a" * 32), spans_of("b" * 32)
    with place.open(quiet=0.5) as arrivals:
        for first, second in zip(one, two, strict=True):
            arrivals.keep(request_of(first, second), JSON, "", ROOM)
        assert arrivals.counts()["waiting"] == 2

        until(lambda: arrivals.counts()["judged"] == 2)

    found = place.written()
    assert {item.trace.trace_id for item in found} == {"a" * 32, "b" * 32}
    assert all(item.claims and item.trace.sources for item in found)
    state = json.loads((place.verdicts.parent / "v.jsonl.state.json").read_text())
    assert state == {
        "waiting": 0, "judged": 2, "judged_again": 0, "without_answer": 0, "failed": 0, "set_aside": 0,
        "reasons": {}, "why_set_aside": {},
    }  # fmt: skip


def test_what_was_not_judged_before_the_end_is_judged_at_the_next_start_and_only_once(
    place: Place,
) -> None:
    with place.open(quiet=3600) as arrivals:
        arrivals.keep(request_of(*spans_of()), JSON, "", ROOM)
    assert not place.written()
    with place.verdicts.open("ab") as file:
        file.write(b'{"trace_id": "torn')

    with place.open() as arrivals:
        until(lambda: arrivals.counts()["judged"])
    before = place.verdicts.read_bytes()
    with place.open() as arrivals:
        arrivals.keep(request_of(*spans_of("b" * 32)), JSON, "", ROOM)
        until(lambda: arrivals.counts()["judged"] and not arrivals.counts()["waiting"])

    assert place.verdicts.read_bytes().startswith(before) and len(place.written()) == 2


def late_and_rest() -> list[dict[str, Any]]:
    """The spans of a run, first that of a tool's output, which its messages do not hold."""
    (tool,) = [span for span in spans_of() if span["name"] == "load_chart"]
    late = {**tool, "attributes": [
        {**each, "value": {"stringValue": "Lisinopril 5 mg."}}
        if each["key"] == "output.value" else each
        for each in tool["attributes"]
    ]}  # fmt: skip
    return [late, *(span for span in spans_of() if span != tool)]


def test_a_span_that_comes_late_has_the_whole_trace_judged_again(place: Place) -> None:
    late, *rest = late_and_rest()
    with place.open() as arrivals:
        arrivals.keep(request_of(*rest), JSON, "", ROOM)
        until(lambda: arrivals.counts()["judged"])
        arrivals.keep(request_of(late), JSON, "", ROOM)
        until(lambda: arrivals.counts()["judged_again"])

    first, second = place.written()
    assert first.trace.trace_id == second.trace.trace_id
    assert first.content_hash != second.content_hash
    assert second.trace.answer == first.trace.answer


def test_spans_that_cannot_be_read_for_a_moment_are_judged_once_they_can(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    (late, *rest), away = late_and_rest(), place.spans.with_suffix(".away")
    with place.open() as arrivals:
        arrivals.keep(request_of(*rest), JSON, "", ROOM)
        until(lambda: arrivals.counts()["judged"])
        arrivals.keep(request_of(late), JSON, "", ROOM)  # rootless: it waits a second longer
        place.spans.rename(away)
        until(lambda: "a trace waits to be judged again" in caplog.text)
        away.rename(place.spans)
        until(lambda: arrivals.counts()["judged_again"])

        assert not arrivals.counts()["set_aside"] and not arrivals.counts()["without_answer"]
    first, second = place.written()
    assert first.trace.answer == second.trace.answer
    assert first.content_hash != second.content_hash


def test_while_too_much_waits_an_exporter_is_told_to_come_again(place: Place) -> None:
    with place.open(quiet=3600, most=1_000) as arrivals:
        arrivals.keep(request_of(*spans_of()), JSON, "", ROOM)
        size = place.spans.stat().st_size

        with pytest.raises(Busy):
            arrivals.keep(request_of(*spans_of("b" * 32)), JSON, "", ROOM)

    assert place.spans.stat().st_size == size


def test_spans_of_something_else_are_no_answer(place: Place) -> None:
    span = {"traceId": "d" * 32, "spanId": "e" * 16, "name": "GET /health", "attributes": []}
    with place.open() as arrivals:
        arrivals.keep(request_of(span), JSON, "", ROOM)

        until(lambda: arrivals.counts()["without_answer"])

    assert not place.written()


def test_a_kill_loses_nothing_that_was_acknowledged(place: Place) -> None:
    code = f"""
import os, signal
from pathlib import Path
from core.config import Config
from core.workflows.batching import BatchingVerifier
from service.arrivals import Arrivals
from service.otlp import JSON, SpanFile
from tests.lexical import LexicalCalibrator, lexical_models

with BatchingVerifier(lexical_models(), Config()) as verifier:
    spans = SpanFile(Path({str(place.spans)!r}))
    with Arrivals(spans, Path({str(place.verdicts)!r}), verifier, quiet_seconds=3600) as arrivals:
        arrivals.keep({request_of(*spans_of())!r}, JSON, "", 10_000_000)
        os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL and not place.written()

    with place.open() as arrivals:
        until(lambda: arrivals.counts()["judged"])

    (verdict,) = place.written()
    assert isinstance(verdict, Verification) and verdict.trace.trace_id == spans_of()[0]["traceId"]


def test_a_request_behind_one_that_a_kill_cut_off_is_whole(place: Place) -> None:
    place.spans.write_bytes(request_of(*spans_of("a" * 32))[:-9])
    with place.open(quiet=3600) as arrivals:
        arrivals.keep(request_of(*spans_of("b" * 32)), JSON, "", ROOM)

    with place.open() as arrivals:
        until(lambda: arrivals.counts()["judged"])

    assert [item.trace.trace_id for item in place.written()] == ["b" * 32]


class Faulty(BatchingVerifier):
    """It has a bug that one trace is about, whose message quotes that."""

    def submit(self, trace: Trace, *more: Any, **named: Any) -> Future[Verification]:
        if trace.trace_id == "a" * 32:
            raise KeyError(trace.answer)
        return super().submit(trace, *more, **named)


def test_a_trace_that_this_program_fails_on_is_set_aside_until_it_is_asked_for(
    tmp_path: Path, verifier: BatchingVerifier
) -> None:
    with Faulty(lexical_models(), Config()) as faulty:
        with Place(tmp_path, faulty).open() as arrivals:
            arrivals.keep(request_of(*spans_of("a" * 32)), JSON, "", ROOM)
            until(lambda: arrivals.counts()["set_aside"])
            arrivals.keep(request_of(*spans_of("b" * 32)), JSON, "", ROOM)
            until(lambda: arrivals.counts()["judged"])
        state = json.loads((tmp_path / "v.jsonl.state.json").read_text())
        assert [*state["why_set_aside"]] == ["a" * 32]
        assert "KeyError in test_arrivals.py" in state["why_set_aside"]["a" * 32]
        place = Place(tmp_path, verifier)
        with place.open() as arrivals:
            arrivals.keep(request_of(*spans_of("d" * 32)), JSON, "", ROOM)
            until(lambda: arrivals.counts()["judged"])
            assert arrivals.counts()["set_aside"] == 1
        before = [item.trace.trace_id for item in place.written()]

        with place.open(again=True) as arrivals:
            until(lambda: arrivals.counts()["judged"])

    assert before == ["b" * 32, "d" * 32]
    assert [item.trace.trace_id for item in place.written()] == [*before, "a" * 32]


@dataclass(frozen=True)
class FaultyCalibrator(LexicalCalibrator):
    """It has a bug that every claim is about."""

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        raise ZeroDivisionError


def test_a_claim_that_this_program_fails_on_needs_review_and_is_read_again_when_asked_for(
    tmp_path: Path, verifier: BatchingVerifier
) -> None:
    models = dataclasses.replace(lexical_models(), calibrator=FaultyCalibrator())
    with (
        BatchingVerifier(models, Config()) as faulty,
        Place(tmp_path, faulty).open() as arrivals,
    ):
        arrivals.keep(request_of(*spans_of()), JSON, "", ROOM)
        until(lambda: arrivals.counts()["set_aside"])
    place = Place(tmp_path, verifier)
    (first,) = place.written()

    with place.open(again=True) as arrivals:
        until(lambda: arrivals.counts()["judged"])

    fault = "because of a fault in this program"
    told = [
        any(fault in reason for claim in one.claims for reason in claim.reasons)
        for one in (first, place.written()[-1])
        if isinstance(one, Verification)
    ]
    assert told == [True, False] and not arrivals.counts()["set_aside"]


def test_spans_are_counted_by_what_they_take_and_not_by_their_text(place: Place) -> None:
    spans = spans_of()
    for span in spans[:2]:
        span["links"] = [[] for _ in range(4_000)]  # 16 kB of text, 15 times as much once read
    inside = spans_of("b" * 32)
    inside[0]["name"] = json.dumps([[] for _ in range(6_000)])  # as an output that is JSON is
    words = spans_of("c" * 32)
    words[0]["name"] = ", ".join(["a"] * 12_000)
    with place.open(most=1_000_000) as arrivals:
        for sent in (spans, inside, words):
            arrivals.keep(request_of(*sent), JSON, "", ROOM)

        until(lambda: arrivals.counts()["set_aside"] == 2 and arrivals.counts()["judged"])

    assert [item.trace.trace_id for item in place.written()] == ["c" * 32]
    assert "are not read" in (place.verdicts.parent / "v.jsonl.state.json").read_text()


def test_where_verdicts_cannot_be_kept_nothing_more_is_taken(
    place: Place, verifier: BatchingVerifier
) -> None:
    def full(verification: Verification) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def refusal(arrivals: Arrivals) -> str:
        try:  # of another trace: the one that is to be judged must fall quiet
            arrivals.keep(request_of(*spans_of("d" * 32)), JSON, "", ROOM)
        except ComponentUnavailable as error:
            return str(error)
        return ""

    spans = SpanFile(place.spans)
    with Arrivals(spans, place.verdicts, verifier, full, quiet_seconds=0.05) as arrivals:
        arrivals.keep(request_of(*spans_of()), JSON, "", ROOM)
        said = until(lambda: refusal(arrivals))

    assert said == "verdicts cannot be kept: No space left on device"
