"""A calibrator's rows are taken again only where they are of the packets that are given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from lexical import lexical_models

from core.attribution.families import load_families
from core.calibration.rows import ROWS_FILE, TrainingRow, write_training_rows
from core.config import Config
from core.errors import InputError
from core.evaluation.packets import PacketRow, read_packet
from core.evaluation.scoring import Uncalibrated, score_rows
from core.pipeline import Models
from core.records import CLOSE_FEATURE, CLOSE_READ_FEATURE
from core.workflows.recalibrate import training_rows
from tests.real_models import uncalibrated_models
from training.claim_windows import focused_claims
from training.development import apart_traces
from training.rechecked import kept_rows, read_close, rechecked, with_close

CHART = "Patient: Ada Lind\n\nBody Weight: 81.7 kg\neffectiveDateTime: 2015-09-14\n"


def _packet(folder: Path) -> tuple[PacketRow, ...]:
    claims = (
        ("Ada Lind weighed 81.7 kg in 2015.", "supported"),
        ("Ada Lind weighed 91 kg in 2015.", "contradicted"),
    )
    rows = [
        {
            "claim_id": f"{trace}-{at}", "trace_id": f"t{trace}", "claim": text, "category": "clinical",
            "stated_attribution": None, "label": label,
            "relation": "entailment" if label == "supported" else "contradiction",
            "sources": [{"source_id": "chart", "tool_name": "get_chart", "text": CHART}],
            "gold_source_ids": ["chart"], "gold_attribution": None, "slices": [],
        }
        for trace in range(12)
        for at, (text, label) in enumerate(claims)
    ]  # fmt: skip
    path = folder / "packet.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_packet(path).rows


def _models() -> Models:
    return replace(lexical_models(), calibrator=Uncalibrated(), families=load_families())


def _fitted(
    rows: tuple[PacketRow, ...], folder: Path, models: Models | None = None
) -> list[TrainingRow]:
    predictions = score_rows(rows, models or _models(), Config()).predictions
    found = training_rows(rows, predictions)
    apart = apart_traces(row.trace_id for row in rows)
    write_training_rows(
        [row for row in found if row.trace_id not in apart],
        folder / ROWS_FILE,
        validation=[row for row in found if row.trace_id in apart],
    )
    return found


def test_rows_gathered_anew_are_those_that_reading_everything_gives(tmp_path: Path) -> None:
    rows = _packet(tmp_path)
    fitted = _fitted(rows, tmp_path)

    again = list(rechecked(rows, kept_rows(tmp_path, rows, ()), _models()))

    for one, other in zip(fitted, again, strict=True):
        assert one.forced == other.forced
        assert one.should_block == other.should_block
        assert asdict(one.features) == asdict(other.features)


def test_rows_of_other_packets_are_refused(tmp_path: Path) -> None:
    rows = _packet(tmp_path)
    _fitted(rows, tmp_path)

    with pytest.raises(InputError, match="not the rows of these packets"):
        kept_rows(tmp_path, rows[::-1], ())
    with pytest.raises(InputError, match="more rows"):
        kept_rows(tmp_path, rows[:-2], ())


@pytest.mark.stress
def test_what_is_read_close_now_takes_the_place_of_what_was(tmp_path: Path) -> None:
    rows = _packet(tmp_path)
    models = uncalibrated_models()
    kept = _fitted(rows, tmp_path, models)

    read = read_close([tmp_path / "packet.jsonl"], models)

    assert read.keys() == {row.claim_id for row in kept}
    assert {round(one[CLOSE_FEATURE], 4) for one in read.values()} - {0.0}
    forgotten = [
        replace(row, features=replace(row.features, numeric=_without_close(row.features.numeric)))
        for row in kept
    ]
    assert [*with_close(forgotten, read)] == kept
    assert [*with_close(kept, {})] == kept


def _without_close(numeric: Mapping[str, float]) -> dict[str, float]:
    gone = (CLOSE_FEATURE, CLOSE_READ_FEATURE)
    return {name: value for name, value in numeric.items() if name not in gone}


def test_what_is_taught_close_is_what_is_closest_to_each_claim(tmp_path: Path) -> None:
    rows = _packet(tmp_path)

    found = list(focused_claims([tmp_path / "packet.jsonl"], _models(), Config()))

    assert [one.supported for one in found] == [not row.should_block for row in rows]
    for one, row in zip(found, rows, strict=True):
        [window] = one.windows
        assert window.hypothesis == row.claim
        assert "Body Weight: 81.7 kg" in window.premise.splitlines()
        assert 0.0 < window.entailment <= 1.0
