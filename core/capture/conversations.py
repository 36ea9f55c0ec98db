"""A record that holds one conversation, as the traces of what was said in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.carried import CARRIED
from core.capture.messages import Messages, text_in
from core.capture.outputs import CapturedRun, id_key, trace_id_of
from core.capture.turns import read_conversation
from core.records import Origin, Trace

_USED = {
    "messages", "request", "response", "question_id", "trace_id", "task_id", "trial", "question",
    "user_question", "category", "route", "elapsed_s", CARRIED,
}  # fmt: skip


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
