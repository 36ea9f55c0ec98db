"""The training forward pass computes the function of transformers."""

from __future__ import annotations

import torch

from core.models.loading import BUNDLED_NLI_MODEL
from training.forward import Dropout, pair_logits
from training.nli_start import starting_model


def test_the_training_pass_gives_the_logits_of_transformers() -> None:
    torch.manual_seed(0)
    model = starting_model(str(BUNDLED_NLI_MODEL)).eval()
    ids = torch.randint(1000, 30_000, (4, 40))
    types = torch.zeros_like(ids)
    types[:, 25:] = 1
    mask = torch.ones_like(ids)
    mask[2, 31:] = 0

    with torch.inference_mode():
        ours = pair_logits(model, ids, types, mask, torch.float32)
        theirs = model(input_ids=ids, token_type_ids=types, attention_mask=mask).logits

    assert (ours - theirs).abs().max() < 1e-5


def test_dropout_falls_where_transformers_drops_hidden_states() -> None:
    # One position a row: nothing is left out of the last layer, so both draw the same masks.
    model = starting_model(str(BUNDLED_NLI_MODEL)).train()
    theirs_drop = Dropout(0.3, torch.Generator().manual_seed(7))
    for module in model.bert.modules():
        if isinstance(module, torch.nn.Dropout):
            module.forward = theirs_drop
    for layer in model.bert.encoder.layer:
        layer.attention.self.dropout.forward = torch.nn.Identity()
        layer.attention.self.dropout_prob = 0.0
    ids = torch.randint(1000, 30_000, (16, 1))
    types, mask = torch.zeros_like(ids), torch.ones_like(ids)
    drop = Dropout(0.3, torch.Generator().manual_seed(7))

    with torch.inference_mode():
        ours = pair_logits(model, ids, types, mask, torch.float32, drop)
        theirs = model(input_ids=ids, token_type_ids=types, attention_mask=mask).logits
        undropped = pair_logits(model, ids, types, mask, torch.float32)

    assert (ours - theirs).abs().max() < 1e-5
    assert (ours - undropped).abs().max() > 0.1


def test_dropout_keeps_the_mean_and_repeats_with_its_seed() -> None:
    states = torch.ones(200, 200)
    first = Dropout(0.1, torch.Generator().manual_seed(1))(states)
    again = Dropout(0.1, torch.Generator().manual_seed(1))(states)

    assert torch.equal(first, again)
    assert abs(float((first == 0).float().mean()) - 0.1) < 0.01
    assert abs(float(first.mean()) - 1.0) < 0.01
