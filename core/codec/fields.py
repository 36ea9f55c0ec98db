"""Typed access to JSON values: every refusal names the path and the kind of what was found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from core.errors import BadRecord
from core.records import JsonObject, Span

Choice = TypeVar("Choice", bound=StrEnum)


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text. ValueError on NaN."""
    return json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


class Fields:
    """Typed access to one JSON object; every refusal names the path and what was found."""

    def __init__(self, value: JsonObject, path: str) -> None:
        self.value, self.path = value, path

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def get(self, key: str) -> object:
        return self.value.get(key)

    def wrong(self, key: str, expected: str) -> BadRecord:
        return BadRecord(
            f"expected {expected}, found {json_kind(self.get(key))}", path=self.at(key)
        )

    def string(self, key: str) -> str:
        value = self.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "text")
        return value

    def optional_string(self, key: str) -> str | None:
        return None if self.get(key) is None else self.string(key)

    def optional_integer(self, key: str) -> int | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, "a whole number")
        return value

    def optional_number(self, key: str) -> float | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.wrong(key, "a number")
        return value

    def integer(self, key: str) -> int:
        value = self.optional_integer(key)
        if value is None:
            raise self.wrong(key, "a whole number")
        return value

    def number(self, key: str) -> float:
        """The number as it was written: a whole one stays whole, so that it is written so again."""
        value = self.optional_number(key)
        if value is None:
            raise self.wrong(key, "a number")
        return value

    def boolean(self, key: str) -> bool:
        value = self.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def choice(self, kind: type[Choice], key: str) -> Choice:
        value = self.string(key)
        try:
            return kind(value)
        except ValueError:
            # The text itself is not quoted: it may be a patient's.
            expected = ", ".join(kind)
            raise BadRecord(f"expected one of {expected}", path=self.at(key)) from None

    def optional_choice(self, kind: type[Choice], key: str) -> Choice | None:
        return None if self.get(key) is None else self.choice(kind, key)

    def span(self, key: str) -> Span:
        start, end = self.integers(key, 2)
        return Span(start=start, end=end)

    def optional_span(self, key: str) -> Span | None:
        return None if self.get(key) is None else self.span(key)

    def spans(self, key: str) -> tuple[Span, ...]:
        return tuple(Span(start=start, end=end) for start, end in self.rows(key, 2))

    def items(self, key: str) -> list[Fields]:
        """The objects of a list that must be there."""
        if self.get(key) is None:
            raise self.wrong(key, "a list")
        return self.objects(key)

    def nested(self, key: str) -> Fields:
        found = self.optional_object(key)
        if found is None:
            raise self.wrong(key, "an object")
        return found

    def unknown(self, known: frozenset[str]) -> JsonObject:
        """The fields that have no place in a record, as they came."""
        return {key: value for key, value in self.value.items() if key not in known}

    def sequence(self, key: str) -> Sequence[object]:
        value = self.get(key)
        if value is None:
            return ()
        if not isinstance(value, list | tuple):
            raise self.wrong(key, "a list")
        return value

    def strings(self, key: str) -> list[str]:
        return [
            Fields({"item": item}, f"{self.at(key)}[{index}]").string("item")
            for index, item in enumerate(self.sequence(key))
        ]

    def numbers(self, key: str) -> list[float]:
        return [
            Fields({"item": item}, f"{self.at(key)}[{index}]").number("item")
            for index, item in enumerate(self.sequence(key))
        ]

    def objects(self, key: str) -> list[Fields]:
        found = []
        for index, item in enumerate(self.sequence(key)):
            path = f"{self.at(key)}[{index}]"
            if not isinstance(item, Mapping):
                raise BadRecord(f"expected an object, found {json_kind(item)}", path=path)
            found.append(Fields(item, path))
        return found

    def integers(self, key: str, count: int) -> list[int]:
        row = [item for item in self.sequence(key) if isinstance(item, int)]
        if len(row) != count:
            raise self.wrong(key, f"{count} whole numbers")
        return row

    def rows(self, key: str, count: int) -> list[list[int]]:
        return [
            Fields({"row": row}, f"{self.at(key)}[{index}]").integers("row", count)
            for index, row in enumerate(self.sequence(key))
        ]

    def mapping(self, key: str) -> JsonObject:
        value = self.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self.wrong(key, "an object")
        return dict(value)

    def optional_object(self, key: str) -> Fields | None:
        value = self.get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.wrong(key, "an object")
        return Fields(value, self.at(key))


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
