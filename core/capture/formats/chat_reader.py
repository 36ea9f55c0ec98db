"""Chat-completions transcripts with tool calls: one record, one conversation.

Read generously, because exports differ: ``messages`` may be a list or JSON text, arguments an object
or text, calls may stand in ``tool_calls``, ``function_call``, turns of their own or ``<tool_call>``
tags, and the file may be one message a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.carried import CARRIED
from core.capture.files import FileRecord, parse_record
from core.capture.outputs import CapturedCitation, CapturedRun, id_key, trace_id_of, written
from core.capture.readable.nodes import Kind, NotStructured
from core.capture.readable.repr_text import parse_repr
from core.capture.refusing import traces_or_error
from core.capture.turns import Called, Returned, Said, Turn, read_conversation
from core.codec import json_kind
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "chat"

_TRANSCRIPT_KEYS = ("messages", "conversations", "conversation", "trajectory", "history", "turns")
_RESPONSE_KEYS = ("response", "final_response", "final_reply_to_user", "assistant_answer")
_ID_KEYS = ("question_id", "trace_id", "task_id")
_ROLES = {
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "gpt": "assistant",
    "user": "user", "human": "user", "system": "system", "developer": "system",
    "tool": "tool", "function": "tool", "tool_response": "tool", "tool_result": "tool",
    "tool_output": "tool", "observation": "tool", "environment": "tool", "ipython": "tool",
    "tool_call": "call", "function_call": "call", "tool_calls": "call",
}  # fmt: skip
_TAGGED_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.S)
_TAGGED_OUTPUT = re.compile(r"<tool_response>\s*(.*?)\s*(?:</tool_response>|\Z)", re.S)


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are chat transcripts."""
    best = 0.0
    for value in values:
        messages = _messages(value)
        if messages is None:
            if _is_message(value):
                best = max(best, 0.5)  # one message a line
            continue
        roles = [message for message in messages if _is_message(message)]
        if not roles:
            continue
        best = max(best, 0.5 if any(map(_has_foreign_blocks, roles)) else 0.8)
    return best


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """The traces of each transcript; a file of single messages is one transcript."""
    loose: list[FileRecord] = []
    read_all = partial(read_answers, seen=AnswersSeen())
    for record in records:
        if isinstance(record, InputError):
            yield record
        elif _is_message(record.value) and _messages(record.value) is None:
            loose.append(record)
        else:
            yield from traces_or_error(
                read_all,
                record.value,
                Origin(format=NAME, file=file, line=record.line),
                record.notes,
            )
    if loose:
        notes = tuple(dict.fromkeys(note for record in loose for note in record.notes))
        yield from traces_or_error(
            read_all,
            [record.value for record in loose],
            Origin(format=NAME, file=file, line=loose[0].line),
            notes,
        )


def read_trace(value: object, origin: Origin, notes: Sequence[str] = ()) -> Trace:
    """The trace of a transcript's answer; raises BadRecord naming the path of a wrong value."""
    *_, last = read_answers(value, origin, notes, seen=AnswersSeen())
    return last


def read_answers(
    value: object, origin: Origin, notes: Sequence[str] = (), *, seen: AnswersSeen
) -> Iterator[Trace]:
    """The traces of a transcript, that of its answer last; raises BadRecord."""
    record: Mapping[str, object] = value if isinstance(value, Mapping) else {"messages": value}
    messages = _messages(value)
    if messages is None:
        raise BadRecord(
            f"expected a list of messages, found {json_kind(record.get('messages'))}",
            path="messages",
        )
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        turns.extend(_turns(message, f"messages[{index}]"))
    response = _response(record, turns)
    talk = read_conversation(turns, response)
    question = record.get("question") or record.get("user_question")
    run = CapturedRun(
        origin=origin,
        trace_id=trace_id_of(record),
        question=question if isinstance(question, str) else talk.question,
        answer=talk.answer,
        earlier=talk.earlier,
        calls=talk.calls,
        citations=talk.citations,
        category=_text_field(record, "category"),
        route=_text_field(record, "route"),
        elapsed_seconds=_number_field(record, "elapsed_s"),
        notices=(*notes, *talk.notices),
        extra=_extra(record),
        carried=record.get(CARRIED),
    )
    yield from traces_of_conversation(run, turns, response, seen)


