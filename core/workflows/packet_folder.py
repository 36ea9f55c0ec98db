"""A packet's folder: its manifest, checked again wherever it is read; its signatures; one zip and back."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import re
import secrets
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from core.errors import InputError, UnreadableFile
from core.records import JsonObject
from core.review.exchange import PacketSignature, with_taken_back
from core.review.signing import wrong_with

MANIFEST, SIGNATURES = "manifest.json", "signatures.json"
FORMAT = "provenanceguard-packet"
VERSION = 1
TO_BE_SIGNED = "signed_as"  # in the manifest of a packet that is signed as it is exported


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketCheck:
    """What checking a packet found; it is intact when nothing is wrong."""

    manifest_sha256: str
    files: int
    signatures: tuple[PacketSignature, ...]
    problems: tuple[str, ...]

    @property
    def intact(self) -> bool:
        """Whether every file is the one that was exported."""
        return not self.problems


def write_manifest(folder: Path, about: JsonObject) -> str:
    """Write the manifest of everything in ``folder`` and give its ``sha256:…``."""
    files = {
        path.relative_to(folder).as_posix(): {
            "sha256": file_sha256(path),
            "bytes": path.stat().st_size,
        }
        for path in _files(folder)
    }
    document = {"format": FORMAT, "version": VERSION, **about, "files": files}
    (folder / MANIFEST).write_text(
        json.dumps(document, indent=2, ensure_ascii=True) + "\n", encoding="utf-8"
    )
    return file_sha256(folder / MANIFEST)


def announced(folder: Path, meaning: str) -> str:
    """The text of a packet's manifest that says, once, that a signature of that meaning follows.

    Written as the manifest, it does not check without the signature: nobody takes it away unseen.
    """
    document = dict(read_manifest(folder))
    if document.get(TO_BE_SIGNED):
        return (folder / MANIFEST).read_text(encoding="utf-8")
    files = document.pop("files")
    told = {**document, TO_BE_SIGNED: meaning, "files": files}
    return json.dumps(told, indent=2, ensure_ascii=True) + "\n"


def hold(folder: Path) -> int:
    """A handle that marks a folder as in use until it is closed, or until this process ends."""
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def unfinished(name: str) -> str:
    """How the name of a folder begins in which ``name`` is written: a random token that proves itself."""
    token = secrets.token_hex(8)
    return f".{name}.part-{token}-{_proof(token)}-"


_UNFINISHED = re.compile(r"\..*\.part-([0-9a-f]{16})-([0-9a-f]{16})-", re.DOTALL)


def _proof(token: str) -> str:
    return hashlib.sha256(f"provenanceguard unfinished {token}".encode()).hexdigest()[:16]


def remove_abandoned(parent: Path) -> list[Path]:
    """Remove the unfinished folders of this program that no living process holds; which they were."""
    removed = []
    for left in parent.glob(".*.part-*"):
        named = _UNFINISHED.match(left.name)
        if named is None or _proof(named[1]) != named[2]:
            continue  # somebody else's, whatever it is called
        try:
            handle = hold(left) if left.is_dir() and not left.is_symlink() else None
        except OSError:
            continue  # somebody is writing it, or it is somebody else's
        if handle is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(handle)
            removed.append(left)
    return removed


def is_packet(folder: Path) -> bool:
    """Whether this is the folder of an exported packet."""
    if not (folder / MANIFEST).is_file():
        return False
    try:
        return read_manifest(folder).get("format") == FORMAT
    except InputError:
        return False


def read_manifest(folder: Path) -> JsonObject:
    """The manifest of a packet; raises UnreadableFile."""
    try:
        document = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"no manifest of a packet: {error}", file=str(folder)) from None
    if not isinstance(document, dict):
        raise UnreadableFile("expected an object", file=str(folder / MANIFEST))
    return document


def check_packet(folder: Path) -> PacketCheck:
    """Compare every file of a packet with its manifest, and its signatures with the manifest's hash.

    Raises UnreadableFile when there is no manifest.
    """
    document = read_manifest(folder)
    if document.get("format") != FORMAT or document.get("version") != VERSION:
        raise UnreadableFile("this is no packet that can be checked", file=str(folder / MANIFEST))
    listed = document.get("files")
    announced: Mapping[str, object] = listed if isinstance(listed, Mapping) else {}
    present = {path.relative_to(folder).as_posix(): path for path in _files(folder)}
    problems = [
        f"{name}: is listed in the manifest, and is gone" for name in announced.keys() - present
    ]
    problems += [f"{name}: is not listed in the manifest" for name in present.keys() - announced]
    for name in sorted(present.keys() & announced):
        wanted = announced[name]
        if not isinstance(wanted, Mapping) or file_sha256(present[name]) != wanted.get("sha256"):
            problems.append(f"{name}: was changed after the export")
    manifest_sha256 = file_sha256(folder / MANIFEST)
    signatures: tuple[PacketSignature, ...] = ()
    try:
        signatures = read_signatures(folder)
    except InputError as error:
        problems.append(str(error))
    problems += [
        f"{SIGNATURES}: {one.signer} signed another manifest, or it was changed since"
        for one in signatures
        if one.manifest_sha256 != manifest_sha256
    ]
    problems += [
        f"{SIGNATURES}: {one.signer} ({one.meaning}): {wrong}"
        for one in signatures
        if (wrong := wrong_with(one)) is not None
    ]
    if document.get(TO_BE_SIGNED) and not signatures:
        problems.append(f"{SIGNATURES}: the packet was signed, and its signature is gone")
    return PacketCheck(
        manifest_sha256=manifest_sha256,
        files=len(announced),
        signatures=signatures,
        problems=tuple(sorted(problems)),
    )


def write_signatures(folder: Path, signatures: tuple[PacketSignature, ...]) -> None:
    """Put the signatures beside the manifest, which they are about and which does not list them."""
    (folder / SIGNATURES).write_text(signatures_json(signatures), encoding="utf-8")
    (folder / SIGNATURES).chmod(0o600)


def signatures_json(signatures: tuple[PacketSignature, ...]) -> str:
    """The signatures as the text of their file: name, time in UTC, meaning."""
    return (
        json.dumps(
            [
                {
                    "name": one.signer,
                    "at": one.at.isoformat(),
                    "meaning": one.meaning,
                    "manifest_sha256": one.manifest_sha256,
                    "public_key": one.public_key,
                    "signature": one.signature,
                }
                for one in signatures
            ],
            indent=2,
        )
        + "\n"
    )


def read_signatures(folder: Path) -> tuple[PacketSignature, ...]:
    """The signatures beside a manifest; none where there is no file. Raises UnreadableFile."""
    file = folder / SIGNATURES
    if not file.exists():
        return ()
    try:
        return with_taken_back(
            [
                PacketSignature(
                    manifest_sha256=str(one["manifest_sha256"]),
                    signer=str(one["name"]),
                    at=datetime.fromisoformat(one["at"]),
                    meaning=str(one["meaning"]),
                    taken_back=one.get("taken_back") is True,  # of 0.19.0: unsigned, and against it
                    public_key=_text(one.get("public_key")),
                    signature=_text(one.get("signature")),
                )
                for one in json.loads(file.read_text(encoding="utf-8"))
            ]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile(
            f"the signatures cannot be read ({type(error).__name__})", file=SIGNATURES
        ) from None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def file_sha256(path: Path) -> str:
    """``sha256:…`` of a file's bytes."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def _files(folder: Path) -> list[Path]:
    own = {folder / MANIFEST, folder / SIGNATURES}
    return sorted(path for path in folder.rglob("*") if path.is_file() and path not in own)


