"""Pairs in which one word decides: made again alike, right about their numbers, and never leaky."""

from __future__ import annotations

import re
from collections import Counter

from training.meaning_pairs import meaning_pairs
from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL


def test_the_same_seed_gives_the_same_pairs_and_another_seed_others() -> None:
    assert meaning_pairs(50, 1) == meaning_pairs(50, 1)
    assert meaning_pairs(50, 1) != meaning_pairs(50, 2)


def test_every_relation_is_there_and_none_outweighs_the_rest() -> None:
    counts = Counter(pair.label for pair in meaning_pairs(2_000, 3))

    assert set(counts) == {ENTAILMENT, CONTRADICTION, NEUTRAL}
    assert max(counts.values()) < 0.6 * 2_000


def test_no_slot_is_left_open() -> None:
    for pair in meaning_pairs(2_000, 4):
        assert not re.search(r"\{[a-z]\d?\}", pair.premise + pair.hypothesis)


def test_a_change_that_is_told_is_the_difference_of_the_two_values() -> None:
    seen = 0
    for pair in meaning_pairs(4_000, 5):
        told = re.search(r"changed by ([\d.]+) ", pair.hypothesis)
        if told is None or pair.label != ENTAILMENT:
            continue
        numbers = [float(n) for n in re.findall(r"(?<![\d-])\d+\.\d+", pair.premise)]
        seen += 1
        assert any(abs(abs(a - b) - float(told.group(1))) < 0.011 for a in numbers for b in numbers)
    assert seen > 10
