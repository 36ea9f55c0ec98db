"""What ships is read without transformers, and as transformers would read it, to the last bit."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from transformers import AutoTokenizer

from core.errors import DamagedArtifact
from core.models.loading import (
    BUNDLED_NLI_MODEL,
    load_nli_model,
    packaged_minilm,
    stored_bert,
)
from core.models.pieces import WordPieces
from core.ports import taught_close

STRANGE = [
    "", " ", "HbA1c 7.2 %\nstatus: active", "Señora Núñez—naïve “quoted” ½ µg", "冬瓜酿肉 200g",
    "a\u0000b\u200bc", "x" * 600, "word " * 700, "😀 ﬁnal İstanbul", "[CLS] told [SEP] as text [PAD]",
]  # fmt: skip


@pytest.fixture(scope="module")
def tokenizers() -> list[tuple[WordPieces, object]]:
    """Ours and transformers' of both folders that ship."""
    return [
        (
            stored_bert(folder).tokenizer,
            AutoTokenizer.from_pretrained(folder, local_files_only=True),
        )
        for folder in (BUNDLED_NLI_MODEL, packaged_minilm())
    ]


@given(
    texts=some.lists(some.text(max_size=80) | some.sampled_from(STRANGE), min_size=2, max_size=6)
)
def test_texts_are_cut_as_transformers_cuts_them(
    tokenizers: list[tuple[WordPieces, object]], texts: list[str]
) -> None:
    pairs = [(one, texts[0]) for one in texts if len(texts[0]) < 100]
    for ours, theirs in tokenizers:
        plain = theirs(texts, add_special_tokens=False, truncation=False)  # type: ignore[operator]
        whole = theirs(texts, truncation=True, max_length=256)  # type: ignore[operator]
        assert ours.counts(texts) == [len(ids) for ids in plain["input_ids"]]
        assert [one.ids for one in ours.of_texts(texts, 256)] == whole["input_ids"]
        if pairs:
            made = theirs(  # type: ignore[operator]
                [premise for premise, _ in pairs], [claim for _, claim in pairs],
                truncation="only_first", max_length=256,
            ).encodings  # fmt: skip
            for one, other in zip(ours.of_pairs(pairs, 256), made, strict=True):
                assert (one.ids, one.type_ids, one.offsets, one.sequence_ids) == (
                    other.ids, other.type_ids, other.offsets, other.sequence_ids
                )  # fmt: skip
                assert bool(one.overflowing) == bool(other.overflowing)


@pytest.mark.stress
def test_the_same_weights_through_transformers_read_the_same(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED_NLI_MODEL, tmp_path / "reader")
    pairs = [
        (f"{text} The dose is {n} mg.", f"The dose is {n + n % 2} mg.")
        for n, text in enumerate(STRANGE)
    ]

    ours, theirs = load_nli_model(), load_nli_model(tmp_path / "reader")
    assert ours.read(pairs) == theirs.read(pairs)
    assert taught_close(ours) and taught_close(theirs)


@pytest.mark.stress
def test_a_start_with_what_ships_does_not_wait_for_transformers() -> None:
    started = (
        "import sys; from core.models.loading import load_embedder, load_nli_model; "
        "load_nli_model(); load_embedder(); print('transformers' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", started], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(BUNDLED_NLI_MODEL, folder)
    (folder / name).write_bytes(b"\x00 no weights")

    with pytest.raises(DamagedArtifact, match="not readable"):
        stored_bert(folder)
