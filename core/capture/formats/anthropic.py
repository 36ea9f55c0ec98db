"""Anthropic Messages: requests with their responses, and session logs of one message a line.

Blocks are read in ``core.capture.messages``; search results and documents are sources under their own
address, ``citations[]`` become the citations of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.capture.carried import CARRIED, PlainRun, input_of
from core.capture.conversations import messages_in, read_conversations, reply_in
from core.capture.files import FileRecord, placed
from core.capture.messages import Messages, is_foreign
from core.capture.sessions import is_note, main_thread, message_of, spoken_message
from core.capture.turns import CapturedCall
from core.capture.values import mapping, objects_in
from core.errors import BadRecord, InputError
from core.records import JsonObject, Trace

NAME = "anthropic"


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record holds Anthropic messages."""
    messages = messages_in(value) or ()
    if any(is_foreign(message) or _is_typed(message) for message in messages):
        return 0.95
    if messages and reply_in(mapping(value)):
        return 0.9
    return 0.85 if message_of(value) is not None else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each conversation; the lines of a session log are gathered by their session."""
    return read_conversations(_conversations(records, file), NAME, file, blocks=True)


def _conversations(
    records: Iterable[FileRecord | InputError], file: str
) -> Iterator[FileRecord | InputError]:
    sessions: dict[str, list[FileRecord]] = {}
    notes: list[JsonObject] = []
    for record in records:
        value = {} if isinstance(record, InputError) else mapping(record.value)
        if isinstance(record, FileRecord) and (message := message_of(value)) is not None:
            session = value.get("sessionId") or value.get("session_id")
            try:
                Messages(blocks=True).read(message, "message")
            except BadRecord as error:  # one bad line costs that line
                yield placed(error, file, record.line)
            else:
                sessions.setdefault(str(session or ""), []).append(record)
        elif is_note(value):
            notes.append(value)
        else:
            yield record
    for session, members in sessions.items():
        thread = main_thread(members, notes)
        spoken = [spoken_message(member) for member in thread.records]
        told = dict.fromkeys(note for member in thread.records for note in member.notes)
        whole = {"trace_id": session or None, "messages": spoken}
        yield FileRecord(whole, members[0].line, (*told, *thread.notices))


def _is_typed(message: object) -> bool:
    blocks = objects_in(mapping(message).get("content"))
    return any(block.get("type") in ("search_result", "thinking") for block in blocks)


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


def _use(call: CapturedCall) -> JsonObject:
    block: dict[str, object] = {"type": "tool_use", "id": call.call_id, "name": call.tool}
    if call.server:
        block |= {"type": "mcp_tool_use", "server_name": call.server}
    return {**block, "input": input_of(call)}


def _result(call: CapturedCall) -> JsonObject:
    return {
        "type": "mcp_tool_result" if call.server else "tool_result",
        "tool_use_id": call.call_id,
        "content": call.output,
        "is_error": call.failed,
    }
