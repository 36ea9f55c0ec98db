"""Keys and files of whoever runs this program: in a folder of their own, readable by its owner alone.

A key beside the database would go wherever the database goes: what seals the trail lies elsewhere. With it
lie the keys that people sign with, whose signatures are trusted, and who is behind a packet's pseudonyms.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from core.errors import ComponentUnavailable, ConfigError, InputError
from core.review.exchange import PacketSignature
from core.review.signing import SEED_BYTES, fingerprint, new_seed, public_key

ENVIRONMENT_VARIABLE = "PROVENANCEGUARD_KEYS"
TRAIL_KEY = "trail.key"
USER_FILE = "user"  # the name under which the terminal acts, where it is not the account's
_KEY_BYTES = 32


def key_folder() -> Path:
    """PROVENANCEGUARD_KEYS, else provenanceguard/ in the user's configuration; made when missing."""
    given = os.environ.get(ENVIRONMENT_VARIABLE)
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    folder = Path(given).expanduser() if given else Path(config) / "provenanceguard"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ComponentUnavailable(
            f"keys {folder}: {error.strerror}; {ENVIRONMENT_VARIABLE} names another folder"
        ) from None
    return folder


def trail_key() -> bytes:
    """The key that seals the trail, made at first use."""
    found = read_owned(key_folder() / TRAIL_KEY)
    if found is None:
        write_owned(key_folder() / TRAIL_KEY, secrets.token_hex(_KEY_BYTES).encode() + b"\n")
        found = read_owned(key_folder() / TRAIL_KEY)
    try:
        key = bytes.fromhex((found or b"").decode().strip())
    except (ValueError, UnicodeDecodeError):
        key = b""
    if len(key) != _KEY_BYTES:
        raise ConfigError(
            f"{key_folder() / TRAIL_KEY}: no key of {_KEY_BYTES} bytes in hexadecimal"
        )
    return key


def read_owned(path: Path) -> bytes | None:
    """A file's bytes, None where there is none; ConfigError when others may read or write it."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ComponentUnavailable(f"{path}: {error.strerror}") from None
    with os.fdopen(handle, "rb") as file:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
        if mode & 0o077:
            raise ConfigError(f"{path}: others may read it ({mode:o}); it must be 600")
        return file.read()


def write_owned(path: Path, data: bytes) -> None:
    """Write a new file that is its owner's alone; one that another process made first is left."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    except OSError as error:
        raise ComponentUnavailable(f"{path}: {error.strerror}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(handle)


TRUSTED = "trusted.jsonl"
OWN = "signing"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKey:
    """A person's public key that somebody here has compared and accepted."""

    name: str
    public_key: str


def seed_of(name: str) -> bytes:
    """The private key of the person of that name on this machine, made at first use."""
    path = _own_folder() / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.key"
    found = read_owned(path)
    if found is None:
        write_owned(path, json.dumps({"name": name, "seed": new_seed().hex()}).encode() + b"\n")
        found = read_owned(path)
    try:
        seed = bytes.fromhex(json.loads(found or b"")["seed"])
    except (ValueError, KeyError, TypeError):
        seed = b""
    if len(seed) != SEED_BYTES:
        raise ConfigError(f"{path}: no key that can sign")
    return seed


def own_keys() -> tuple[TrustedKey, ...]:
    """The public keys of the people who have signed on this machine."""
    found = []
    for path in sorted(_own_folder().glob("*.key")):
        kept = json.loads(read_owned(path) or b"{}")
        seed = bytes.fromhex(kept["seed"])
        found.append(TrustedKey(name=kept["name"], public_key=public_key(seed)))
    return tuple(found)


def trusted_keys() -> tuple[TrustedKey, ...]:
    """The keys that were accepted here, and this machine's own."""
    path = key_folder() / TRUSTED
    lines = (read_owned(path) or b"").decode("utf-8", "replace").splitlines()
    try:
        listed = tuple(TrustedKey(**json.loads(line)) for line in lines if line.strip())
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{path}: no list of keys ({type(error).__name__})") from None
    return (*own_keys(), *listed)


def trust(name: str, key: str) -> TrustedKey:
    """Accept a person's public key; raises InputError for what is none."""
    try:
        fits = len(base64.b64decode(key, validate=True)) == SEED_BYTES
    except ValueError:
        fits = False
    if not fits:
        raise InputError(f"no Ed25519 public key in base64: {key!r:.60}")
    accepted = TrustedKey(name=name, public_key=key)
    path = key_folder() / TRUSTED
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(asdict(accepted)) + "\n")
    except OSError as error:
        raise ComponentUnavailable(f"{path}: {error.strerror}") from None
    return accepted


def foreign(signature: PacketSignature, keys: tuple[TrustedKey, ...]) -> str | None:
    """Why a signature is nobody's whom this machine trusts; None when it is."""
    if signature.public_key is None:
        return None  # said elsewhere: it has no key
    here = [key for key in keys if key.public_key == signature.public_key]
    if not here:
        return f"a key that nobody has accepted here ({fingerprint(signature.public_key)})"
    if signature.signer not in {key.name for key in here}:
        return f"the key of {here[0].name}, under another name"
    return None


def _own_folder() -> Path:
    folder = key_folder() / OWN
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        if stat.S_IMODE(folder.stat().st_mode) & 0o077:
            raise ConfigError(f"{folder}: others may read it; it must be 700")
    except OSError as error:
        raise ComponentUnavailable(f"{folder}: {error.strerror}") from None
    return folder


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


def _file(manifest_sha256: str) -> Path:
    digits = manifest_sha256.removeprefix("sha256:")
    if len(digits) != 64 or not set(digits) <= set("0123456789abcdef"):
        raise ConfigError(f"no digest of a manifest: {manifest_sha256!r:.80}")
    return key_folder() / FOLDER / f"{digits}.json"
