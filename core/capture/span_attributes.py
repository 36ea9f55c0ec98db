"""The attributes of a span as they are written in the field, made one shape."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from core.capture.files import WrittenNumber

Attributes = Mapping[str, object]


def attributes_of(value: Mapping[str, object]) -> Attributes:
    """The attributes of a span as plain values under dotted names, however they were exported."""
    given = value.get("attributes", value.get("span_attributes"))
    if isinstance(given, list):  # OTLP: [{key, value: {stringValue: …}}]
        return {str(mapping(item).get("key")): plain(mapping(item).get("value")) for item in given}
    if isinstance(given, str):
        given = parsed(given)
    if isinstance(given, Mapping):
        return flat(given)
    prefix = "attributes."
    return {key.removeprefix(prefix): item for key, item in value.items() if key.startswith(prefix)}


def flat(value: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Nested objects as dotted names; lists stay as they are."""
    found: dict[str, object] = {}
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            found.update(flat(item, f"{prefix}{key}."))
            found[f"{prefix}{key}"] = item
        else:
            found[f"{prefix}{key}"] = item
    return found


def plain(value: object) -> object:
    """An OTLP value without its type wrapper."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if len(value) == 1:
        ((kind, inner),) = value.items()
        if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
            return inner
        if kind == "intValue":
            return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdigit() else inner
        if kind == "arrayValue":
            return [plain(item) for item in items_of(mapping(inner).get("values"))]
        if kind == "kvlistValue":
            return {
                str(mapping(item).get("key")): plain(mapping(item).get("value"))
                for item in items_of(mapping(inner).get("values"))
            }
    return {key: plain(item) for key, item in value.items()}


def parsed(value: object) -> object:
    """JSON text as its value, everything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, parse_float=WrittenNumber)
    except (ValueError, RecursionError):
        return value


def indexed(attributes: Attributes, prefix: str) -> list[dict[str, object]]:
    """``prefix.0.role``, ``prefix.0.content`` … as a list of objects with dotted names."""
    whole = parsed(attributes.get(prefix.rstrip(".")))
    if isinstance(whole, list):
        return [flat(item) for item in whole if isinstance(item, Mapping)]
    rows: dict[int, dict[str, object]] = {}
    for key, value in attributes.items():
        if not key.startswith(prefix):
            continue
        index, dot, rest = key.removeprefix(prefix).partition(".")
        if dot and index.isdigit():
            rows.setdefault(int(index), {})[rest] = value
    return [rows[index] for index in sorted(rows)]


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def items_of(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
