"""JSON values as the types of the records and back: every refusal names the path and what was found."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from core.errors import BadRecord
from core.records import (
    Alignment,
    Attribution,
    Check,
    Features,
    JsonObject,
    Premise,
    RankedSource,
    RawRange,
    Route,
    Source,
    Span,
    Support,
    Trace,
)

Record = TypeVar("Record")
Read = Callable[[object, str], Any]  # a value and its path to what it is; raises BadRecord

# Where a document names a field otherwise than its record does.
_KEYS: Mapping[type, Mapping[str, str]] = {
    Features: {"categorical": "categorical_features", "numeric": "numeric_features"},
    RankedSource: {"probabilities": "nli"},
    Route: {"score": "route_score", "margin": "routing_margin"},
}
# Left out while they say nothing, so that older documents keep their bytes and hashes.
_LEFT_OUT: Mapping[type, Mapping[str, object]] = {
    Alignment: {"source_tokens": ()},
    Attribution: {"probable": False},
    Premise: {"call": ""},
    Source: {"call_place": None},
    Support: {"review_from": None, "threshold_kind": None, "together": None},
    Trace: {"earlier": ()},
}
# Asked of a document although the record has a default, which would let more through.
_ASKED: Mapping[type, frozenset[str]] = {
    Check: frozenset({"veto", "facts"}),
    Source: frozenset({"status"}),
}
_SCALARS: Mapping[object, tuple[type | tuple[type, ...], str]] = {
    str: (str, "text"),
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),  # a whole one stays whole, so that it is written so again
}


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text. ValueError on NaN."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


def record_document(record: object) -> dict[str, Any]:
    """A record as a JSON object, its fields in their order; ``read_record`` gives it back."""
    kind: Any = type(record)
    document: dict[str, Any] = {}
    left_out = _LEFT_OUT.get(kind, {})
    for name, key in _keys(kind):
        value = getattr(record, name)
        if name not in left_out or value != left_out[name]:
            document[key] = plain(value)
    return document


def read_record(kind: type[Record], document: object, path: str = "") -> Record:
    """The record that ``record_document`` wrote; raises BadRecord naming the path of a wrong value.

    Null and a field that is not there are the same: the default where the record has one.
    """
    record: Record = _reader(cast(Any, kind))(document, path)
    return record


class Fields:
    """Typed access to one JSON object, for documents that are not one record."""

    def __init__(self, value: JsonObject, path: str) -> None:
        self.value, self.path = value, path

    def at(self, key: str) -> str:
        """The path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def get(self, key: str) -> object:
        """The value as it is, None where there is none."""
        return self.value.get(key)

    def read(self, kind: Any, key: str) -> Any:
        """The value as a scalar, an enumeration, a record, or a tuple or mapping of such."""
        return _reader(kind)(self.get(key), self.at(key))

    def wrong(self, key: str, expected: str) -> BadRecord:
        """The refusal of a field."""
        return _wrong(expected, self.get(key), self.at(key))

    def string(self, key: str) -> str:
        """A text."""
        return str(self.read(str, key))

    def optional_string(self, key: str) -> str | None:
        """A text, or None."""
        return None if self.get(key) is None else self.string(key)

    def sequence(self, key: str) -> Sequence[object]:
        """The items of a list; none where there is no list."""
        return () if self.get(key) is None else _list(self.get(key), self.at(key))

    def tuple_of(self, kind: type[Record], key: str) -> tuple[Record, ...]:
        """The items of a list, each read as ``kind``; none where there is no list."""
        return () if self.get(key) is None else self.read(tuple[kind, ...], key)  # type: ignore[valid-type]

    def objects(self, key: str) -> list[Fields]:
        """The objects of a list that may be missing."""
        return [
            Fields(_object(item, path), path)
            for index, item in enumerate(self.sequence(key))
            for path in [f"{self.at(key)}[{index}]"]
        ]

    def items(self, key: str) -> list[Fields]:
        """The objects of a list that must be there."""
        _list(self.get(key), self.at(key))
        return self.objects(key)

    def nested(self, key: str) -> Fields:
        """The fields of an object that must be there."""
        return Fields(_object(self.get(key), self.at(key)), self.at(key))

    def optional_object(self, key: str) -> Fields | None:
        """The fields of an object, or None."""
        return None if self.get(key) is None else self.nested(key)

    def unknown(self, known: frozenset[str]) -> JsonObject:
        """The fields that have no place in a record, as they came."""
        return {key: value for key, value in self.value.items() if key not in known}


