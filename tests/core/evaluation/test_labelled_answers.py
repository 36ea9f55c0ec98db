"""The labelled answers that ship: what is written follows from them, and the test stays sealed."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from core.capture.reading import read_traces
from core.evaluation.packets import read_packet
from core.records import Trace

ROOT = Path(__file__).resolve().parents[3]
LABELLED = ROOT / "sample_data" / "labelled"


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("labelled", ROOT / "sample_data" / "labelled.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["labelled"] = module
    spec.loader.exec_module(module)
    return module


def test_the_shipped_files_are_what_the_answers_say(builder: ModuleType) -> None:
    for name, text in builder.files(builder.answers()).items():
        assert (LABELLED / name).read_text(encoding="utf-8") == text, name


def test_the_test_answers_are_the_sealed_ones_and_nothing_is_fitted_to_them() -> None:
    digest = hashlib.sha256((LABELLED / "test.jsonl").read_bytes()).hexdigest()
    assert (LABELLED / "SEALED").read_text(encoding="utf-8").split()[0] == digest
    rows = read_packet(LABELLED / "test.jsonl").rows
    assert rows and all(row.held_out for row in rows)
    for split in ("train", "validation"):
        others = read_packet(LABELLED / f"{split}.jsonl").rows
        assert others and not any(row.held_out for row in others)
        assert not {row.trace_id for row in rows} & {row.trace_id for row in others}


def test_there_are_forty_answers_and_five_hundred_claims_of_every_kind_of_error() -> None:
    rows = [
        row
        for split in ("train", "validation", "test")
        for row in read_packet(LABELLED / f"{split}.jsonl").rows
    ]
    assert len({row.trace_id for row in rows}) >= 40
    assert len(rows) >= 500
    assert {row.category for row in rows} == {"clinical", "business", "developer"}
    errors = Counter(row.extra["error"] for row in rows if row.should_block)
    assert set(errors) == {"ungrounded", "contradicted", "source_conflation"}
    good = [row for row in rows if not row.should_block]
    assert 0.55 < len(good) / len(rows) < 0.8


def test_no_two_answers_share_a_sentence(builder: ModuleType) -> None:
    """A frame that comes again is a generator's mark."""
    seen: Counter[str] = Counter()
    for answer in builder.answers():
        sentences = {
            part.strip()
            for part in answer["answer"].replace("\n", ". ").split(". ")
            if len(part.split()) > 6
        }
        seen.update(sentences)
    assert [sentence for sentence, times in seen.items() if times > 1] == []


def test_a_label_that_no_source_bears_out_is_refused(builder: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "clinical"
    folder.mkdir()
    path = sorted((LABELLED / "clinical").glob("*.toml"))[0]
    text = path.read_text(encoding="utf-8")
    (folder / "01.toml").write_text(
        text.replace("evidence = '''", "evidence = '''not in any source ", 1), encoding="utf-8"
    )
    with pytest.raises(builder.Fault, match="no source says"):
        builder.answers(tmp_path)


def test_the_traces_hold_every_source_and_answer() -> None:
    traces = [
        json.loads(line)
        for line in (LABELLED / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    read = [one for one in read_traces([LABELLED / "traces.jsonl"]) if isinstance(one, Trace)]
    assert len(read) == len(traces)
    for trace, record in zip(read, traces, strict=True):
        assert trace.answer == record["final_reply_to_user"]
        assert len(trace.sources) == len(record["full_tool_outputs"])
