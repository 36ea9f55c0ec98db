"""Values of captured records, which promise nothing: what is not of the kind asked for is not there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from core.capture.files import WrittenNumber, write_json
from core.codec import json_kind
from core.errors import BadRecord
from core.records import JsonObject

_ID_KEYS = (
    "question_id", "trace_id", "task_id",
    "id", "uuid", "conversation_id", "thread_id", "session_id", "run_id",
)  # fmt: skip


def mapping(value: object) -> JsonObject:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items_of(value: object) -> Sequence[object]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def objects_in(value: object) -> list[JsonObject]:
    """The objects of a list, nothing else of it."""
    return [item for item in items_of(value) if isinstance(item, Mapping)]


def at(value: object, *path: str | int) -> object:
    """What stands under keys and places, one in the other; None where anything is missing."""
    for step in path:
        if isinstance(step, str):
            value = mapping(value).get(step)
        else:
            items = items_of(value)
            value = items[step] if -len(items) <= step < len(items) else None
    return value


def first_in(value: object, keys: Iterable[str]) -> object:
    """The first of the fields that is there and not null."""
    fields = mapping(value)
    return next((fields[key] for key in keys if fields.get(key) is not None), None)


def text_in(value: object, *keys: str) -> str | None:
    """The first of the fields that holds a text."""
    fields = mapping(value)
    return next((x for key in keys if isinstance(x := fields.get(key), str) and x), None)


def parsed(value: object) -> object:
    """The object or list that a JSON text says; everything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value, parse_float=WrittenNumber)
    except (ValueError, RecursionError):
        return value


def unquoted(value: object) -> object:
    """A text that was written as JSON, in quotes, as it was; everything else as it is."""
    if not isinstance(value, str) or len(value) < 2 or not value[0] == value[-1] == '"':
        return value
    try:
        text = json.loads(value, strict=False)
    except ValueError:
        return value
    return text if isinstance(text, str) else value


def written(value: object) -> str:
    """A captured value as text: strings as they are, the rest as JSON with numbers as written."""
    return value if isinstance(value, str) else write_json(value)


def written_or_none(value: object) -> str | None:
    """The same, and None for what was not captured."""
    return None if value is None else written(value)


def search_result(address: object, title: object, *texts: str) -> JsonObject:
    """A document that a call found, as the block that makes it a source under its own address."""
    return {
        "type": "search_result",
        **({"source": str(address)} if address is not None else {}),
        **({"title": title} if isinstance(title, str) else {}),
        "content": [{"type": "text", "text": text} for text in texts],
    }


def retrieved(identity: object, metadata: object, text: object) -> JsonObject:
    """A document of a retriever as a search result, under its id or the address in its metadata."""
    fields = mapping(parsed(metadata))
    address = identity or fields.get("source") or fields.get("url")
    return search_result(address, fields.get("title"), str(text or ""))


def unexpected(expected: str, found: object, path: str | None = None) -> BadRecord:
    """The refusal of a value that is of another kind."""
    return BadRecord(f"expected {expected}, found {json_kind(found)}", path=path)


def trace_id_of(record: JsonObject) -> str | None:
    """What the first of ``id_key``'s keys holds, a ``task_id`` with its trial; None without any."""
    key = id_key(record)
    if key is None:
        return None
    value, trial = record[key], record.get("trial")
    return f"{value}::{trial}" if key == "task_id" and trial is not None else str(value)


def id_key(record: JsonObject) -> str | None:
    """The field that names a record: what it says of its trace first, then of itself, then of its talk.

    Records of one file with the same id are told apart by number when the file is read.
    """
    for key in _ID_KEYS:
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return key
    return None
