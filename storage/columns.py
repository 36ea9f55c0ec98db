"""Column types: UTC instants, and text that every engine accepts; rows as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import TypeAdapter
from sqlalchemy import DateTime, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware instant in UTC; raises ValueError for a naive one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The instant in UTC."""
        if value is None:
            return None
        if value.tzinfo is None or value.utcoffset() is None:
            raise ValueError(f"expected a time with its zone, found {value.isoformat()}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The instant in UTC; SQLite gives back a naive one, which is what we wrote."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class PlainText(TypeDecorator[str]):
    """Text without NUL and lone surrogates, in statements and rows alike.

    PostgreSQL refuses both and SQLite's LIKE stops at a NUL. The exact text is in the JSON
    document of the row, where both are escaped; these columns are for finding and listing.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """The text with NUL shown as ␀ and what UTF-8 cannot hold as �."""
        return None if value is None else plain_text(value)


def plain_text(value: str) -> str:
    """``value`` with NUL shown as ␀ and lone surrogates as �."""
    return value.replace("\x00", "␀").encode("utf-8", "surrogatepass").decode("utf-8", "replace")


Record = TypeVar("Record")
Key = TypeVar("Key")
ROWS_AT_ONCE = 500


def in_pieces(keys: Sequence[Key], size: int = ROWS_AT_ONCE) -> Iterator[Sequence[Key]]:
    """The keys in stretches of at most ``size``: a statement holds a limited number of values."""
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def read_as(kind: type[Record], row: Any) -> Record:
    """The row as a record of that kind: each field is the column of its name, a choice its value."""
    read: Record = _ADAPTER(kind).validate_python(dict(row._mapping))  # type: ignore[arg-type]
    return read


_ADAPTER = lru_cache(TypeAdapter)  # made once for each kind