MOST_BYTES = 4 * 1024**3  # unpacked: far beyond any packet, far below a zip bomb
MOST_FILES = 200_000
# The time in an entry is no fact about the packet; a fixed one makes equal folders equal archives.
ENTRY_TIME = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path) -> bytes:
    """The files of a folder, zipped, in the order of their names."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), ENTRY_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, path.read_bytes())
    return stream.getvalue()


def unpack(data: bytes, folder: Path, *, name: str) -> None:
    """Write a zip's files below ``folder``; raises UnreadableFile for anything that is no packet.

    Nothing is written outside of the folder, whatever the names in the archive say.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > MOST_FILES or sum(one.file_size for one in entries) > MOST_BYTES:
                raise UnreadableFile("unpacked, it would be too large for a packet", file=name)
            for entry in entries:
                target = folder.joinpath(*_parts(entry.filename, name))
                target.parent.mkdir(parents=True, exist_ok=True)
                # Read by its announced size: an archive that lies about it is cut off by zipfile.
                target.write_bytes(archive.read(entry))
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise UnreadableFile(f"cannot be unpacked ({type(error).__name__})", file=name) from None


def _parts(entry: str, name: str) -> tuple[str, ...]:
    path = PurePosixPath(entry)
    plain = all(part not in ("", ".", "..") and ":" not in part for part in path.parts)
    if path.is_absolute() or "\\" in entry or not path.parts or not plain:
        raise UnreadableFile("holds a file that would lie outside of it", file=name)
    return path.parts
