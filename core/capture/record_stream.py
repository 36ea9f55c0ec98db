"""The records of a JSON document or of lines, read piece by piece: a large file is never held whole."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from core.errors import BadRecord, InputError, UnreadableFile

_CHUNK = 256 * 1024
_BLANK = b" \t\r\xef\xbb\xbf"
_OUTSIDE = re.compile(rb'["\[\]{},\n]')
_INSIDE = re.compile(rb'["\\\n]')

Pieces = Iterator[tuple[int, bytes | InputError]]


def chunks_of(path: Path, end: int | None = None) -> Iterator[bytes]:
    """The decompressed bytes of a file, or the first ``end`` of one that is not compressed."""
    with path.open("rb") as file:
        if end is not None:
            while end and (chunk := file.read(min(_CHUNK, end))):
                end -= len(chunk)
                yield chunk
            return
        rest = iter(lambda: file.read(_CHUNK), b"")
        first = next(rest, b"")
        yield from _gunzip(first, rest) if first.startswith(b"\x1f\x8b") else chain([first], rest)


def head_of(path: Path, size: int) -> bytes:
    """The first bytes of what a file holds, ``size`` or a little more; fewer where it is damaged."""
    held: list[bytes] = []
    try:
        for chunk in chunks_of(path):
            held.append(chunk)
            if sum(map(len, held)) >= size:
                break
    except UnreadableFile:  # told about by whoever reads on
        pass
    return b"".join(held)


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
        data = inflate.unconsumed_tail or next(rest, b"")
        if not data:
            raise UnreadableFile("the gzip data breaks off; what came before was read")


def shape_of(head: bytes) -> str:
    """``lines``, ``list`` or ``document``, from the first megabyte."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    first, newline, rest = text.partition(b"\n")
    a_list = text.startswith(b"[")
    if not newline or (_is_json(first) and not rest.strip()):
        return "list" if a_list and not _of_messages(first) else "lines"
    if _is_json(first) or not first.startswith((b"{", b"[")):
        return "lines"
    if a_list:
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
        json.loads(line.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def too_long(size: int, limit: int) -> BadRecord:
    """Why a record is skipped that is longer than a record may be."""
    return BadRecord(f"the record has {size:,} bytes, more than {limit:,}; it was skipped")


class _Held:
    """The bytes of one record as they stream by, no more of them than a record may have."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size <= self.limit:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def take(self) -> bytes | BadRecord:
        """The record, or that it is too long; the next one begins."""
        size, pieces = self.size, self._pieces
        self.size, self._pieces = 0, []
        return b"".join(pieces) if size <= self.limit else too_long(size, self.limit)


def read_lines(chunks: Iterable[bytes], limit: int) -> Pieces:
    """The lines that are not blank, each with its number."""
    held, line = _Held(limit), 1
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            held.add(piece)
            data = held.take()
            if isinstance(data, BadRecord) or data.strip(_BLANK + b"\x00"):
                yield line, data
            elif data.strip(_BLANK):
                yield line, BadRecord(f"{len(data):,} NUL bytes and nothing else")
            line += 1
        held.add(rest)
    data = held.take()
    if isinstance(data, BadRecord) or data.strip(_BLANK + b"\x00"):
        yield line, data


def read_document(chunks: Iterable[bytes], limit: int) -> Pieces:
    """The whole of a file as one record."""
    held = _Held(limit)
    for chunk in chunks:
        held.add(chunk)
    yield 1, held.take()


def read_items(chunks: Iterable[bytes], limit: int) -> Pieces:
    """The items of one long list, found by their brackets, so that one bad item spoils no other."""
    line = item_line = 1
    depth, in_string, escaped, started, ended = 0, False, False, False, False
    held = _Held(limit)
    for chunk in chunks:
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
            elif mark in b"[{":
                depth += 1
                if depth == 1 and not started:
                    started, kept, item_line = True, at, line
            elif mark in b"]}":
                depth -= 1
            ends = mark in b"]}" and depth == 0 and not ended
            if ends or (mark == b"," and depth == 1):
                held.add(chunk[kept : at - 1])
                yield from _item(item_line, held.take())
                kept, item_line, ended = at, item_line if ends else line, ended or ends
        held.add(chunk[kept:])
    data = held.take()
    more = isinstance(data, BadRecord) or data.strip(b" \t\r\n\x00" if ended else None)
    if ended:
        yield from [(line, BadRecord("text after the end of the list"))] if more else ()
    elif more:
        yield item_line, BadRecord("the list breaks off in this record")
    else:
        yield line, BadRecord("the list is not closed")


def _item(line: int, data: bytes | BadRecord) -> Pieces:
    if isinstance(data, BadRecord):
        yield line, data
    elif data.strip():
        lead = len(data) - len(data.lstrip())
        yield line + data[:lead].count(b"\n"), data.strip()
