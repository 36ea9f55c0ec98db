"""The lines of a session log as its conversation: the branch that was gone on with, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.capture.files import FileRecord
from core.capture.messages import kind_of

Line = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Thread:
    """The records that are messages of the main conversation, and what was left out beside them."""

    records: tuple[FileRecord, ...]
    notices: tuple[str, ...]


def message_of(value: object) -> Line | None:
    """The message of one line of a session log."""
    message = value.get("message") if isinstance(value, Mapping) else None
    if (
        isinstance(message, Mapping)
        and message.get("role") in ("user", "assistant")
        and isinstance(message.get("content"), str | list)
        and isinstance(value, Mapping)
        and ("sessionId" in value or "session_id" in value or "uuid" in value)
    ):
        return message
    return None


def is_note(value: object) -> bool:
    """Whether a line of a session log is no message: a title, a mode, an attachment, a summary."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("type"), str)
        and not any(key in value for key in ("message", "messages", "role", "content"))
        or (isinstance(value, Mapping) and value.get("type") == "system" and "message" not in value)
    )


def main_thread(records: Sequence[FileRecord], notes: Sequence[Line]) -> Thread:
    """The messages that lead to the last one: no rewound branch, no side chain, no error of the API.

    A part of an answer, and the output of a call, belong to it wherever they hang in the tree.
    """
    spoken = [record for record in records if not _is_aside(record.value)]
    if not spoken:
        return Thread((), ())
    parents: dict[str, str | None] = {}
    for line in (*notes, *(record.value for record in records)):
        if isinstance(line, Mapping) and isinstance(line.get("uuid"), str):
            above = line.get("parentUuid") or line.get("logicalParentUuid")
            parents[str(line["uuid"])] = above if isinstance(above, str) else None
    last = spoken[-1].value
    at = last.get("uuid") if isinstance(last, Mapping) and "parentUuid" in last else None
    chain: set[object] = set()
    while isinstance(at, str) and at not in chain:
        chain.add(at)
        at = parents.get(at)
    kept = [record for record in spoken if not chain or _field(record, "uuid") in chain]
    answers = {_field(record, "message", "id") for record in kept} - {None}
    places = {id(record) for record in kept}
    calls: set[object] = set()
    thread = []
    for record in spoken:
        held = id(record) in places or _field(record, "message", "id") in answers
        results = _ids(record, "tool_use_id")
        if held or (results and results <= calls):
            thread.append(record)
            calls |= _ids(record, "id")
    left = len(records) - len(thread)
    told = (
        f"{left} lines of rewound branches, side chains and errors are not part of the conversation"
    )
    return Thread(tuple(thread), (told,) if left else ())


def spoken_message(record: FileRecord) -> Line:
    """The message of a line; what the program wrote in the user's name is no question."""
    line = record.value if isinstance(record.value, Mapping) else {}
    message = message_of(line) or {}
    meta = line.get("isMeta") is True or line.get("isCompactSummary") is True
    texts = isinstance(message.get("content"), str) or not _ids(record, "tool_use_id")
    return {**message, "role": "system"} if meta and texts else message


def _is_aside(value: object) -> bool:
    return isinstance(value, Mapping) and (
        value.get("isSidechain") is True or value.get("isApiErrorMessage") is True
    )


def _field(record: FileRecord, *path: str) -> object:
    found: object = record.value
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else None


def _ids(record: FileRecord, key: str) -> set[object]:
    """The ids of the calls (``id``) or of the outputs (``tool_use_id``) in a message."""
    message = message_of(record.value) or {}
    content = message.get("content")
    blocks = [b for b in content if isinstance(b, Mapping)] if isinstance(content, list) else []
    acting = [b for b in blocks if kind_of(b).endswith(("tool_use", "tool_result"))]
    return {str(block[key]) for block in acting if isinstance(block.get(key), str)}
