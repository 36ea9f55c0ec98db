"""Records in a Parquet file: one JSON text a row, in the column ``trace``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.capture.record_stream import Pieces, too_long
from core.errors import BadRecord, UnreadableFile

PARQUET = b"PAR1"  # how such a file begins
COLUMN = "trace"
_ROWS_AT_ONCE = 64


def read_rows(path: Path, limit: int) -> Pieces:
    """The rows, counted from 1, as JSON texts of ``limit`` bytes at most.

    Raises UnreadableFile for a damaged file, or one without the column.
    """
    for row, text in enumerate(_texts(path), 1):
        yield row, _record(text, limit)


def _texts(path: Path) -> Iterator[object]:
    # Imported here: nearly every file is JSON.
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(path)
        if COLUMN not in file.schema_arrow.names:
            raise UnreadableFile(f"Parquet without a column {COLUMN!r} of JSON texts")
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=[COLUMN]):
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
