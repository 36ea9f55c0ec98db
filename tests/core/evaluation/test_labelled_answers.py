"""The labelled answers that ship: they bear out their labels, and the test stays sealed."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from core.capture.reading import read_traces
from core.evaluation.packets import read_packet
from core.records import Trace

ROOT = Path(__file__).resolve().parents[3]
LABELLED = ROOT / "sample_data" / "labelled"
SPLITS = ("train", "validation", "test")


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (LABELLED / name).read_text("utf-8").splitlines()]


def test_labels_stand_in_their_answers_and_their_quotes_in_the_sources() -> None:
    answers = {
        trace["question_id"]: trace["final_reply_to_user"] for trace in lines("traces.jsonl")
    }
    for row in (r for split in SPLITS for r in lines(f"{split}.jsonl")):
        texts = {s["source_id"]: s["text"] + s["arguments"] for s in row["sources"]}
        start, end = row["span"]
        assert answers[row["trace_id"]][start:end].strip(), row["claim_id"]
        assert set(row["gold_source_ids"]) <= set(texts), row["claim_id"]
        quoted = row["gold_source_ids"] or texts
        assert any(row["evidence"] in texts[name] for name in quoted), row["claim_id"]
        assert all(value in row["claim"] for value in row["values"]), row["claim_id"]
        wrong_credit = row["gold_attribution"] == "conflation"
        assert bool(row["kind"]) == (row["label"] != "supported" or wrong_credit), row["claim_id"]


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
    rows = [row for split in SPLITS for row in read_packet(LABELLED / f"{split}.jsonl").rows]
    assert len({row.trace_id for row in rows}) >= 40
    assert len(rows) >= 500
    assert {row.category for row in rows} == {"clinical", "business", "developer"}
    errors = Counter(row.extra["error"] for row in rows if row.should_block)
    assert set(errors) == {"ungrounded", "contradicted", "source_conflation"}
    good = [row for row in rows if not row.should_block]
    assert 0.55 < len(good) / len(rows) < 0.8


def test_no_two_answers_share_a_sentence() -> None:
    """A frame that comes again is a generator's mark."""
    seen: Counter[str] = Counter()
    for trace in lines("traces.jsonl"):
        parts = trace["final_reply_to_user"].replace("\n", ". ").split(". ")
        seen.update({part.strip() for part in parts if len(part.split()) > 6})
    assert [sentence for sentence, times in seen.items() if times > 1] == []


def test_the_traces_hold_every_source_and_answer() -> None:
    traces = lines("traces.jsonl")
    read = [one for one in read_traces([LABELLED / "traces.jsonl"]) if isinstance(one, Trace)]
    assert len(read) == len(traces)
    for trace, record in zip(read, traces, strict=True):
        assert trace.answer == record["final_reply_to_user"]
        assert len(trace.sources) == len(record["full_tool_outputs"])
