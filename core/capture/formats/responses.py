"""OpenAI Responses: requests with their responses, chained by ``previous_response_id``.

A hosted ``mcp_call`` is call and output in one item; ``call_id``, not ``id``, ties a local call to its
output; annotations of the answer are its citations.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.capture.carried import CARRIED, PlainRun
from core.capture.conversations import AnswersSeen, answers_of
from core.capture.files import FileRecord, each
from core.capture.messages import Messages
from core.capture.turns import Called, CapturedCall, Returned, Said
from core.capture.values import at, items_of, mapping, unexpected
from core.errors import BadRecord, InputError
from core.records import JsonObject, Origin, Trace

NAME = "responses"

_REMEMBERED = 2_000  # responses that a later record may continue
_USED = ("input", "output", "id", "object", "previous_response_id")
_ITEM_TYPES = (
    "function_call", "mcp_call", "web_search_call", "file_search_call", "custom_tool_call",
)  # fmt: skip
_OTHER_TYPES = {"mcp_list_tools", "reasoning"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A record whose calls were not answered yet, or that a later one may continue."""

    record: JsonObject
    messages: Messages
    origin: Origin
    notes: tuple[str, ...]
    complete: bool
    identity: str | None
    earlier: str | None

    def traces(self, seen: AnswersSeen) -> Iterator[Trace]:
        return answers_of(self.record, self.messages, self.origin, self.notes, seen, used=_USED)


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record is of the Responses API."""
    response = _response(value)
    holder = mapping(value).get("input") if response is None else response.get("output")
    kinds = {_item_type(item) for item in items_of(holder)}
    acting = not kinds.isdisjoint(_ITEM_TYPES)
    if response is None:
        return 0.8 if acting else 0.0
    if response.get("object") == "response" or acting or kinds & _OTHER_TYPES:
        return 0.95
    return 0.9 if "message" in kinds else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each chain of responses; one whose calls are answered later waits for that."""
    known: OrderedDict[str, _Held] = OrderedDict()
    seen = AnswersSeen()

    def take(record: FileRecord) -> Iterator[Trace]:
        held = _held(record, known, file)
        if held.earlier and not known[held.earlier].complete:
            del known[held.earlier]  # it goes on in this record
        if held.complete:
            yield from held.traces(seen)
        known[held.identity or f"line {record.line}"] = held
        if len(known) > _REMEMBERED:
            _, oldest = known.popitem(last=False)
            if not oldest.complete:
                yield from oldest.traces(seen)

    yield from each(records, file, take)
    for held in known.values():
        if not held.complete:
            yield from held.traces(seen)


def _held(record: FileRecord, known: Mapping[str, _Held], file: str) -> _Held:
    value = record.value
    if not isinstance(value, Mapping):
        raise unexpected("an object", value)
    response = _response(value)
    request = value.get("request")
    asked = request if isinstance(request, Mapping) else value
    if response is None and "input" not in asked:
        raise BadRecord("neither input nor output", path="output")
    previous = asked.get("previous_response_id") or at(response, "previous_response_id")
    earlier = previous if isinstance(previous, str) and previous in known else None
    messages = Messages()
    if earlier:
        messages.turns.extend(known[earlier].messages.turns)
        messages.unknown.update(known[earlier].messages.unknown)
    _input(asked.get("input"), messages)
    turns, before = messages.turns, len(messages.turns)
    for index, item in enumerate(items_of(at(response, "output"))):
        messages.read(item, f"output[{index}]")
    new = turns[before:]
    answered = {turn.call_id for turn in new if isinstance(turn, Returned)}
    waiting = any(isinstance(turn, Called) and turn.call_id not in answered for turn in new)
    if waiting:  # what was said beside the calls is no answer
        turns[before:] = [
            dataclasses.replace(turn, calls_tools=True) if isinstance(turn, Said) else turn
            for turn in new
        ]
    identity = at(response, "id")
    return _Held(
        record=value,
        messages=messages,
        origin=Origin(format=NAME, file=file, line=record.line),
        notes=record.notes,
        complete=not waiting,
        identity=identity if isinstance(identity, str) else None,
        earlier=earlier,
    )


def _response(value: object) -> JsonObject | None:
    """The response object of a record: the record itself or its ``response``."""
    for candidate in (mapping(at(value, "response")), mapping(value)):
        items = candidate.get("output")
        named = candidate.get("object") == "response"
        if isinstance(items, list) and (named or any(map(_item_type, items))):
            return candidate
    return None


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
        raise unexpected("text or items", value, "input")
    for index, item in enumerate(items_of(value)):
        messages.read(item, f"input[{index}]")


def write(run: PlainRun) -> JsonObject:
    """The request that holds the calls and their outputs, and the response where there is an answer."""
    asked: list[JsonObject] = []
    if run.question:
        asked.append({"type": "message", "role": "user", "content": run.question})
    items = [item for call in run.calls for item in _items(call)]
    record: dict[str, object] = {"trace_id": run.trace_id, "request": {"input": [*asked, *items]}}
    if run.answer is not None:
        record["response"] = _reply(run.answer)
    return {**record, CARRIED: run.carried}


def _items(call: CapturedCall) -> Iterator[JsonObject]:
    """A call to a named server is a hosted ``mcp_call``, call and output in one item."""
    given = {"name": call.tool, "arguments": call.arguments or "{}"}
    if call.server:
        named = {"type": "mcp_call", "id": call.call_id, "server_label": call.server}
        status = "failed" if call.failed else "completed"
        yield {**named, **given, "output": call.output, "status": status}
        return
    yield {"type": "function_call", "call_id": call.call_id, **given}
    if call.output is not None:
        status = "incomplete" if call.truncated else "completed"
        named = {"type": "function_call_output", "call_id": call.call_id}
        yield {**named, "output": call.output, "status": status}


def _reply(answer: str) -> JsonObject:
    text = {"type": "output_text", "text": answer, "annotations": []}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0.0,
        "model": "unknown",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
