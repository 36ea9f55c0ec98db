"""What moved a claim: parts that add up to its score, in words that a reviewer reads."""

from __future__ import annotations

import numpy as np
import pytest

from core.calibration.rows import TrainingRow, read_training_rows
from core.models.forest import Forest, encode, load_forest
from core.models.heard import with_nli_scores
from core.models.moved import WORDS, contributions, moved_most


@pytest.fixture(scope="module")
def shipped() -> Forest:
    return load_forest()


@pytest.fixture(scope="module")
def rows() -> list[TrainingRow]:
    return list(read_training_rows().train[::40])


def test_the_parts_add_up_to_the_score(shipped: Forest, rows: list[TrainingRow]) -> None:
    start = float(shipped.trees.value[shipped.trees.roots].mean())
    for row in rows:
        annotation = shipped.exact_probabilities(encode([row.features], shipped.encoding))
        score = float(with_nli_scores(annotation, [row.features], shipped.heard)[0])

        found = contributions(shipped, row.features)

        assert start + sum(found.values()) == pytest.approx(score, abs=1e-9)


def test_the_largest_come_first_and_say_what_they_are(
    shipped: Forest, rows: list[TrainingRow]
) -> None:
    for row in rows:
        found = moved_most(shipped, row.features)

        assert 0 < len(found) <= 5
        sizes = [abs(one.by) for one in found]
        assert sizes == sorted(sizes, reverse=True)
        assert len({one.words for one in found}) == len(found)


def test_every_feature_that_ships_has_words_and_none_is_an_id(shipped: Forest) -> None:
    assert set(shipped.encoding.numeric) <= set(WORDS)
    assert not any("_" in words for words in WORDS.values())


def test_what_is_told_to_speak_for_a_claim_does(shipped: Forest, rows: list[TrainingRow]) -> None:
    """Of the best half of all scores the sum of what moved is above that of the worst half."""
    scores = shipped.probabilities([row.features for row in rows])
    sums = np.array([sum(contributions(shipped, row.features).values()) for row in rows])
    better = scores > np.median(scores)

    assert sums[better].mean() > sums[~better].mean() + 0.1
