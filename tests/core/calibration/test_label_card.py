"""Shown claims, and how often "contradicted" is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forests import a_calibrator

from core.calibration.label_card import LEAST, contradicted_card, shown_card
from core.calibration.rows import TrainingRow
from core.config import Config
from core.errors import ConfigError, DamagedArtifact
from core.models.forest import load_forest, write_artifact
from core.records import (
    SHOWN_FEATURE,
    SHOWN_WRONG,
    Against,
    Features,
    Judged,
    ShownShare,
    VerdictLabel,
)
from core.verification.decision import (
    against,
    counted_share,
    decide_claim,
)
from core.workflows.gate import read_policy
from tests.verdicts import showcase

CHART, PAPERS = "load_patient_history", "search_pubmed"


def a_row(number: int, tool: str, bad: bool, **numeric: float) -> TrainingRow:
    return TrainingRow(
        claim_id=f"c{number}",
        trace_id=f"t{number // 2}",
        features=Features(
            categorical={"pred_tool": tool, "verifier_label": "neutral"}, numeric=numeric
        ),
        supported_by_route=not bad,
        should_block=bad,
        contradicted=bad and numeric.get("checks_vetoes", 0.0) > 0,
    )


def share_of(contradicted: int, claims: int, low: float, high: float) -> dict[str, float]:
    """A share as a card tells it."""
    return {
        "contradicted": contradicted, "claims": claims, "answers": 1, "low": low, "high": high,
    }  # fmt: skip


@pytest.mark.parametrize(
    "card",
    [
        {"contradicted": {"moon": {}}},
        {"contradicted": {"nothing": share_of(2, 1, 0, 1)}},
        {"contradicted": {"nothing": share_of(0, 0, 0, 1)}},
        {"contradicted": {"nothing": share_of(1, 2, 0.6, 1)}},
    ],
)
def test_a_card_with_impossible_figures_is_refused(tmp_path: Path, card: dict[str, object]) -> None:
    a_calibrator(tmp_path / "plain")
    plain = load_forest(tmp_path / "plain")
    write_artifact(tmp_path / "odd", plain.encoding, plain.trees, {"threshold": 0.6, **card})

    with pytest.raises(DamagedArtifact, match="contradicted"):
        load_forest(tmp_path / "odd")


def shown(number: int, so: bool) -> TrainingRow:
    row = a_row(number, CHART, so, checks_vetoes=1.0, checks_contradicts=1.0)
    return replace(row, contradicted=so)


def test_what_speaks_against_a_claim_is_told_by_its_features() -> None:
    def told(label: str = "neutral", **numeric: float) -> Against:
        return against(Features(categorical={"verifier_label": label}, numeric=numeric))

    assert told(checks_contradicts=1.0, checks_vetoes=1.0) is Against.SHOWN
    assert told(checks_contradicts=2.0, checks_vetoes=0.0) is Against.HELD
    assert (
        told("contradiction", checks_vetoes=1.0) is Against.READ
    )  # a veto that shows no other value
    assert told() is Against.NOTHING


def test_the_share_is_counted_by_cause_and_its_interval_holds_it() -> None:
    rows = [shown(n, so=n % 4 != 0) for n in range(20)]
    unknown = replace(shown(99, so=True), contradicted=None)

    card = contradicted_card([*rows, unknown])

    told = card[Against.SHOWN.value]
    assert (told["contradicted"], told["claims"], told["answers"]) == (15, 20, 10)
    assert told["low"] < 0.75 < told["high"]  # type: ignore[operator]
    assert Against.READ.value not in card


def test_a_veto_that_the_probability_disputes_is_not_counted() -> None:
    rows = [shown(n, so=True) for n in range(4)]

    card = contradicted_card(rows, np.array([0.0, SHOWN_WRONG, 0.9, 1.0]))

    assert card[Against.SHOWN.value]["claims"] == 2


def test_the_shipped_calibrator_says_how_often_it_is_right_where_it_says_contradicted() -> None:
    forest = load_forest()
    told = forest.contradicted[Against.SHOWN]
    judged = next(one for one in showcase().claims if isinstance(one.outcome, Judged))
    assert isinstance(judged.outcome, Judged)

    share = counted_share(forest, judged.outcome)
    verdict = decide_claim(judged.claim, judged.outcome, Config(), (), told)

    assert share is forest.contradicted[against(judged.outcome.features)]
    assert told.claims < 59  # few: whoever reads it is told how few
    assert ("Contradicted with probability" in " ".join(verdict.reasons)) is (
        verdict.verdict is VerdictLabel.CONTRADICTED
    )


def test_a_policy_may_let_answers_pass_as_a_whole(tmp_path: Path) -> None:
    switch = "whole_answers"
    policy = tmp_path / "policy.toml"
    policy.write_text(f"{switch} = true", encoding="utf-8")
    assert getattr(read_policy(policy), switch) and not getattr(read_policy(None), switch)

    for wrong in ("0.5", '"yes"'):
        policy.write_text(f"{switch} = {wrong}", encoding="utf-8")
        with pytest.raises(ConfigError, match=f"{switch}: expected true or false"):
            read_policy(policy)


def shown_rows(shown: int, supported: int, others: int = 5) -> list[TrainingRow]:
    return [
        TrainingRow(
            claim_id=f"c{n}",
            trace_id=f"t{n // 2}",
            features=Features(
                categorical={}, numeric={"route_score": 0.2, SHOWN_FEATURE: float(n < shown)}
            ),
            supported_by_route=n < supported,
            should_block=n >= supported,
        )
        for n in range(shown + others)
    ]


def test_labelled_claims_that_are_shown_are_counted_with_their_answers() -> None:
    assert shown_card(shown_rows(20, 19)) == {"supported": 19, "claims": 20, "answers": 10}


def test_of_few_labels_nothing_is_said() -> None:
    assert shown_card(shown_rows(LEAST - 1, LEAST - 1)) is None
    assert shown_card(shown_rows(LEAST, LEAST)) is not None


def test_a_share_is_never_quite_certain_and_grows_with_what_was_counted() -> None:
    few, many = (ShownShare(supported=n, claims=n, answers=n) for n in (10, 100))

    assert few.share < many.share < 1.0


def test_only_shown_claims_are_raised_and_never_lowered(tmp_path: Path) -> None:
    a_calibrator(tmp_path / "plain", feature="route_score", cut=0.5, above=0.99, below=0.1)
    plain = load_forest(tmp_path / "plain")
    card = {"threshold": 0.5, "shown": {"supported": 29, "claims": 30, "answers": 12}}
    write_artifact(tmp_path / "shown", plain.encoding, plain.trees, card)
    raised = load_forest(tmp_path / "shown")

    def told(route: float, shown: float) -> Features:
        return Features(categorical={}, numeric={"route_score": route, SHOWN_FEATURE: shown})

    asked = [told(0.2, 1.0), told(0.2, 0.0), told(0.9, 1.0), told(0.9, 0.0)]

    assert plain.probabilities(asked).tolist() == [0.1, 0.1, 0.99, 0.99]
    assert raised.probabilities(asked).tolist() == [0.9375, 0.1, 0.99, 0.99]


@pytest.mark.parametrize(
    "entry", [{"supported": 3, "claims": 2, "answers": 1}, {"claims": 2}, [1, 2, 3], "all"]
)
def test_an_impossible_count_is_refused(tmp_path: Path, entry: object) -> None:
    a_calibrator(tmp_path / "plain")
    plain = load_forest(tmp_path / "plain")
    write_artifact(
        tmp_path / "odd", plain.encoding, plain.trees, {"threshold": 0.5, "shown": entry}
    )

    with pytest.raises(DamagedArtifact, match="shown"):
        load_forest(tmp_path / "odd")
