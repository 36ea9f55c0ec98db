"""The embedder: the same vector in any batch and from memory, in a precision that ranks alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from core.models import loading
from core.models.embedder import BertEmbedder, kept_vectors
from core.models.loading import load_embedder
from core.models.nli_model import has_bf16

TEXTS = [
    f"{opening} {number} {rest}"
    for number, (opening, rest) in enumerate(
        [
            ("In week", "the trial counted fewer relapses in the treated arm."),
            ("Bus line", "stops at the mill."),
            ("Item", "of the list is a jar of honey, " * 30),
            ("The lake was", "degrees warm."),
        ]
        * 6
    )
]


@pytest.fixture(scope="module", params=["fp32", "bf16"])
def embedder(request: pytest.FixtureRequest) -> BertEmbedder:
    if request.param == "bf16" and not has_bf16():
        pytest.skip("the processor does not multiply bf16")
    return load_embedder(precision=request.param)


def test_a_text_has_the_same_bits_alone_in_a_batch_and_from_memory(embedder: BertEmbedder) -> None:
    def fresh() -> BertEmbedder:
        embedder._kept = kept_vectors()
        return embedder

    together = fresh().embed(TEXTS)
    remembered = embedder.embed(TEXTS[::-1])[::-1]
    apart = np.concatenate([fresh().embed([text]) for text in TEXTS])

    assert np.array_equal(together, remembered)
    assert np.array_equal(together, apart)


def test_no_text_is_embedded_twice_while_it_is_kept() -> None:
    counting = load_embedder()
    asked: list[str] = []
    plain = counting._embedded

    def counted(texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return plain(texts)

    counting._embedded = counted  # type: ignore[method-assign,assignment]

    counting.embed([*TEXTS[:4], *TEXTS[:4]])
    counting.embed(TEXTS[2:6])

    assert asked == TEXTS[:6]
    assert counting.embed([]).shape == (0, 384)


@pytest.mark.skipif(not has_bf16(), reason="the processor does not multiply bf16")
def test_a_precision_is_reduced_only_for_weights_that_were_seen_to_rank_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = load_embedder(precision="fp32")
    record = json.loads(loading.EMBEDDER_PRECISION.read_text())
    reduced = load_embedder()
    assert (reduced.precision, whole.precision) == ("bf16", "fp32")
    assert reduced.name == whole.name.replace("@", "-bf16@")

    for changed in ({"model_sha256": "0" * 64}, {"ranking_agreement": {"bf16": 0.98}}):
        other = tmp_path / "embedder_precision.json"
        other.write_text(json.dumps({**record, **changed}))
        monkeypatch.setattr(loading, "EMBEDDER_PRECISION", other)
        assert load_embedder().precision == "fp32"


@pytest.mark.skipif(not has_bf16(), reason="the processor does not multiply bf16")
def test_both_precisions_place_texts_alike() -> None:
    one, other = (load_embedder(precision=name).embed(TEXTS) for name in ("fp32", "bf16"))

    assert np.abs(one @ one.T - other @ other.T).max() < 0.005
