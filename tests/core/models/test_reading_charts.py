"""A reader with what it learned on charts beside its weights reads charts by both, all else as before."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import DamagedArtifact
from core.models.loading import (
    BUNDLED_PAIR_READER,
    CHARTS_FILE,
    MANIFEST_FILE,
    WEIGHTS_FILE,
    load_pair_reader,
)
from core.models.mean_reader import MeanPairReader
from core.ports import ReadsCharts, taught_on_charts
from core.workflows.kept_readings import FileShelf, KeptReader
from core.workflows.remembering import remembering
from tests.real_models import uncalibrated_models
from training.chart_changes import changes

PAIRS = [
    ("Problems: ?pneumonia - ruled out on CT. Known asthma.", "She has pneumonia."),
    ("Lisinopril 10 mg daily, stopped in May for cough.", "She takes lisinopril 10 mg daily."),
]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A reader with a chart file of its own, and the same change made in the weights themselves."""
    folders = tmp_path_factory.mktemp("readers")
    beside, within = folders / "beside", folders / "within"
    for folder in (beside, within):
        shutil.copytree(BUNDLED_PAIR_READER, folder)
        (folder / MANIFEST_FILE).unlink()
        (folder / CHARTS_FILE).unlink(missing_ok=True)
    weights = load_file(within / WEIGHTS_FILE)
    generator = torch.Generator().manual_seed(7)

    def thin(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator) * 0.1

    changed = {name: value.clone() for name, value in weights.items()}
    for layer in (5, 11):
        for place in ("attention.self.query", "output.dense"):
            name = f"bert.encoder.layer.{layer}.{place}.weight"
            rows, columns = changed[name].shape
            changed[name] = (changed[name].float() + thin(rows, 3) @ thin(3, columns)).half()
            bias = name.removesuffix("weight") + "bias"
            changed[bias] = changed[bias] + 0.01
    changed["classifier.bias"] = changed["classifier.bias"] + 0.25
    save_file(changed, within / WEIGHTS_FILE, metadata={"format": "pt"})
    stored, kept = changes(weights, changed, rank=8)
    save_file(stored, beside / CHARTS_FILE)
    assert kept > 0.98  # three of eight ranks are what was changed, the rest is rounding to fp16
    return beside, within


def test_charts_are_read_as_by_the_changed_weights_and_all_else_as_before(
    taught: tuple[Path, Path],
) -> None:
    beside, within = (load_pair_reader(folder, precision="fp32") for folder in taught)
    before = load_pair_reader(BUNDLED_PAIR_READER, precision="fp32").read(PAIRS)
    assert isinstance(beside, ReadsCharts)

    for mine, same in zip(beside.read(PAIRS), before, strict=True):
        assert mine == same
    moved = 0.0
    for charted, wanted, plain in zip(
        beside.read_charts(PAIRS), within.read(PAIRS), before, strict=True
    ):
        assert charted is not None and wanted is not None and plain is not None
        said, expected = charted.probabilities, wanted.probabilities
        assert said.entailment == pytest.approx(expected.entailment, abs=0.005)
        assert said.contradiction == pytest.approx(expected.contradiction, abs=0.005)
        moved = max(moved, abs(said.entailment - plain.probabilities.entailment))
    assert moved > 0.02


def test_the_name_tells_what_was_learned_on_charts(taught: tuple[Path, Path]) -> None:
    beside, _ = taught
    name = load_pair_reader(beside).name
    stored = load_file(beside / CHARTS_FILE)
    other = beside.parent / "other"
    shutil.copytree(beside, other)
    save_file(stored | {"classifier.bias": stored["classifier.bias"] + 1}, other / CHARTS_FILE)
    digests = [name.rpartition("@")[2], load_pair_reader(other).name.rpartition("@")[2]]

    assert digests[0] != digests[1]
    (other / CHARTS_FILE).unlink()
    assert load_pair_reader(other).name.rpartition("@")[2] not in digests


@pytest.mark.parametrize("fault", ["shape", "missing", "unknown", "torn"])
def test_a_chart_file_that_does_not_fit_is_refused(
    taught: tuple[Path, Path], tmp_path: Path, fault: str
) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(taught[0], folder)
    stored = load_file(folder / CHARTS_FILE)
    name = next(one for one in stored if one.endswith(".up"))
    if fault == "shape":
        stored[name] = stored[name][:10].contiguous()
    elif fault == "missing":
        del stored[name.removesuffix(".up") + ".down"]
    elif fault == "unknown":
        stored["encoder.layer.99.output.dense.bias"] = torch.zeros(384)
    save_file(stored, folder / CHARTS_FILE)
    if fault == "torn":
        (folder / CHARTS_FILE).write_bytes((folder / CHARTS_FILE).read_bytes()[:200])

    with pytest.raises(DamagedArtifact, match=r"charts\.safetensors: does not fit"):
        load_pair_reader(folder)


def test_what_remembers_and_what_keeps_readings_tells_charts_apart(
    taught: tuple[Path, Path], tmp_path: Path
) -> None:
    reader = load_pair_reader(taught[0])
    assert isinstance(reader, ReadsCharts)
    plain, charts = reader.read(PAIRS), reader.read_charts(PAIRS)
    models = replace(uncalibrated_models(), reader=reader)
    shelf = FileShelf(tmp_path / "kept.db", identity="one", most_bytes=1 << 20)

    for wrapped in (KeptReader(reader, shelf), remembering(models).reader):
        assert isinstance(wrapped, ReadsCharts)
        for _ in range(2):
            assert wrapped.read_charts(PAIRS) == charts
            assert wrapped.read(PAIRS) == plain
    shelf.close()


def test_two_readers_together_read_charts_by_the_one_that_was_taught_on_them(
    taught: tuple[Path, Path],
) -> None:
    taught_one, other = load_pair_reader(taught[0]), load_pair_reader(taught[1])
    assert isinstance(taught_one, ReadsCharts) and isinstance(other, ReadsCharts)
    both = MeanPairReader(name="both", first=other, second=taught_one)

    found = both.read_charts(PAIRS)

    for mean, one, two in zip(
        found, other.read_charts(PAIRS), taught_one.read_charts(PAIRS), strict=True
    ):
        assert mean is not None and one is not None and two is not None
        expected = (one.probabilities.entailment + two.probabilities.entailment) / 2
        assert mean.probabilities.entailment == pytest.approx(expected, abs=1e-4)


def test_a_reader_that_learned_no_charts_is_not_said_to_have_whoever_keeps_its_readings(
    taught: tuple[Path, Path], tmp_path: Path
) -> None:
    shelf = FileShelf(tmp_path / "kept.db", identity="one", most_bytes=1 << 20)
    for folder, so in zip(taught, (True, False), strict=True):
        reader = load_pair_reader(folder)
        models = replace(uncalibrated_models(), reader=reader)
        for one in (reader, KeptReader(reader, shelf), remembering(models).reader):
            assert taught_on_charts(one) is so
    shelf.close()
