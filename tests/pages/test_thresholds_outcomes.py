"""The threshold page's three outcomes, guarantee, comparison and snapshot, without a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from databases import a_store
from evaluations import keep_evaluated
from opening import opened, titles, views
from streamlit.testing.v1 import AppTest

from core.attribution.families import load_families
from core.calibration.guarantee import operating_points
from core.calibration.whole import whole_words
from core.evaluation.kept import KeptPacket, kept_runs, read_predictions
from core.evaluation.outcomes import Weights, Workload, cheapest, outcomes_at
from core.evaluation.packets import read_packet
from core.evaluation.snapshot import Snapshot, read_snapshot, snapshot_text
from core.evaluation.threshold_view import view_predictions
from core.models.forest import load_forest
from core.workflows.evaluate import labelled_scores
from pages.screens.thresholds.snapshots import SAME, compared_words, make_snapshot
from pages.screens.thresholds.three import outcome_table
from pages.screens.thresholds.view import grid_with


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the workbench under test keeps evaluated packets."""
    file = str(tmp_path / "workbench.db")
    monkeypatch.setenv("PROVENANCEGUARD_DB", file)
    a_store(file).close()
    return tmp_path / "evaluations"


def numbers(test: AppTest, first: str) -> list[dict[str, object]]:
    """The table that begins with this row."""
    tables = [frame.value.to_dict("records") for frame in test.dataframe]
    return next(rows for rows in tables if rows and first in rows[0].values())


def drop(test: AppTest, text: str) -> None:
    test.file_uploader(key="open-snapshot").set_value(
        ("s.json", text.encode(), "application/json")
    ).run()


def rows_and_predictions(packet: KeptPacket):
    return read_packet(packet.path).rows, read_predictions(
        kept_runs(packet)[0].folder / "predictions.jsonl"
    )


def test_three_outcomes_are_those_of_the_packet_and_the_cheapest_can_be_gone_to(
    folder: Path,
) -> None:
    packet = keep_evaluated(folder, claims=90, threshold=0.5)
    view = view_predictions(*rows_and_predictions(packet))
    test = opened("thresholds", packet=packet.sha256, threshold="0.62")

    assert test.number_input(key="review-from").value == load_forest().review_from
    test.number_input(key="review-from").set_value(0.3).run()

    (here,) = outcomes_at(view, [0.62], 0.3)
    workload = Workload(claims_a_day=1_000, minutes_a_claim=2.0)
    header, rows = outcome_table(here, workload)
    assert here.bad.person and here.good.person
    assert [list(row.values()) for row in numbers(test, "All claims")] == [list(r) for r in rows]
    assert rows[2][1] == f"{here.bad.passed} of 30 ({100 * here.bad.passed / 30:.1f} %)"
    weights = Weights(bad_passed=10, good_blocked=1, hour_of_review=5)
    best = cheapest(outcomes_at(view, grid_with(0.5), 0.3), workload, weights)
    test.button(key="by-cost").click().run()
    assert test.query_params["threshold"] == f"{best.threshold:g}"
    assert not test.exception


def test_home_ticks_thresholds_once_they_were_looked_at(folder: Path) -> None:
    packet = keep_evaluated(folder, claims=60, threshold=0.5)

    def step(test: AppTest) -> str:
        (found,) = [each.value for each in test.text if "another threshold" in each.value]
        return found[0]

    assert step(opened()) != "✓"
    test = opened("thresholds", packet=packet.sha256)
    assert step(test.switch_page("pages/home.py").run()) == "✓"


def note(test: AppTest) -> str:
    """What stands under the figures beside the slider."""
    (data,) = views(test, "provenanceguard_thresholds")
    return str(data["note"])


