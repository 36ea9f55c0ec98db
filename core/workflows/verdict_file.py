"""VerdictFile: JSON Lines that a killed run left behind, continued where they are whole.

Lines are appended in order, so what is in the file is always the beginning of the finished file; a
torn last line is cut off. With a ``.gz`` name every line is a gzip member of its own, so that the
file can be continued at any line and its bytes do not depend on where it was.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.capture.files import placed, read_records
from core.capture.values import mapping
from core.codec import verdict_document, verification_from_document
from core.errors import BadRecord, InputError
from core.records import Verification

FIRST_BYTES = b'{"trace_id":'
READ_BYTES = 1 << 20
_MOST_BYTES = 256 * 1024 * 1024  # of one verdict, which holds its sources
# The last field of a line: what stands before it, hashed. A line that was edited is judged again.
DIGEST_FIELD = "line_sha256"


@contextmanager
def verdict_file(path: Path) -> Iterator[VerdictFile]:
    """The file, open for as long as the block runs; raises InputError when it is not ours."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Answers may be patient data: a new file is its owner's alone.
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None
    regular = stat.S_ISREG(os.fstat(handle).st_mode)  # a pipe or a terminal holds nothing yet
    with os.fdopen(handle, "r+b" if regular else "wb") as file:
        opened = VerdictFile(file=file, compressed=path.suffix == ".gz", regular=regular)
        if regular:
            _hold_alone(file, path)
            opened.refuse_a_stranger(path)
        yield opened


def _hold_alone(file: BinaryIO, path: Path) -> None:
    """Two runs would write into each other's lines: the second one is refused, until the first ends."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            "another run is writing to it; give another file", file=str(path)
        ) from None


@dataclass(slots=True, kw_only=True)
class VerdictFile:
    """An output file that may hold the beginning of what will be written."""

    file: BinaryIO
    compressed: bool
    regular: bool

    def refuse_a_stranger(self, path: Path) -> None:
        """Raise InputError unless the file is empty or starts as a verdict, whole or torn, does."""
        self.file.seek(0)
        found = self.file.read(READ_BYTES)
        if self.compressed and found:
            try:
                found = zlib.decompressobj(wbits=31).decompress(found, len(FIRST_BYTES))
            except zlib.error:
                found = b"\x00"
        if not FIRST_BYTES.startswith(found[: len(FIRST_BYTES)]):
            raise InputError(
                "holds something that is not verdicts, and is left as it is; "
                "give another file for them",
                file=str(path),
            )

    def keep_while(self, accepted: Callable[[Verification], bool]) -> Iterator[Verification]:
        """The verdicts that the file already holds, as long as ``accepted`` says yes to the next.

        What follows the last accepted one is cut off; then the file is ready for ``append``.
        """
        if not self.regular:
            return
        self.file.seek(0)
        good = 0
        for line, end in _members(self.file) if self.compressed else _lines(self.file):
            verification = _verification(line)
            if verification is None or not accepted(verification):
                break
            good = end
            yield verification
        # Not in a finally: a run that is stopped while it still looks cuts nothing off.
        self.file.seek(good)
        self.file.truncate()

    def append(self, verified: Iterable[Verification]) -> None:
        """Write verdicts, one a line, and hand them to the disk."""
        for verification in verified:
            line = verdict_line(verification)
            self.file.write(gzip.compress(line, mtime=0) if self.compressed else line)
        self.file.flush()
        if self.regular:
            os.fsync(self.file.fileno())


def read_verdicts(paths: Iterable[Path]) -> Iterator[Verification | InputError]:
    """The verdicts of finished files, and in the place of each that cannot be read, why."""
    for path in paths:
        for record in read_records(path, _MOST_BYTES):
            if isinstance(record, InputError):
                yield record
                continue
            try:
                yield verification_from_document(mapping(record.value))
            except BadRecord as error:
                yield placed(error, path.name, record.line)


def verdict_line(verification: Verification) -> bytes:
    """One verdict as a line that carries the digest of what stands before it."""
    document = verdict_document(verification)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    body = text.encode("utf-8")
    return body[:-1] + f',"{DIGEST_FIELD}":"{_digest(body)}"}}\n'.encode()


def _digest(body: bytes) -> str:
    return "sha256:" + hashlib.sha256(body).hexdigest()


def _verification(line: bytes) -> Verification | None:
    """The verdict of a line that is as it was written; None for a torn, edited or foreign one."""
    body, mark, told = line.rpartition(f',"{DIGEST_FIELD}":'.encode())
    if not mark or told != f'"{_digest(body + b"}")}"}}\n'.encode():
        return None
    try:
        document = json.loads(body + b"}")
        return verification_from_document(document) if isinstance(document, dict) else None
    except (ValueError, BadRecord):
        return None


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Each line with the offset of its end."""
    end = 0
    while line := file.readline():
        end += len(line)
        yield line, end


def _members(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """The text of each whole gzip member with the offset of its end; stops at a torn one."""
    end, unread = 0, b""
    while True:
        member, parts = zlib.decompressobj(wbits=31), []
        while not member.eof:
            unread = unread or file.read(READ_BYTES)
            if not unread:
                return
            end += len(unread)
            try:
                parts.append(member.decompress(unread))
            except zlib.error:
                return
            unread = b""
        unread = member.unused_data
        end -= len(unread)
        yield b"".join(parts), end
