"""Synthetic literature pairs are seeded, balanced, and never call one thing by another's name."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from training import literature_terms as terms_of
from training.literature_pairs import KINDS, literature_pairs
from training.literature_terms import Term, Way
from training.literature_wording import SHARES, retold_claims, said_of, shares
from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL


def test_pairs_repeat_with_their_seed_and_have_a_third_of_each_label() -> None:
    pairs = literature_pairs(600, 3)

    assert pairs == literature_pairs(600, 3)
    assert pairs != literature_pairs(600, 4)
    assert Counter(pair.label for pair in pairs) == dict.fromkeys(
        (ENTAILMENT, NEUTRAL, CONTRADICTION), 200
    )
    assert len({(pair.premise, pair.hypothesis) for pair in pairs}) > 590
    assert all("{" not in pair.premise + pair.hypothesis for pair in pairs)


@pytest.mark.parametrize(
    "terms",
    [
        terms_of.EXPOSURES,
        terms_of.HARMS,
        terms_of.GOODS,
        terms_of.CONDITIONS,
        terms_of.SYMPTOMS,
        terms_of.GROUPS,
        terms_of.PLACES,
    ],
)
def test_no_two_terms_of_a_list_share_a_name(terms: tuple[Term, ...]) -> None:
    # A shared name would make a claim about one of them a neutral one about the other.
    counts = Counter(name for term in terms for name in {*term.formal, *term.plain})

    assert [name for name, count in counts.items() if count > 1] == []
    assert all(name == name.strip() and name for name in counts)


def test_one_claim_never_has_two_labels_of_one_premise() -> None:
    for maker, _ in KINDS:
        for seed in range(60):
            premise, claims = maker(random.Random(seed))
            labels: dict[str, set[str]] = {}
            for text, label in claims:
                labels.setdefault(text, set()).add(label)
            assert [text for text, found in labels.items() if len(found) > 1] == [], premise


@pytest.mark.parametrize("percent", [0.0, 4.9, 25.0, 33.3, 50.0, 60.0, 80.0, 99.0])
def test_a_rough_share_is_right_about_the_number(percent: float) -> None:
    bounds = {said: (low, high) for said, low, high in SHARES}

    found = dict(shares(percent))

    assert found
    for said, label in found.items():
        low, high = bounds[said]
        assert (low <= percent <= high) == (label == ENTAILMENT)


def test_a_finding_is_retold_in_its_direction() -> None:
    exposure, harm = terms_of.EXPOSURES[0], terms_of.HARMS[0]
    rng = random.Random(0)

    up = {said_of(exposure, harm, Way.UP, True, rng) for _ in range(40)}
    retold = retold_claims(exposure, harm, Way.DOWN, True, rng)

    assert all(label == CONTRADICTION for text, label in retold if text in up)
    assert ENTAILMENT in {
        label for text, label in retold if "survival" in text or "surviving" in text
    }
