"""The model that reads the words around a source's name, against its own rules."""

from __future__ import annotations

import json

import pytest
from tables import cases

from core.attribution.classifier import FORMAT, load_weights, marks, read_weights
from core.attribution.cues import find_credit
from core.attribution.families import load_families
from core.errors import ConfigError
from core.records import Span

FAMILIES = load_families()


@pytest.mark.parametrize("space", [" ", "  ", "\n"])
def test_neither_case_nor_space_around_a_sentence_changes_its_marks(space: str) -> None:
    text, name = "According to the chart, she takes aspirin.", Span(start=17, end=22)
    moved = Span(start=name.start + len(space), end=name.end + len(space))

    assert marks(space + text, moved) == marks(text, name) == marks(text.upper(), name)


@cases
def test_a_way_of_crediting_that_no_rule_knows_is_found(text: str, family: str) -> None:
    credit = find_credit(text, FAMILIES)

    assert credit is not None
    assert credit.families == (family,)
    assert FAMILIES.mentions(credit.span.cut(text))


def test_a_family_that_no_source_is_of_is_not_guessed() -> None:
    text = "The chart's got him on two beta-blockers at once."

    assert find_credit(text, FAMILIES, known=["web"]) is None
    assert find_credit(text, FAMILIES, known=["patient_record"]) is not None


@cases
def test_what_is_said_about_a_source_credits_none(text: str) -> None:
    assert find_credit(text, FAMILIES) is None


def test_the_packaged_weights_load() -> None:
    weights = load_weights()

    assert 0.5 < weights.threshold < 1.0
    assert len(weights.weights) > 1_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "format"),
        (json.dumps({"format": FORMAT, "bias": 0, "weights": {}}), "threshold"),
        (
            json.dumps({"format": FORMAT, "bias": 0, "threshold": 1, "weights": {"a": "b"}}),
            "weights",
        ),
        ('{"format": "' + FORMAT + '", "bias": NaN, "threshold": 1, "weights": {}}', "bias"),
    ],
)
def test_a_file_that_holds_no_weights_is_refused_with_its_name(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as error:
        read_weights(text, "mine.json")
    assert "mine.json" in str(error.value)
