"""The training forward pass computes the function of transformers."""

from __future__ import annotations

import torch

from core.models.loading import BUNDLED_PAIR_READER
from core.training.forward import pair_logits
from core.training.pair_reader import starting_model


def test_the_training_pass_gives_the_logits_of_transformers() -> None:
    torch.manual_seed(0)
    model = starting_model(str(BUNDLED_PAIR_READER)).eval()
    ids = torch.randint(1000, 30_000, (4, 40))
    types = torch.zeros_like(ids)
    types[:, 25:] = 1
    mask = torch.ones_like(ids)
    mask[2, 31:] = 0

    with torch.inference_mode():
        ours = pair_logits(model, ids, types, mask, torch.float32)
        theirs = model(input_ids=ids, token_type_ids=types, attention_mask=mask).logits

    assert (ours - theirs).abs().max() < 1e-5
