"""A packed folder: a run on a machine without this project reads from it what a run here reads."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import load_file

from core.errors import DamagedArtifact
from core.models.mpnet import Mpnet
from core.models.weight_files import ADAPTERS_FILE
from training.batches import encode
from training.data import Pair
from training.nli_start import start_folder
from training.packed import CODE, PackOptions, pack, packed_encoder, packed_items
from training.texts import synthetic_pairs

PAIRS = [
    Pair(premise=p.premise, hypothesis=p.hypothesis, label=p.label, source="clinical")
    for p in synthetic_pairs("clinical", 24, 1)
]


def small_mpnet() -> Mpnet:
    """A random encoder of MPNet's kind with two layers of 48."""
    torch.manual_seed(5)
    config = transformers.MPNetConfig(
        vocab_size=30_522,
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=96,
    )
    model = transformers.MPNetModel(config, add_pooling_layer=False)
    tokenizer = transformers.AutoTokenizer.from_pretrained(start_folder(None))
    return Mpnet(weights=dict(model.state_dict()), config=config, tokenizer=tokenizer)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "nli" / "more"
    data.mkdir(parents=True)

    with gzip.open(data / "averitec_dev.jsonl.gz", "wt", encoding="utf-8") as out:
        for pair in PAIRS:
            out.write(json.dumps(dataclasses.asdict(pair)) + "\n")
    options = PackOptions(
        data=tmp_path / "nli",
        out=tmp_path / "packed",
        passes=2,
        clinical_pairs=0,
        literature_pairs=0,
        meaning_pairs=0,
        piece_bytes=1_000_000,
    )
    return pack(options, small_mpnet(), {"averitec": PAIRS})


def test_what_is_packed_comes_out_again_and_a_changed_piece_is_refused(folder: Path) -> None:
    packaged = small_mpnet()
    weights, config = packed_encoder(folder)

    assert packed_items(folder, "validation averitec") == encode(PAIRS, packaged.tokenizer, 512)
    assert len(packed_items(folder, "pass 1")) >= len(PAIRS)
    assert config.hidden_size == 48
    for name, value in weights.items():
        assert torch.equal(value, packaged.weights[name].to(torch.bfloat16)), name
    pieces = sorted(folder.glob("encoder-*.bin"))
    assert len(pieces) > 1 and all(piece.stat().st_size <= 1_000_000 for piece in pieces)
    pieces[1].write_bytes(pieces[1].read_bytes()[::-1])
    with pytest.raises(DamagedArtifact, match=pieces[1].name):
        packed_encoder(folder)
    pieces[0].unlink()
    with pytest.raises(DamagedArtifact, match=pieces[0].name):
        packed_encoder(folder)


@pytest.mark.stress
def test_a_run_needs_nothing_beside_the_folder_and_goes_on_after_a_stop(
    folder: Path, tmp_path: Path
) -> None:
    def train(out: str, *more: str) -> dict[str, torch.Tensor]:
        command = [
            "-m",
            "training.nli_model",
            "--data",
            str(folder),
            "--start",
            "mpnet",
            "--out",
            out,
        ]
        options = ["--steps", "6", "--tokens-per-batch", "512", *more]
        # Python's path is the folder's own code, and nothing that is installed here as ours.
        environment = os.environ | {"PYTHONPATH": str(folder / CODE)}
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.meta_path[:] = [f for f in sys.meta_path "
             "if 'editable' not in repr(f)]; import runpy, core; assert 'code.zip' in core.__file__; "
             f"sys.argv[1:] = {[*command[2:], *options]!r}; "
             "runpy.run_module('training.nli_model', run_name='__main__', alter_sys=True)"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        model = tmp_path / out / "model" / ADAPTERS_FILE
        return load_file(model) if model.exists() else {}

    whole = train("whole")
    assert not train("halves", "--stop-after-steps", "3")
    halves = train("halves")

    assert whole and all(torch.equal(whole[name], halves[name]) for name in whole)
