"""Anthropic Messages: requests with their responses, and session logs of one message a line.

Understands client tools, server tools and the MCP connector's blocks; search results and documents
are sources under their own address; ``citations[]`` become the citations of the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import (
    CapturedCall,
    CapturedCitation,
    CapturedRun,
    id_key,
    trace_id_of,
    written,
)
from core.capture.refusing import traces_or_error
from core.capture.turns import Called, Returned, Said, Turn, pair_calls, read_conversation
from core.codec import json_kind
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "anthropic"

_SECRET = {"encrypted_content", "encrypted_index", "encrypted_stdout", "signature"}
_NO_EVIDENCE = {
    "thinking", "redacted_thinking", "image", "container_upload", "mcp_tool_listing", "compaction",
}  # fmt: skip
_USED = {
    "messages", "response", "request", "question_id", "trace_id", "task_id", "trial", "question",
    "category", "content", "role", CARRIED,
}  # fmt: skip


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are Anthropic messages."""
    best = 0.0
    for value in values:
        if isinstance(value, Mapping) and _session_message(value) is not None:
            best = max(best, 0.85)
        messages = _messages(value)
        if messages is None:
            continue
        if any(_is_typed(block) for message in messages for block in _blocks(message)):
            best = max(best, 0.95)
        elif isinstance(value, Mapping) and _reply(value) is not None:
            best = max(best, 0.9)
    return best


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """The traces of each conversation; the lines of a session log are gathered by their session."""
    read_all = partial(read_answers, seen=AnswersSeen())
    sessions: dict[str, list[FileRecord]] = {}
    for record in records:
        if isinstance(record, InputError):
            yield record
        elif isinstance(record.value, Mapping) and _session_message(record.value) is not None:
            session = record.value.get("sessionId") or record.value.get("session_id")
            sessions.setdefault(str(session or ""), []).append(record)
        elif _is_session_note(record.value):
            continue
        else:
            yield from traces_or_error(
                read_all,
                record.value,
                Origin(format=NAME, file=file, line=record.line),
                record.notes,
            )
    for session, members in sessions.items():
        messages = [_session_message(m.value) for m in members if isinstance(m.value, Mapping)]
        value = {"trace_id": session or None, "messages": messages}
        notes = tuple(dict.fromkeys(note for member in members for note in member.notes))
        yield from traces_or_error(
            read_all, value, Origin(format=NAME, file=file, line=members[0].line), notes
        )


def read_trace(value: object, origin: Origin, notes: Sequence[str] = ()) -> Trace:
    """The trace of a conversation's answer; raises BadRecord naming the path of a wrong value."""
    *_, last = read_answers(value, origin, notes, seen=AnswersSeen())
    return last


def read_answers(
    value: object, origin: Origin, notes: Sequence[str] = (), *, seen: AnswersSeen
) -> Iterator[Trace]:
    """The traces of a conversation, that of its answer last; raises BadRecord."""
    messages = _messages(value)
    if messages is None:
        raise BadRecord(f"expected messages, found {json_kind(value)}", path="messages")
    record: Mapping[str, object] = value if isinstance(value, Mapping) else {}
    reader = _Messages()
    for index, message in enumerate(messages):
        reader.read(message, f"messages[{index}]")
    talk = read_conversation(reader.turns, None)
    question = record.get("question")
    run = CapturedRun(
        origin=origin,
        trace_id=trace_id_of(record),
        question=question if isinstance(question, str) else talk.question,
        answer=talk.answer,
        earlier=talk.earlier,
        calls=[*talk.calls, *reader.documents],
        category=_text(record, "category"),
        citations=talk.citations,
        notices=(
            *notes,
            *talk.notices,
            *(f"blocks of the type {kind} were not understood" for kind in reader.unknown),
        ),
        extra={key: item for key, item in record.items() if key not in _USED | {id_key(record)}},
        carried=record.get(CARRIED),
    )
    yield from traces_of_conversation(run, reader.turns, None, seen, reader.calls_in)


