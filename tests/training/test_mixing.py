"""Mixed weights lie between those of two readers, and still load."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import ConfigError
from training.mixing import WEIGHTS, mix_readers


def a_reader(folder: Path, **weights: list[float]) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    save_file({name: torch.tensor(values) for name, values in weights.items()}, folder / WEIGHTS)
    return folder


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_every_weight_is_the_share_of_the_second_and_the_rest_of_the_first(
    tmp_path: Path, share: float
) -> None:
    first = a_reader(tmp_path / "a", dense=[1.0, -2.0], bias=[0.5])
    second = a_reader(tmp_path / "b", dense=[3.0, 2.0], bias=[0.0])

    mix_readers(first, second, share, tmp_path / "mixed")

    mixed = load_file(tmp_path / "mixed" / WEIGHTS)
    assert mixed["dense"].dtype == torch.float16
    assert mixed["dense"].tolist() == pytest.approx([1 + 2 * share, -2 + 4 * share], abs=2e-3)
    assert mixed["bias"].tolist() == pytest.approx([0.5 * (1 - share)], abs=1e-3)
    assert (tmp_path / "mixed" / "config.json").exists()


def test_readers_of_two_shapes_or_a_share_beyond_one_are_refused(tmp_path: Path) -> None:
    first = a_reader(tmp_path / "a", dense=[1.0])
    second = a_reader(tmp_path / "b", dense=[1.0, 2.0])

    with pytest.raises(ConfigError, match="shapes"):
        mix_readers(first, second, 0.5, tmp_path / "mixed")
    with pytest.raises(ConfigError, match="share"):
        mix_readers(first, first, 1.5, tmp_path / "mixed")
    assert not (tmp_path / "mixed").exists()
