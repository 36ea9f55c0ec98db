"""A packet's manifest: the SHA-256 of every file, checked again wherever the packet is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.errors import InputError, UnreadableFile
from core.records import JsonObject
from core.review.exchange import PacketSignature
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
                    "taken_back": one.taken_back,
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
        return tuple(
            PacketSignature(
                manifest_sha256=str(one["manifest_sha256"]),
                signer=str(one["name"]),
                at=datetime.fromisoformat(one["at"]),
                meaning=str(one["meaning"]),
                taken_back=one["taken_back"] is True,
                public_key=_text(one.get("public_key")),
                signature=_text(one.get("signature")),
            )
            for one in json.loads(file.read_text(encoding="utf-8"))
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
