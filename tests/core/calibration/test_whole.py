"""Answers that pass as a whole: what their weakest claims have together, and what labels bound."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forests import a_calibrator
from hypothesis import given
from hypothesis import strategies as st

from core.calibration.label_card import labelled
from core.calibration.rows import TrainingRow
from core.calibration.whole import (
    answers_of,
    crossed_whole,
    passed_as_a_whole,
    whole_card,
    whole_words,
)
from core.codec import verdict_document, verification_from_document
from core.config import Config
from core.errors import ConfigError, DamagedArtifact
from core.models.forest import Forest, load_forest, write_artifact
from core.records import (
    Decision,
    Features,
    Judged,
    Source,
    Trace,
    Unjudged,
    VerdictLabel,
    Verification,
)
from core.verification.decision import (
    FLOOR,
    LEAST_CLAIMS,
    decide_answer,
    holds_together,
    pass_together,
    weakest_together,
)
from tests.verdicts import Said, a_verification

CHANCES = st.lists(st.floats(0.0, 1.0), min_size=LEAST_CLAIMS, max_size=60)
POINT = {"threshold": 0.46, "bad": 98, "bad_passed": 8, "good": 15, "good_passed": 9}
LINES = [f"Line {word} is written here." for word in "one two three four five six seven".split()]
LINES += ["Line eight is written here.", "Line nine is written here."]


def an_answer(chances: list[float], *, verdict: VerdictLabel | None = None) -> Verification:
    """An answer of a claim for each of ``chances``; those below 0.6 do not pass by themselves."""
    text = " ".join(LINES)
    trace = Trace(
        trace_id="t",
        question="What is written?",
        answer=text,
        sources=(Source(source_id="s1", tool_name="read_file", text=text),),
    )
    said = [
        Said(
            said=line,
            verdict=VerdictLabel.SUPPORTED if p >= 0.6 else VerdictLabel.NOT_ENOUGH_EVIDENCE,
            source="s1",
            premise=line,
            probability=p,
            reasons=("Not confirmed.",) if p < 0.6 else (),
        )
        for line, p in zip(LINES, chances, strict=False)
    ]
    return a_verification(trace, {"s1": "other"}, said)


def a_forest(folder: Path, point: object = POINT) -> Forest:
    a_calibrator(folder / "plain")
    plain = load_forest(folder / "plain")
    card = {"threshold": 0.6, "whole_answers": point}
    write_artifact(folder / "whole", plain.encoding, plain.trees, card)
    return load_forest(folder / "whole")


@given(CHANCES)
def test_the_weakest_together_are_the_geometric_mean_of_the_lowest_quarter(
    chances: list[float],
) -> None:
    lowest = np.sort(np.maximum(chances, 0.01))[: min(8, int(np.floor(len(chances) / 4 + 0.5)))]

    found = weakest_together(chances)

    assert found == pytest.approx(float(np.prod(lowest)) ** (1 / len(lowest)), abs=1e-9)
    assert weakest_together(chances[::-1]) == found  # whatever the order


@given(CHANCES, st.integers(0, 7), st.floats(0.0, 1.0))
def test_a_stronger_claim_never_makes_an_answer_weaker(
    chances: list[float], at: int, more: float
) -> None:
    raised = [*chances[:at], max(chances[at], more), *chances[at + 1 :]]

    assert (weakest_together(raised) or 0.0) >= (weakest_together(chances) or 0.0)
    if holds_together(chances, 0.5):
        assert holds_together(raised, 0.5)


@given(st.lists(st.floats(0.0, 1.0), max_size=LEAST_CLAIMS - 1))
def test_a_short_answer_never_passes_as_a_whole(chances: list[float]) -> None:
    assert weakest_together(chances) is None and not holds_together(chances, 0.0)


def test_an_answer_that_holds_passes_with_its_weak_claims_and_says_why(tmp_path: Path) -> None:
    forest = a_forest(tmp_path)
    before = an_answer([0.9, 0.95, 0.45, 0.8, 0.97, 0.55, 0.9, 0.85, 0.92])

    found = pass_together(before.claims, forest.whole_answers(), Config())

    assert all(one.decision is Decision.ALLOW for one in found)
    weak = found[2].outcome
    assert isinstance(weak, Judged) and weak.support.together is not None
    assert (weak.support.probability, weak.support.threshold) == (0.45, FLOOR)
    assert weak.support.together.weakest == pytest.approx((0.45 * 0.55) ** 0.5, abs=1e-4)
    assert "By itself it would not pass (support 0.45)" in found[2].reasons[0]
    assert "0.50, where 0.46 is asked" in found[2].reasons[0]
    assert found[0] is before.claims[0]  # what passes by itself stays as it was
    said = decide_answer(before.trace, found)
    assert said.decision is Decision.ALLOW
    assert said.reasons[0].startswith("7 of 9 factual claims pass by themselves")
    assert "Of 98 labelled answers with wrong claims 8 come as far" in said.reasons[0]
    written = verdict_document(replace(before, claims=found, answer=said))
    assert verdict_document(verification_from_document(written)) == written


@pytest.mark.parametrize(
    ("chances", "why"),
    [
        ([0.9, 0.95, 0.15, 0.99, 0.97, 0.99, 0.9, 0.85, 0.92], "one is below the floor"),
        ([0.9, 0.95, 0.45, 0.8, 0.97, 0.45, 0.9, 0.85, 0.92], "too weak together"),
        ([0.9, 0.95, 0.59, 0.8, 0.97, 0.9, 0.85], "too few claims"),
    ],
)
def test_an_answer_that_does_not_hold_stays_as_it_was(
    tmp_path: Path, chances: list[float], why: str
) -> None:
    before = an_answer(chances)

    found = pass_together(before.claims, a_forest(tmp_path).whole_answers(), Config())

    assert found == before.claims, why


def test_no_answer_passes_whole_over_anything_else_that_blocks(tmp_path: Path) -> None:
    whole = a_forest(tmp_path).whole_answers()
    before = an_answer([0.9, 0.95, 0.45, 0.8, 0.97, 0.55, 0.9, 0.85, 0.92])
    passing = before.claims[0]
    unjudged = replace(
        passing,
        outcome=Unjudged(stage="nli", reason="no reading"),
        verdict=VerdictLabel.UNJUDGED,
        decision=Decision.BLOCK,
    )
    wrongly = replace(passing, decision=Decision.BLOCK, reasons=("credited wrongly",))

    for one in (unjudged, wrongly):
        claims = (one, *before.claims[1:])
        assert pass_together(claims, whole, Config()) == claims


def test_answers_pass_as_a_whole_only_where_it_is_asked_for(tmp_path: Path) -> None:
    forest = a_forest(tmp_path)
    before = an_answer([0.9, 0.95, 0.45, 0.8, 0.97, 0.55, 0.9, 0.85, 0.92])

    assert pass_together(before.claims, forest, Config()) == before.claims
    assert forest.whole is None and forest.whole_answers().name == f"{forest.name}+whole"
    with pytest.raises(ConfigError, match="no point for whole answers"):
        load_forest(tmp_path / "plain").whole_answers()


@pytest.mark.parametrize(
    "point",
    [
        0.5,
        {},
        POINT | {"threshold": 1.5},
        POINT | {"bad_passed": 99},
        POINT | {"good": -1},
        POINT | {"good": True},
    ],
)
def test_a_card_with_an_impossible_point_is_refused(tmp_path: Path, point: object) -> None:
    with pytest.raises(DamagedArtifact, match="whole_answers"):
        a_forest(tmp_path, point).whole_answers()


def rows_of(trace: str, count: int, *, bad: int, forced: int = 0) -> list[TrainingRow]:
    return [
        TrainingRow(
            claim_id=f"{trace}::{n}",
            trace_id=trace,
            features=Features(categorical={}, numeric={}),
            supported_by_route=n >= bad,
            should_block=n < bad,
            forced=n < forced,
        )
        for n in range(count)
    ]


def test_the_point_bounds_the_share_of_bad_answers_that_pass() -> None:
    rng = np.random.default_rng(5)
    rows, chances = [], []
    for n in range(160):
        bad = n % 4 != 0
        rows += rows_of(f"t{n}", 10, bad=2 if bad else 0)
        chances += [*rng.uniform(0.2, 0.6 if bad else 0.9, 2), *rng.uniform(0.6, 1.0, 8)]
    rows += rows_of("short", 3, bad=1)
    chances += [0.9] * 3

    labels = labelled(rows, np.array(chances))
    card = whole_card(labels)

    assert card is not None and (card["bad"], card["good"]) == (120, 40)  # not the short one
    assert 0.0 < card["bad_passed"] / 120 < card["upper_bound"] <= card["risk"] == 0.1
    again = passed_as_a_whole(labels, float(card["threshold"]))
    assert (again.bad_passed, again.good_passed) == (card["bad_passed"], card["good_passed"])
    assert card["good_passed"] > 15
    crossed = crossed_whole(labels)
    assert crossed.bad_passed / 120 < 0.1 and abs(crossed.good_passed - again.good_passed) < 8
    words = whole_words({"whole_answers": card}, labels)
    assert f"{card['bad_passed']} of 120 with a wrong claim passed, wrongly" in words
    assert f"{card['good_passed']} of 40 without one passed, rightly" in words
    assert words.endswith(
        f"Of the labelled answers shown here, {again.bad_passed} of 120 with a wrong claim would pass, "
        f"wrongly, and {again.good_passed} of 40 without one, rightly."
    )
    assert "no point" in whole_words({}, labels)


def test_what_is_blocked_otherwise_or_lies_below_the_floor_never_passes() -> None:
    rows = [*rows_of("vetoed", 9, bad=1, forced=1), *rows_of("low", 9, bad=0)]
    chances = np.array([0.9] * 9 + [0.1] + [0.9] * 8)

    assert list(answers_of(labelled(rows, chances)).forced) == [True, True]


def test_too_few_bad_answers_give_no_point() -> None:
    rows = [row for n in range(18) for row in rows_of(f"t{n}", 9, bad=1)]

    assert whole_card(labelled(rows, np.full(len(rows), 0.3))) is None