class _Messages:
    """Turns the blocks of a conversation into turns, and the documents in it into sources."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.documents: list[CapturedCall] = []
        self.places: list[int] = []  # of each document: how many turns were before it
        self.unknown: dict[str, None] = {}

    def calls_in(self, turns: Sequence[Turn]) -> list[CapturedCall]:
        """What some first turns had before them: the calls, and the documents given until then."""
        given = sum(place < len(turns) for place in self.places)
        return [*pair_calls(turns), *self.documents[:given]]

    def read(self, message: object, path: str) -> None:
        if not isinstance(message, Mapping):
            raise BadRecord(f"expected an object, found {json_kind(message)}", path=path)
        role = message.get("role")
        if role not in ("user", "assistant", "system"):
            raise BadRecord(f"unknown role {role!r}", path=f"{path}.role")
        content = message.get("content")
        if isinstance(content, str):
            if content.strip():
                self.turns.append(Said(role=str(role), text=content))
            return
        if content is None:
            return
        if not isinstance(content, list):
            raise BadRecord(
                f"expected text or blocks, found {json_kind(content)}", path=f"{path}.content"
            )
        texts: list[Mapping[str, object]] = []
        for index, block in enumerate(content):
            where = f"{path}.content[{index}]"
            if not isinstance(block, Mapping):
                raise BadRecord(f"expected an object, found {json_kind(block)}", path=where)
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                texts.append(block)
                continue
            turns = list(self.block(block))
            if turns:
                self.say(str(role), texts, calls_tools=True)
                texts = []
                self.turns.extend(turns)
        self.say(str(role), texts, calls_tools=False)

    def say(self, role: str, blocks: Sequence[Mapping[str, object]], *, calls_tools: bool) -> None:
        """One turn of text; an answer with citations comes as many blocks of one sentence each."""
        text, citations = "", []
        for block in blocks:
            start = len(text)
            text += ("\n" if role == "user" and text else "") + str(block["text"])
            found = block.get("citations")
            for citation in found if isinstance(found, list) else ():
                if isinstance(citation, Mapping):
                    citations.append(self.citation(citation, start, len(text)))
        if text.strip():
            self.turns.append(
                Said(
                    role=role,
                    text=text,
                    calls_tools=calls_tools and role == "assistant",
                    citations=tuple(citations),
                )
            )

    def citation(self, citation: Mapping[str, object], start: int, end: int) -> CapturedCitation:
        url = _text(citation, "url") or _text(citation, "source")
        index = citation.get("document_index")
        known = isinstance(index, int) and 0 <= index < len(self.documents) and url is None
        title = _text(citation, "title") or _text(citation, "document_title")
        return CapturedCitation(
            start=start,
            end=end,
            text=title or url or "citation",
            url=url,
            source_id=f"document#{index}" if known else None,
        )

    def block(self, block: Mapping[str, object]) -> Iterator[Turn]:
        kind = block.get("type")
        if not isinstance(kind, str):
            kind = (
                "tool_result" if "tool_use_id" in block else "tool_use" if "input" in block else ""
            )
        if kind.endswith("tool_use"):
            yield Called(
                tool=_text(block, "name") or "unknown tool",
                call_id=_text(block, "id"),
                arguments=None if block.get("input") is None else written(block["input"]),
                server=_text(block, "server_name") or _text(block, "toolset_name"),
            )
        elif kind.endswith("tool_result"):
            content = block.get("content")
            error = isinstance(content, Mapping) and str(content.get("type")).endswith("_error")
            yield Returned(
                call_id=_text(block, "tool_use_id"),
                output=_output(content),
                failed=block.get("is_error") is True or error,
            )
        elif kind in ("search_result", "document"):
            self.places.append(len(self.turns))
            self.documents.append(
                CapturedCall(
                    tool="document", call_id=str(len(self.documents)), output=written([block])
                )
            )
        elif kind not in _NO_EVIDENCE:
            self.unknown[kind or "unnamed"] = None


def _output(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        only = content[0]
        if only.get("type") == "text" and isinstance(only.get("text"), str):
            return str(only["text"])
    return written(_readable(content))


def _readable(value: object) -> object:
    """The value without what only the provider can decrypt."""
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _readable(item) for key, item in value.items() if key not in _SECRET}
    return value


def _messages(value: object) -> list[object] | None:
    """The messages of a record, its response behind them; None when it has none."""
    if isinstance(value, list):
        return value if value and all(isinstance(item, Mapping) for item in value) else None
    if not isinstance(value, Mapping):
        return None
    request = value.get("request")
    holder = request if isinstance(request, Mapping) else value
    messages = holder.get("messages")
    reply = _reply(value)
    if isinstance(messages, list):
        return [*messages, *([reply] if reply is not None else [])]
    return None if reply is None else [reply]


def _reply(value: Mapping[str, object]) -> Mapping[str, object] | None:
    """The assistant message that the API returned."""
    for candidate in (value.get("response"), value):
        if (
            isinstance(candidate, Mapping)
            and candidate.get("role") == "assistant"
            and candidate.get("type") == "message"
            and isinstance(candidate.get("content"), list)
        ):
            return candidate
    return None


def _session_message(value: object) -> Mapping[str, object] | None:
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


def _is_session_note(value: object) -> bool:
    """A line of a session log that is no message (a summary, a system event)."""
    return isinstance(value, Mapping) and "message" not in value and value.get("type") in (
        "summary", "system", "file-history-snapshot", "queue-operation", "progress", "result",
    )  # fmt: skip


def _blocks(message: object) -> list[object]:
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else []


def _is_typed(block: object) -> bool:
    if not isinstance(block, Mapping):
        return False
    kind = str(block.get("type"))
    return kind.endswith(("tool_use", "tool_result")) or kind in ("search_result", "thinking")


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None
