"""Langfuse observations: exports of traces with their observations, and flat observation lists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.answers import AnswersSeen
from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall, CapturedRun, written
from core.capture.runs import returned_in, tool_output, turns_of
from core.capture.span_attributes import parsed
from core.capture.spans import SpanCall
from core.capture.steps import Run, Step, traces_of_steps
from core.capture.turns import Turn
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "langfuse"

_TYPES = {
    "SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL",
    "EMBEDDING",
}  # fmt: skip
_UNNAMED = "\x00"  # opens the name by which a trace without one is gathered
_NO_RUN = ("TOOL", "RETRIEVER", "EMBEDDING", "EVENT", "EVALUATOR", "GUARDRAIL")
_NO_CONTENT = "this export holds no inputs and outputs (their field group was not requested)"

Observation = Mapping[str, object]


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are Langfuse observations."""
    return 0.9 if any(any(_observations(value, _UNNAMED)) for value in values) else 0.0


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all observations have been read."""
    seen = AnswersSeen()
    traces: dict[str, list[Observation]] = {}
    heads: dict[str, Observation] = {}
    lines: dict[str, int] = {}
    notes: dict[str, dict[str, None]] = {}
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        found = _observations(record.value, f"{_UNNAMED}{record.line}")
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
        told = tuple(notes[trace_id])
        yield from _traces(trace_id, heads.get(trace_id), observations, origin, told, seen)


def _traces(
    trace_id: str,
    head: Observation | None,
    observations: Sequence[Observation],
    origin: Origin,
    notes: Sequence[str],
    seen: AnswersSeen,
) -> Iterator[Trace]:
    unique = {str(item.get("id")): item for item in reversed(observations)}
    ordered = sorted(unique.values(), key=lambda item: str(_field(item, "startTime") or ""))
    roots = [item for item in ordered if _is_root(item, unique) and item.get("type") not in _NO_RUN]
    top = [item for item in (head, *roots[:1]) if item is not None]
    unknown: dict[str, None] = {}

    def first(side: str, role: str) -> Sequence[Turn]:
        # Of several outermost observations none has the output of the run.
        holders = top if side == "input" or len(roots) == 1 else [head]
        found = (turns_of(item.get(side), role, unknown) for item in holders if item)
        return next((turns for turns in found if turns), [])

    logged = Run(asked=first("input", "user"), told=first("output", "assistant"))
    for item in ordered:
        step = Step(call=next(_calls(item), None))
        if item.get("type") == "GENERATION":
            before = turns_of(item.get("input"), "user", unknown)
            step = Step(before=before, after=turns_of(item.get("output"), "assistant", unknown))
        logged.steps.append(step)
    notices = [*notes, *(f"blocks of the type {kind} were not understood" for kind in unknown)]
    if not any("input" in item or "output" in item for item in (*ordered, *top)):
        notices.append(_NO_CONTENT)
    run = CapturedRun(
        origin=origin,
        trace_id=None if trace_id.startswith(_UNNAMED) else trace_id,
        question="",
        answer=None,
        calls=(),
        notices=notices,
        carried=_metadata(head or {}).get(CARRIED),
    )
    yield from traces_of_steps(run, logged, seen)


def _calls(item: Observation) -> Iterator[SpanCall]:
    spoken = returned_in(item.get("output"))  # some frameworks log a tool as any other span
    if item.get("type") not in ("TOOL", "RETRIEVER") and spoken is None:
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


def _observations(value: object, unnamed: str) -> list[tuple[str, Observation] | None]:
    """The observations of a record with their trace ids, a trace's own record first; None for what
    stands among them and is none. A trace that names itself nowhere is called ``unnamed``."""
    if isinstance(value, list):
        named = [_observations(item, f"{unnamed}.{at}") for at, item in enumerate(value)]
        return [pair for pairs in named for pair in pairs or [None]]
    if not isinstance(value, Mapping):
        return []
    inner = value.get("observations")
    if isinstance(inner, list) and any(isinstance(item, Mapping) for item in inner):
        head = value["trace"] if isinstance(value.get("trace"), Mapping) else value
        given = head.get("id") or _field(value, "traceId") or _trace_named(inner)
        trace_id = str(given or unnamed)
        own = {key: item for key, item in head.items() if key not in ("observations", "type")}
        return [
            (trace_id, _plain(own)),
            *(_observation(item, trace_id, at) for at, item in enumerate(inner)),
        ]
    if isinstance(value.get("data"), list) and "type" not in value:
        return _observations(value["data"], unnamed)
    own_trace = _field(value, "traceId")
    found = None if own_trace is None else _observation(value, str(own_trace), 0)
    return [] if found is None else [found]


def _trace_named(observations: Sequence[object]) -> object:
    named = (_field(item, "traceId") for item in observations if isinstance(item, Mapping))
    return next((name for name in named if name), None)


def _observation(value: object, trace_id: str, at: int) -> tuple[str, Observation] | None:
    kind = str(value.get("type")).upper() if isinstance(value, Mapping) else ""
    if not isinstance(value, Mapping) or kind not in _TYPES:
        return None
    identity = value.get("id") or f"{value.get('name')}-{_field(value, 'startTime')}-{at}"
    return trace_id, {**_plain(value), "type": kind, "id": identity}


def _plain(item: Observation) -> Observation:
    """The observation with its texts as they were: a download writes each as JSON, in quotes."""
    return {**item, **{side: _unquoted(item[side]) for side in ("input", "output") if side in item}}


def _unquoted(value: object) -> object:
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            text = json.loads(value, strict=False)
        except ValueError:
            return value
        return text if isinstance(text, str) else value
    return value


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
