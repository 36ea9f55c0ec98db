"""A file of verdicts belongs to one run at a time, and only lines as they were written stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import a_trace

from core.errors import InputError
from core.records import AnswerDecision, Decision, Verification, Versions
from core.workflows.verdict_file import verdict_file


def _verification(trace_id: str = "t1") -> Verification:
    return Verification(
        trace=a_trace(None, trace_id=trace_id),
        families={},
        claims=(),
        answer=AnswerDecision(decision=Decision.BLOCK, reasons=("no",)),
        versions=Versions(
            pipeline="p", config_sha256="c", embedder="e", pair_reader="r", precision="f",
            calibrator="k",
        ),
        latency_seconds={},
    )  # fmt: skip


def _written(path: Path) -> bytes:
    with verdict_file(path) as file:
        list(file.keep_while(lambda kept: True))
        file.append([_verification("t1"), _verification("t2")])
    return path.read_bytes()


def _kept(path: Path) -> list[str]:
    with verdict_file(path) as file:
        return [kept.trace.trace_id for kept in file.keep_while(lambda kept: True)]


@pytest.mark.parametrize("name", ["v.jsonl", "v.jsonl.gz"])
def test_lines_as_they_were_written_are_kept(tmp_path: Path, name: str) -> None:
    _written(tmp_path / name)

    assert _kept(tmp_path / name) == ["t1", "t2"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"decision":"block"', b'"decision":"allow"'),
        (b'"reasons":["no"]', b'"reasons":["ok"]'),
        (b'"line_sha256":"sha256:', b'"line_sha256":"sha256:0'),
    ],
)
def test_an_edited_line_is_not_trusted(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "v.jsonl"
    first, second = _written(path).splitlines(keepends=True)
    assert old in second
    path.write_bytes(first + second.replace(old, new))

    assert _kept(path) == ["t1"]


def test_a_line_without_its_digest_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    document = json.loads(_written(path).splitlines()[0])
    del document["line_sha256"]
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n")

    assert _kept(path) == []


def test_a_second_run_on_the_same_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"

    with verdict_file(path), pytest.raises(InputError, match="another run"), verdict_file(path):
        pass

    assert _written(path)
