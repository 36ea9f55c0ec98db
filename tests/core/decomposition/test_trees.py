"""Boosted trees from a document: what they say, and what is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decomposition.trees import FORMAT, read_trees
from core.errors import ConfigError

DOCUMENT = {
    "format": FORMAT,
    "features": ["words", "digits"],
    "start": 0.5,
    "threshold": 1.0,
    "trees": [[[0, 3.5, 1, 2], [0.25], [1, 0.5, 3, 4], [-1.0], [2.0]]],
}


@given(words=st.floats(0, 9), digits=st.sampled_from((0.0, 1.0)))
def test_a_row_goes_down_to_the_leaf_that_its_features_lead_to(words: float, digits: float) -> None:
    trees = read_trees(json.dumps(DOCUMENT), "t.json")

    total = trees.total({"words": words, "digits": digits, "unheard of": 7.0})

    leaf = 0.25 if words <= 3.5 else (-1.0 if digits <= 0.5 else 2.0)
    assert total == 0.5 + leaf
    assert trees.says({"words": words, "digits": digits}) == (total >= 1.0)


def test_what_is_not_seen_is_zero() -> None:
    assert read_trees(json.dumps(DOCUMENT), "t.json").total({}) == 0.75


@pytest.mark.parametrize(
    "change",
    [
        {"format": "another"},
        {"trees": [[]]},
        {"trees": [[[0, 1.0, 0, 0]]]},  # would go round for ever
        {"trees": [[[2, 1.0, 1, 2], [0.0], [0.0]]]},  # no such feature
        {"trees": [[[float("nan")]]]},
        {"threshold": "high"},
        {"features": 3},
    ],
)
def test_a_damaged_document_is_refused_by_its_name(change: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"t\.json"):
        read_trees(json.dumps(DOCUMENT | change), "t.json")
