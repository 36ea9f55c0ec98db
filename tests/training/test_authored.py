"""Authored pairs: every line is read, kinds are known, and none is of the independent pairs."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from core.evaluation.packets import row_from_json
from training.authored import FOLDER, KINDS, authored_pairs
from training.authored_pass import BESIDE_CHARACTERS, authored_pass
from training.dangerous import BLIND_HALVES, SECOND, blind_pairs
from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL
from training.written import packet_rows, written

INDEPENDENT = [FOLDER.parent / f"independent_{part}.toml" for part in "ab"]


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def test_every_line_is_a_pair_and_each_source_has_claims_on_both_sides() -> None:
    pairs = authored_pairs()
    lines = [line for path in FOLDER.glob("*.txt") for line in path.read_text().splitlines()]
    assert len(pairs) == sum(line[:2] in ("+ ", "- ", "~ ") for line in lines)
    sides: dict[str, Counter[str]] = {}
    for pair in pairs:
        sides.setdefault(pair.source, Counter())[pair.label] += 1
        assert (pair.kind == "") == (pair.label == ENTAILMENT)
        assert pair.kind == "" or pair.kind in KINDS
    for source, labels in sides.items():
        assert labels[ENTAILMENT] and labels[CONTRADICTION] + labels[NEUTRAL], source


def test_no_pair_twice_and_none_with_two_labels() -> None:
    pairs = authored_pairs()
    assert len({(pair.source, pair.claim) for pair in pairs}) == len(pairs)


def test_words_in_common_with_the_source_tell_no_label() -> None:
    from sklearn.metrics import roc_auc_score

    pairs = authored_pairs()
    shared = [len(words(p.claim) & words(p.source)) / len(words(p.claim)) for p in pairs]
    assert 0.3 < roc_auc_score([pair.label == ENTAILMENT for pair in pairs], shared) < 0.6


@pytest.mark.stress
def test_no_source_is_one_of_the_independent_pairs() -> None:
    independent = {
        words(row[0])
        for path in INDEPENDENT
        for rows in tomllib.loads(path.read_text(encoding="utf-8")).values()
        for row in rows
    }
    for source in {pair.source for pair in authored_pairs()}:
        here = words(source)
        # Sets of which one is not 0.6 of the other's size cannot share 0.6 of their words.
        alike = [one for one in independent if 0.6 * len(one) <= len(here) <= len(one) / 0.6]
        near = max((len(here & one) / len(here | one) for one in alike), default=0.0)
        assert near < 0.6, source


@pytest.mark.parametrize("line", ["- Z | a kind that is not known", "* no sign", "+no space"])
def test_a_line_of_another_form_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "x.txt").write_text(f"S: A source.\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.txt:2: expected"):
        authored_pairs(tmp_path)


@pytest.mark.stress
def test_a_pass_shows_every_pair_once_with_its_whole_source_as_evidence_is_read() -> None:
    read = authored_pass(7, 0)

    assert read == authored_pass(7, 0) != authored_pass(7, 1)
    assert [(each.hypothesis, each.label) for each in read] == [
        (pair.claim, pair.label) for pair in authored_pairs()
    ]
    for shown, pair in zip(read, authored_pairs(), strict=True):
        assert "".join(pair.source.split()) in "".join(shown.premise.split())
        beside = len(shown.premise) - len(pair.source)
        assert 0 <= beside <= BESIDE_CHARACTERS + 1
    on_lines = sum(pair.premise.count("\n") for pair in read)
    assert on_lines > sum(pair.source.count("\n") for pair in authored_pairs())


def test_blind_charts_come_in_pairs_in_every_part() -> None:
    parts = {part: list(blind_pairs(part)) for part in (*BLIND_HALVES, SECOND)}

    for part, pairs in parts.items():
        dangerous = [pair for pair in pairs if pair.dangerous]
        assert len(dangerous) * 2 == len(pairs) > (400 if part == SECOND else 600)
        assert len({pair.kind for pair in pairs}) >= 20
        assert len({pair.format for pair in pairs}) >= 5


def test_what_was_written_has_true_and_wrong_claims_each_told_once() -> None:
    rows = [row for group in written() for row in packet_rows(group)]

    assert len({row["claim_id"] for row in rows}) == len(rows) > 3_000
    good = sum(row["label"] == "supported" for row in rows)
    assert good * 2 == len(rows)
    read = [row_from_json(row) for row in rows]
    assert all(row.scored and not row.held_out for row in read)


def test_no_written_chart_stands_among_the_blind_ones() -> None:
    """What a reader was taught with may not be what it is measured on."""
    taught = {words(one.text) for group in written() for one in group.sources}
    claims = {words(one.claim) for group in written() for one in group.statements}
    for part in (*BLIND_HALVES, SECOND):
        pairs = list(blind_pairs(part))
        assert not taught & {words(pair.chart) for pair in pairs}
        same = claims & {words(pair.claim) for pair in pairs}
        assert len(same) <= 0.01 * len(pairs)
