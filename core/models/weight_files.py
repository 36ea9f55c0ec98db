"""The files of a folder with weights, their digests, and the manifest that lists them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from core.errors import ComponentUnavailable, DamagedArtifact

MANIFEST_FILE, CALIBRATION_FILE = "manifest.json", "calibration.json"
MANIFEST_FORMAT = "provenanceguard-weights"
WEIGHTS_FILE, ADAPTERS_FILE = "model.safetensors", "adapters.safetensors"


def write_manifest(folder: Path) -> Path:
    """Write `manifest.json` with the SHA-256 of the folder's other files but its model card."""
    skipped = {MANIFEST_FILE, "MODEL_CARD.md"}
    files = {
        path.name: sha256(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in skipped
    }
    path = folder / MANIFEST_FILE
    text = json.dumps({"format": MANIFEST_FORMAT, "files": files}, indent=2)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def check_manifest(folder: Path) -> None:
    """Raise DamagedArtifact unless every file that the manifest lists is there with its digest."""
    path = folder / MANIFEST_FILE
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files = dict(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedArtifact(f"{path}: not a readable manifest: {error}") from error
    if manifest.get("format") != MANIFEST_FORMAT:
        raise DamagedArtifact(
            f"{path}: format: expected {MANIFEST_FORMAT}, found {manifest.get('format')!r}"
        )
    whole = ("config.json", WEIGHTS_FILE, "tokenizer.json")
    for needed in (ADAPTERS_FILE,) if ADAPTERS_FILE in files else whole:
        if needed not in files:
            raise DamagedArtifact(f"{path}: files: {needed} is not listed")
    for name, recorded in files.items():
        if Path(name).name != name:
            raise DamagedArtifact(f"{path}: files: {name!r} is not a plain file name")
        if not (folder / name).is_file():
            raise DamagedArtifact(f"{folder / name}: missing, but listed in the manifest")
        if (found := sha256(folder / name)) != recorded:
            raise DamagedArtifact(
                f"{folder / name}: SHA-256 is {found}, the manifest records {recorded}"
            )


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_digest(folder: Path) -> str:
    """Return the digest that a model's name ends in; raises ComponentUnavailable without weights."""
    adapters, whole = folder / ADAPTERS_FILE, folder / WEIGHTS_FILE
    weights = adapters if adapters.is_file() else whole
    if not weights.is_file():
        raise ComponentUnavailable(f"{weights}: missing; weights are read from safetensors only")
    # A changed temperature changes what is read: the name tells both.
    beside = folder / CALIBRATION_FILE
    if not beside.is_file():
        return sha256(weights)
    return hashlib.sha256(f"{sha256(weights)} {sha256(beside)}".encode()).hexdigest()
