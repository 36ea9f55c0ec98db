"""Labels that nothing can be learned from are refused before anything is read or written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.config import Config
from core.errors import InputError
from core.evaluation.scoring import Uncalibrated
from core.pipeline import Models
from core.workflows.recalibrate import recalibrate

# Nothing is read before it is refused.
UNREAD = Models(embedder=None, nli=None, calibrator=Uncalibrated(), families=None)  # type: ignore[arg-type]


def a_row(number: int, label: str, claim: str, trace: str) -> str:
    output = {"source_id": "chart", "tool_name": "get_chart", "text": "Ada takes iron."}
    return json.dumps(
        {
            "claim_id": f"c{number}",
            "trace_id": trace,
            "claim": claim,
            "stated_attribution": None,
            "category": None,
            "sources": [output],
            "label": label,
            "relation": None,
            "gold_source_ids": ["chart"] if label == "supported" else [],
        }
    )


@pytest.mark.parametrize(
    ("labels", "missing"),
    [
        (["supported"] * 8, "needs claims to block"),
        (["contradicted", "unsupported"] * 4, "needs supported claims as well"),
        (["supported", "contradicted"] * 4, "'c0' and 'c1' first: the same words of trace 't0'"),
    ],
)
def test_labels_that_teach_nothing_or_contradict_each_other_say_what_is_missing(
    tmp_path: Path, labels: list[str], missing: str
) -> None:
    packet, out = tmp_path / "labels.jsonl", tmp_path / "calibrator"
    rows = [a_row(at, label, "Ada takes iron.", f"t{at // 2}") for at, label in enumerate(labels)]
    packet.write_text("\n".join(rows), encoding="utf-8")

    with pytest.raises(InputError, match=missing):
        recalibrate(packet, None, out, UNREAD, Config())

    assert not out.exists()
