"""Files of JSON records, read one record at a time: JSON Lines, a list, one object; gzip or not;
and Parquet with a column ``trace`` of JSON texts.

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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import zstandard

from core.capture.parquet_rows import PARQUET, read_rows
from core.capture.record_stream import (
    Pieces,
    chunks_of,
    head_of,
    read_document,
    read_items,
    read_lines,
    shape_of,
    too_long,
)
from core.errors import BadRecord, InputError, UnreadableFile

Item = TypeVar("Item")

MAX_DEPTH = 150
LOG_PREFIX = "log_prefix"  # the field that holds what stood before a message in a text log
_ZSTANDARD = 93  # how zip archives name it
_SAMPLE = 1024 * 1024
_SURROGATE = re.compile(r"[\ud800-\udfff\x00]")
_SUSPICIOUS = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)|\x00")
_LOST = re.compile(rb"\xef\xbf\xbd|\\u[fF]{3}[dD]")


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One JSON value of a file; ``line`` is where it begins, ``notes`` what was replaced in it."""

    value: object
    line: int
    notes: tuple[str, ...] = ()


def placed(error: InputError, file: str | None, line: int | None) -> BadRecord:
    """What is wrong with a record, with the file and the line that it stands in."""
    return BadRecord(error.message, file=file, line=line, path=error.path)


def each(
    records: Iterable[FileRecord | InputError],
    file: str | None,
    take: Callable[[FileRecord], Iterable[Item | InputError]],
) -> Iterator[Item | InputError]:
    """What ``take`` gives for each record in order; what is wrong with one is placed and costs no other."""
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        try:
            for item in take(record):
                yield placed(item, file, record.line) if isinstance(item, BadRecord) else item
        except BadRecord as error:
            yield placed(error, file, record.line)


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
    try:
        head = head_of(path, _SAMPLE)
        if not head.strip(b" \t\r\n\x00\xef\xbb\xbf"):
            raise UnreadableFile("the file is empty", file=name)
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise UnreadableFile("the file is UTF-16; save it as UTF-8", file=name)
        if head.startswith(b"PK\x03\x04"):
            yield from _archive(path, max_bytes)
        elif head.startswith(PARQUET):
            yield from _parsed(read_rows(path, max_bytes), name)
        else:
            readers = {"lines": read_lines, "list": read_items, "document": read_document}
            yield from _parsed(readers[shape_of(head)](chunks_of(path), max_bytes), name)
    except UnreadableFile as error:
        yield UnreadableFile(error.message, file=name, line=error.line)
    except OSError as error:
        yield UnreadableFile(f"cannot be read: {error.strerror or error}", file=name)


def read_whole_lines(path: Path, end: int, max_bytes: int) -> Iterator[FileRecord | InputError]:
    """The records of a file's lines up to the byte ``end``, as ``read_records`` gives them."""
    yield from _parsed(read_lines(chunks_of(path, end), max_bytes), path.name)


def _parsed(pieces: Pieces, name: str) -> Iterator[FileRecord | InputError]:
    for line, data in pieces:
        if isinstance(data, InputError):
            yield type(data)(data.message, file=name, line=line)
            continue
        try:
            prefix, data = _behind_prefix(data)
            value, notes = parse_record(data)
        except BadRecord as error:
            first_line = line + (error.line or 1) - 1
            yield BadRecord(error.message, file=name, line=first_line)
        else:
            if prefix:
                value = {LOG_PREFIX: prefix, "message": value}
            yield FileRecord(value, line, notes)


def _archive(path: Path, max_bytes: int) -> Iterator[FileRecord | InputError]:
    """The samples of an Inspect ``.eval`` archive, a JSON file each; ``line`` counts the samples."""
    name = path.name
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise UnreadableFile(f"a damaged zip archive ({error})") from None
    with archive:
        named = ((member, member.filename) for member in archive.infolist())
        samples = [m for m, at in named if at.startswith("samples/") and at.endswith(".json")]
        if not samples:
            raise UnreadableFile("a zip archive; unpack it and import the files in it")
        for number, member in enumerate(samples, start=1):
            try:
                value, notes = parse_record(_member(path, archive, member, max_bytes))
            except NotImplementedError:
                raise UnreadableFile("its samples are packed in a way that is not known") from None
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                yield BadRecord(f"{member.filename}: damaged ({error})", file=name, line=number)
            except BadRecord as error:
                yield BadRecord(f"{member.filename}: {error.message}", file=name, line=number)
            else:
                yield FileRecord(value, number, notes)


def _member(path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> bytes:
    """What a member of an archive unpacks to; raises BadRecord where that is more than may be."""
    if member.flag_bits & 1:
        raise BadRecord("encrypted")
    if member.compress_type != _ZSTANDARD:
        with archive.open(member) as file:
            data = file.read(max_bytes + 1)
    elif member.compress_size > max_bytes:
        raise too_long(member.compress_size, max_bytes)
    else:
        data = _unpacked(path, member, max_bytes)
    if len(data) > max_bytes:
        raise too_long(member.file_size, max_bytes)
    return data


def _unpacked(path: Path, member: zipfile.ZipInfo, max_bytes: int) -> bytes:
    """What a zstandard member unpacks to, one byte more than ``max_bytes`` at most.

    The standard library of Python 3.11 knows no zstandard: find the packed bytes ourselves.
    """
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
    _text_of(data)  # whole, so that an offset counts from where the record begins
    at = data.find(b"{")
    return data[:at].decode().strip(), data[at:]


def _text_of(data: bytes) -> str:
    """The text of a record; BadRecord with the line and the offset of a byte that is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        at = error.start
        raise BadRecord(
            f"not UTF-8: byte 0x{data[at]:02X} at offset {at:,} of the record",
            line=data.count(b"\n", 0, at) + 1,
        ) from None


def parse_record(data: bytes) -> tuple[object, tuple[str, ...]]:
    """One JSON value from bytes; what no database can hold is replaced and noted. BadRecord."""
    notes: list[str] = []
    text = _text_of(data).removeprefix("\ufeff")
    if _LOST.search(data):
        notes.append("it holds U+FFFD: characters were lost before this was written")
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
        value, replaced = cleaned(value)
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


def cleaned(value: object) -> tuple[object, bool]:
    """The value without characters that UTF-8 or a database cannot hold; and whether it had any."""
    clean = _clean(value)
    return clean, clean != value


def _clean(value: object) -> object:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {str(_clean(key)): _clean(item) for key, item in value.items()}
    return value
