"""OpenAI Responses: requests with their responses, chained by ``previous_response_id``.

A hosted ``mcp_call`` is call and output in one item; ``call_id``, not ``id``, ties a local call to its
output; annotations of the answer are its citations.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCitation, CapturedRun, id_key, trace_id_of, written
from core.capture.turns import Called, Returned, Said, Turn, read_conversation
from core.codec import json_kind
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "responses"

_REMEMBERED = 2_000  # responses that a later record may continue
_INLINE = ("output", "results", "outputs", "result")
_NO_EVIDENCE = {
    "reasoning", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response", "item_reference",
    "compaction", "image_generation_call",
}  # fmt: skip
_USED = {
    "input", "output", "request", "response", "question_id", "trace_id", "task_id", "trial",
    "question", "category", "id", "object", "previous_response_id", CARRIED,
}  # fmt: skip
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
    turns = list(known[earlier].turns) if earlier else []
    turns.extend(_input(asked.get("input")))
    open_before = len(turns)
    for index, item in enumerate(_items_of((response or {}).get("output"))):
        turns.extend(_item(item, f"output[{index}]"))
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
        line=record.line,
        notes=record.notes,
        complete=not waiting,
    )
    return held, identity if isinstance(identity, str) else None, earlier


def _traces(held: _Held, file: str, seen: AnswersSeen) -> Iterator[Trace]:
    talk = read_conversation(held.turns, None)
    record = held.record
    question = record.get("question")
    run = CapturedRun(
        origin=Origin(format=NAME, file=file, line=held.line),
        trace_id=trace_id_of(record),
        question=question if isinstance(question, str) else talk.question,
        answer=talk.answer,
        earlier=talk.earlier,
        calls=talk.calls,
        category=_text(record, "category"),
        citations=talk.citations,
        notices=(*held.notes, *talk.notices),
        extra={key: item for key, item in record.items() if key not in _USED | {id_key(record)}},
        carried=record.get(CARRIED),
    )
    yield from traces_of_conversation(run, held.turns, None, seen)


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
    if not isinstance(item, Mapping):
        return ""
    kind = item.get("type")
    return kind if isinstance(kind, str) else "message" if "role" in item else ""


def _input(value: object) -> Iterator[Turn]:
    if isinstance(value, str):
        yield Said(role="user", text=value)
        return
    if value is not None and not isinstance(value, list):
        raise BadRecord(f"expected text or items, found {json_kind(value)}", path="input")
    for index, item in enumerate(_items_of(value)):
        yield from _item(item, f"input[{index}]")


def _item(item: object, path: str) -> Iterator[Turn]:
    if not isinstance(item, Mapping):
        raise BadRecord(f"expected an object, found {json_kind(item)}", path=path)
    kind = _item_type(item)
    if kind == "message":
        yield from _message(item, path)
    elif kind.endswith("_call_output"):
        yield Returned(
            call_id=_text(item, "call_id") or _text(item, "id"),
            output=_output(item.get("output")),
            tool=_text(item, "name"),
            failed=item.get("status") == "failed",
            truncated=item.get("status") == "incomplete",
        )
    elif kind.endswith("_call"):
        yield from _call(item, kind)
    elif kind not in _NO_EVIDENCE:
        raise BadRecord(f"an item of the unknown type {item.get('type')!r}", path=f"{path}.type")


def _call(item: Mapping[str, object], kind: str) -> Iterator[Turn]:
    call_id = _text(item, "call_id") or _text(item, "id")
    arguments = next(
        (item[key] for key in ("arguments", "input", "action", "queries", "code") if key in item),
        None,
    )
    yield Called(
        tool=_text(item, "name") or kind.removesuffix("_call"),
        call_id=call_id,
        arguments=None if arguments is None else written(arguments),
        server=_text(item, "server_label") or _text(item, "namespace"),
    )
    error = item.get("error")
    if error is not None:
        yield Returned(call_id=call_id, output=written(error), failed=True)
        return
    for key in _INLINE:
        if item.get(key) is not None:
            yield Returned(
                call_id=call_id,
                output=_output(item[key]),
                failed=item.get("status") == "failed",
                truncated=item.get("status") == "incomplete",
            )
            return
    if kind not in ("function_call", "custom_tool_call", "local_shell_call", "shell_call"):
        # A hosted tool is answered in its own item or not at all.
        failed = item.get("status") == "failed"
        note = "the provider does not export what this hosted tool returned"
        yield Returned(call_id=call_id, output="" if failed else None, failed=failed, note=note)


def _output(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        text = value[0].get("text") or value[0].get("logs")
        if isinstance(text, str) and value[0].get("type") in (
            "input_text",
            "output_text",
            "text",
            "logs",
        ):
            return text
    return written(value)


def _message(item: Mapping[str, object], path: str) -> Iterator[Turn]:
    role = item.get("role")
    content = item.get("content")
    if isinstance(content, str):
        parts: list[object] = [{"text": content}]
    elif isinstance(content, list):
        parts = content
    else:
        raise BadRecord(
            f"expected text or parts, found {json_kind(content)}", path=f"{path}.content"
        )
    text = ""
    citations: list[CapturedCitation] = []
    for part in parts:
        said = part.get("text") or part.get("refusal") if isinstance(part, Mapping) else None
        if not isinstance(said, str) or not isinstance(part, Mapping):
            continue
        text += "\n" if text else ""
        citations.extend(_citations(part, len(text), len(said)))
        text += said
    if text.strip():
        speaker = {"developer": "system"}.get(str(role), str(role))
        yield Said(role=speaker, text=text, citations=tuple(citations))


def _citations(part: Mapping[str, object], start: int, length: int) -> Iterator[CapturedCitation]:
    for annotation in _items_of(part.get("annotations")):
        if not isinstance(annotation, Mapping):
            continue
        begin, end = annotation.get("start_index"), annotation.get("end_index")
        exact = isinstance(begin, int) and isinstance(end, int)
        url = _text(annotation, "url")
        title = _text(annotation, "title") or _text(annotation, "filename")
        yield CapturedCitation(
            start=start + begin if exact and isinstance(begin, int) else start,
            end=start + end if exact and isinstance(end, int) else start + length,
            text=title or url or "citation",
            url=url or _text(annotation, "file_id"),
        )


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None
