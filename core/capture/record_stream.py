"""The records of a JSON document or of lines, read piece by piece: a large file is never held whole."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from core.errors import BadRecord, InputError, UnreadableFile

_CHUNK = 256 * 1024


_OUTSIDE = re.compile(rb'["\[\]{},\n]')


_INSIDE = re.compile(rb'["\\\n]')


class Source:
    """The decompressed bytes of a file, in chunks; ``head`` looks ahead without losing anything."""

    def __init__(self, path: Path) -> None:
        self._chunks = _decompressed(path)
        self._ahead: list[bytes] = []
        self._failure: UnreadableFile | None = None

    def head(self, size: int) -> bytes:
        while sum(map(len, self._ahead)) < size:
            try:
                self._ahead.append(next(self._chunks))
            except StopIteration:
                break
            except UnreadableFile as error:
                self._failure = error
                break
        return b"".join(self._ahead)

    def __iter__(self) -> Iterator[bytes]:
        while self._ahead:
            yield self._ahead.pop(0)
        if self._failure is not None:
            raise self._failure
        yield from self._chunks


class Stretch(Source):
    """The bytes [start, end) of a file that is not compressed, in chunks."""

    def __init__(self, path: Path, start: int, end: int) -> None:
        super().__init__(path)
        self._chunks = _stretch(path, start, end)


def _stretch(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (chunk := file.read(min(_CHUNK, end - start))):
            start += len(chunk)
            yield chunk


def _decompressed(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        first = file.read(_CHUNK)
        if not first.startswith(b"\x1f\x8b"):
            while first:
                yield first
                first = file.read(_CHUNK)
            return
        yield from _gunzip(first, iter(lambda: file.read(_CHUNK), b""))


def _gunzip(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    """gzip members one after the other; output comes in small pieces however well it was packed."""
    inflate = zlib.decompressobj(wbits=31)
    data = first
    while True:
        try:
            piece = inflate.decompress(data, _CHUNK)
        except zlib.error as error:
            raise UnreadableFile(
                f"damaged gzip data ({error}); what came before it was read"
            ) from None
        if piece:
            yield piece
        if inflate.eof:
            data = inflate.unused_data.lstrip(b"\x00") or next(rest, b"").lstrip(b"\x00")
            if not data:
                return
            inflate = zlib.decompressobj(wbits=31)
            continue
        data = inflate.unconsumed_tail
        if not data:
            data = next(rest, b"")
            if not data:
                raise UnreadableFile("the gzip data breaks off; what came before was read")


def shape_of(head: bytes) -> str:
    """``lines``, ``list`` or ``document``, from the first megabyte."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first, newline, rest = text.partition(b"\n")
    if not newline:
        return "list" if text.startswith(b"[") and not _of_messages(text) else "lines"
    if _is_json(first):
        if not rest.strip():
            return "list" if first.startswith(b"[") and not _of_messages(first) else "lines"
        return "lines"
    if not first.startswith((b"{", b"[")):
        return "lines"
    if first.startswith(b"["):
        return "document" if _of_messages(text) else "list"
    # Not JSON by itself: a bad first line of many, or an object over many lines.
    later = rest.split(b"\n", 64)[:64]
    whole = (line for line in later if line.startswith(b"{") and line.rstrip().endswith(b"}"))
    return "lines" if any(map(_is_json, whole)) else "document"


def _of_messages(text: bytes) -> bool:
    """Whether a list is one transcript: its first item is a chat message."""
    first = re.match(rb'\[\s*\{\s*"(?:role|content|tool_calls|id|name|type)"\s*:', text)
    return bool(first) and b'"role"' in text[:4_000] and b'"messages"' not in text[:4_000]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


Pieces = Iterator[tuple[int, bytes | InputError]]


def too_long(size: int, limit: int) -> BadRecord:
    return BadRecord(f"the record has {size:,} bytes, more than {limit:,}; it was skipped")


def read_lines(source: Source, limit: int) -> Pieces:
    line, size = 1, 0
    held: list[bytes] = []
    for chunk in source:
        at = 0
        while (end := chunk.find(b"\n", at)) >= 0:
            size += end - at
            if size <= limit:
                data = b"".join((*held, chunk[at:end]))
                if data.strip(b" \t\r\x00\xef\xbb\xbf"):
                    yield line, data
                elif data.strip(b" \t\r\xef\xbb\xbf"):
                    yield line, BadRecord(f"{len(data):,} NUL bytes and nothing else")
            else:
                yield line, too_long(size, limit)
            held, size, at, line = [], 0, end + 1, line + 1
        size += len(chunk) - at
        if size <= limit:
            held.append(chunk[at:])
        else:
            held = []
    data = b"".join(held)
    if size > limit:
        yield line, too_long(size, limit)
    elif data.strip(b" \t\r\x00\xef\xbb\xbf"):
        yield line, data


def read_document(source: Source, limit: int) -> Pieces:
    held: list[bytes] = []
    size = 0
    for chunk in source:
        size += len(chunk)
        if size <= limit:
            held.append(chunk)
        else:
            held = []
    yield 1, (b"".join(held) if size <= limit else too_long(size, limit))


def read_items(source: Source, limit: int) -> Pieces:
    """The items of one long list, found by their brackets, so that one bad item spoils no other."""
    line = item_line = 1
    depth, size, in_string, escaped = 0, 0, False, False
    held: list[bytes] = []
    started = ended = False

    def flush() -> Iterator[tuple[int, bytes | InputError]]:
        data = b"".join(held)
        if size > limit:
            yield item_line, too_long(size, limit)
        elif data.strip():
            lead = len(data) - len(data.lstrip())
            yield item_line + data[:lead].count(b"\n"), data.strip()

    def hold(piece: bytes) -> None:
        nonlocal size, held
        size += len(piece)
        if size <= limit:
            held.append(piece)
        else:
            held = []

    for chunk in source:
        at = kept = 0
        while True:
            if escaped and at < len(chunk):
                escaped, at = False, at + 1
            found = (_INSIDE if in_string else _OUTSIDE).search(chunk, at)
            if found is None:
                break
            at, mark = found.end(), found.group()
            if mark == b"\n":
                line += 1
            elif mark == b"\\":
                escaped = True
            elif mark == b'"':
                in_string = not in_string
            elif mark in (b"[", b"{"):
                depth += 1
                if depth == 1 and not started:
                    started, kept, item_line = True, at, line
            elif mark in (b"]", b"}"):
                depth -= 1
                if depth == 0 and not ended:
                    hold(chunk[kept : at - 1])
                    yield from flush()
                    held, size, kept, ended = [], 0, at, True
            elif mark == b"," and depth == 1:
                hold(chunk[kept : at - 1])
                yield from flush()
                held, size, kept, item_line = [], 0, at, line
        hold(chunk[kept:])
    if not ended:
        if size > limit or b"".join(held).strip():
            yield item_line, BadRecord("the list breaks off in this record")
        else:
            yield line, BadRecord("the list is not closed")
    elif size > limit or b"".join(held).strip(b" \t\r\n\x00"):
        yield line, BadRecord("text after the end of the list")
