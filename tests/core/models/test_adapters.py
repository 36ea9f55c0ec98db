"""The accurate reader: adapters over a packaged MPNet read as transformers reads the sum of both."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import save_file

from core.errors import ComponentUnavailable, DamagedArtifact
from core.models.adapters import adapted_mpnet, relative_bias, with_adapters
from core.models.bert import BertEncoder, Encoded
from core.models.loading import load_nli_model
from core.models.mpnet import Mpnet, mpnet_is_installed, packaged_mpnet
from core.models.weight_files import ADAPTERS_FILE
from core.ports import taught_close
from training.adapted_mpnet import AdaptedMpnet

HEADS, HIDDEN, PIECES = 3, 48, 200


def a_small_mpnet() -> tuple[Mpnet, transformers.MPNetModel]:
    """A random encoder of MPNet's kind, two layers of 48."""
    torch.manual_seed(5)
    config = transformers.MPNetConfig(
        vocab_size=400,
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=HEADS,
        intermediate_size=96,
        attn_implementation="eager",
    )
    model = transformers.MPNetModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * 0.3)
    return Mpnet(weights=dict(model.state_dict()), config=config, tokenizer=None), model


def trained_a_little(packaged: Mpnet) -> AdaptedMpnet:
    """Adapters that change every matrix."""
    model = AdaptedMpnet(packaged.weights, packaged.config, 3, torch.float32)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.05)
    model.merge()
    return model


def some_pieces(length: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(3, 400, (2, length), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[1, length // 2 :] = 0
    return ids.masked_fill(mask == 0, 1), mask


def test_without_adapters_the_lean_pass_is_transformers_own() -> None:
    packaged, theirs = a_small_mpnet()
    plain = AdaptedMpnet(packaged.weights, packaged.config, 3, torch.float32)
    weights = with_adapters(packaged, plain.adapters())
    encoder = BertEncoder(weights.body, weights.shape, torch.float32, weights.distances)
    ids, mask = some_pieces(PIECES)
    texts = [
        Encoded(ids=tuple(row[: int(kept.sum())].tolist()), types=(0,) * int(kept.sum()))
        for row, kept in zip(ids, mask, strict=True)
    ]

    with torch.no_grad():
        ours, attention = encoder.first_state_and_attention(texts, PIECES)
        expected = theirs(input_ids=ids, attention_mask=mask, output_attentions=True)

    assert torch.allclose(ours, expected.last_hidden_state[:, 0], atol=1e-5)
    mean = torch.stack([layer.mean(1) for layer in expected.attentions]).mean(0)
    assert torch.allclose(attention[0], mean[0], atol=1e-6)


def test_what_is_trained_is_what_is_read() -> None:
    packaged, _ = a_small_mpnet()
    model = trained_a_little(packaged)
    weights = with_adapters(packaged, model.adapters())
    encoder = BertEncoder(weights.body, weights.shape, torch.float32, weights.distances)
    ids, mask = some_pieces(64)

    with torch.no_grad():
        expected = model.logits(ids, mask)[0]
        state, _ = encoder.first_state_and_attention(
            [Encoded(ids=tuple(ids[0].tolist()), types=(0,) * 64)], 64
        )
        dense = torch.nn.functional.linear(
            state, weights.body["pooler.dense.weight"], weights.body["pooler.dense.bias"]
        )
        found = torch.nn.functional.linear(torch.tanh(dense), *weights.classifier)[0]

    assert torch.allclose(found, expected, atol=1e-4)


def test_gradients_of_thin_matrices_are_those_of_their_product() -> None:
    packaged, _ = a_small_mpnet()
    model = trained_a_little(packaged)
    ids, mask = some_pieces(32)
    model.logits(ids, mask).square().sum().backward()  # type: ignore[no-untyped-call]

    def value() -> float:
        model.merge()
        with torch.no_grad():
            return float(model.logits(ids, mask).double().square().sum())

    for name in ("0/qkv/down", "1/out/up", "0/up/bias", "1/down/down"):
        p = model.trained[name]
        assert p.grad is not None
        place = int(p.grad.abs().argmax())
        sides = []
        for step in (1e-3, -2e-3):
            with torch.no_grad():
                p.view(-1)[place] += step
            sides.append(value())
        with torch.no_grad():
            p.view(-1)[place] += 1e-3
        assert (sides[0] - sides[1]) / 2e-3 == pytest.approx(
            float(p.grad.view(-1)[place]), rel=2e-2
        )


def test_distances_far_apart_share_what_is_added() -> None:
    table = torch.arange(32.0)[:, None]
    added = relative_bias(table, 300)[0, 0]

    assert added[0, 128:].unique().numel() == 1
    assert added[200, :60].unique().numel() == 1
    assert not torch.equal(added, added.T)


@pytest.mark.stress
def test_adapters_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    if not mpnet_is_installed():
        pytest.skip("MPNet's packages are not installed (make accurate)")
    save_file({"head.out.weight": torch.zeros(3, 768)}, tmp_path / ADAPTERS_FILE)
    with pytest.raises(DamagedArtifact, match="does not fit MPNet"):
        adapted_mpnet(packaged_mpnet(), tmp_path / ADAPTERS_FILE)


@pytest.mark.stress
def test_adapters_keep_the_fields_of_a_record_apart(
    tmp_path: Path,
) -> None:
    if not mpnet_is_installed():
        pytest.skip("MPNet's packages are not installed (make accurate)")
    torch.manual_seed(7)
    packaged = packaged_mpnet()
    model = AdaptedMpnet(packaged.weights, packaged.config, 3, torch.float32)
    for p in (p for name, p in model.trained.items() if name.startswith("head")):
        p.data = torch.randn_like(p) * 0.1
    model.save_pretrained(tmp_path)
    nli = load_nli_model(tmp_path, precision="fp32")
    claim = "She takes metformin 500 mg."
    lines, marked, run_on = (f"drug: metformin{mark}dose: 500 mg" for mark in ("\n", ";", " "))

    assert taught_close(nli)
    read = {text: nli.read([(text, claim)])[0] for text in (lines, marked, run_on)}
    found = {text: one.probabilities for text, one in read.items() if one is not None}
    assert found[lines] == found[marked] != found[run_on]


def test_missing_packages_are_named_with_the_way_to_have_them(tmp_path: Path) -> None:
    if mpnet_is_installed():
        pytest.skip("MPNet's packages are installed")
    save_file({"head.out.weight": torch.zeros(3, 768)}, tmp_path / ADAPTERS_FILE)
    with pytest.raises(ComponentUnavailable, match="make accurate"):
        load_nli_model(tmp_path)
    with pytest.raises(ComponentUnavailable, match="part-001"):
        packaged_mpnet()