def test_the_guarantee_says_how_many_labels_are_needed_or_goes_to_its_threshold(
    folder: Path,
) -> None:
    packet = keep_evaluated(folder, claims=60, threshold=0.5)
    few = opened("thresholds", packet=packet.sha256)
    assert any("Too few labels: 20 bad claims" in text.value for text in few.text)
    assert few.button(key="by-guarantee").disabled
    assert note(few) == "At most 5.0 % of bad claims pass: these labels show it of no threshold."

    packet = keep_evaluated(folder, claims=900, threshold=0.5, seed=4)
    test = opened("thresholds", packet=packet.sha256)
    labels = labelled_scores(*rows_and_predictions(packet), load_families())
    test.number_input(key="risk").set_value(10.0).run()
    told = [text.value for text in test.text]
    assert whole_words(load_forest().card, labels) in told
    (first, *_) = [at for at, each in enumerate(told) if each.startswith("In force: one threshold")]
    assert first < next(at for at, each in enumerate(told) if "By the labels shown here" in each)
    points = operating_points(labels, risk=0.1)
    assert points.pooled.threshold is not None
    table = {row["Kind of source"]: row for row in numbers(test, "all sources")}
    assert set(table) == {"all sources", "literature", "patient record"}
    assert table["all sources"]["Threshold"] == f"{points.pooled.threshold:.2f}"
    kept = load_forest().threshold >= points.pooled.threshold
    shown = "shown at" if kept else f"shown at {points.pooled.threshold:g}, not shown at"
    assert note(test) == f"At most 10.0 % of bad claims pass: {shown} the threshold in use."
    test.button(key="by-guarantee").click().run()
    assert test.query_params["threshold"] == f"{points.pooled.threshold:g}"


def test_a_slice_stands_beside_the_whole_packet(folder: Path) -> None:
    packet = keep_evaluated(folder, claims=60, threshold=0.5)
    test = opened("thresholds", packet=packet.sha256, threshold="0.5")

    test.selectbox(key="beside-slice-All claims").select("values").run()
    test.number_input(key="beside-threshold").set_value(0.7).run()

    first, *_ = numbers(test, "Labelled claims")
    assert first["First: All claims at 0.50"] == "60, 20 bad"
    assert first["Second: values at 0.70"].startswith("30, ")


def test_a_snapshot_opens_again_and_says_what_is_otherwise_now(folder: Path) -> None:
    packet = keep_evaluated(folder, claims=60, threshold=0.5)
    test = opened("thresholds", packet=packet.sha256, threshold="0.62")
    saved = next(one for one in test.get("download_button") if one.proto.label.startswith("Save"))
    assert saved.proto.url

    (here,) = outcomes_at(
        view_predictions(*rows_and_predictions(packet)), [0.62], load_forest().review_from or 0.0
    )
    now = make_snapshot(
        packet,
        kept_runs(packet)[0],
        "All claims",
        here,
        load_forest().threshold,
        Workload(claims_a_day=1_000, minutes_a_claim=2.0),
        Weights(bad_passed=10.0, good_blocked=1.0, hour_of_review=5.0),
        operating_points(labelled_scores(*rows_and_predictions(packet), load_families())),
    )
    assert read_snapshot(snapshot_text(now).encode()) == now
    assert compared_words(now, now).endswith(SAME)
    moved = Snapshot(settings={**now.settings, "threshold": 0.7}, figures=now.figures)
    assert compared_words(now, moved).endswith("differs in: threshold.")
    other = Snapshot(settings=now.settings, figures={**now.figures, "claims": 59})
    assert compared_words(now, other).endswith("gives other figures: claims.")
    drop(test, snapshot_text(now))
    assert any(text.value.endswith(SAME) for text in test.text)
    drop(test, snapshot_text(moved))
    test.button(key="use-snapshot").click().run()
    assert test.query_params["threshold"] == "0.7"
    changed = json.loads(snapshot_text(now)) | {"sha256": "0" * 64}
    drop(test, json.dumps(changed))
    assert "This is no snapshot" in titles(test)
    assert not test.exception
