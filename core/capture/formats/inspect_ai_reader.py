"""Inspect AI logs: ``.json`` logs and the samples of ``.eval`` archives, one sample one trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.messages import Messages, output_text
from core.capture.messages import text_in as _text
from core.capture.outputs import CapturedCall, CapturedRun, written
from core.capture.runs import says, turns_of
from core.capture.spans import SpanCall, merge_calls
from core.capture.turns import Called, Returned, Said, Turn, read_conversation
from core.codec import json_kind
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "inspect_ai"

_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{8,128})")
_DEEPEST = 60

Sample = Mapping[str, object]


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are Inspect logs or samples."""
    for value in values:
        if not isinstance(value, Mapping):
            continue
        if isinstance(value.get("samples"), list) and isinstance(value.get("eval"), Mapping):
            return 0.95
        if "epoch" in value and isinstance(value.get("messages"), list) and "input" in value:
            return 0.95
    return 0.0


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """The traces of each sample."""
    seen = AnswersSeen()
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        value = record.value
        log: Mapping[str, object] = value if isinstance(value, Mapping) else {}
        samples = log.get("samples")
        version = log.get("version")
        several = isinstance(samples, list)
        for index, sample in enumerate(samples if isinstance(samples, list) else [value]):
            origin = Origin(
                format=NAME,
                version=str(version) if isinstance(version, int) else None,
                file=file,
                line=record.line,
            )
            try:
                yield from read_sample(
                    sample, origin, record.notes, _task(log) if several else None, seen=seen
                )
            except BadRecord as error:
                path = f"samples[{index}].{error.path or ''}".rstrip(".") if several else error.path
                yield BadRecord(error.message, file=file, line=record.line, path=path)


def read_sample(
    value: object,
    origin: Origin,
    notes: Sequence[str] = (),
    task: str | None = None,
    limit: int = 64 * 1024 * 1024,
    *,
    seen: AnswersSeen,
) -> Iterator[Trace]:
    """The traces of one sample, that of its answer last; raises BadRecord.

    Attachments unfold to ``limit`` characters at most.
    """
    if not isinstance(value, Mapping):
        raise BadRecord(f"expected an object, found {json_kind(value)}")
    attachments = _Attachments(value.get("attachments"), limit)
    sample = {
        key: attachments.resolved(item)
        for key, item in value.items()
        if key in ("messages", "input", "output", "events", "error", "limit")
    }
    messages = sample.get("messages")
    if not isinstance(messages, list):
        raise BadRecord(f"expected a list, found {json_kind(messages)}", path="messages")
    read = Messages()
    for index, message in enumerate(messages):
        read.read(message, f"messages[{index}]")
    turns = read.turns
    final = _final(sample.get("output"))
    response = final.text if final else None
    talk = read_conversation(turns, response)
    described = list(_events(sample.get("events")))
    asked = sample.get("input")
    metadata = value.get("metadata")
    notices = [*notes, *talk.notices, *read.notices]
    if attachments.missing:
        notices.append(f"{len(attachments.missing)} attachments are missing from the log")
    if isinstance(sample.get("limit"), Mapping):
        notices.append("the run was stopped by a limit")
    run = CapturedRun(
        origin=origin,
        trace_id=f"{value['id']}::{value.get('epoch', 1)}" if value.get("id") is not None else None,
        question=asked if isinstance(asked, str) and asked else talk.question,
        answer=talk.answer,
        earlier=talk.earlier,
        calls=merge_calls(turns, described),
        category=task,
        citations=final.citations if final else talk.citations,
        notices=notices,
        extra={
            key: value[key] for key in ("target", "scores", "metadata", "sandbox") if value.get(key)
        },
        carried=metadata.get(CARRIED) if isinstance(metadata, Mapping) else None,
    )

    def calls_of(head: Sequence[Turn]) -> list[CapturedCall]:
        ids = {turn.call_id for turn in head if isinstance(turn, Called | Returned)}
        return merge_calls(head, [one for one in described if one.call.call_id in ids])

    yield from traces_of_conversation(run, turns, response, seen, calls_of)


def _events(events: object) -> Iterator[SpanCall]:
    for event in events if isinstance(events, list) else ():
        if not isinstance(event, Mapping) or event.get("event") != "tool":
            continue
        error = event.get("error")
        result = event.get("result")
        if isinstance(error, Mapping) and not result:
            result = error.get("message")
        arguments = event.get("arguments")
        call_id = _text(event, "id")
        yield SpanCall(
            call=CapturedCall(
                tool=_text(event, "function") or "unknown tool",
                call_id=call_id,
                arguments=None if arguments is None else written(arguments),
                output=None if result is None or event.get("pending") else output_text(result),
                failed=isinstance(error, Mapping) or event.get("failed") is True,
                truncated=bool(event.get("truncated")),
            ),
            span_id=call_id or "",
            parent_id=None,
        )


def _final(output: object) -> Said | None:
    if not isinstance(output, Mapping):
        return None
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(message, Mapping):
        message = {"content": output.get("completion")}
    if message.get("tool_calls"):
        return None
    said = [
        turn for turn in turns_of({**message, "role": "assistant"}, "assistant", {}) if says(turn)
    ]
    return next((turn for turn in reversed(said) if isinstance(turn, Said)), None)


class _Attachments:
    """The texts that a log keeps once, put back in their places, up to a size in all."""

    def __init__(self, known: object, limit: int) -> None:
        self.known: Mapping[str, object] = known if isinstance(known, Mapping) else {}
        self.left = limit
        self.missing: set[str] = set()

    def resolved(self, value: object, depth: int = 0) -> object:
        if isinstance(value, str):
            return _ATTACHMENT.sub(self.text, value) if "attachment://" in value else value
        if depth > _DEEPEST:
            return value
        if isinstance(value, list):
            return [self.resolved(item, depth + 1) for item in value]
        if isinstance(value, Mapping):
            return {key: self.resolved(item, depth + 1) for key, item in value.items()}
        return value

    def text(self, found: re.Match[str]) -> str:
        text = self.known.get(found[1])
        if not isinstance(text, str):
            self.missing.add(found[1])
            return found[0]
        self.left -= len(text)
        if self.left < 0:
            raise BadRecord(
                "its attachments unfold to more than a record may hold", path="attachments"
            )
        return text


def _task(log: Mapping[str, object]) -> str | None:
    evaluation = log.get("eval")
    return _text(evaluation, "task") if isinstance(evaluation, Mapping) else None