def _messages(value: object) -> list[object] | None:
    """The messages of a record, wherever they stand; None when it has none."""
    if isinstance(value, list):
        return value if value and all(isinstance(item, Mapping) for item in value) else None
    if not isinstance(value, Mapping):
        return None
    for key in _TRANSCRIPT_KEYS:
        found = value.get(key)
        if isinstance(found, str) and found.lstrip().startswith("["):
            try:
                found, _ = parse_record(found.encode("utf-8", "replace"))
            except BadRecord:
                continue
        if isinstance(found, list):
            return found
    for key in ("request", "body", "data", "trace"):
        inner = value.get(key)
        if isinstance(inner, Mapping) and isinstance(inner.get("messages"), list):
            return list(inner["messages"])
    return None


def _is_message(value: object) -> bool:
    if isinstance(value, Mapping) and "observation" in value and _role(value) is None:
        return any(key in value for key in ("action", "tool", "tool_name"))
    return (
        isinstance(value, Mapping)
        and _role(value) is not None
        and ("content" in value or "value" in value or "tool_calls" in value or "text" in value)
    )


def _role(message: Mapping[str, object]) -> str | None:
    for key in ("role", "from", "type"):
        role = message.get(key)
        if isinstance(role, str) and role.lower() in _ROLES:
            return _ROLES[role.lower()]
    return None


def _has_foreign_blocks(message: object) -> bool:
    """Whether a message holds the typed blocks of another provider's format."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and str(block.get("type")).endswith(("tool_use", "tool_result"))
        for block in content
    )


def _turns(message: object, path: str) -> Iterator[Turn]:
    if not isinstance(message, Mapping):
        raise BadRecord(f"expected an object, found {json_kind(message)}", path=path)
    role = _role(message)
    content = next((message[key] for key in ("content", "value", "text") if key in message), None)
    if role is None and "observation" in message:
        yield from _step(message)
        return
    if role is None:
        raise BadRecord(f"unknown role {message.get('role')!r}", path=f"{path}.role")
    if role == "tool":
        yield from _outputs(message, content)
        return
    if role == "call":
        yield from _spoken_calls(content, message)
        return
    if content is not None and not isinstance(content, str | list):
        raise BadRecord(
            f"expected text or parts, found {json_kind(content)}", path=f"{path}.content"
        )
    text = _text(content)
    if role == "user" and "<tool_response>" in text:
        for output in _TAGGED_OUTPUT.finditer(text):
            yield Returned(call_id=None, output=output[1])
        text = _TAGGED_OUTPUT.sub("", text).strip()
        if not text:
            return
    calls = list(_calls(message, path)) if role == "assistant" else []
    if role == "assistant" and "<tool_call>" in text:
        for tagged in _TAGGED_CALL.finditer(text):
            calls.extend(_spoken_calls(tagged[1], {}))
        text = _TAGGED_CALL.sub("", text).strip()
    if text.strip():
        yield Said(
            role=role,
            text=text,
            calls_tools=bool(calls),
            citations=tuple(_citations(message, len(text))),
        )
    yield from calls


def _step(step: Mapping[str, object]) -> Iterator[Turn]:
    """One step of an agent's log: a thought, an action with its input, and what was observed."""
    action = next((step[key] for key in ("action", "tool", "tool_name") if step.get(key)), None)
    if isinstance(action, Mapping):
        call = _call(action)
    else:
        given = ("action_input", "tool_input", "arguments", "args", "input", "parameters")
        arguments = next((step[key] for key in given if key in step), None)
        call = Called(
            tool=action if isinstance(action, str) else "unknown tool",
            call_id=None,
            arguments=None if arguments is None else written(arguments),
            server=_text_field(step, "server") or _text_field(step, "server_name"),
        )
    observed = step["observation"]
    yield call
    yield Returned(
        call_id=None, output=None if observed is None else written(observed), tool=call.tool
    )


