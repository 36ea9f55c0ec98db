"""Training rows survive their file, which holds no word of any claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calibration.fit import ForestSettings, fit_calibrator
from core.calibration.rows import TrainingRow, read_training_rows, write_training_rows
from core.errors import ComponentUnavailable, DamagedArtifact
from core.records import Features

ROWS = st.builds(
    lambda trace, tool, number, target, bad, forced, contradicted: TrainingRow(
        claim_id="a secret claim",
        trace_id=f"patient {trace}",
        features=Features(
            categorical={"pred_tool": tool, "status": "routed"}, numeric={"route_score": number}
        ),
        supported_by_route=target,
        should_block=bad,
        forced=forced,
        contradicted=contradicted,
    ),
    st.integers(0, 4),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.floats(0, 1).map(lambda value: round(value, 4)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([True, False, None]),
)


@given(train=st.lists(ROWS, min_size=1, max_size=8), validation=st.lists(ROWS, max_size=8))
def test_rows_come_back_as_they_were_but_for_their_names(
    tmp_path_factory: pytest.TempPathFactory,
    train: list[TrainingRow],
    validation: list[TrainingRow],
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.npz"

    write_training_rows(train, path, validation)
    found = read_training_rows(path)

    for before, after in ((train, found.train), (validation, found.validation)):
        assert [_nameless(row) for row in after] == [_nameless(row) for row in before]
    assert _together([*found.train, *found.validation]) == _together([*train, *validation])
    first = path.read_bytes()
    write_training_rows(train, path, validation)
    assert path.read_bytes() == first
    assert b"secret" not in first and b"patient" not in first


def _nameless(row: TrainingRow) -> TrainingRow:
    return replace(row, claim_id="", trace_id="")


def _together(rows: list[TrainingRow]) -> list[list[bool]]:
    """Which rows share a trace."""
    return [[one.trace_id == other.trace_id for other in rows] for one in rows]


def test_a_forest_fitted_on_the_file_is_the_forest_fitted_on_the_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [
        TrainingRow(
            claim_id=f"c{n}",
            trace_id=f"t{n // 3}",
            features=Features(
                categorical={"pred_tool": ("chart", "web")[n % 2]},
                numeric={"route_score": round(float(rng.random()), 4)},
            ),
            supported_by_route=bool(rng.random() > 0.5),
            should_block=bool(rng.random() > 0.5),
        )
        for n in range(90)
    ]
    small = ForestSettings(trees=15, permutations=1)

    write_training_rows(rows[:60], tmp_path / "rows.npz", rows[60:])
    kept = read_training_rows(tmp_path / "rows.npz")

    straight = fit_calibrator(rows[:60], rows[60:], settings=small)
    again = fit_calibrator(kept.train, kept.validation, settings=small)
    assert straight.encoding == again.encoding
    assert straight.points == again.points
    assert np.array_equal(straight.trees.threshold, again.trees.threshold)


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    with pytest.raises(ComponentUnavailable, match=r"rows\.npz"):
        read_training_rows(path)

    path.write_bytes(b"PK\x03\x04 nothing more")
    with pytest.raises(DamagedArtifact, match=r"rows\.npz"):
        read_training_rows(path)


def test_a_file_that_would_have_to_be_unpickled_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", card=np.array([{"version": 1}], dtype=object))

    with pytest.raises(DamagedArtifact):
        read_training_rows(tmp_path / "rows.npz")
