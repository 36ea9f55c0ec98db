"""Threshold snapshots: what was written is read back, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases
from typer.testing import CliRunner

from cli import app
from core.errors import BadRecord, InputError, UnreadableFile
from core.evaluation.snapshot import (
    MAX_BYTES,
    Snapshot,
    changed_figures,
    read_snapshot,
    snapshot_lines,
    snapshot_text,
)

SETTINGS = {
    "packet_name": "trial <b>one</b>",
    "packet_sha256": "0" * 64,
    "run": "1" * 16,
    "calibrator": "forest-a",
    "slice": "all claims",
    "threshold": 0.64,
    "review_from": 0.41,
    "threshold_in_use": 0.64,
    "claims_a_day": 1000,
    "minutes_a_claim": 2.0,
    "weights": {"bad_passed": 10.0, "good_blocked": 1.0, "hour_of_review": 5.0},
    "risk": 0.05,
}
MADE = Snapshot(settings=SETTINGS, figures={"claims": 60, "bad": {"passed": 3, "blocked": 17}})


def test_a_snapshot_is_read_back_as_it_was_written() -> None:
    text = snapshot_text(MADE)

    assert read_snapshot(text.encode()) == MADE
    assert snapshot_text(read_snapshot(text.encode())) == text
    assert ("bad: passed", "3") in snapshot_lines(MADE)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("settings", "threshold"), 0.5),
        (("settings", "slice"), "another"),
        (("figures", "claims"), 61),
        (("figures", "bad", "passed"), 2),
        (("sha256",), "0" * 64),
    ],
)
def test_any_change_after_it_was_made_is_refused(path: tuple[str, ...], value: object) -> None:
    document = json.loads(snapshot_text(MADE))
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value

    with pytest.raises(BadRecord, match="not those that this snapshot was made with"):
        read_snapshot(json.dumps(document).encode(), file="s.json")


@cases
def test_a_setting_of_another_type_is_named_with_its_path(name: str, value: object) -> None:
    wrong = Snapshot(settings={**SETTINGS, name: value}, figures={})

    with pytest.raises(BadRecord, match=rf"s\.json: settings\.{name}"):
        read_snapshot(snapshot_text(wrong).encode(), file="s.json")


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_no_other_file_is_taken_for_one(content: bytes) -> None:
    with pytest.raises(InputError):
        read_snapshot(content)


@pytest.mark.parametrize(
    "content",
    [b"[" * 200_000, b" " * (MAX_BYTES + 1), b'{"format": "provenanceguard-thresholds"}', b"[]"],
)
def test_hostile_files_are_refused(content: bytes) -> None:
    with pytest.raises((BadRecord, UnreadableFile)):
        read_snapshot(content)


def test_figures_that_differ_are_named() -> None:
    other = Snapshot(settings=SETTINGS, figures={"claims": 60, "bad": {"passed": 4}})

    assert changed_figures(MADE, other) == ["bad: passed", "bad: blocked"]


def test_the_terminal_opens_one_and_refuses_a_changed_one(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(snapshot_text(MADE), encoding="utf-8")

    told = CliRunner().invoke(app, ["snapshot", str(file)])
    file.write_text(snapshot_text(MADE).replace("0.64", "0.10"), encoding="utf-8")
    refused = CliRunner().invoke(app, ["snapshot", str(file)])

    assert told.exit_code == 0 and "bad: passed" in told.output and "0.64" in told.output
    assert refused.exit_code == 2 and "sha256" in refused.output
