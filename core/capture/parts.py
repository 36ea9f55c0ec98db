"""Files of one trace a record, cut where records end, so that many machines read them side by side.

Only what stands alone in its record can be read so: native traces as JSON Lines, or in Parquet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from core.capture.files import FilePart, read_part
from core.capture.formats import native
from core.capture.parquet_rows import PARQUET, row_groups
from core.capture.reading import detect_format, files_in, numbered
from core.capture.record_stream import head_of, shape_of
from core.config import Config
from core.errors import InputError, UnknownFormat
from core.records import Trace

PART_BYTES = 1 << 18  # of lines: some dozens of traces
_HEAD = 1 << 20


def parts_of(paths: Sequence[Path], config: Config, part_bytes: int = PART_BYTES) -> list[FilePart]:
    """The parts of the files in order; of Parquet each row group is one.

    Raises UnknownFormat for a file that has to be read as a whole.
    """
    parts: list[FilePart] = []
    for path in files_in(paths):
        found = detect_format(path, config).format
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if found != native.NAME or head.startswith((b"\x1f\x8b", b"PK\x03\x04")):
            raise _not_cut(path, "packed" if found == native.NAME else found)
        if head.startswith(PARQUET):
            parts += _row_parts(path)
        elif shape_of(head_of(path, _HEAD)) == "lines":
            parts += _line_parts(path, part_bytes)
        else:
            raise _not_cut(path, "one document")
    return parts


def traces_of_part(
    part: FilePart, numbers: Mapping[int, int], config: Config
) -> Iterator[Trace | InputError]:
    """The traces of a part; ``numbers`` has which number of its id a trace is, where not the first.

    Its keys are places among the traces of the part.
    """
    records = read_part(part, config.max_record_bytes)
    at = 0
    for item in native.read(records, part.path.name):
        if isinstance(item, Trace):
            yield numbered(item, numbers.get(at, 1))
            at += 1
        else:
            yield item


def lines_in(part: FilePart) -> int:
    """How many lines, or rows, a part has."""
    if part.rows:
        return part.end - part.start
    with part.path.open("rb") as file:
        file.seek(part.start)
        return file.read(part.end - part.start).count(b"\n")


def _row_parts(path: Path) -> list[FilePart]:
    parts, start = [], 0
    for rows in row_groups(path):
        parts.append(FilePart(path=path, start=start, end=start + rows, rows=True))
        start += rows
    return parts


def _line_parts(path: Path, part_bytes: int) -> list[FilePart]:
    """Cut behind the first line that ends at or after each multiple of ``part_bytes``."""
    parts, start, size = [], 0, path.stat().st_size
    with path.open("rb") as file:
        while start < size:
            file.seek((start // part_bytes + 1) * part_bytes - 1)
            file.readline()
            end = min(file.tell(), size)
            parts.append(FilePart(path=path, start=start, end=end, rows=False))
            start = end
    return parts


def _not_cut(path: Path, found: str) -> UnknownFormat:
    return UnknownFormat(
        "only native traces in JSON Lines that are not packed, or in Parquet, are read in parts; "
        f"found {found}; `provenanceguard convert --to native` makes such a file",
        file=str(path),
    )
