"""Codex session logs: an item of the Responses API a line, between lines of bookkeeping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.capture.conversations import AnswersSeen, answers_of
from core.capture.files import FileRecord, each
from core.capture.messages import Messages
from core.capture.sessions import passed_over
from core.capture.turns import Said, Turn
from core.capture.values import at, mapping
from core.errors import InputError
from core.records import JsonObject, Origin, Trace

NAME = "codex"

_ITEM = "response_item"
_LINES = (_ITEM, "session_meta", "event_msg", "turn_context", "compacted")
# What the program says in the user's name at the start of a session.
_BY_PROGRAM = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record is a line of such a log."""
    kind, payload = _payload(value)
    return 0.9 if payload and kind in _LINES else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of the one session of a file; a bad line costs that line."""
    messages = Messages()
    sessions: list[object] = []
    notes: dict[str, None] = {}
    unknown: list[str] = []
    lines: list[int] = []

    def take(record: FileRecord) -> Sequence[Trace]:
        kind, payload = _payload(record.value)
        lines.append(record.line)
        notes.update(dict.fromkeys(record.notes))
        if kind == "session_meta":
            sessions.append(payload.get("id"))
        elif kind == "event_msg" and payload.get("type") == "thread_rolled_back":
            _roll_back(messages.turns, payload.get("num_turns"))
        elif kind == _ITEM:
            messages.read(payload, "payload")
        elif kind not in _LINES:
            unknown.append(kind)
        return ()

    yield from each(records, file, take)
    if lines:
        messages.turns = [_by_program(turn) for turn in messages.turns]
        origin = Origin(format=NAME, file=file, line=lines[0])
        told = (*notes, *passed_over(unknown))
        session = next(filter(None, sessions), None)
        yield from answers_of({"trace_id": session}, messages, origin, told, AnswersSeen())


def _payload(value: object) -> tuple[str, JsonObject]:
    return str(at(value, "type") or ""), mapping(at(value, "payload"))


def _roll_back(turns: list[Turn], count: object) -> None:
    """Take back the last turns of the user with all that came after them."""
    asked = [i for i, turn in enumerate(turns) if isinstance(turn, Said) and turn.role == "user"]
    if isinstance(count, int) and 0 < count <= len(asked):
        del turns[asked[-count] :]


def _by_program(turn: Turn) -> Turn:
    if isinstance(turn, Said) and turn.role == "user" and turn.text.startswith(_BY_PROGRAM):
        return Said(role="system", text=turn.text)
    return turn
