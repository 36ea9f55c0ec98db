"""Labelled sets of `bench/sets` become claim packets that `evaluate` reads."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest

from core.evaluation.packets import read_packet
from core.records import Relation, VerdictLabel
from training.packets import SETS, main

RELATION = {
    VerdictLabel.SUPPORTED: Relation.ENTAILMENT,
    VerdictLabel.UNSUPPORTED: Relation.NEUTRAL,
    VerdictLabel.CONTRADICTED: Relation.CONTRADICTION,
}


@pytest.mark.parametrize("name", ["twins_g", "twins_h", "answers_e"])
def test_every_claim_of_a_set_is_a_row_with_its_label_and_its_source(
    name: str, tmp_path: Path
) -> None:
    out = tmp_path / "packet.jsonl"
    main(["sets", "--only", name, "--out", str(out)])
    packet = read_packet(out)
    stored = gzip.decompress((SETS / f"{name}.jsonl.gz").read_bytes())
    records = [json.loads(line) for line in stored.splitlines()]
    written = {
        f"{record['id']}::{number:02}": (record, claim)
        for record in records
        for number, claim in enumerate(record["claims"])
    }
    assert not packet.problems and {row.claim_id for row in packet.rows} == written.keys()
    pairs: dict[tuple[str, object], list[bool]] = defaultdict(list)
    for row in packet.rows:
        record, claim = written[row.claim_id]
        assert row.label is not None and row.claim == claim["text"]
        assert claim["label"] in (row.label.value, RELATION[row.label].value)
        outputs = record.get("outputs") or record["tool_outputs"]
        assert [source.text for source in row.sources] == [one["text"] for one in outputs]
        assert set(row.gold_source_ids) <= {source.source_id for source in row.sources}
        if "pair" in claim:
            pairs[row.trace_id, row.extra["pair"]].append(row.should_block)
    assert all(sorted(both) == [False, True] for both in pairs.values())
    assert bool(pairs) is name.startswith("twins")
