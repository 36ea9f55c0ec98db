"""Twins become pairs whose premise holds what decides, and training reads them in place of the others."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from core.config import Config
from training.packets import SETS, set_rows
from training.texts import CONTRADICTION, ENTAILMENT, NEUTRAL
from training.twins import ELLIPSIS, around, holds, twin_pairs


def test_what_stands_around_a_quote_is_the_outputs_own_text_and_holds_it() -> None:
    stored = gzip.decompress((SETS / "twins_m.jsonl.gz").read_bytes())
    placed = 0
    for record in map(json.loads, stored.splitlines()):
        for claim in record["claims"]:
            text, quote = record["outputs"][claim["output"]]["text"], claim["quote"]
            parts = [part for part in ELLIPSIS.split(quote.strip()) if part in text]
            found = around(text, quote, 350)
            if found is not None:
                placed += 1
                assert found in text
                assert parts and all(part in found for part in parts)
    assert placed > 2_300
    assert around("a: 1", "b: 2", 350) is None


def test_a_twin_is_read_beside_what_decides_with_its_authors_label(tmp_path: Path) -> None:
    rows = [row for row in set_rows("twins_n") if str(row["trace_id"]) in ("tn-001", "tn-002")]
    packet = tmp_path / "twins.jsonl"
    packet.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    pairs = list(twin_pairs(packet, Config()))

    told = {str(row["claim"]): row for row in rows}
    assert len(pairs) == len(rows) and {p["hypothesis"] for p in pairs} == told.keys()
    assert {p["label"] for p in pairs} == {ENTAILMENT, NEUTRAL, CONTRADICTION}
    for pair in pairs:
        row = told[pair["hypothesis"]]
        assert pair["label"] == row["relation"]
        assert holds(pair["premise"], str(row["quote"]))
