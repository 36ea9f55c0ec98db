"""Two judges label claims: what they agree in, what is settled by priority, and what nobody labelled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from commands import run, write_lines

from core.evaluation.packets import read_packet
from core.judge.replay import Record
from core.records.judge import JudgeRequest, JudgeText
from core.workflows.label import CONTRADICTION_FIRST, ENTAILMENT_FIRST, label_packet

SOURCES = [
    {"source_id": "labs", "tool_name": "get_labs", "text": "HbA1c: 7.4 %\nferritin: 31 ng/mL"},
    {"source_id": "notes", "tool_name": "get_notes", "text": "HbA1c 7.4 % in September."},
]
CLAIMS = ["The HbA1c was 7.4 %.", "Ferritin was 41 ng/mL.", "The HbA1c fell.", "Iron is low."]


class Scripted:
    """A judge whose reply to a prompt stands fixed; it keeps what it was asked."""

    def __init__(self, name: str, labels: Mapping[int, Mapping[str, object]]) -> None:
        self.name, self._labels, self.asked = name, labels, list[JudgeRequest]()

    def judge(self, request: JudgeRequest) -> JudgeText:
        self.asked.append(request)
        claims = [{"n": n, **label} for n, label in self._labels.items()]
        return JudgeText(text=f"```json\n{json.dumps({'claims': claims})}\n```", model=self.name)


def _packet(path: Path) -> Path:
    rows = [
        {
            "claim_id": f"t::c{n}",
            "trace_id": "t",
            "claim": claim,
            "stated_attribution": "According to the notes" if n == 1 else None,
            "sources": SOURCES,
            "label": "unsupported" if n == 4 else None,
            "adjudication": {"status": "single"} if n == 4 else None,
            "relation": None,
            "gold_source_ids": [],
        }
        for n, claim in enumerate(CLAIMS, start=1)
    ]
    return write_lines(path, *rows)


def test_agreement_priority_and_what_is_not_labelled(tmp_path: Path) -> None:
    packet = _packet(tmp_path / "packet.jsonl")
    entails = Scripted(
        "a",
        {
            1: {"label": "supported", "source_id": "S1", "credit_is_right": False},
            2: {"label": "contradicted", "source_id": "S1"},
            3: {"label": "supported", "source_id": "S2"},
        },
    )
    contradicts = Scripted(
        "b",
        {
            1: {"label": "supported", "source_id": "S2", "credit_is_right": True},
            2: {"label": "contradicted", "source_id": "S1"},
            3: {"label": "unsupported", "source_id": "S9"},
            4: {"label": "unsupported"},
        },
    )
    kept = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    judges = (Record(kept[0], entails), Record(kept[1], contradicts))

    made = label_packet(read_packet(packet).rows, judges)
    outs = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for out in outs:
        again = ("--judge", f"replay:{kept[0]}", "--judge", f"replay:{kept[1]}")
        done = run("label", packet, *again, "--out", out, "--json", tmp_path / "report.json")
        assert done.exit_code == 0, done.output

    found = [json.loads(line) for line in outs[0].read_text().splitlines()]
    labels = [
        (one["status"], one["label"], one["source_id"], one["conflation"])
        for one in (row["pre_label"] for row in found)
    ]
    assert labels == [
        ("priority_adjudicated", "supported", "labs", True),
        ("agreement", "contradicted", "labs", None),
        ("priority_adjudicated", "unsupported", None, None),
        ("unlabelled", None, None, None),
    ]
    assert [row["label"] for row in found] == [None, None, None, "unsupported"]
    assert outs[0].read_bytes() == outs[1].read_bytes()
    report = json.loads((tmp_path / "report.json").read_text())
    assert report == json.loads(json.dumps(made.report))
    assert [one["count"] for one in report["table_21"]] == [4, 3, 1, 2, 1]
    assert report["unlabelled"] == {"the reply does not read this claim once": 1}
    assert "Priority-adjudicated disagreements: 2" in done.stdout
    # Each is asked in its own words, and of no label that is there.
    (first,), (second,) = entails.asked, contradicts.asked
    assert (first.system, second.system) == (ENTAILMENT_FIRST, CONTRADICTION_FIRST)
    assert first.user == second.user and "unsupported" not in first.user
    assert "it credits: According to the notes" in first.user


def test_where_nobody_labels_anything_nothing_is_written(tmp_path: Path) -> None:
    packet, empty = _packet(tmp_path / "p.jsonl"), tmp_path / "empty.jsonl"
    empty.write_text("")
    replay = ("--judge", f"replay:{empty}")

    nobody = run("label", packet, *replay, *replay, "--out", tmp_path / "out.jsonl")
    one = run("label", packet, *replay, "--out", tmp_path / "out.jsonl")

    assert (nobody.exit_code, one.exit_code) == (3, 2)
    assert "no claim was labelled: no reply to this request is kept" in nobody.stderr
    assert "--judge: give it twice" in one.stderr
    assert not (tmp_path / "out.jsonl").exists()
