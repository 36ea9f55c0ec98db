"""The lines of a session log as its conversation: the branch that was gone on with, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.capture.conversations import messages_in
from core.capture.files import FileRecord
from core.capture.messages import kind_of
from core.capture.values import at, mapping, objects_in
from core.records import JsonObject

# What a session log holds beside its messages: nothing of it was said or returned by a tool.
_BOOKKEEPING = frozenset({
    "system", "summary", "attachment", "ai-title", "custom-title", "last-prompt", "permission-mode",
    "mode", "pr-link", "agent-name", "worktree-state", "file-history-snapshot", "queue-operation",
    "progress", "result", "stream_event",
})  # fmt: skip
_SPEAKERS = ("user", "assistant")
_NAMED = 20  # types of lines that a notice names at most


@dataclass(frozen=True, slots=True)
class Thread:
    """The records that are messages of the main conversation, and what was left out beside them."""

    records: tuple[FileRecord, ...]
    notices: tuple[str, ...]


def message_of(value: object) -> JsonObject | None:
    """The message of one line of a session log."""
    message = mapping(at(value, "message"))
    spoken = message.get("role") in _SPEAKERS and isinstance(message.get("content"), str | list)
    return message if spoken and _of_session(value) else None


def _of_session(value: object) -> bool:
    return any(key in mapping(value) for key in ("sessionId", "session_id", "uuid"))


def is_note(value: JsonObject) -> bool:
    """Whether a line of a session log is no message: a title, a mode, a summary, a type not known."""
    kind = value.get("type")
    told = any(key in value for key in ("message", "messages", "role", "content"))
    of_system = kind == "system" and "message" not in value
    readable = kind in (*_SPEAKERS, "system") or messages_in(value) is not None
    other = _of_session(value) and not readable
    return isinstance(kind, str) and (of_system or other or not told)


def passed_over(kinds: Iterable[str]) -> tuple[str, ...]:
    """The notice of the types of lines that were not understood, the type of each line given."""
    counts = Counter(kinds)
    if not counts:
        return ()
    named = [f"{kind[:40] or 'unnamed'} ({n})" for kind, n in counts.most_common(_NAMED)]
    if len(counts) > _NAMED:
        named.append(f"and {len(counts) - _NAMED} more types")
    return (f"lines of types that are not understood were passed over: {', '.join(named)}",)


def main_thread(records: Sequence[FileRecord], notes: Sequence[JsonObject]) -> Thread:
    """The messages that lead to the last one: no rewound branch, no side chain, no error of the API.

    A part of an answer, and the output of a call, belong to it wherever they hang in the tree. ``notes``
    are the lines of the file that are no messages; those of unknown types are told of.
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
    kinds = [str(note["type"]) for note in notes if note["type"] not in _BOOKKEEPING]
    return Thread(tuple(thread), ((told,) if left else ()) + passed_over(kinds))


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
