"""verify --workers: the verdicts of one process, whatever happens to a worker meanwhile."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from serving import ANSWER, OUTPUTS
from typer.testing import CliRunner

from cli import app
from core.capture.native_record import read_trace
from core.capture.parts import parts_of
from core.codec import verdict_document
from core.config import Config
from core.errors import ComponentUnavailable
from core.records import Trace
from core.workflows.ray_engine import PartJudge, RayRun, index_part, row_of, verify_on_ray
from core.workflows.workers import ATTEMPTS, Crew

COUNT = 10


def _records() -> list[dict[str, Any]]:
    return [
        {
            "question_id": f"t{n}",
            "full_tool_outputs": [
                *OUTPUTS,
                {"tool_name": "note", "text": f"Room {n}: weight {n} kg"},
            ],
            "assistant_answer": f"{ANSWER} She weighs {n} kg and is in room {n + 1}.",
        }
        for n in range(COUNT)
    ]


def _timeless(document: Any) -> str:
    return json.dumps({**document, "latency_seconds": None, "line_sha256": None})


@pytest.mark.usefixtures("weights_loaded_once")
def test_workers_write_what_one_process_writes_with_and_without_a_cache(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in _records()))
    options = {
        "one": [],
        "two": ["--workers", "2", "--cache", str(tmp_path / "kept")],
        "again": ["--cache", str(tmp_path / "kept")],
    }
    written: dict[str, list[str]] = {}
    for name, more in options.items():
        out = tmp_path / f"{name}.jsonl"
        result = CliRunner().invoke(app, ["verify", str(file), "--out", str(out), *more])
        assert result.exit_code == 0, result.output
        written[name] = [_timeless(json.loads(line)) for line in out.read_text().splitlines()]

    assert len(written["one"]) == COUNT
    assert written["two"] == written["one"]
    assert written["again"] == written["one"]
    assert (tmp_path / "kept" / "readings.db").stat().st_size > 0
    assert _in_parts(file, tmp_path / "parts") == written["one"]


def _in_parts(file: Path, out: Path) -> list[str]:
    """What the workers of another engine write for the parts of the file, each by itself."""
    out.mkdir()
    told = {"reader": None, "calibrator": None, "repair": False, "cache": None, "anew": False,
            "by_kind": False, "whole_answers": False, "out": str(out), "threads": 1}  # fmt: skip
    parts = parts_of([file], Config(), part_bytes=1_500)
    judge = PartJudge()
    for number, part in reversed(list(enumerate(parts))):
        row = row_of(part, number)
        assert len(index_part(row)["ids"]) > 0
        said = judge(row | {"numbers": "{}", "told": json.dumps(told)})
        assert said["error"] == ""
    files = sorted(out.iterdir())
    assert len(files) == len(parts) > 2
    return [_timeless(json.loads(line)) for one in files for line in one.read_text().splitlines()]


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_its_engine_says_what_to_install(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(_records()[0]) + "\n")

    result = CliRunner().invoke(
        app, ["verify", str(file), "--engine", "ray", "--out", str(tmp_path / "out")]
    )

    assert result.exit_code == 3
    assert "Ray is not installed: pip install 'provenanceguard-workbench[ray]'" in result.output


@pytest.mark.stress
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra [ray]")
def test_ray_writes_what_one_process_writes_and_goes_on_with_what_it_finds(tmp_path: Path) -> None:
    file, out = tmp_path / "t.jsonl", tmp_path / "out"
    file.write_text("".join(json.dumps(record) + "\n" for record in _records()))
    one = tmp_path / "one.jsonl"
    run = RayRun(files=[file], out=out, workers=2, part_bytes=3_000)

    assert CliRunner().invoke(app, ["verify", str(file), "--out", str(one)]).exit_code == 0
    first = verify_on_ray(run)
    torn = sorted(out.iterdir())[1]
    torn.write_bytes(torn.read_bytes()[:-100])
    second = verify_on_ray(run)

    found = [line for part in sorted(out.iterdir()) for line in part.read_text().splitlines()]
    assert [_timeless(json.loads(line)) for line in found] == [
        _timeless(json.loads(line)) for line in one.read_text().splitlines()
    ]
    assert (first.verified, first.kept) == (COUNT, 0)
    assert (second.verified, second.kept) == (1, COUNT - 1)


@pytest.mark.stress
def test_a_killed_worker_loses_nothing_and_one_that_keeps_dying_is_named() -> None:
    traces = [read_trace(record, None) for record in _records()[:6]]
    with Crew(2) as crew:
        judge = crew.judge()
        undisturbed = [_timeless(verdict_document(one)) for one in judge.verify(traces)]
        before = [_pid(crew, n) for n in range(2)]
        # Killed while it has traces in hand: nobody knows how many it has judged by then.
        killing = threading.Timer(0.2, os.kill, (before[0], signal.SIGKILL))
        killing.start()
        disturbed = [_timeless(verdict_document(one)) for one in judge.verify(traces)]
        killing.join()
        assert disturbed == undisturbed

        asked: list[Trace] = []
        original = type(crew.workers[0]).judge

        def dies(worker: Any, given: Any) -> Any:
            asked.extend(given)
            os.kill(worker.process.pid, signal.SIGKILL)
            return original(worker, given)

        crew.workers = crew.workers[:1]
        crew.workers[0].judge = lambda given: dies(crew.workers[0], given)  # type: ignore[method-assign]
        with pytest.raises(ComponentUnavailable, match=f"t0: {ATTEMPTS} workers ended"):
            list(judge.verify(traces[:1]))
        assert [trace.trace_id for trace in asked] == ["t0"] * ATTEMPTS


def _pid(crew: Crew, number: int) -> int:
    process = crew.workers[number].process
    assert process is not None
    return process.pid
