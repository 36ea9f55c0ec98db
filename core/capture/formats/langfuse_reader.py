"""Langfuse observations: exports of traces with their observations, and flat observation lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall, CapturedRun, trace_of_run, written
from core.capture.runs import text_of, tool_output, turns_of
from core.capture.span_attributes import parsed
from core.capture.spans import SpanCall, merge_calls, new_turns
from core.capture.turns import Said, Turn, read_conversation
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "langfuse"

_TYPES = {
    "SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL",
    "EMBEDDING",
}  # fmt: skip
_NO_CONTENT = "this export holds no inputs and outputs (their field group was not requested)"

Observation = Mapping[str, object]


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are Langfuse observations."""
    return 0.9 if any(any(_observations(value)) for value in values) else 0.0


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all observations have been read."""
    traces: dict[str, list[Observation]] = {}
    heads: dict[str, Observation] = {}
    lines: dict[str, int] = {}
    notes: dict[str, dict[str, None]] = {}
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        found = _observations(record.value)
        if not found:
            yield BadRecord("no observation in this record", file=file, line=record.line)
        for pair in found:
            if pair is None:
                yield BadRecord("this is no observation", file=file, line=record.line)
                continue
            trace_id, observation = pair
            if observation.get("type") in _TYPES:
                traces.setdefault(trace_id, []).append(observation)
            else:
                heads[trace_id] = observation
                traces.setdefault(trace_id, [])
            lines.setdefault(trace_id, record.line)
            notes.setdefault(trace_id, {}).update(dict.fromkeys(record.notes))
    for trace_id, observations in traces.items():
        origin = Origin(format=NAME, file=file, line=lines[trace_id])
        yield _trace(trace_id, heads.get(trace_id), observations, origin, tuple(notes[trace_id]))


def _trace(
    trace_id: str,
    head: Observation | None,
    observations: Sequence[Observation],
    origin: Origin,
    notes: Sequence[str],
) -> Trace:
    unique = {str(item.get("id")): item for item in reversed(observations)}
    ordered = sorted(unique.values(), key=lambda item: str(_field(item, "startTime") or ""))
    root = next((item for item in ordered if _is_root(item, unique)), None)
    top = [item for item in (head, root) if item is not None]
    seen: dict[object, int] = {}
    turns: list[Turn] = []
    for item in ordered:
        if item.get("type") == "GENERATION":
            spoken = turns_of(item.get("input"), "user") + turns_of(item.get("output"), "assistant")
            turns.extend(new_turns(spoken, seen))
    asked = next((q for item in top if (q := _asked(item.get("input")))), None)
    answer = next((a for item in top if (a := _answered(item.get("output")))), None)
    if not turns and asked:
        turns.append(Said(role="user", text=asked))
    talk = read_conversation(turns, answer)
    notices = [*notes, *talk.notices]
    if not any("input" in item or "output" in item for item in (*ordered, *top)):
        notices.append(_NO_CONTENT)
    return trace_of_run(
        CapturedRun(
            origin=origin,
            trace_id=trace_id,
            question=asked or talk.question,
            answer=talk.answer,
            calls=merge_calls(turns, [call for item in ordered for call in _calls(item)]),
            notices=notices,
            carried=_metadata(head or {}).get(CARRIED),
        )
    )


def _calls(item: Observation) -> Iterator[SpanCall]:
    if item.get("type") not in ("TOOL", "RETRIEVER"):
        return
    output, call_id, failed = tool_output(item.get("output"))
    if item.get("level") == "ERROR":
        failed = True
        output = output if output else _text(item, "statusMessage")
    fields = _metadata(item)
    for key in ("tool_call_id", "toolCallId", "gen_ai.tool.call.id", "call_id"):
        call_id = call_id or _text(fields, key)
    arguments = parsed(item.get("input"))
    if isinstance(arguments, Mapping) and call_id is None:
        call_id = _text(arguments, "tool_call_id")
    yield SpanCall(
        call=CapturedCall(
            tool=_text(item, "name") or "unknown tool",
            call_id=call_id,
            server=_text(fields, "server") or _text(fields, "mcp_server"),
            arguments=None if arguments is None else written(arguments),
            output=output,
            failed=failed,
        ),
        span_id=str(item.get("id")),
        parent_id=_text(item, "parentObservationId"),
    )


def _metadata(item: Observation) -> Observation:
    metadata = parsed(item.get("metadata"))
    return metadata if isinstance(metadata, Mapping) else {}


def _observations(value: object) -> list[tuple[str, Observation] | None]:
    """The observations of a record with their trace ids, a trace's own record first; None for what
    stands among them and is none."""
    if isinstance(value, list):
        return [pair for item in value for pair in _observations(item) or [None]]
    if not isinstance(value, Mapping):
        return []
    inner = value.get("observations")
    if isinstance(inner, list) and any(isinstance(item, Mapping) for item in inner):
        trace_id = str(value.get("id") or value.get("traceId"))
        head = {key: item for key, item in value.items() if key not in ("observations", "type")}
        return [
            (trace_id, head),
            *(_observation(item, trace_id, at) for at, item in enumerate(inner)),
        ]
    if isinstance(value.get("data"), list) and "type" not in value:
        return _observations(value["data"])
    named = _field(value, "traceId")
    found = None if named is None else _observation(value, str(named), 0)
    return [] if found is None else [found]


def _observation(value: object, trace_id: str, at: int) -> tuple[str, Observation] | None:
    kind = str(value.get("type")).upper() if isinstance(value, Mapping) else ""
    if not isinstance(value, Mapping) or kind not in _TYPES:
        return None
    identity = value.get("id") or f"{value.get('name')}-{_field(value, 'startTime')}-{at}"
    return trace_id, {**value, "type": kind, "id": identity}


def _asked(value: object) -> str | None:
    turns = [t for t in turns_of(value, "user") if isinstance(t, Said) and t.role == "user"]
    return turns[0].text if turns else text_of(value)


def _answered(value: object) -> str | None:
    turns = turns_of(value, "assistant")
    said = [t for t in turns if isinstance(t, Said) and t.role == "assistant" and not t.calls_tools]
    return said[-1].text if said else None


def _is_root(item: Observation, known: Mapping[str, Observation]) -> bool:
    parent = _field(item, "parentObservationId")
    return item.get("isRootObservation") is True or parent is None or str(parent) not in known


def _field(value: Observation, key: str) -> object:
    """A field in the spelling of the API or of a database export."""
    if key in value:
        return value[key]
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
    return value.get(snake)


def _text(value: Mapping[str, object], key: str) -> str | None:
    found = _field(value, key)
    return found if isinstance(found, str) and found else None
