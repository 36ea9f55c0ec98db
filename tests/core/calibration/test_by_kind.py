"""Thresholds by kind of source, shown claims, and how often "contradicted" is right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forests import a_calibrator

from core.attribution.families import load_families
from core.calibration.by_kind import (
    LEAST,
    SIGNALS,
    contradicted_card,
    effects,
    kind_thresholds,
    labelled,
    reliability,
    shown_card,
)
from core.calibration.guarantee import operating_points
from core.calibration.rows import TrainingRow
from core.config import Config
from core.errors import ConfigError, DamagedArtifact
from core.models.forest import load_forest, write_artifact
from core.ports import policy_of
from core.records import (
    SHOWN_FEATURE,
    Against,
    Decision,
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
from core.workflows.rescore import rescore
from tests.verdicts import showcase

CHART, PAPERS = "load_patient_history", "search_pubmed"
RNG = np.random.default_rng(7)


def a_row(number: int, tool: str, bad: bool, **numeric: float) -> TrainingRow:
    told = dict.fromkeys(SIGNALS, 0.0) | numeric
    return TrainingRow(
        claim_id=f"c{number}",
        trace_id=f"t{number // 2}",
        features=Features(
            categorical={"pred_tool": tool, "verifier_label": "neutral"}, numeric=told
        ),
        supported_by_route=not bad,
        should_block=bad,
        contradicted=bad and numeric.get("checks_vetoes", 0.0) > 0,
    )


# Bad claims of papers reach 0.7, those of charts 0.3: one threshold serves neither.
ROWS = [a_row(n, PAPERS if n % 2 else CHART, bad=n % 4 < 2) for n in range(800)]
SCORES = np.array(
    [
        RNG.uniform(0.0, 0.7 if n % 2 else 0.3) if row.should_block else RNG.uniform(0.3, 1.0)
        for n, row in enumerate(ROWS)
    ]
)


def test_each_kind_with_the_labels_has_its_own_threshold_and_says_what_it_rests_on() -> None:
    few = [a_row(9_000, "get_lab_results", True), a_row(9_001, "get_lab_results", False)]

    found = kind_thresholds([*ROWS, *few], np.append(SCORES, [0.1, 0.9]), risk=0.1)

    assert set(found) == {"patient_record", "literature"}  # two laboratory labels are too few
    assert found["patient_record"]["threshold"] < found["literature"]["threshold"]  # type: ignore[operator]
    for kind in found.values():
        assert kind["upper_bound"] <= 0.1 and kind["bad_labels"] == 200  # type: ignore[operator]


def test_a_kinds_threshold_is_the_one_that_the_page_shows_for_it() -> None:
    points = operating_points(labelled(ROWS, SCORES), risk=0.1)

    found = kind_thresholds(ROWS, SCORES, risk=0.1)

    assert {name: entry["threshold"] for name, entry in found.items()} == {
        name: point.threshold for name, point in points.families.items()
    }


def test_the_effect_is_counted_on_folds_that_chose_no_threshold() -> None:
    found = effects(labelled(ROWS, SCORES), ["p"] * len(ROWS), risk=0.1)

    whole, chart = found[("p", "all")], found[("p", "patient_record")]
    assert (whole.good, whole.bad) == (400, 400)
    assert chart.good_blocked[1] < chart.good_blocked[0]  # charts no longer pay for the papers
    kinds = [one for (_, kind), one in found.items() if kind != "all"]
    for which in (0, 1):
        assert sum(one.bad_passed[which] for one in kinds) == whole.bad_passed[which]
        assert sum(one.good_blocked[which] for one in kinds) == whole.good_blocked[which]


def test_a_kind_decides_only_where_it_is_asked_for_and_under_another_name(tmp_path: Path) -> None:
    a_calibrator(tmp_path / "plain")
    plain = load_forest(tmp_path / "plain")
    card = {"threshold": 0.6, "threshold_by_kind": {"patient_record": {"threshold": 0.2}}}
    name = write_artifact(tmp_path / "kinds", plain.encoding, plain.trees, card)
    forest = load_forest(tmp_path / "kinds")
    by_kind = forest.by_kind()

    assert policy_of(forest).threshold_for("patient_record") == (0.6, None)
    assert (by_kind.name, forest.name) == (f"{name}+by-kind", name)
    assert policy_of(by_kind).threshold_for("patient_record") == (0.2, "patient_record")
    assert policy_of(by_kind).threshold_for("web") == (0.6, None)
    with pytest.raises(ConfigError, match="no threshold of a kind of source"):
        plain.by_kind()


def test_the_threshold_of_its_kind_decides_a_claim_and_stands_in_its_reason(tmp_path: Path) -> None:
    a_calibrator(tmp_path / "plain", feature="route_score", cut=-1.0, above=0.55)
    plain = load_forest(tmp_path / "plain")
    before = showcase()
    kinds = {one.outcome.route.family for one in before.claims if isinstance(one.outcome, Judged)}
    card = {
        "threshold": 0.5,
        "threshold_by_kind": {kind: {"threshold": 0.58} for kind in kinds},
    }
    write_artifact(tmp_path / "kinds", plain.encoding, plain.trees, card)
    strict = rescore(before, load_forest(tmp_path / "kinds").by_kind(), load_families(), Config())

    judged = [one for one in strict.claims if isinstance(one.outcome, Judged)]
    assert judged and strict.versions.calibrator.endswith("+by-kind")
    for one in judged:
        assert isinstance(one.outcome, Judged)
        kind = one.outcome.route.family
        assert (one.outcome.support.threshold, one.outcome.support.threshold_kind) == (0.58, kind)
        assert one.decision is Decision.BLOCK
    said = [reason for one in judged for reason in one.reasons]
    words = next(iter(kinds)).replace("_", " ")
    assert any(f"below the threshold 0.58 for {words}" in reason for reason in said)


def share_of(contradicted: int, claims: int, low: float, high: float) -> dict[str, float]:
    """A share as a card tells it."""
    return {
        "contradicted": contradicted, "claims": claims, "answers": 1, "low": low, "high": high,
    }  # fmt: skip


@pytest.mark.parametrize(
    "card",
    [
        {"threshold_by_kind": {"web": {"threshold": 1.5}}},
        {"threshold_by_kind": {"web": 0.5}},
        {"threshold_by_kind": {"web": {}}},
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

    with pytest.raises(DamagedArtifact, match="threshold_by_kind|contradicted"):
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

    card = contradicted_card([*rows, *ROWS, unknown])

    told = card[Against.SHOWN.value]
    assert (told["contradicted"], told["claims"], told["answers"]) == (15, 20, 10)
    assert told["low"] < 0.75 < told["high"]  # type: ignore[operator]
    assert Against.READ.value not in card


def test_reliability_is_measured_on_answers_that_were_not_seen() -> None:
    rows = [shown(n, so=n % 4 != 0) for n in range(80)]
    rest = [replace(row, trace_id=f"r{row.trace_id}", contradicted=False) for row in ROWS[:400]]

    found = reliability([*rows, *rest])

    assert (found["claims"], found["contradicted"]) == (480, 60)
    ways = found["ways"]
    assert ways["by cause"]["brier"] < ways["constant"]["brier"]  # type: ignore[index]
    (high,) = [band for band in ways["by cause"]["said_and_so"] if band["from"] == 0.6]  # type: ignore[index]
    assert (high["claims"], high["contradicted"]) == (80, 60)
    assert abs(high["said"] - 0.75) < 0.05


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


@pytest.mark.parametrize("switch", ["threshold_by_kind", "whole_answers"])
def test_a_policy_may_ask_for_more_than_the_one_threshold(tmp_path: Path, switch: str) -> None:
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
