"""A claim that an entry of its source states whole: counted on labels, at least as probable as counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.calibration.by_kind import LEAST, shown_card
from core.calibration.rows import TrainingRow
from core.errors import DamagedArtifact
from core.models.forest import load_forest, write_artifact
from core.records import SHOWN_FEATURE, Features, ShownShare
from tests.forests import a_calibrator


def rows(shown: int, supported: int, others: int = 5) -> list[TrainingRow]:
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
    assert shown_card(rows(20, 19)) == {"supported": 19, "claims": 20, "answers": 10}


def test_of_few_labels_nothing_is_said() -> None:
    assert shown_card(rows(LEAST - 1, LEAST - 1)) is None
    assert shown_card(rows(LEAST, LEAST)) is not None


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
