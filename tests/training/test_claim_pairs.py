"""Claims become pairs whose premise holds what decides; what does not show a true one is neutral."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.config import Config
from training.claim_pairs import ELLIPSIS, around, holds, main, packet_pairs
from training.data import read_pairs
from training.packets import SETS, group_rows, set_rows, written
from training.texts import CONTRADICTION, ENTAILMENT, NEUTRAL


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

    pairs = list(packet_pairs(packet, Config()))

    told = {str(row["claim"]): row for row in rows}
    assert {p["hypothesis"] for p in pairs} == told.keys()
    assert {p["label"] for p in pairs} == {ENTAILMENT, NEUTRAL, CONTRADICTION}
    silent = 0
    for pair in pairs:
        row = told[pair["hypothesis"]]
        if pair["label"] == row["relation"]:
            assert holds(pair["premise"], str(row["quote"]))
        else:
            silent += 1
            assert (row["relation"], pair["label"]) == (ENTAILMENT, NEUTRAL)
            assert not holds(pair["premise"], str(row["quote"]))
    assert silent


def test_a_claim_without_a_quote_is_read_beside_what_is_closest_to_it(tmp_path: Path) -> None:
    group = next(iter(written(["hf"])))
    rows = list(group_rows(group))
    packet = tmp_path / "written.jsonl"
    packet.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    pairs = list(packet_pairs(packet, Config()))

    labels = {str(row["claim"]): row["relation"] for row in rows}
    assert {p["hypothesis"]: p["label"] for p in pairs} == labels
    assert all(p["premise"].strip() for p in pairs)


def test_a_larger_model_says_of_every_pair_what_it_gives_also_of_what_has_no_label(
    tmp_path: Path,
) -> None:
    rows = list(group_rows(next(iter(written(["hf"])))))[:3]
    packet, out = tmp_path / "written.jsonl", tmp_path / "pairs.jsonl.gz"
    packet.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    main([str(packet), "--out", str(out), "--taught-by", "bundled"])

    pairs = read_pairs(out)
    labelled = [pair for pair in pairs if pair.label]
    assert {p.hypothesis: p.label for p in labelled} == {r["claim"]: r["relation"] for r in rows}
    assert len({(pair.premise, pair.hypothesis) for pair in pairs}) == len(pairs) > len(labelled)
    for pair in pairs:
        assert len(pair.taught) == 3 and abs(sum(pair.taught) - 1) < 0.001
    nothing = {"premise": "a", "hypothesis": "b", "label": ""}
    out.write_bytes(gzip.compress(json.dumps(nothing).encode()))
    with pytest.raises(ValueError, match="pairs: a pair without a label"):
        read_pairs(out)