def json_kind(value: object) -> str:
    """What a reader calls a JSON value: null, text, a number, a list, an object, true or false."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else type(value).__name__


@cache
def _keys(kind: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a record, each with its name in a document."""
    renamed = _KEYS.get(kind, {})
    return tuple((field.name, renamed.get(field.name, field.name)) for field in fields(kind))


def plain(value: object) -> Any:
    """A value as JSON: a record as its document, a span as [start, end], a choice as its value."""
    if isinstance(value, Span):
        return [value.start, value.end]
    if isinstance(value, RawRange):
        return [value.text.start, value.text.end, value.raw_start, value.raw_end]
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    return record_document(value) if is_dataclass(value) else value


@cache
def _reader(kind: Any) -> Read:
    """What reads a JSON value as ``kind``, made once."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        (read,) = (_reader(each) for each in inner if each is not NoneType)
        return lambda value, path: None if value is None else read(value, path)
    if origin is tuple:
        item = _reader(inner[0])
        return lambda value, path: tuple(
            item(each, f"{path}[{index}]") for index, each in enumerate(_list(value, path))
        )
    if origin is Mapping:
        item = _reader(inner[1])
        return lambda value, path: {
            key: item(each, f"{path}.{key}") for key, each in _object(value, path).items()
        }
    if kind is object:
        return lambda value, path: value
    if kind is Span:
        return lambda value, path: _span(*_whole_numbers(value, 2, path))
    if kind is RawRange:
        return lambda value, path: _raw_range(*_whole_numbers(value, 4, path))
    if kind in _SCALARS:
        types, expected = _SCALARS[kind]
        return lambda value, path: _scalar(value, types, expected, path)
    return _choice_reader(kind) if issubclass(kind, StrEnum) else _record_reader(kind)


def _record_reader(kind: Any) -> Read:
    hints = get_type_hints(kind)
    shape = [(name, key, _reader(hints[name])) for name, key in _keys(kind)]
    optional = {
        field.name
        for field in fields(kind)
        if field.default is not MISSING or field.default_factory is not MISSING
    } - _ASKED.get(kind, frozenset())

    def read(value: object, path: str) -> Any:
        document = _object(value, path)
        inside = f"{path}." if path else ""
        return kind(
            **{
                name: field(found, inside + key)
                for name, key, field in shape
                if (found := document.get(key)) is not None or name not in optional
            }
        )

    return read


def _choice_reader(kind: Any) -> Read:
    def read(value: object, path: str) -> Any:
        try:
            return kind(_scalar(value, str, "text", path))
        except ValueError:
            # The text itself is not quoted: it may be a patient's.
            raise BadRecord(f"expected one of {', '.join(kind)}", path=path) from None

    return read


def _scalar(value: object, types: type | tuple[type, ...], expected: str, path: str) -> object:
    if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
        raise _wrong(expected, value, path)
    return value


def _list(value: object, path: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise _wrong("a list", value, path)
    return value


def _object(value: object, path: str) -> JsonObject:
    if not isinstance(value, Mapping):
        raise _wrong("an object", value, path)
    return value


def _whole_numbers(value: object, count: int, path: str) -> list[int]:
    row = [item for item in _list(() if value is None else value, path) if isinstance(item, int)]
    if len(row) != count:
        raise _wrong(f"{count} whole numbers", value, path)
    return row


def _span(start: int, end: int) -> Span:
    return Span(start=start, end=end)


def _raw_range(start: int, end: int, raw_start: int, raw_end: int) -> RawRange:
    return RawRange(text=_span(start, end), raw_start=raw_start, raw_end=raw_end)


def _wrong(expected: str, value: object, path: str) -> BadRecord:
    return BadRecord(f"expected {expected}, found {json_kind(value)}", path=path)
