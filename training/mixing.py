"""Mix the weights of two pair readers of one shape: more training without forgetting what was learned.

python -m training.mixing reader/ run4/model --share 0.3 --out mixed/
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from core.errors import ConfigError

WEIGHTS = "model.safetensors"


def mix_readers(first: Path, second: Path, share: float, out: Path) -> None:
    """Write ``out``: ``share`` of the second reader's weights, the rest of the first's, in fp16.

    Both were trained from the same starting point (Wortsman et al., 2022, arXiv:2203.05482), or a
    mixture means nothing. Raises ConfigError for a share outside [0, 1] or readers of two shapes.
    """
    if not 0.0 <= share <= 1.0:
        raise ConfigError(f"share: expected a number in [0, 1], found {share!r}")
    one, other = load_file(first / WEIGHTS), load_file(second / WEIGHTS)
    if {k: v.shape for k, v in one.items()} != {k: v.shape for k, v in other.items()}:
        raise ConfigError(f"{second}: its weights have other names or shapes than those of {first}")
    if out.resolve() != first.resolve():
        shutil.copytree(first, out, dirs_exist_ok=True)
    mixed = {
        name: torch.lerp(weights.float(), other[name].float(), share).half().contiguous()
        for name, weights in one.items()
    }
    save_file(mixed, out / WEIGHTS, metadata={"format": "pt"})


def main(arguments: Sequence[str] | None = None) -> None:
    """Mix from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--share", type=float, required=True, help="of the second, 0 to 1")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    mix_readers(given.first, given.second, given.share, given.out)


if __name__ == "__main__":
    main()
