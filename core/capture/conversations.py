"""A record that holds one conversation, as the traces of what was said in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.carried import CARRIED
from core.capture.files import parse_record
from core.capture.messages import Messages, text_in
from core.capture.outputs import CapturedRun, id_key, trace_id_of
from core.capture.turns import read_conversation
from core.codec import json_kind
from core.errors import BadRecord
from core.records import Origin, Trace

_USED = {
    "messages", "request", "response", "question_id", "trace_id", "task_id", "trial", "question",
    "user_question", "category", "route", "elapsed_s", CARRIED,
}  # fmt: skip
_TRANSCRIPT_KEYS = (
    "messages", "conversations", "conversation", "trajectory", "history", "turns", "contents",
    "events", "new_messages", "all_messages",
)  # fmt: skip
_RESPONSE_KEYS = ("response", "final_response", "final_reply_to_user", "assistant_answer")
_READ = (*_TRANSCRIPT_KEYS, *_RESPONSE_KEYS, "choices", "candidates", "output", "body")


def answers_in(
    value: object, origin: Origin, notes: Sequence[str], *, seen: AnswersSeen, blocks: bool = False
) -> Iterator[Trace]:
    """The traces of a record that holds messages, that of its answer last; raises BadRecord.

    ``blocks``: they are Anthropic's.
    """
    record: Mapping[str, object] = value if isinstance(value, Mapping) else {"messages": value}
    given = messages_in(value)
    if given is None:
        found = json_kind(record.get("messages"))
        raise BadRecord(f"expected a list of messages, found {found}", path="messages")
    messages = Messages(blocks=blocks)
    for index, message in enumerate(given):
        messages.read(message, f"messages[{index}]")
    messages.response = _response(record, messages)
    yield from answers_of(record, messages, origin, notes, seen, _READ)


def answers_of(
    record: Mapping[str, object],
    messages: Messages,
    origin: Origin,
    notes: Sequence[str],
    seen: AnswersSeen,
    used: Collection[str] = (),
) -> Iterator[Trace]:
    """The traces of a conversation that was read, that of its answer last.

    ``used`` are fields of the record that the format itself reads, every other one is kept.
    """
    response = messages.response
    talk = read_conversation(messages.turns, response)
    elapsed = record.get("elapsed_s")
    left = _USED | set(used) | {id_key(record)}
    run = CapturedRun(
        origin=origin,
        trace_id=trace_id_of(record),
        question=text_in(record, "question", "user_question") or talk.question,
        answer=talk.answer,
        earlier=talk.earlier,
        calls=[*talk.calls, *messages.documents],
        citations=talk.citations,
        category=text_in(record, "category"),
        route=text_in(record, "route"),
        elapsed_seconds=elapsed
        if isinstance(elapsed, int | float) and not isinstance(elapsed, bool)
        else None,
        notices=(*notes, *talk.notices, *messages.notices),
        extra={key: item for key, item in record.items() if key not in left},
        carried=record.get(CARRIED),
    )
    yield from traces_of_conversation(run, messages.turns, response, seen, messages.calls_in)


def messages_in(value: object) -> list[object] | None:
    """The messages of a record, wherever they stand, its reply behind them; None when it has none."""
    if isinstance(value, list):
        return value if value and all(isinstance(item, Mapping) for item in value) else None
    if not isinstance(value, Mapping):
        return None
    for key in _TRANSCRIPT_KEYS:
        found = value.get(key)
        if isinstance(found, str) and found.lstrip().startswith("["):
            try:
                found, _ = parse_record(found.encode("utf-8", "replace"))
            except BadRecord:
                continue
        if isinstance(found, list):
            return [*found, *reply_in(value)]
    for key in ("request", "body", "data", "trace"):
        inner = value.get(key)
        for name in ("messages", "contents"):
            if isinstance(inner, Mapping) and isinstance(inner.get(name), list):
                return [*inner[name], *reply_in(value)]
    return reply_in(value) or None


def reply_in(value: Mapping[str, object]) -> list[object]:
    """The assistant message that Anthropic's API returned."""
    for candidate in (value.get("response"), value):
        if (
            isinstance(candidate, Mapping)
            and candidate.get("role") == "assistant"
            and candidate.get("type") == "message"
            and isinstance(candidate.get("content"), list)
        ):
            return [candidate]
    return []


def _response(record: Mapping[str, object], messages: Messages) -> str | None:
    """The explicit final answer; a logged API response adds its message to the turns instead."""
    found = next((v for k in _RESPONSE_KEYS if (v := text_in(record, k)) and v.strip()), None)
    if found is not None:
        return found
    for holder in (record, record.get("response")):
        if not isinstance(holder, Mapping):
            continue
        for key, inner in (("choices", "message"), ("candidates", "content")):
            listed = holder.get(key)
            first = listed[0] if isinstance(listed, list) and listed else None
            message = first.get(inner) if isinstance(first, Mapping) else None
            if isinstance(message, Mapping):
                messages.read({"role": "assistant", **message}, f"{key}[0].{inner}")
                return None
        output = holder.get("output")
        message = output.get("message") if isinstance(output, Mapping) else None
        if isinstance(message, Mapping):  # Bedrock Converse
            messages.read({"role": "assistant", **message}, "output.message")
            return None
    return None
