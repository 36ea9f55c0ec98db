"""What a training run reads, in pieces small enough to send: tokenised pairs and the frozen encoder.

A machine with a GPU may hold neither this project's data nor its packages, and take only so much at a
time. A packed folder has all that `training.nli_model` needs there beside torch, transformers,
scikit-learn, pandas and safetensors:

    python -m training.packed --data nli --passes 2 --out packed
    # there, in any order of arrival of the pieces
    PYTHONPATH=packed/code.zip python3 -m training.nli_model --data packed --start mpnet --steps 6000 \\
        --tokens-per-batch 16384 --out run

The run and its checkpoints are those of any other; what comes back is `run/model`, 11 MB of adapters.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.errors import DamagedArtifact
from core.models.mpnet import Mpnet, packaged_mpnet
from training.batches import Item, encode
from training.command import from_arguments
from training.data import (
    CLINICAL_PAIRS_PER_PASS,
    LITERATURE_PAIRS_PER_PASS,
    MEANING_PAIRS_PER_PASS,
    Pair,
    load_sources,
    one_pass,
    quick_pairs,
    read_pairs,
)

logger = logging.getLogger(__name__)

INDEX, CODE = "packed.json", "code.zip"
PIECE_BYTES = 16 * 1024 * 1024
ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackOptions:
    """What is packed: `passes` over the data under `data`, and MPNet, which reads it."""

    data: Path
    out: Path
    passes: int = 2
    maximum_tokens: int = 512
    seed: int = 20260607
    rows_per_source: int | None = None
    validation_pairs: int = 1500  # of each set
    clinical_pairs: int = CLINICAL_PAIRS_PER_PASS
    literature_pairs: int = LITERATURE_PAIRS_PER_PASS
    meaning_pairs: int = MEANING_PAIRS_PER_PASS
    piece_bytes: int = PIECE_BYTES


def is_packed(folder: Path) -> bool:
    """Whether a folder of training data is a packed one."""
    return (folder / INDEX).exists()


def pack(options: PackOptions, packaged: Mpnet, validation: Mapping[str, Sequence[Pair]]) -> Path:
    """Write the packed folder; return it. No piece of data has more than `piece_bytes`."""
    out, index = options.out, dict[str, Any]()
    out.mkdir(parents=True, exist_ok=True)
    rows = load_sources(options.data, options.rows_per_source)
    streams = {
        f"pass {number}": encode(
            one_pass(
                rows,
                options.seed,
                number,
                options.clinical_pairs,
                options.literature_pairs,
                options.meaning_pairs,
            ),
            packaged.tokenizer,
            options.maximum_tokens,
            windows=random.Random(f"windows-{options.seed}-{number}"),
        )
        for number in range(options.passes)
    }
    for name, pairs in validation.items():
        streams[f"validation {name}"] = encode(pairs, packaged.tokenizer, options.maximum_tokens)
    index["streams"] = {
        name: _written(_flat(items), out, name.replace(" ", "-"), options.piece_bytes)
        for name, items in streams.items()
    }
    encoder = {name: v for name, v in packaged.weights.items() if v.is_floating_point()}
    index["encoder"] = {
        "config": packaged.config.to_dict(),
        "tensors": {name: list(value.shape) for name, value in encoder.items()},
        "data": _written(_in_planes(encoder.values()), out, "encoder", options.piece_bytes),
    }
    _write_code(out / CODE)
    (out / INDEX).write_text(json.dumps(index), encoding="utf-8")
    return out


def packed_items(folder: Path, name: str) -> list[Item]:
    """Return the tokenised pairs of a pass ("pass 0") or a validation set ("validation mnli_dev5k").

    Raises KeyError where there is no such stream, DamagedArtifact where a piece is missing or changed.
    """
    data = _read(folder, _index(folder)["streams"][name])
    (count,) = np.frombuffer(data, np.int64, 1)
    places = np.frombuffer(data, np.int32, 3 * count, offset=8).reshape(3, count)
    pieces = np.frombuffer(data, np.uint16, offset=8 + places.nbytes).tolist()
    items, begin = list[Item](), 0
    for length, claim_start, target in places.T.tolist():
        items.append(Item(pieces[begin : begin + length], claim_start, target))
        begin += length
    return items


def packed_names(folder: Path, kind: str) -> list[str]:
    """Return what follows `kind` in the names of the folder's streams: sets, or numbers of passes."""
    found = (name.split(" ", 1) for name in _index(folder)["streams"])
    return [rest for first, rest in found if first == kind]


