"""Transcripts: one record, one conversation, its messages of any dialect.

Read generously, because exports differ: the messages may be a list or JSON text under one of many
names, and the file may be one message a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from core.capture.answers import AnswersSeen
from core.capture.conversations import answers_of
from core.capture.files import FileRecord, parse_record
from core.capture.messages import Messages, is_message, text_in
from core.capture.refusing import traces_or_error
from core.codec import json_kind
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "chat"

_TRANSCRIPT_KEYS = (
    "messages", "conversations", "conversation", "trajectory", "history", "turns", "contents",
    "events", "new_messages", "all_messages",
)  # fmt: skip
_RESPONSE_KEYS = ("response", "final_response", "final_reply_to_user", "assistant_answer")
_USED = (*_TRANSCRIPT_KEYS, *_RESPONSE_KEYS, "choices", "candidates", "output", "body")


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are transcripts."""
    best = 0.0
    for value in values:
        messages = _messages(value)
        if messages is None:
            if is_message(value):
                best = max(best, 0.5)  # one message a line
        elif any(map(is_message, messages)):
            foreign = any(map(_has_foreign_blocks, messages))
            best = max(best, 0.5 if foreign else 0.8)
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
        elif is_message(record.value) and _messages(record.value) is None:
            loose.append(record)
        else:
            origin = Origin(format=NAME, file=file, line=record.line)
            yield from traces_or_error(read_all, record.value, origin, record.notes)
    if loose:
        notes = tuple(dict.fromkeys(note for record in loose for note in record.notes))
        origin = Origin(format=NAME, file=file, line=loose[0].line)
        values = [record.value for record in loose]
        yield from traces_or_error(read_all, values, origin, notes)


def read_trace(value: object, origin: Origin, notes: Sequence[str] = ()) -> Trace:
    """The trace of a transcript's answer; raises BadRecord naming the path of a wrong value."""
    *_, last = read_answers(value, origin, notes, seen=AnswersSeen())
    return last


def read_answers(
    value: object, origin: Origin, notes: Sequence[str] = (), *, seen: AnswersSeen
) -> Iterator[Trace]:
    """The traces of a transcript, that of its answer last; raises BadRecord."""
    record: Mapping[str, object] = value if isinstance(value, Mapping) else {"messages": value}
    given = _messages(value)
    if given is None:
        found = json_kind(record.get("messages"))
        raise BadRecord(f"expected a list of messages, found {found}", path="messages")
    messages = Messages()
    for index, message in enumerate(given):
        messages.read(message, f"messages[{index}]")
    messages.response = _response(record, messages)
    yield from answers_of(record, messages, origin, notes, seen, _USED)


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
        for name in ("messages", "contents"):
            if isinstance(inner, Mapping) and isinstance(inner.get(name), list):
                return list(inner[name])
    return None


def _has_foreign_blocks(message: object) -> bool:
    """Whether a message holds the typed blocks of another provider's format."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and str(block.get("type")).endswith(("tool_use", "tool_result"))
        for block in content
    )


def _response(record: Mapping[str, object], messages: Messages) -> str | None:
    """The explicit final answer; a logged API response adds its message to the turns instead."""
    found = next((v for k in _RESPONSE_KEYS if (v := text_in(record, k)) and v.strip()), None)
    if found is not None:
        return found
    for holder in (record, record.get("response")):
        if not isinstance(holder, Mapping):
            continue
        for key, inner in (("choices", "message"), ("candidates", "content")):
            listed = holder.get(key)
            first = listed[0] if isinstance(listed, list) and listed else None
            message = first.get(inner) if isinstance(first, Mapping) else None
            if isinstance(message, Mapping):
                messages.read({"role": "assistant", **message}, f"{key}[0].{inner}")
                return None
        output = holder.get("output")
        message = output.get("message") if isinstance(output, Mapping) else None
        if isinstance(message, Mapping):  # Bedrock Converse
            messages.read({"role": "assistant", **message}, "output.message")
            return None
    return None
