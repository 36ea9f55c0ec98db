"""Anthropic Messages: requests with their responses, and session logs of one message a line.

Blocks are read in ``core.capture.messages``; search results and documents are sources under their own
address, ``citations[]`` become the citations of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from core.capture.answers import AnswersSeen
from core.capture.conversations import answers_in, messages_in, reply_in
from core.capture.files import FileRecord
from core.capture.messages import Messages
from core.capture.refusing import traces_or_error
from core.capture.sessions import is_note, main_thread, message_of, spoken_message
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "anthropic"


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are Anthropic messages."""
    best = 0.0
    for value in values:
        if isinstance(value, Mapping) and message_of(value) is not None:
            best = max(best, 0.85)
        messages = messages_in(value)
        if messages is None:
            continue
        if any(_is_typed(block) for message in messages for block in _blocks(message)):
            best = max(best, 0.95)
        elif isinstance(value, Mapping) and reply_in(value):
            best = max(best, 0.9)
    return best


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """The traces of each conversation; the lines of a session log are gathered by their session."""
    seen = AnswersSeen()
    read_all = partial(answers_in, seen=seen, blocks=True)
    sessions: dict[str, list[FileRecord]] = {}
    notes: list[Mapping[str, object]] = []
    for record in records:
        if isinstance(record, InputError):
            yield record
        elif isinstance(record.value, Mapping) and message_of(record.value) is not None:
            session = record.value.get("sessionId") or record.value.get("session_id")
            try:
                Messages(blocks=True).read(message_of(record.value), "message")
            except BadRecord as error:  # one bad line costs that line
                yield BadRecord(error.message, file=file, line=record.line, path=error.path)
            else:
                sessions.setdefault(str(session or ""), []).append(record)
        elif isinstance(record.value, Mapping) and is_note(record.value):
            notes.append(record.value)
        else:
            origin = Origin(format=NAME, file=file, line=record.line)
            yield from traces_or_error(read_all, record.value, origin, record.notes)
    for session, members in sessions.items():
        thread = main_thread(members, notes)
        value = {
            "trace_id": session or None,
            "messages": [spoken_message(member) for member in thread.records],
        }
        told = dict.fromkeys(note for member in thread.records for note in member.notes)
        origin = Origin(format=NAME, file=file, line=members[0].line)
        yield from traces_or_error(read_all, value, origin, (*told, *thread.notices))


def _blocks(message: object) -> list[object]:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else []


def _is_typed(block: object) -> bool:
    if not isinstance(block, Mapping):
        return False
    kind = str(block.get("type"))
    return kind.endswith(("tool_use", "tool_result")) or kind in ("search_result", "thinking")
