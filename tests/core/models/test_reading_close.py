"""What an NLI model learned of reading close stands beside its weights, and changes nothing else of it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import DamagedArtifact
from core.models.loading import BUNDLED_NLI_MODEL, load_nli_model
from core.models.weight_files import CLOSE_FILE, MANIFEST_FILE, WEIGHTS_FILE
from core.ports import ReadsClose, taught_close
from core.workflows.cache import KeptNliModel, Shelf, remembering
from tests.real_models import uncalibrated_models
from training.close_changes import changes

PAIRS = [
    ("Problems: ?pneumonia - ruled out on CT. Known asthma.", "She has pneumonia."),
    ("Lisinopril 10 mg daily, stopped in May for cough.", "She takes lisinopril 10 mg daily."),
]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An NLI model with a file of reading close, and the same change made in the weights themselves."""
    folders = tmp_path_factory.mktemp("readers")
    beside, within = folders / "beside", folders / "within"
    for folder in (beside, within):
        shutil.copytree(BUNDLED_NLI_MODEL, folder)
        (folder / MANIFEST_FILE).unlink()
        (folder / CLOSE_FILE).unlink(missing_ok=True)
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
    save_file(stored, beside / CLOSE_FILE)
    assert kept > 0.98  # three of eight ranks are what was changed, the rest is rounding to fp16
    return beside, within


@pytest.fixture(scope="module")
def nli_models(taught: tuple[Path, Path]) -> tuple[Any, Any]:
    """Both of them, loaded."""
    beside, within = (load_nli_model(folder, precision="fp32") for folder in taught)
    return beside, within


def test_what_is_close_is_read_by_the_changed_weights_and_all_else_as_before(
    nli_models: tuple[Any, Any],
) -> None:
    beside, within = nli_models
    before = load_nli_model(BUNDLED_NLI_MODEL, precision="fp32").read(PAIRS)
    assert isinstance(beside, ReadsClose)

    for mine, same in zip(beside.read(PAIRS), before, strict=True):
        assert mine == same
    moved = 0.0
    for close, wanted, plain in zip(
        beside.read_close(PAIRS), within.read(PAIRS), before, strict=True
    ):
        assert close is not None and wanted is not None and plain is not None
        said, expected = close.probabilities, wanted.probabilities
        assert said.entailment == pytest.approx(expected.entailment, abs=0.005)
        assert said.contradiction == pytest.approx(expected.contradiction, abs=0.005)
        moved = max(moved, abs(said.entailment - plain.probabilities.entailment))
    assert moved > 0.02


def test_the_name_tells_what_was_learned_of_reading_close(taught: tuple[Path, Path]) -> None:
    beside, _ = taught
    name = load_nli_model(beside).name
    stored = load_file(beside / CLOSE_FILE)
    other = beside.parent / "other"
    shutil.copytree(beside, other)
    save_file(stored | {"classifier.bias": stored["classifier.bias"] + 1}, other / CLOSE_FILE)
    digests = [name.rpartition("@")[2], load_nli_model(other).name.rpartition("@")[2]]

    assert digests[0] != digests[1]
    (other / CLOSE_FILE).unlink()
    assert load_nli_model(other).name.rpartition("@")[2] not in digests


@pytest.mark.parametrize("fault", ["shape", "missing", "unknown", "torn"])
def test_a_file_of_reading_close_that_does_not_fit_is_refused(
    taught: tuple[Path, Path], tmp_path: Path, fault: str
) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(taught[0], folder)
    stored = load_file(folder / CLOSE_FILE)
    name = next(one for one in stored if one.endswith(".up"))
    if fault == "shape":
        stored[name] = stored[name][:10].contiguous()
    elif fault == "missing":
        del stored[name.removesuffix(".up") + ".down"]
    elif fault == "unknown":
        stored["encoder.layer.99.output.dense.bias"] = torch.zeros(384)
    save_file(stored, folder / CLOSE_FILE)
    if fault == "torn":
        (folder / CLOSE_FILE).write_bytes((folder / CLOSE_FILE).read_bytes()[:200])

    with pytest.raises(DamagedArtifact, match=r"close\.safetensors: does not fit"):
        load_nli_model(folder)


def test_what_remembers_and_what_keeps_readings_tells_close_ones_apart(
    nli_models: tuple[Any, Any], tmp_path: Path
) -> None:
    nli, _ = nli_models
    plain, close = nli.read(PAIRS), nli.read_close(PAIRS)
    models = replace(uncalibrated_models(), nli=nli)
    shelf = Shelf(tmp_path / "kept.db", identity="one", most_bytes=1 << 20)

    for wrapped in (KeptNliModel(nli, shelf), remembering(models).nli):
        assert isinstance(wrapped, ReadsClose)
        for _ in range(2):
            assert wrapped.read_close(PAIRS) == close
            assert wrapped.read(PAIRS) == plain
    shelf.close()


def test_a_reader_that_was_not_taught_close_is_not_said_to_have_been_whoever_keeps_its_readings(
    nli_models: tuple[Any, Any], tmp_path: Path
) -> None:
    shelf = Shelf(tmp_path / "kept.db", identity="one", most_bytes=1 << 20)
    for nli, so in zip(nli_models, (True, False), strict=True):
        models = replace(uncalibrated_models(), nli=nli)
        for one in (nli, KeptNliModel(nli, shelf), remembering(models).nli):
            assert taught_close(one) is so
    shelf.close()
