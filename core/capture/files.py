"""Files of JSON records, read one record at a time: JSON Lines, a list, one object; gzip or not.

Memory is bounded by the largest record that the caller allows, never by the file: a longer record
is skipped as it streams by. What cannot be read comes back as a value, in its place.
"""

from __future__ import annotations

import json
import math
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import zstandard

from core.errors import BadRecord, InputError, UnreadableFile

MAX_DEPTH = 150
LOG_PREFIX = "log_prefix"  # the field that holds what stood before a message in a text log
_ZSTANDARD = 93  # how zip archives name it
_CHUNK = 256 * 1024
_SAMPLE = 1024 * 1024
_OUTSIDE = re.compile(rb'["\[\]{},\n]')
_INSIDE = re.compile(rb'["\\\n]')
_SURROGATE = re.compile(r"[\ud800-\udfff\x00]")
_SUSPICIOUS = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)|\x00|\xed[\xa0-\xbf]")


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One JSON value of a file; ``line`` is where it begins, ``notes`` what was replaced in it."""

    value: object
    line: int
    notes: tuple[str, ...] = ()


class WrittenNumber(float):
    """A float that remembers how it was written, so that 1.10 is not shown as 1.1."""

    __slots__ = ("written",)
    written: str

    def __new__(cls, text: str) -> WrittenNumber:
        number = float(text)
        if math.isinf(number):
            number = math.copysign(sys.float_info.max, number)
        made = super().__new__(cls, number)
        made.written = text
        return made


def read_records(path: Path, max_bytes: int) -> Iterator[FileRecord | InputError]:
    """Every record of a file in order, with an error in the place of each that cannot be read."""
    name = path.name
    source = _Source(path)
    try:
        head = source.head(_SAMPLE)
        if not head.strip(b" \t\r\n\x00\xef\xbb\xbf"):
            raise UnreadableFile("the file is empty", file=name)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise UnreadableFile("the file is UTF-16; save it as UTF-8", file=name)
        if head.startswith(b"PK\x03\x04"):
            yield from _archive(path, max_bytes)
            return
        shape = _shape(head)
        pieces = {"lines": _lines, "list": _items, "document": _document}[shape](source, max_bytes)
        for line, data in pieces:
            if isinstance(data, InputError):
                yield type(data)(data.message, file=name, line=line)
                continue
            prefix, data = _behind_prefix(data)
            try:
                value, notes = parse_record(data)
            except BadRecord as error:
                first_line = line + (error.line or 1) - 1
                yield BadRecord(error.message, file=name, line=first_line)
            else:
                if prefix:
                    value = {LOG_PREFIX: prefix, "message": value}
                yield FileRecord(value, line, notes)
    except UnreadableFile as error:
        yield UnreadableFile(error.message, file=name, line=error.line)
    except OSError as error:
        yield UnreadableFile(f"cannot be read: {error.strerror or error}", file=name)


def _archive(path: Path, max_bytes: int) -> Iterator[FileRecord | InputError]:
    """The samples of an Inspect ``.eval`` archive, a JSON file each; ``line`` counts the samples."""
    name = path.name
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise UnreadableFile(f"a damaged zip archive ({error})") from None
    with archive:
        samples = [
            member
            for member in archive.infolist()
            if member.filename.startswith("samples/") and member.filename.endswith(".json")
        ]
        if not samples:
            raise UnreadableFile("a zip archive; unpack it and import the files in it")
        for number, member in enumerate(samples, start=1):
            try:
                if member.flag_bits & 1:
                    raise BadRecord("encrypted")
                data = _member(path, archive, member, max_bytes)
                if len(data) > max_bytes:
                    raise _too_long(member.file_size, max_bytes)
                value, notes = parse_record(data)
            except NotImplementedError:
                raise UnreadableFile("its samples are packed in a way that is not known") from None
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                yield BadRecord(f"{member.filename}: damaged ({error})", file=name, line=number)
            except BadRecord as error:
                yield BadRecord(f"{member.filename}: {error.message}", file=name, line=number)
            else:
                yield FileRecord(value, number, notes)


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> bytes:
    """What a member of an archive unpacks to, one byte more than ``max_bytes`` at most."""
    if member.compress_type != _ZSTANDARD:
        with archive.open(member) as file:
            return file.read(max_bytes + 1)
    if member.compress_size > max_bytes:
        raise _too_long(member.compress_size, max_bytes)
    # The standard library of Python 3.11 knows no zstandard: find the packed bytes ourselves.
    with path.open("rb") as file:
        file.seek(member.header_offset)
        header = file.read(30)
        if len(header) < 30:
            raise zipfile.BadZipFile("the archive breaks off")
        name_bytes, extra_bytes = struct.unpack("<HH", header[26:30])
        file.seek(member.header_offset + 30 + name_bytes + extra_bytes)
        packed = file.read(member.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed) as stream:
            return stream.read(max_bytes + 1)
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(str(error)) from None


def _behind_prefix(data: bytes) -> tuple[str, bytes]:
    """A JSON-RPC message behind the time, level and server that a text log writes before it."""
    if data.lstrip()[:1] in (b"{", b"[", b"\xef") or b'"jsonrpc"' not in data:
        return "", data
    at = data.find(b"{")
    return data[:at].decode("utf-8", "replace").strip(), data[at:]


def parse_record(data: bytes) -> tuple[object, tuple[str, ...]]:
    """One JSON value from bytes; what no database can hold is replaced and noted. BadRecord."""
    notes: list[str] = []
    data = data.removeprefix(b"\xef\xbb\xbf")
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        notes.append("bytes that are not UTF-8 were replaced by U+FFFD")
    nan: list[str] = []
    try:
        # strict=False: real logs hold raw tabs and line breaks inside strings.
        value = json.loads(
            text,
            strict=False,
            parse_float=WrittenNumber,
            parse_int=_integer,
            parse_constant=nan.append,  # gives None: JSON has no NaN
        )
    except json.JSONDecodeError as error:
        raise BadRecord(
            f"not valid JSON: {error.msg} at column {error.colno}", line=error.lineno
        ) from None
    except RecursionError:
        raise BadRecord("nested too deeply to be read") from None
    if nan:
        notes.append(f"{nan[0]} is not JSON and was read as null")
    if text.count("[") + text.count("{") > MAX_DEPTH and _depth(value) > MAX_DEPTH:
        raise BadRecord(f"nested more than {MAX_DEPTH} levels deep")
    if _SUSPICIOUS.search(data):
        value, replaced = _clean(value)
        if replaced:
            notes.append("lone surrogates or NUL characters were replaced by U+FFFD")
    return value, tuple(notes)


def write_json(value: object) -> str:
    """A parsed record as JSON again, its numbers as they were written."""
    if isinstance(value, WrittenNumber):
        return value.written
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(k)}: {write_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_json, value)) + "]"
    return _quoted(value)


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _integer(text: str) -> int | WrittenNumber:
    # Python refuses to convert more than 4300 digits, to be safe from slow conversions.
    return int(text) if len(text) < 1_000 else WrittenNumber(text)


def _depth(value: object) -> int:
    deepest, level = 0, [value]
    while level and deepest <= MAX_DEPTH:
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(v for v in item.values() if isinstance(v, dict | list))
            elif isinstance(item, list):
                below.extend(v for v in item if isinstance(v, dict | list))
        deepest, level = deepest + 1, below
    return deepest


def _clean(value: object) -> tuple[object, bool]:
    """The value without characters that UTF-8 or a database cannot hold; and whether it had any."""
    if isinstance(value, str):
        clean = _SURROGATE.sub("\ufffd", value)
        return clean, clean != value
    if isinstance(value, list):
        items = [_clean(item) for item in value]
        return [item for item, _ in items], any(changed for _, changed in items)
    if isinstance(value, dict):
        keys = [(_clean(key), _clean(item)) for key, item in value.items()]
        return (
            {str(key): item for (key, _), (item, _) in keys},
            any(changed for pair in keys for _, changed in pair),
        )
    return value, False


# ---------------------------------------------------------------- bytes


class _Source:
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


def _decompressed(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        first = file.read(_CHUNK)
        if not first.startswith(b"\x1f\x8b"):
            if path.suffix == ".gz" and first:
                raise UnreadableFile("named .gz, but it is not gzip")
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


# ---------------------------------------------------------------- shapes


def _shape(head: bytes) -> str:
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


def _too_long(size: int, limit: int) -> BadRecord:
    return BadRecord(f"the record has {size:,} bytes, more than {limit:,}; it was skipped")


def _lines(source: _Source, limit: int) -> Pieces:
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
                yield line, _too_long(size, limit)
            held, size, at, line = [], 0, end + 1, line + 1
        size += len(chunk) - at
        if size <= limit:
            held.append(chunk[at:])
        else:
            held = []
    data = b"".join(held)
    if size > limit:
        yield line, _too_long(size, limit)
    elif data.strip(b" \t\r\x00\xef\xbb\xbf"):
        yield line, data


def _document(source: _Source, limit: int) -> Pieces:
    held: list[bytes] = []
    size = 0
    for chunk in source:
        size += len(chunk)
        if size <= limit:
            held.append(chunk)
        else:
            held = []
    yield 1, (b"".join(held) if size <= limit else _too_long(size, limit))


def _items(source: _Source, limit: int) -> Pieces:
    """The items of one long list, found by their brackets, so that one bad item spoils no other."""
    line = item_line = 1
    depth, size, in_string, escaped = 0, 0, False, False
    held: list[bytes] = []
    started = ended = False

    def flush() -> Iterator[tuple[int, bytes | InputError]]:
        data = b"".join(held)
        if size > limit:
            yield item_line, _too_long(size, limit)
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
