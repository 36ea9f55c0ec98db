"""Frozen matrices in int8: where rounding loses nothing it changes nothing, and elsewhere little."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from tests.training.test_packed import small_mpnet
from training.adapted_mpnet import AdaptedMpnet, _Rounded, _RoundedLinear


def whole_numbers(generator: torch.Generator, rows: int, columns: int) -> torch.Tensor:
    """Whole numbers up to 127, which every row and every column reaches."""
    made = torch.randint(-127, 128, (rows, columns), generator=generator).float()
    made[:, 0] = 127
    made[0] = -127
    return made


@pytest.mark.parametrize("seed", range(5))
def test_whole_numbers_are_multiplied_and_learned_from_exactly(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    matrix = whole_numbers(generator, 24, 16)
    states = whole_numbers(generator, 10, 16).view(2, 5, 16)
    wanted = whole_numbers(generator, 10, 24).view(2, 5, 24)
    found = []
    for rounded in (True, False):
        given = [
            part.clone().requires_grad_()
            for part in (states, torch.ones(24), torch.ones(4, 16) / 64, torch.ones(24, 4) / 32)
        ]
        x, bias, down, up = given
        said = (
            _RoundedLinear.apply(x, _Rounded(matrix), bias, down, up)  # type: ignore[no-untyped-call]
            if rounded
            else functional.linear(x, matrix + up @ down, bias)
        )
        said.backward(wanted)
        found.append([said.detach(), *(part.grad for part in given)])
    for ours, plain in zip(*found, strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-2)


def test_a_model_in_int8_says_and_learns_nearly_what_one_in_fp32_does() -> None:
    packaged = small_mpnet()
    ids = torch.randint(5, 2_000, (6, 24), generator=torch.Generator().manual_seed(3))
    said, learned = [], []
    for rounds in (True, False):
        torch.manual_seed(11)
        model = AdaptedMpnet(packaged.weights, packaged.config, 3, torch.float32, rounds=rounds)
        logits = model.logits(ids, torch.ones_like(ids))
        functional.cross_entropy(logits, torch.arange(6) % 3).backward()  # type: ignore[no-untyped-call]
        said.append(logits.detach())
        gradients = [p.grad.flatten() for p in model.trained.values() if p.grad is not None]
        learned.append(torch.cat(gradients))
    torch.testing.assert_close(said[0], said[1], rtol=0, atol=0.02)
    assert not torch.equal(said[0], said[1])
    assert torch.cosine_similarity(learned[0], learned[1], 0) > 0.99
