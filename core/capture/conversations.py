"""A conversation as traces: one for its last answer, and one for each text that it showed before.

A closing word ("You are welcome!") must not stand for what was said before it, be it in a turn of its
own or beside a call, so everything said with evidence is judged, each with the outputs known by then.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from core.capture.carried import CARRIED
from core.capture.files import FileRecord, each, parse_record
from core.capture.messages import Messages, not_understood
from core.capture.outputs import trace_of_run
from core.capture.turns import (
    LEFT_OUT,
    CapturedCall,
    CapturedRun,
    Said,
    Turn,
    as_said,
    final_place,
    other_answers,
    pair_calls,
)
from core.capture.values import at, id_key, mapping, text_in, trace_id_of, unexpected
from core.codec import canonical_json
from core.errors import BadRecord, InputError, NotFound
from core.records import JsonObject, Origin, Trace

_EARLIER = re.compile(r"::t\d+(?:~\d+)?$")
_TURN = re.compile(r"(?:::t\d+)?(?:~\d+)?$")
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

CallsOf = Callable[[Sequence[Turn]], Sequence[CapturedCall]]


class AnswersSeen:
    """The answers of one file so far: a log that repeats what was said before tells each once."""

    def __init__(self) -> None:
        self._ends: set[int] = set()  # hashes of the turns up to an answer

    def is_new(self, turns: Sequence[Turn]) -> bool:
        """Whether no conversation that ends with these turns was asked about before."""
        end = hash(tuple(turns))
        known = end in self._ends
        self._ends.add(end)
        return not known


def traces_of_conversation(
    run: CapturedRun,
    turns: Sequence[Turn],
    response: str | None,
    seen: AnswersSeen,
    calls_of: CallsOf = pair_calls,
) -> Iterator[Trace]:
    """The traces of the earlier answers, the oldest first, and behind them that of the run itself.

    Earlier ones have the id of the run with ``::t1``, ``::t2``, … behind it; ``calls_of`` gives the
    calls that some first turns tell of. An answer before any call has no evidence and no trace.
    """
    last = trace_of_run(run)
    final = final_place(turns, response)
    without = 0
    for number, place in enumerate(other_answers(turns, final), 1):
        head = turns[: place + 1]
        calls = calls_of(head)
        without += not calls
        if calls and seen.is_new(head):
            yield _earlier(run, f"{last.trace_id}::t{number}", head, calls)
    seen.is_new(turns[: final + 1])
    if without:
        told = f"{without} earlier texts were said before any tool call and are not judged"
        last = dataclasses.replace(last, notices=(*last.notices, told))
    yield last


def is_earlier_answer(trace_id: str) -> bool:
    """Whether a trace stands for an answer before the last one of its conversation."""
    return _EARLIER.search(trace_id) is not None


def turn_of(trace_id: str) -> tuple[str, str]:
    """The id that the record itself has, and what is behind it for a turn or a number of our own."""
    found = _TURN.search(trace_id)
    at = found.start() if found else len(trace_id)
    return trace_id[:at], trace_id[at:]


def turns_before(
    trace: Trace,
    find: Callable[[str], Trace],
    holding: Callable[[str], Iterable[Trace]] = lambda words: (),
) -> list[tuple[str, str]]:
    """What was asked and said before the answer, the oldest first; "": what was asked is not known.

    A trace keeps what was said alone. What was said with evidence is a trace of its own, which knows its
    question: ``find`` gives it by its id, or raises NotFound. Where each turn is a record of its own,
    ``holding`` gives the traces that may be of the conversation, by words of their documents.
    """
    if not trace.earlier and (own := _talk_and_turn(trace)) is not None:
        near = [(_talk_and_turn(each), each) for each in holding(f'"conversation_id":{own[0]}')]
        earlier = [(at[1], each) for at, each in near if at and at[0] == own[0] and at[1] < own[1]]
        earlier.sort(key=lambda one: (one[0], one[1].trace_id))
        return [(each.question, each.answer) for _, each in earlier if each.answer]
    run, behind = turn_of(trace.trace_id)
    copy = "".join(behind.partition("~")[1:])
    turns = []
    for number, said in enumerate(trace.earlier, 1):
        asked = ""
        with suppress(NotFound):
            kept = find(f"{run}::t{number}{copy}")
            asked = kept.question.split(LEFT_OUT)[-1] if kept.answer == said else ""
        turns.append((asked, said))
    return turns


def _talk_and_turn(trace: Trace) -> tuple[str, int] | None:
    """The conversation, as JSON writes its id, and the number of the turn that a record says it is."""
    fields = {**trace.extra, **mapping(trace.extra.get("metadata"))}
    talk, turn = fields.get("conversation_id"), fields.get("turn")
    if not isinstance(talk, str | int) or not isinstance(turn, int):
        return None
    return canonical_json(talk), turn


def _earlier(
    run: CapturedRun, name: str, head: Sequence[Turn], calls: Sequence[CapturedCall]
) -> Trace:
    *before, said = head
    if isinstance(said, Said):
        said = dataclasses.replace(said, calls_tools=False)
    earlier = dataclasses.replace(
        run,
        trace_id=name,
        question="",
        calls=calls,
        elapsed_seconds=None,
        notices=("an earlier answer of a conversation; what came after it is no evidence",),
        extra={},
        carried=None,
    )
    return trace_of_run(as_said(earlier, [*before, said], None))


def read_conversations(
    records: Iterable[FileRecord | InputError], format: str, file: str, blocks: bool = False
) -> Iterator[Trace | InputError]:
    """The traces of records that hold messages, of each that of its answer last, or why there is none.

    ``blocks``: the messages are Anthropic's.
    """
    seen = AnswersSeen()

    def take(record: FileRecord) -> Iterator[Trace]:
        value = record.value
        fields: JsonObject = value if isinstance(value, Mapping) else {"messages": value}
        given = messages_in(value)
        if given is None:
            raise unexpected("a list of messages", fields.get("messages"), "messages")
        messages = Messages(blocks=blocks)
        for index, message in enumerate(given):
            messages.read(message, f"messages[{index}]")
        messages.response = _response(fields, messages)
        origin = Origin(format=format, file=file, line=record.line)
        yield from answers_of(fields, messages, origin, record.notes, seen, _READ)

    return each(records, file, take)


def answers_of(
    record: JsonObject,
    messages: Messages,
    origin: Origin,
    notes: Sequence[str],
    seen: AnswersSeen,
    used: Collection[str] = (),
) -> Iterator[Trace]:
    """The traces of a conversation that was read, that of its answer last.

    ``used`` are fields of the record that the format itself reads, every other one is kept.
    """
    elapsed = record.get("elapsed_s")
    left = _USED | set(used) | {id_key(record)}
    run = CapturedRun(
        origin=origin,
        trace_id=trace_id_of(record),
        question=text_in(record, "question", "user_question") or "",
        category=text_in(record, "category"),
        route=text_in(record, "route"),
        elapsed_seconds=elapsed
        if isinstance(elapsed, int | float) and not isinstance(elapsed, bool)
        else None,
        notices=notes,
        extra={key: item for key, item in record.items() if key not in left},
        carried=record.get(CARRIED),
    )
    run = as_said(run, messages.turns, messages.response)
    run = dataclasses.replace(
        run,
        calls=[*run.calls, *messages.documents],
        notices=(*run.notices, *not_understood(messages.unknown)),
    )
    yield from traces_of_conversation(
        run, messages.turns, messages.response, seen, messages.calls_in
    )


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
        for name in ("messages", "contents"):
            if isinstance(found := at(value, key, name), list):
                return [*found, *reply_in(value)]
    return reply_in(value) or None


def reply_in(value: JsonObject) -> list[object]:
    """The assistant message that Anthropic's API returned."""
    for candidate in (mapping(value.get("response")), value):
        kind = (candidate.get("role"), candidate.get("type"))
        if kind == ("assistant", "message") and isinstance(candidate.get("content"), list):
            return [candidate]
    return []


def _response(record: JsonObject, messages: Messages) -> str | None:
    """The explicit final answer; a logged API response adds its message to the turns instead."""
    found = next((v for k in _RESPONSE_KEYS if (v := text_in(record, k)) and v.strip()), None)
    if found is not None:
        return found
    for holder in (record, record.get("response")):
        for path, where in (
            (("choices", 0, "message"), "choices[0].message"),
            (("candidates", 0, "content"), "candidates[0].content"),
            (("output", "message"), "output.message"),  # Bedrock Converse
        ):
            message = at(holder, *path)
            if isinstance(message, Mapping):
                messages.read({"role": "assistant", **message}, where)
                return None
    return None
