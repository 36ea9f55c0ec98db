"""What reading close changes in an NLI model's weights, as a small file beside them.

    python -m training.close_changes --before READER --after MODEL_TAUGHT_CLOSE --rank 64 \\
        --out READER/close.safetensors

Of each matrix the difference is kept as two thin ones (its largest singular values), of all else the
new values are. The share of the squared difference that is kept is printed; how well the NLI model reads
with it has to be measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from core.models.adapters import DOWN, HEAD, UP
from core.models.weight_files import WEIGHTS_FILE

RANK = 64  # as the shipped one
BODY = "bert."


def changes(
    before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor], rank: int
) -> tuple[dict[str, torch.Tensor], float]:
    """Return what to store, by the names that `core.models.adapters` reads, in fp16, and the share of
    the squared difference of matrices that this keeps.

    Raises KeyError where the NLI models do not have the same weights.
    """
    stored: dict[str, torch.Tensor] = {}
    kept = whole = 0.0
    for name, old in before.items():
        difference = after[name].float() - old.float()
        if not difference.abs().max() > 0 and not name.startswith(HEAD):
            continue
        short = name.removeprefix(BODY)
        if old.ndim < 2 or name.startswith(HEAD):
            stored[short] = after[name].half().contiguous()
            continue
        left, values, right = torch.linalg.svd(difference, full_matrices=False)
        root = values[:rank].sqrt()
        stored[short + UP] = (left[:, :rank] * root).half().contiguous()
        stored[short + DOWN] = (root[:, None] * right[:rank]).half().contiguous()
        kept += float((values[:rank] ** 2).sum())
        whole += float((values**2).sum())
    return stored, kept / whole if whole else 1.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, required=True)
    parser.add_argument("--rank", type=int, default=RANK)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    stored, kept = changes(
        load_file(given.before / WEIGHTS_FILE), load_file(given.after / WEIGHTS_FILE), given.rank
    )
    save_file(stored, given.out, metadata={"format": "pt"})
    size = given.out.stat().st_size
    print(
        f"{given.out}: {len(stored)} tensors, {size / 1e6:.1f} MB, {kept:.3f} of the difference kept"
    )


if __name__ == "__main__":
    main()
