"""Inspect AI logs: ``.json`` logs and the samples of ``.eval`` archives, one sample one trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.answers import AnswersSeen, traces_of_conversation
from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall, CapturedCitation, CapturedRun, written
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
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        turns.extend(_turns(message, f"messages[{index}]"))
    final = _final(sample.get("output"))
    response = final.text if final else None
    talk = read_conversation(turns, response)
    described = list(_events(sample.get("events")))
    asked = sample.get("input")
    metadata = value.get("metadata")
    notices = [*notes, *talk.notices]
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


def _turns(message: object, path: str) -> Iterator[Turn]:
    if not isinstance(message, Mapping):
        raise BadRecord(f"expected an object, found {json_kind(message)}", path=path)
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        error = message.get("error")
        output = "" if content is None else _output(content)
        if isinstance(error, Mapping):
            output = output or str(error.get("message") or "")
        yield Returned(
            call_id=_text(message, "tool_call_id"),
            output=output,
            tool=_text(message, "function"),
            failed=isinstance(error, Mapping),
        )
        return
    if role not in ("user", "assistant", "system"):
        raise BadRecord(f"unknown role {role!r}", path=f"{path}.role")
    calls = message.get("tool_calls")
    made = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    said = _said(content, str(role), calls_tools=bool(made))
    if said is not None:
        yield said
    yield from _hosted(content)
    for call in made:
        arguments = call.get("arguments")
        yield Called(
            tool=_text(call, "function") or "unknown tool",
            call_id=_text(call, "id"),
            arguments=None if arguments is None else written(arguments),
        )


def _said(content: object, role: str, *, calls_tools: bool) -> Said | None:
    text = ""
    citations: list[CapturedCitation] = []
    for part in (
        [content] if isinstance(content, str) else content if isinstance(content, list) else ()
    ):
        said = part.get("text") if isinstance(part, Mapping) else part
        if not isinstance(said, str):
            continue
        text += "\n" if text else ""
        given = part.get("citations") if isinstance(part, Mapping) else None
        for citation in given if isinstance(given, list) else ():
            if isinstance(citation, Mapping):
                citations.append(_citation(citation, len(text), len(said)))
        text += said
    if not text.strip():
        return None
    return Said(role=role, text=text, calls_tools=calls_tools, citations=tuple(citations))


def _citation(citation: Mapping[str, object], start: int, length: int) -> CapturedCitation:
    place = citation.get("cited_text")
    begin, end = place if isinstance(place, list) and len(place) == 2 else (0, length)
    exact = isinstance(begin, int) and isinstance(end, int)
    url = _text(citation, "url")
    return CapturedCitation(
        start=start + begin if exact else start,
        end=start + end if exact else start + length,
        text=_text(citation, "title") or url or "citation",
        url=url,
    )


def _hosted(content: object) -> Iterator[Turn]:
    """Tools that the model's provider ran: call and result in one content part."""
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping) or part.get("type") != "tool_use":
            continue
        call_id = _text(part, "id")
        yield Called(
            tool=_text(part, "name") or "unknown tool",
            call_id=call_id,
            arguments=_text(part, "arguments"),
            server=_text(part, "context"),
        )
        result, error = part.get("result"), part.get("error")
        yield Returned(
            call_id=call_id,
            output=written(error) if error else None if result is None else written(result),
            failed=bool(error),
        )


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
                output=None if result is None or event.get("pending") else _output(result),
                failed=isinstance(error, Mapping) or event.get("failed") is True,
                truncated=bool(event.get("truncated")),
            ),
            span_id=call_id or "",
            parent_id=None,
        )


def _output(content: object) -> str:
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        only = content[0]
        if only.get("type") == "text" and isinstance(only.get("text"), str):
            return str(only["text"])
    return written(content)


def _final(output: object) -> Said | None:
    if not isinstance(output, Mapping):
        return None
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if isinstance(message, Mapping):
        return (
            None
            if message.get("tool_calls")
            else _said(message.get("content"), "assistant", calls_tools=False)
        )
    return _said(output.get("completion"), "assistant", calls_tools=False)


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


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None
