"""Who is behind the pseudonyms of a packet: one file a packet in the key folder, its owner's alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from core.errors import ComponentUnavailable, ConfigError
from storage.keys import key_folder, read_owned, write_owned

FOLDER = "pseudonyms"


def keep_pseudonyms(manifest_sha256: str, drawn: Mapping[str, str]) -> Path:
    """Write name → pseudonym for that packet; it never goes where the packet goes."""
    path = _file(manifest_sha256)
    try:
        path.parent.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise ComponentUnavailable(f"{path.parent}: {error.strerror}") from None
    write_owned(path, json.dumps(dict(drawn), ensure_ascii=False, indent=2).encode() + b"\n")
    return path


def pseudonyms_of(manifest_sha256: str) -> Mapping[str, str]:
    """Name → pseudonym of that packet; empty where it was exported with names, or elsewhere."""
    found = read_owned(_file(manifest_sha256))
    if found is None:
        return {}
    try:
        drawn = json.loads(found)
    except ValueError:
        raise ConfigError(f"{_file(manifest_sha256)}: no list of pseudonyms") from None
    return {str(name): str(one) for name, one in dict(drawn).items()}


def _file(manifest_sha256: str) -> Path:
    digits = manifest_sha256.removeprefix("sha256:")
    if len(digits) != 64 or not set(digits) <= set("0123456789abcdef"):
        raise ConfigError(f"no digest of a manifest: {manifest_sha256!r:.80}")
    return key_folder() / FOLDER / f"{digits}.json"
