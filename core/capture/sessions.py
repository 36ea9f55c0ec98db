"""The lines of a session log as its conversation: the branch that was gone on with, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.capture.files import FileRecord
from core.capture.messages import kind_of
from core.capture.values import at, mapping, objects_in
from core.records import JsonObject


@dataclass(frozen=True, slots=True)
class Thread:
    """The records that are messages of the main conversation, and what was left out beside them."""

    records: tuple[FileRecord, ...]
    notices: tuple[str, ...]


def message_of(value: object) -> JsonObject | None:
    """The message of one line of a session log."""
    message = mapping(at(value, "message"))
    named = any(key in mapping(value) for key in ("sessionId", "session_id", "uuid"))
    spoken = message.get("role") in ("user", "assistant")
    return message if named and spoken and isinstance(message.get("content"), str | list) else None


def is_note(value: JsonObject) -> bool:
    """Whether a line of a session log is no message: a title, a mode, an attachment, a summary."""
    told = any(key in value for key in ("message", "messages", "role", "content"))
    of_system = value.get("type") == "system" and "message" not in value
    return of_system or (isinstance(value.get("type"), str) and not told)


def main_thread(records: Sequence[FileRecord], notes: Sequence[JsonObject]) -> Thread:
    """The messages that lead to the last one: no rewound branch, no side chain, no error of the API.

    A part of an answer, and the output of a call, belong to it wherever they hang in the tree.
    """
    spoken = [record for record in records if not _is_aside(record.value)]
    if not spoken:
        return Thread((), ())
    parents: dict[object, object] = {}
    for line in (*notes, *(record.value for record in records)):
        if isinstance(at(line, "uuid"), str):
            parents[at(line, "uuid")] = at(line, "parentUuid") or at(line, "logicalParentUuid")
    last = mapping(spoken[-1].value)
    here = last.get("uuid") if "parentUuid" in last else None
    chain: set[object] = set()
    while isinstance(here, str) and here not in chain:
        chain.add(here)
        here = parents.get(here)
    kept = [record for record in spoken if not chain or _text(record, "uuid") in chain]
    answers = {_text(record, "message", "id") for record in kept} - {None}
    places = {id(record) for record in kept}
    calls: set[object] = set()
    thread = []
    for record in spoken:
        held = id(record) in places or _text(record, "message", "id") in answers
        results = _ids(record, "tool_use_id")
        if held or (results and results <= calls):
            thread.append(record)
            calls |= _ids(record, "id")
    left = len(records) - len(thread)
    told = (
        f"{left} lines of rewound branches, side chains and errors are not part of the conversation"
    )
    return Thread(tuple(thread), (told,) if left else ())


def spoken_message(record: FileRecord) -> JsonObject:
    """The message of a line; what the program wrote in the user's name is no question."""
    line, message = mapping(record.value), message_of(record.value) or {}
    meta = line.get("isMeta") is True or line.get("isCompactSummary") is True
    texts = isinstance(message.get("content"), str) or not _ids(record, "tool_use_id")
    return {**message, "role": "system"} if meta and texts else message


def _is_aside(value: object) -> bool:
    return at(value, "isSidechain") is True or at(value, "isApiErrorMessage") is True


def _text(record: FileRecord, *path: str) -> str | None:
    found = at(record.value, *path)
    return found if isinstance(found, str) else None


def _ids(record: FileRecord, key: str) -> set[object]:
    """The ids of the calls (``id``) or of the outputs (``tool_use_id``) in a message."""
    blocks = objects_in(at(message_of(record.value), "content"))
    acting = (block for block in blocks if kind_of(block).endswith(("tool_use", "tool_result")))
    return {str(block[key]) for block in acting if isinstance(block.get(key), str)}
