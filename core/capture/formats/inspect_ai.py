"""Inspect AI logs: ``.json`` logs and the samples of ``.eval`` archives, one sample one trace."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import CARRIED, PlainRun, as_messages, input_of
from core.capture.conversations import AnswersSeen, traces_of_conversation
from core.capture.files import FileRecord, each
from core.capture.merging import merge_calls
from core.capture.messages import Messages, not_understood, output_text
from core.capture.runs import turns_of
from core.capture.turns import Called, CapturedCall, CapturedRun, Returned, Said, Turn, as_said
from core.capture.values import at, mapping, objects_in, text_in, unexpected, written_or_none
from core.errors import BadRecord, InputError
from core.records import JsonObject, Origin, Trace

NAME = "inspect_ai"

_EVALUATION = {
    "created": "1970-01-01T00:00:00+00:00",
    "task": "provenanceguard",
    "dataset": {},
    "model": "unknown",
    "config": {},
}
HEAD = f'{{"version": 2, "status": "success", "eval": {json.dumps(_EVALUATION)}, "samples": ['
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{8,128})")
_DEEPEST = 60
_UNFOLDED = 64 * 1024 * 1024  # characters that the attachments of a sample may unfold to
_RESOLVED = ("messages", "input", "output", "events", "error", "limit")


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record is an Inspect log or a sample of one."""
    fields = mapping(value)
    log = isinstance(fields.get("samples"), list) and isinstance(fields.get("eval"), Mapping)
    of_log = isinstance(fields.get("messages"), list) and {"epoch", "input"} <= fields.keys()
    return 0.95 if log or of_log else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """The traces of each sample."""
    seen = AnswersSeen()

    def take(record: FileRecord) -> Iterator[Trace | InputError]:
        log = mapping(record.value)
        samples, version = log.get("samples"), log.get("version")
        several = isinstance(samples, list)
        task = text_in(log.get("eval"), "task") if several else None
        named = str(version) if isinstance(version, int) else None
        origin = Origin(format=NAME, version=named, file=file, line=record.line)
        for index, sample in enumerate(samples if isinstance(samples, list) else [record.value]):
            try:
                yield from _traces(sample, origin, record.notes, task, seen)
            except BadRecord as error:
                if several:
                    error.path = f"samples[{index}].{error.path or ''}".rstrip(".")
                yield error

    return each(records, file, take)


def _traces(
    value: object, origin: Origin, notes: Sequence[str], task: str | None, seen: AnswersSeen
) -> Iterator[Trace]:
    """The traces of one sample, that of its answer last; raises BadRecord."""
    if not isinstance(value, Mapping):
        raise unexpected("an object", value)
    attachments = _Attachments(mapping(value.get("attachments")))
    sample = {key: attachments.resolved(value[key]) for key in value if key in _RESOLVED}
    messages = sample.get("messages")
    if not isinstance(messages, list):
        raise unexpected("a list", messages, "messages")
    read = Messages()
    for index, message in enumerate(messages):
        read.read(message, f"messages[{index}]")
    turns = read.turns
    final = _final(sample.get("output"))
    response = final.text if final else None
    described = [_event(e) for e in objects_in(sample.get("events")) if e.get("event") == "tool"]
    notices = [*not_understood(read.unknown)]
    if attachments.missing:
        notices.append(f"{len(attachments.missing)} attachments are missing from the log")
    if isinstance(sample.get("limit"), Mapping):
        notices.append("the run was stopped by a limit")
    run = CapturedRun(
        origin=origin,
        trace_id=f"{value['id']}::{value.get('epoch', 1)}" if value.get("id") is not None else None,
        question=text_in(sample, "input") or "",
        calls=merge_calls(turns, described),
        category=task,
        notices=notes,
        extra={
            key: value[key] for key in ("target", "scores", "metadata", "sandbox") if value.get(key)
        },
        carried=at(value, "metadata", CARRIED),
    )

    run = as_said(run, turns, response)
    run = dataclasses.replace(
        run,
        citations=final.citations if final else run.citations,
        notices=(*run.notices, *notices),
    )

    def calls_of(head: Sequence[Turn]) -> list[CapturedCall]:
        ids = {turn.call_id for turn in head if isinstance(turn, Called | Returned)}
        return merge_calls(head, [one for one in described if one.call_id in ids])

    yield from traces_of_conversation(run, turns, response, seen, calls_of)


def _event(event: JsonObject) -> CapturedCall:
    """The call that a tool event tells of."""
    error, result = event.get("error"), event.get("result")
    if not result and isinstance(error, Mapping):
        result = error.get("message")
    call_id = text_in(event, "id")
    return CapturedCall(
        tool=text_in(event, "function") or "unknown tool",
        call_id=call_id,
        arguments=written_or_none(event.get("arguments")),
        output=None if result is None or event.get("pending") else output_text(result),
        failed=isinstance(error, Mapping) or event.get("failed") is True,
        truncated=bool(event.get("truncated")),
        span_id=call_id or "",
    )


def _final(output: object) -> Said | None:
    """The answer that a sample states beside its messages."""
    if not isinstance(output, Mapping):
        return None
    message = at(output, "choices", 0, "message")
    if not isinstance(message, Mapping):
        message = {"content": output.get("completion")}
    if message.get("tool_calls"):
        return None
    turns = turns_of({**message, "role": "assistant"}, "assistant", {})
    return next((x for x in reversed(turns) if isinstance(x, Said) and x.is_answer), None)


class _Attachments:
    """The texts that a log keeps once, put back in their places, up to a size in all."""

    def __init__(self, known: JsonObject) -> None:
        self.known, self.left = known, _UNFOLDED
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


def write(run: PlainRun) -> JsonObject:
    """The sample of a run, in the JSON form of a log."""
    said = None if run.answer is None else {"role": "assistant", "content": run.answer}
    choices = [] if said is None else [{"message": said, "stop_reason": "stop"}]
    return {
        "id": run.trace_id,
        "epoch": 1,
        "input": run.question,
        "target": "",
        "messages": as_messages(run, "", _call, _output),
        "output": {"model": "unknown", "choices": choices},
        "metadata": {CARRIED: run.carried},
        "events": [_truncation(call) for call in run.calls if call.truncated],
    }


def _call(call: CapturedCall) -> JsonObject:
    return {
        "id": call.call_id,
        "function": call.tool,
        "arguments": input_of(call),
        "type": "function",
    }


def _output(call: CapturedCall) -> JsonObject:
    message = {
        "role": "tool",
        "content": call.output,
        "tool_call_id": call.call_id,
        "function": call.tool,
    }
    # The content of a failed call is the message of its error; both are kept, one text.
    error = {"type": "unknown", "message": call.output}
    return {**message, "error": error} if call.failed else message


def _truncation(call: CapturedCall) -> JsonObject:
    """Says that an output is only a part of what the tool gave."""
    size = len((call.output or "").encode("utf-8", "replace"))
    return {
        "event": "tool",
        "timestamp": "1970-01-01T00:00:00+00:00",
        "working_start": 0.0,
        "type": "function",
        "id": call.call_id,
        "function": call.tool,
        "arguments": input_of(call),
        "result": call.output,
        "truncated": [size + 1, size],  # the real size is not known: more than what is here
        "events": [],
    }
