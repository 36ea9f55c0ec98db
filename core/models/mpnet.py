"""all-mpnet-base-v2 out of the five packages that hold it, without a file written.

Each package holds a piece of one zip archive; joined in order they are opened in memory, and the
weights must have the SHA-256 that was seen when the adapters were trained.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

from core.errors import ComponentUnavailable, DamagedArtifact

if TYPE_CHECKING:
    import torch

PARTS = 5
WEIGHTS_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
ROOT = "all-mpnet-base-v2"
INSTALL = "`make accurate` installs them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mpnet:
    """The packaged encoder: weights by the checkpoint's names, its config, and a tokenizer."""

    weights: dict[str, torch.Tensor]
    config: Any
    tokenizer: Any


def mpnet_is_installed() -> bool:
    """Whether all five packages are there; nothing is opened."""
    try:
        for part in range(1, PARTS + 1):
            distribution(_name(part))
    except PackageNotFoundError:
        return False
    return True


def packaged_mpnet() -> Mpnet:
    """Return MPNet from its packages.

    Raises ComponentUnavailable where a package is missing, DamagedArtifact where the archive or
    the digest of its weights is not what it was.
    """
    from safetensors.torch import load
    from transformers import MPNetConfig, PreTrainedTokenizerFast

    archive = _archive()
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            stored = opened.read(f"{ROOT}/model.safetensors")
            config = json.loads(opened.read(f"{ROOT}/config.json"))
            vocabulary = opened.read(f"{ROOT}/tokenizer.json").decode("utf-8")
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise DamagedArtifact(f"{ROOT}: its packages do not join to an archive: {error}") from error
    if (found := hashlib.sha256(stored).hexdigest()) != WEIGHTS_SHA256:
        raise DamagedArtifact(f"{ROOT}: SHA-256 is {found}, expected {WEIGHTS_SHA256}")
    from tokenizers import Tokenizer

    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=Tokenizer.from_str(vocabulary),
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="[UNK]",
        mask_token="<mask>",
    )
    return Mpnet(weights=load(stored), config=MPNetConfig(**config), tokenizer=tokenizer)


def _archive() -> bytes:
    pieces = []
    for part in range(1, PARTS + 1):
        try:
            held = distribution(_name(part))
        except PackageNotFoundError as error:
            raise ComponentUnavailable(
                f"{ROOT}: the package {_name(part)} is not installed; {INSTALL}"
            ) from error
        piece = held.locate_file(f"{ROOT}-pypi-part_{part:03}/input/{ROOT}.zip.{part:03}")
        try:
            pieces.append(piece.read_bytes())  # type: ignore[attr-defined]
        except OSError as error:
            raise DamagedArtifact(f"{_name(part)}: {piece}: {error}; {INSTALL}") from error
    return b"".join(pieces)


def _name(part: int) -> str:
    return f"{ROOT}-pypi-part-{part:03}"