def packed_encoder(folder: Path) -> tuple[dict[str, torch.Tensor], Any]:
    """Return the frozen encoder's weights in bf16 by the checkpoint's names, and its config."""
    from transformers import MPNetConfig

    index = _index(folder)["encoder"]
    planes = np.frombuffer(_read(folder, index["data"]), np.uint8).reshape(2, -1)
    data = torch.from_numpy(planes.T.copy()).view(torch.bfloat16).flatten()
    weights, begin = dict[str, torch.Tensor](), 0
    for name, shape in index["tensors"].items():
        end = begin + int(np.prod(shape))
        weights[name], begin = data[begin:end].view(shape), end
    return weights, MPNetConfig(**index["config"])


def _index(folder: Path) -> dict[str, Any]:
    index: dict[str, Any] = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    return index


def _flat(items: Sequence[Item]) -> bytes:
    places = np.array([[len(i.ids), i.claim_start, i.target] for i in items], np.int32).T
    pieces = np.concatenate([np.array(item.ids, np.uint16) for item in items])
    return np.int64(len(items)).tobytes() + places.tobytes() + pieces.tobytes()


def _in_planes(weights: Iterable[torch.Tensor]) -> bytes:
    """Return bf16 weights, all first bytes before all second ones: exponents pack well by themselves."""
    whole = torch.cat([value.to(torch.bfloat16).flatten() for value in weights])
    return whole.view(torch.uint8).numpy().reshape(-1, 2).T.tobytes()


def _written(data: bytes, folder: Path, stem: str, piece_bytes: int) -> dict[str, str]:
    """Write data, packed, in numbered pieces; return each one's SHA-256 by its name, in order."""
    written, data = dict[str, str](), zlib.compress(data)
    for number, begin in enumerate(range(0, len(data), piece_bytes)):
        piece, name = data[begin : begin + piece_bytes], f"{stem}-{number:02}.bin"
        (folder / name).write_bytes(piece)
        written[name] = hashlib.sha256(piece).hexdigest()
    return written


def _read(folder: Path, pieces: Mapping[str, str]) -> bytes:
    return zlib.decompress(b"".join(_pieces(folder, pieces)))


def _pieces(folder: Path, pieces: Mapping[str, str]) -> Iterator[bytes]:
    for name, digest in pieces.items():
        try:
            piece = (folder / name).read_bytes()
        except OSError as error:
            raise DamagedArtifact(f"{folder / name}: {error}") from error
        if hashlib.sha256(piece).hexdigest() != digest:
            raise DamagedArtifact(f"{folder / name}: not the piece that was packed")
        yield piece


def _write_code(path: Path) -> None:
    """Write the modules of this project that a run has loaded, as a program on Python's path."""
    import training.nli_model  # noqa: F401

    names = [name for name in sys.modules if name.split(".")[0] in ("core", "training")]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted({"core", "training", *names}):
            stem = ROOT.joinpath(*name.split("."))
            source = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
            archive.writestr(
                str(source.relative_to(ROOT)),
                source.read_text(encoding="utf-8") if source.exists() else "",
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Pack from the command line."""
    logging.basicConfig(level=logging.INFO)
    options = from_arguments(PackOptions, __doc__, arguments)
    held = sorted((options.data / "validation").glob("*.jsonl.gz"))
    validation = {
        path.name.split(".")[0]: quick_pairs(read_pairs(path), options.validation_pairs)
        for path in held
    }
    folder = pack(options, packaged_mpnet(), validation)
    size = sum(path.stat().st_size for path in folder.iterdir())
    logger.info("%s: %.0f MB in %d files", folder, size / 1e6, len(list(folder.iterdir())))


if __name__ == "__main__":
    main()
