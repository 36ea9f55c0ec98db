"""Records in a Parquet file: one JSON text a row, in the column ``trace``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.capture.record_stream import Pieces, too_long
from core.errors import BadRecord, UnreadableFile

PARQUET = b"PAR1"  # how such a file begins
COLUMN = "trace"
_ROWS_AT_ONCE = 64


def read_rows(path: Path, limit: int, start: int = 0, end: int | None = None) -> Pieces:
    """Rows [start, end) counted from 1, as JSON texts of ``limit`` bytes at most.

    Row groups outside the range are not read. Raises UnreadableFile for a damaged file, or one
    without the column.
    """
    number = 0
    for group, rows in enumerate(row_groups(path)):
        first, number = number, number + rows
        if number <= start or (end is not None and first >= end):
            continue
        for row, text in enumerate(_texts(path, group), first):
            if row >= start and (end is None or row < end):
                yield row + 1, _record(text, limit)


def row_groups(path: Path) -> list[int]:
    """How many rows each group of the file has; raises UnreadableFile."""
    import pyarrow

    try:
        file = _opened(path)
        if COLUMN not in file.schema_arrow.names:
            raise UnreadableFile(f"Parquet without a column {COLUMN!r} of JSON texts")
        groups = file.metadata.num_row_groups
        return [file.metadata.row_group(at).num_rows for at in range(groups)]
    except pyarrow.ArrowException as error:
        raise UnreadableFile(f"damaged Parquet ({type(error).__name__})") from None


def _texts(path: Path, group: int) -> Iterator[object]:
    import pyarrow

    try:
        for batch in _opened(path).iter_batches(
            batch_size=_ROWS_AT_ONCE, row_groups=[group], columns=[COLUMN]
        ):
            column = batch.column(0)
            text = pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(
                column.type
            )
            # As bytes: what is not UTF-8 costs its row, as in every other file.
            yield from (column.cast(pyarrow.large_binary()) if text else column).to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableFile(
            f"damaged Parquet ({type(error).__name__}); what came before was read"
        ) from None


def _record(text: object, limit: int) -> bytes | BadRecord:
    if not isinstance(text, bytes):
        return BadRecord(f"{COLUMN}: expected a JSON text, found {type(text).__name__}")
    return too_long(len(text), limit) if len(text) > limit else text


def _opened(path: Path) -> Any:
    # Imported here: nearly every file is JSON.
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(path)
