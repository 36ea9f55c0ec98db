"""Written answers that are trained on: their labels are borne out by their texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.evaluation.packets import read_packet
from training.packets import Fault, answer_rows, answers

LABELLED = Path(__file__).parents[2] / "sample_data" / "labelled"


@pytest.mark.stress
def test_every_answer_that_is_trained_on_bears_out_its_labels_and_reads_as_a_packet(
    tmp_path: Path,
) -> None:
    rows = [row for answer in answers() for row in answer_rows(answer)]
    assert len(rows) > 1_000
    packet = tmp_path / "answers.jsonl"
    packet.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = read_packet(packet)
    assert not read.problems
    assert len(read.rows) == len(rows) == len({row.claim_id for row in read.rows})
    share = np.mean([row.should_block for row in read.rows])
    assert 0.25 < share < 0.5
    sealed = {json.loads(line)["trace_id"] for line in (LABELLED / "test.jsonl").open()}
    assert not sealed & {row.trace_id for row in read.rows}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('label = "supported"', 'label = "true"'), "label 'true'"),
        (('gold = ["a#0"]', 'gold = ["b#0"]'), "no source"),
        (("'''it is'''", "'''it was'''"), "no source says"),
    ],
)
def test_a_label_that_its_texts_do_not_bear_out_is_refused_by_file_and_claim(
    tmp_path: Path, change: tuple[str, str], said: str
) -> None:
    text = """trace_id = "x-01"
domain = "made"
task = "?"
answer = "It is."
[[sources]]
source_id = "a#0"
tool_name = "a"
text = "and it is so"
[[claims]]
claim = "It is."
label = "supported"
gold = ["a#0"]
how = "verbatim"
evidence = '''it is'''
"""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "01.toml").write_text(text, encoding="utf-8")
    assert len(list(answers(tmp_path))) == 1
    (tmp_path / "x" / "01.toml").write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(Fault, match=rf"x/01.toml: claim 1: .*{said}"):
        list(answers(tmp_path))
