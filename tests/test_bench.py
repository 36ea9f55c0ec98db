"""What the measurements count and compare."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bench.__main__ import SUITES, main
from bench.diff import compare
from bench.pairs import tabulate
from bench.public_sets import balanced, gained
from bench.report import Report
from bench.verdicts import without_identity

VERDICT = {
    "trace_id": "t1",
    "decision": "block",
    "latency_seconds": {"total": [1.0]},
    "versions": {"pipeline": "rules@sha256:1"},
    "claims": [
        {
            "claim_id": "t1::c01",
            "text": "It is raining.",
            "nli": {"entailment": 0.2},
            "reasons": [],
        },
        {
            "claim_id": "t1::c02",
            "text": "It is cold.",
            "nli": {"entailment": 0.9},
            "reasons": ["a"],
        },
    ],
}


def test_run_identity_and_times_are_no_difference() -> None:
    other = {
        **VERDICT,
        "latency_seconds": {"total": [2.0]},
        "versions": {"pipeline": "rules@sha256:2"},
    }

    assert not list(compare("x", [without_identity(VERDICT)], [without_identity(other)]))


def test_every_changed_claim_is_named_with_both_sides() -> None:
    other = copy.deepcopy(VERDICT)
    other["claims"][1]["nli"]["entailment"] = 0.8  # type: ignore[index]

    [found] = compare("x", [VERDICT], [other])

    assert "'It is cold.'" in found.where
    assert (found.path, found.old, found.new) == (".claims.nli.entailment", 0.9, 0.8)


def test_a_lost_record_and_a_lost_claim_are_differences() -> None:
    fewer = {**VERDICT, "claims": VERDICT["claims"][:1]}  # type: ignore[index]

    assert [each.new for each in compare("x", [VERDICT, VERDICT], [VERDICT])] == [None]
    assert [each.new for each in compare("x", [VERDICT], [fewer])] == [None]
    assert [each.old for each in compare("x", [fewer], [VERDICT])] == [None]


def test_pairs_are_counted_by_kind_and_an_unread_answer_is_not_allowed() -> None:
    answers = [
        {"id": "a-f", "pair": "a", "kind": "k", "right": "block", "answer": ""},
        {"id": "a-t", "pair": "a", "kind": "k", "right": "allow", "answer": ""},
        {"id": "b-f", "pair": "b", "kind": "k", "right": "block", "answer": ""},
        {"id": "b-t", "pair": "b", "kind": "k", "right": "allow", "answer": ""},
    ]
    report = Report()

    tabulate(report, "x", answers, {"a-f": "review", "a-t": "allow", "b-f": "allow"})

    assert "| k | 1 of 2 (50%) | 1 | 1 of 2 (50%) | 0 |" in list(report.lines())
    assert report.notes == ["x: 1 of 2 pairs told apart"]


def test_no_text_of_a_set_is_printed() -> None:
    report = Report()
    rows = [{"id": "1", "kind": "k", "right": "allow", "answer": "secret", "question": "secret"}]

    tabulate(report, "x", rows, {})

    assert "secret" not in "\n".join(report.lines()) + report.json()


def test_every_suite_of_the_table_can_be_asked_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    for suite in SUITES:
        with pytest.raises(SystemExit) as ended:
            main([suite, "--help"])

        assert ended.value.code == 0, suite
        assert "--json" in capsys.readouterr().out, suite


def test_public_sets_are_drawn_in_halves_and_a_gain_has_its_interval(tmp_path: Path) -> None:
    rows = [
        {"premise": f"It is {i}.", "hypothesis": f"It is {i}.", "label": label}
        for i, label in enumerate(["entailment"] * 5 + ["neutral"] * 30 + ["contradiction"] * 30)
    ]
    path = tmp_path / "bump.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)

    drawn = balanced(path, 10)
    assert [pair.label == "entailment" for pair in drawn] == [True] * 5 + [False] * 5
    assert balanced(path, 10) == drawn

    true = np.array([True, False] * 30)
    noise = np.random.default_rng(1).random(60)
    low, _, high = gained(true, noise, true + 0.0, 100).partition(" to ")
    assert 0 < float(low) < float(high) <= 1
    assert gained(true, noise, noise, 100) == "+0.00 to +0.00"
