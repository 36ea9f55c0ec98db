"""A calibrator's rows are taken again only where they are of the packets that are given."""

from __future__ import annotations

import json
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
from core.records import CHART_READ_FEATURE, CHARTED_FEATURE
from core.workflows.recalibrate import training_rows
from training.development import apart_traces
from training.rechecked import kept_rows, rechecked, with_charts

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


def _fitted(rows: tuple[PacketRow, ...], folder: Path) -> list[TrainingRow]:
    predictions = score_rows(rows, _models(), Config()).predictions
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


def test_what_is_read_of_charts_now_takes_the_place_of_what_was(tmp_path: Path) -> None:
    kept = _fitted(_packet(tmp_path), tmp_path)[:3]
    charted, plain = (
        replace(
            row,
            features=replace(
                row.features,
                numeric={
                    **row.features.numeric,
                    CHARTED_FEATURE: 0.91,
                    CHART_READ_FEATURE: read,
                    "entailment_any": 0.17,
                },
            ),
        )
        for row, read in zip(kept, (1.0, 0.0), strict=False)
    )

    found = list(with_charts(kept, {kept[0].claim_id: charted, kept[1].claim_id: plain}))

    assert found[1:] == kept[1:]
    changed = dict(found[0].features.numeric)
    assert (changed.pop(CHARTED_FEATURE), changed.pop(CHART_READ_FEATURE)) == (0.91, 1.0)
    before = dict(kept[0].features.numeric)
    assert changed == {name: before[name] for name in changed}
