"""The model that reads the words around a source's name, against scikit-learn and its own rules."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from tables import cases

from core.attribution.classifier import FORMAT, CreditWeights, load_weights, marks, read_weights
from core.attribution.cues import find_credit
from core.attribution.families import load_families
from core.errors import ConfigError, InputError
from core.records import Span
from training.attribution_classifier import (
    SENTENCES,
    Named,
    fit,
    named_in,
    read_sentences,
    threshold_for,
)

FAMILIES = load_families()
NAMES = named_in(read_sentences(SENTENCES)[::12], FAMILIES)


def test_a_probability_is_what_scikit_learn_says_of_the_same_weights() -> None:
    rows = [dict.fromkeys(marks(each.text, each.name), 1.0) for each in NAMES]
    vectors = DictVectorizer()
    table = vectors.fit_transform(rows)
    model = LogisticRegression(C=0.5, max_iter=2_000).fit(table, [each.credits for each in NAMES])
    weights = CreditWeights(
        bias=float(model.intercept_[0]),
        threshold=0.5,
        weights=dict(zip(vectors.get_feature_names_out(), model.coef_[0], strict=True)),
    )

    expected = model.predict_proba(table)[:, 1]

    assert [weights.probability(each.text, each.name) for each in NAMES] == pytest.approx(expected)


def test_names_are_told_apart_that_the_model_was_not_fitted_on() -> None:
    document, out_of_fold = fit(NAMES)

    credited = [p for each, p in zip(NAMES, out_of_fold, strict=True) if each.credits]
    others = [p for each, p in zip(NAMES, out_of_fold, strict=True) if not each.credits]
    higher = sum(a > b for a in credited for b in others) / (len(credited) * len(others))
    assert higher > 0.85
    assert read_weights(json.dumps(document), "weights.json").weights == document["weights"]


@given(st.sampled_from(NAMES), st.sampled_from([" ", "  ", "\n"]))
def test_neither_case_nor_space_around_a_sentence_changes_its_marks(
    each: Named, space: str
) -> None:
    moved = Span(start=each.name.start + len(space), end=each.name.end + len(space))

    assert marks(space + each.text + space, moved) == marks(each.text, each.name)
    if len(each.text.upper()) == len(each.text):
        assert marks(each.text.upper(), each.name) == marks(each.text, each.name)


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


def test_the_threshold_lets_the_stated_share_of_the_others_pass() -> None:
    import numpy as np

    probabilities = np.linspace(0.0, 0.999, 1_000)
    nothing = np.zeros(1_000, dtype=bool)

    threshold = threshold_for(probabilities, nothing)

    assert (probabilities >= threshold).mean() == pytest.approx(0.035, abs=0.002)


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


def test_a_bad_line_of_sentences_is_named(tmp_path) -> None:
    path = tmp_path / "sentences.jsonl"
    path.write_text('{"text": "The chart says so.", "family": "lab"}\n{"text": 1}\n')

    with pytest.raises(InputError, match=r"sentences\.jsonl:2"):
        read_sentences(path)
