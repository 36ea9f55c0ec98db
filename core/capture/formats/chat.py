"""Transcripts: one record, one conversation, its messages of any dialect; written as chat completions.

Read generously, because exports differ: the messages may be a list or JSON text under one of many
names, and the file may be one message a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.capture.carried import CARRIED, PlainCall, PlainRun, as_messages
from core.capture.conversations import AnswersSeen, messages_in, traces_or_error
from core.capture.files import FileRecord
from core.capture.messages import is_foreign, is_message
from core.errors import InputError
from core.records import JsonObject, Origin, Trace

NAME = "chat"


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are transcripts."""
    best = 0.0
    for value in values:
        messages = messages_in(value)
        if messages is None:
            if is_message(value):
                best = max(best, 0.5)  # one message a line
        elif any(map(is_message, messages)):
            best = max(best, 0.5 if any(map(is_foreign, messages)) else 0.8)
    return best


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each transcript; a file of single messages is one transcript."""
    loose: list[FileRecord] = []
    seen = AnswersSeen()
    for record in records:
        if isinstance(record, InputError):
            yield record
        elif is_message(record.value) and messages_in(record.value) is None:
            loose.append(record)
        else:
            origin = Origin(format=NAME, file=file, line=record.line)
            yield from traces_or_error(record.value, origin, record.notes, seen)
    if loose:
        notes = tuple(dict.fromkeys(note for record in loose for note in record.notes))
        origin = Origin(format=NAME, file=file, line=loose[0].line)
        yield from traces_or_error([record.value for record in loose], origin, notes, seen)


def write(run: PlainRun) -> JsonObject:
    """One assistant turn that calls every tool, their outputs, the answer."""
    messages = as_messages(run, None, _call, _output)
    return {"trace_id": run.trace_id, "messages": messages, CARRIED: run.carried}


def _call(call: PlainCall) -> JsonObject:
    function = {"name": call.tool, "arguments": call.arguments or "{}"}
    return {"id": call.call_id, "type": "function", "function": function}


def _output(call: PlainCall) -> JsonObject:
    message = {"role": "tool", "tool_call_id": call.call_id, "content": call.output}
    return {**message, "is_error": True} if call.failed else message
