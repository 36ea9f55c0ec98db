"""OpenAI Responses: requests with their responses, chained by ``previous_response_id``.

A hosted ``mcp_call`` is call and output in one item; ``call_id``, not ``id``, ties a local call to its
output; annotations of the answer are its citations.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.capture.answers import AnswersSeen
from core.capture.conversations import answers_of
from core.capture.files import FileRecord
from core.capture.messages import Messages
from core.capture.turns import Called, Returned, Said, Turn
from core.codec import json_kind
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "responses"

_REMEMBERED = 2_000  # responses that a later record may continue
_USED = ("input", "output", "id", "object", "previous_response_id")
_ITEM_TYPES = (
    "function_call",
    "mcp_call",
    "web_search_call",
    "file_search_call",
    "custom_tool_call",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A record whose calls were not answered yet, or that a later one may continue."""

    record: Mapping[str, object]
    turns: tuple[Turn, ...]
    unknown: tuple[str, ...]
    line: int
    notes: tuple[str, ...]
    complete: bool


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are Responses API records."""
    best = 0.0
    for value in values:
        response = _response(value)
        if response is None:
            items = _items_of(value.get("input")) if isinstance(value, Mapping) else []
            if any(_item_type(item) in _ITEM_TYPES for item in items):
                best = max(best, 0.8)
            continue
        items = _items_of(response.get("output"))
        if response.get("object") == "response" or any(
            _item_type(item) in (*_ITEM_TYPES, "mcp_list_tools", "reasoning") for item in items
        ):
            best = max(best, 0.95)
        elif any(_item_type(item) == "message" for item in items):
            best = max(best, 0.9)
    return best


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """The traces of each chain of responses; one whose calls are answered later waits for that."""
    known: OrderedDict[str, _Held] = OrderedDict()
    seen = AnswersSeen()
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        try:
            held, identity, earlier = _held(record, known)
        except BadRecord as error:
            yield BadRecord(error.message, file=file, line=record.line, path=error.path)
            continue
        if earlier and not known[earlier].complete:
            del known[earlier]  # it goes on in this record
        if held.complete:
            yield from _traces(held, file, seen)
        known[identity or f"line {record.line}"] = held
        if len(known) > _REMEMBERED:
            _, oldest = known.popitem(last=False)
            if not oldest.complete:
                yield from _traces(oldest, file, seen)
    for held in known.values():
        if not held.complete:
            yield from _traces(held, file, seen)


def _held(record: FileRecord, known: Mapping[str, _Held]) -> tuple[_Held, str | None, str | None]:
    if not isinstance(record.value, Mapping):
        raise BadRecord(f"expected an object, found {json_kind(record.value)}")
    response = _response(record.value)
    request = record.value.get("request")
    asked: Mapping[str, object] = request if isinstance(request, Mapping) else record.value
    if response is None and "input" not in asked:
        raise BadRecord("neither input nor output", path="output")
    previous = asked.get("previous_response_id") or (response or {}).get("previous_response_id")
    earlier = previous if isinstance(previous, str) and previous in known else None
    messages = Messages()
    if earlier:
        messages.turns.extend(known[earlier].turns)
        messages.unknown.update(dict.fromkeys(known[earlier].unknown))
    _input(asked.get("input"), messages)
    open_before = len(messages.turns)
    for index, item in enumerate(_items_of((response or {}).get("output"))):
        messages.read(item, f"output[{index}]")
    turns = messages.turns
    new = turns[open_before:]
    answered = {turn.call_id for turn in new if isinstance(turn, Returned)}
    waiting = any(isinstance(turn, Called) and turn.call_id not in answered for turn in new)
    if waiting:  # what was said beside the calls is no answer
        turns[open_before:] = [
            dataclasses.replace(turn, calls_tools=True) if isinstance(turn, Said) else turn
            for turn in new
        ]
    identity = (response or {}).get("id")
    held = _Held(
        record=record.value,
        turns=tuple(turns),
        unknown=tuple(messages.unknown),
        line=record.line,
        notes=record.notes,
        complete=not waiting,
    )
    return held, identity if isinstance(identity, str) else None, earlier


def _traces(held: _Held, file: str, seen: AnswersSeen) -> Iterator[Trace]:
    messages = Messages()
    messages.turns.extend(held.turns)
    messages.unknown.update(dict.fromkeys(held.unknown))
    origin = Origin(format=NAME, file=file, line=held.line)
    yield from answers_of(held.record, messages, origin, held.notes, seen, used=_USED)


def _response(value: object) -> Mapping[str, object] | None:
    """The response object of a record: the record itself or its ``response``."""
    if not isinstance(value, Mapping):
        return None
    for candidate in (value.get("response"), value):
        if isinstance(candidate, Mapping) and isinstance(candidate.get("output"), list):
            items = candidate["output"]
            if candidate.get("object") == "response" or any(_item_type(item) for item in items):
                return candidate
    return None


def _items_of(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _item_type(item: object) -> str:
    if not isinstance(item, Mapping) or "parts" in item:
        return ""
    kind = item.get("type")
    return kind if isinstance(kind, str) else "message" if "role" in item else ""


def _input(value: object, messages: Messages) -> None:
    if isinstance(value, str):
        messages.read({"role": "user", "content": value}, "input")
        return
    if value is not None and not isinstance(value, list):
        raise BadRecord(f"expected text or items, found {json_kind(value)}", path="input")
    for index, item in enumerate(_items_of(value)):
        messages.read(item, f"input[{index}]")