def _text(content: object) -> str:
    """What a message says: its text, or the text parts of it, one below the other."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Mapping):
            text = part.get("text") or part.get("refusal")
            if isinstance(text, str):
                parts.append(text)
    return "\n".join(parts)


def _calls(message: Mapping[str, object], path: str) -> Iterator[Called]:
    calls = message.get("tool_calls")
    if isinstance(calls, Mapping):
        calls = [calls]
    if calls is not None and not isinstance(calls, list):
        raise BadRecord(f"expected a list, found {json_kind(calls)}", path=f"{path}.tool_calls")
    for index, call in enumerate(calls or ()):
        if not isinstance(call, Mapping):
            where = f"{path}.tool_calls[{index}]"
            raise BadRecord(f"expected an object, found {json_kind(call)}", path=where)
        yield _call(call)
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        yield _call({"function": legacy})


def _call(call: Mapping[str, object]) -> Called:
    function = call.get("function") or call.get("custom")
    inner: Mapping[str, object] = function if isinstance(function, Mapping) else call
    name = inner.get("name") or (function if isinstance(function, str) else None)
    arguments = next(
        (inner[key] for key in ("arguments", "args", "input", "parameters") if key in inner), None
    )
    call_id = call.get("id") or call.get("tool_call_id")
    return Called(
        tool=name if isinstance(name, str) and name else "unknown tool",
        call_id=str(call_id) if isinstance(call_id, str | int) else None,
        arguments=None if arguments is None else written(arguments),
        server=_text_field(call, "server") or _text_field(call, "server_name"),
    )


def _spoken_calls(content: object, message: Mapping[str, object]) -> Iterator[Called]:
    """Calls that were logged as text: JSON, or the repr of a dictionary."""
    value = content
    if isinstance(content, str):
        try:
            value, _ = parse_record(content.encode("utf-8", "replace"))
        except BadRecord:
            value = _from_repr(content)
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for item in value:
            yield _call(item)
    elif isinstance(value, Mapping):
        yield _call(value)
    else:
        name = _text_field(message, "name")
        yield Called(tool=name or "unknown tool", call_id=None, arguments=_text(content) or None)


def _from_repr(text: str) -> object:
    try:
        node = parse_repr(text).node
    except NotStructured:
        return None
    return {
        key: item.value if item.kind is Kind.STRING else text[item.start : item.end]
        for key, item in node.members
    }


def _outputs(message: Mapping[str, object], content: object) -> Iterator[Returned]:
    call_id = message.get("tool_call_id") or message.get("call_id")
    tool = _text_field(message, "name") or _text_field(message, "tool_name")
    if isinstance(content, str) and "<tool_response>" in content:
        for output in _TAGGED_OUTPUT.finditer(content):
            yield Returned(call_id=None, output=output[1], tool=None)
        return
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        only = content[0]
        if isinstance(only.get("text"), str) and only.get("type") in (
            "text",
            "output_text",
            "input_text",
            None,
        ):
            content = only["text"]
    yield Returned(
        call_id=str(call_id) if isinstance(call_id, str | int) else None,
        output="" if content is None else written(content),
        tool=tool,
        failed=message.get("is_error") is True
        or message.get("isError") is True
        or message.get("status") == "error",
    )


def _citations(message: Mapping[str, object], length: int) -> Iterator[CapturedCitation]:
    """The annotations of an answer; without a position they cover all of it."""
    annotations = message.get("annotations")
    for annotation in annotations if isinstance(annotations, list) else ():
        if not isinstance(annotation, Mapping):
            continue
        inner = annotation.get(str(annotation.get("type")))
        fields: Mapping[str, object] = inner if isinstance(inner, Mapping) else annotation
        start, end = fields.get("start_index"), fields.get("end_index")
        url = _text_field(fields, "url") or _text_field(fields, "uri")
        title = _text_field(fields, "title") or _text_field(fields, "filename") or url
        yield CapturedCitation(
            start=start if isinstance(start, int) else 0,
            end=end if isinstance(end, int) else length,
            text=title or "citation",
            url=url,
        )


def _response(record: Mapping[str, object], turns: list[Turn]) -> str | None:
    """The explicit final answer; a logged API response adds its message to the turns instead."""
    for key in _RESPONSE_KEYS:
        value = record.get(key)
        if isinstance(value, str) and value.strip():
            return value
    for holder in (record, record.get("response")):
        choices = holder.get("choices") if isinstance(holder, Mapping) else None
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, Mapping) else None
        if isinstance(message, Mapping):
            turns.extend(_turns({"role": "assistant", **message}, "choices[0].message"))
            return None
    return None


def _extra(record: Mapping[str, object]) -> dict[str, object]:
    used = {*_TRANSCRIPT_KEYS, *_ID_KEYS, *_RESPONSE_KEYS, "question", "user_question", "category"}
    used |= {"route", "elapsed_s", "request", "choices", "body", CARRIED}
    return {key: value for key, value in record.items() if key not in used | {id_key(record)}}


def _text_field(record: Mapping[str, object], key: str) -> str | None:
    value = record.get(key)
    return value if isinstance(value, str) and value else None


def _number_field(record: Mapping[str, object], key: str) -> float | None:
    value = record.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
