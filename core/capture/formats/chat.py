"""Transcripts: one record, one conversation, its messages of any dialect; written as chat completions.

Read generously, because exports differ: the messages may be a list or JSON text under one of many
names, and the file may be one message a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.capture.carried import CARRIED, PlainRun, as_messages
from core.capture.conversations import messages_in, read_conversations
from core.capture.files import FileRecord
from core.capture.messages import is_foreign, is_message
from core.capture.turns import CapturedCall
from core.errors import InputError
from core.records import JsonObject, Trace

NAME = "chat"


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record is a transcript."""
    messages = messages_in(value)
    if messages is None:
        return 0.5 if is_message(value) else 0.0  # one message a line
    if not any(map(is_message, messages)):
        return 0.0
    return 0.5 if any(map(is_foreign, messages)) else 0.8


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each transcript; a file of single messages is one transcript."""
    return read_conversations(_transcripts(records), NAME, file)


def _transcripts(
    records: Iterable[FileRecord | InputError],
) -> Iterator[FileRecord | InputError]:
    loose: list[FileRecord] = []
    for record in records:
        if isinstance(record, InputError) or messages_in(record.value) is not None:
            yield record
        elif is_message(record.value):
            loose.append(record)
        else:
            yield record
    if loose:
        notes = dict.fromkeys(note for record in loose for note in record.notes)
        yield FileRecord([record.value for record in loose], loose[0].line, tuple(notes))


def write(run: PlainRun) -> JsonObject:
    """One assistant turn that calls every tool, their outputs, the answer."""
    messages = as_messages(run, None, _call, _output)
    return {"trace_id": run.trace_id, "messages": messages, CARRIED: run.carried}


def _call(call: CapturedCall) -> JsonObject:
    function = {"name": call.tool, "arguments": call.arguments or "{}"}
    return {"id": call.call_id, "type": "function", "function": function}


def _output(call: CapturedCall) -> JsonObject:
    message = {"role": "tool", "tool_call_id": call.call_id, "content": call.output}
    return {**message, "is_error": True} if call.failed else message
