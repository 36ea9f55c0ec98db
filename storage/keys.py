"""The keys of whoever runs this program: in a folder of their own, readable by its owner alone.

A key beside the database would go wherever the database goes: what seals the trail lies elsewhere.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from core.errors import ComponentUnavailable, ConfigError

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
