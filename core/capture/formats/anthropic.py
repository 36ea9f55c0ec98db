"""Anthropic Messages: requests with their responses, and session logs of one message a line.

Blocks are read in ``core.capture.messages``; search results and documents are sources under their own
address, ``citations[]`` become the citations of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import CARRIED, PlainCall, PlainRun
from core.capture.conversations import AnswersSeen, messages_in, reply_in, traces_or_error
from core.capture.files import FileRecord, placed
from core.capture.messages import Messages, is_foreign
from core.capture.sessions import is_note, main_thread, message_of, spoken_message
from core.capture.values import objects_in
from core.errors import BadRecord, InputError
from core.records import JsonObject, Origin, Trace

NAME = "anthropic"


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are Anthropic messages."""
    best = 0.0
    for value in values:
        if message_of(value) is not None:
            best = max(best, 0.85)
        messages = messages_in(value)
        if messages is None:
            continue
        if any(is_foreign(message) or _is_typed(message) for message in messages):
            best = max(best, 0.95)
        elif isinstance(value, Mapping) and reply_in(value):
            best = max(best, 0.9)
    return best


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each conversation; the lines of a session log are gathered by their session."""
    seen = AnswersSeen()
    sessions: dict[str, list[FileRecord]] = {}
    notes: list[JsonObject] = []
    for record in records:
        if isinstance(record, InputError):
            yield record
        elif isinstance(record.value, Mapping) and message_of(record.value) is not None:
            session = record.value.get("sessionId") or record.value.get("session_id")
            try:
                Messages(blocks=True).read(message_of(record.value), "message")
            except BadRecord as error:  # one bad line costs that line
                yield placed(error, file, record.line)
            else:
                sessions.setdefault(str(session or ""), []).append(record)
        elif isinstance(record.value, Mapping) and is_note(record.value):
            notes.append(record.value)
        else:
            origin = Origin(format=NAME, file=file, line=record.line)
            yield from traces_or_error(record.value, origin, record.notes, seen, blocks=True)
    for session, members in sessions.items():
        thread = main_thread(members, notes)
        spoken = [spoken_message(member) for member in thread.records]
        value = {"trace_id": session or None, "messages": spoken}
        told = dict.fromkeys(note for member in thread.records for note in member.notes)
        origin = Origin(format=NAME, file=file, line=members[0].line)
        yield from traces_or_error(value, origin, (*told, *thread.notices), seen, blocks=True)


def _is_typed(message: object) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    return any(block.get("type") in ("search_result", "thinking") for block in objects_in(content))


def write(run: PlainRun) -> JsonObject:
    """The conversation of a run: tool blocks with their results, and the reply where there is one.

    A call to a named server is a pair of the MCP connector's blocks in the assistant's own message.
    """
    made: list[JsonObject] = []
    returned: list[JsonObject] = []
    for call in run.calls:
        made.append(_use(call))
        if call.output is not None:
            (made if call.server else returned).append(_result(call))
    messages: list[JsonObject] = []
    for role, content in (("user", run.question), ("assistant", made), ("user", returned)):
        if content:
            messages.append({"role": role, "content": content})
    record: dict[str, object] = {"trace_id": run.trace_id, "messages": messages}
    if run.answer is not None:
        record["response"] = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "unknown",
            "content": [{"type": "text", "text": run.answer}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
    return {**record, CARRIED: run.carried}


def _use(call: PlainCall) -> JsonObject:
    block: dict[str, object] = {"type": "tool_use", "id": call.call_id, "name": call.tool}
    if call.server:
        block |= {"type": "mcp_tool_use", "server_name": call.server}
    return {**block, "input": call.input}


def _result(call: PlainCall) -> JsonObject:
    return {
        "type": "mcp_tool_result" if call.server else "tool_result",
        "tool_use_id": call.call_id,
        "content": call.output,
        "is_error": call.failed,
    }
