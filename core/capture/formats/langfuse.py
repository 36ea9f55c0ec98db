"""Langfuse observations: exports of traces with their observations, and flat observation lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import CARRIED, PlainRun, input_of, placed_at
from core.capture.files import FileRecord
from core.capture.runs import returned_in, tool_output, turns_of
from core.capture.steps import UNNAMED, Gathered, Run, Step, gathered, traces_of_runs
from core.capture.turns import CapturedCall, Turn
from core.capture.values import mapping, objects_in, parsed, text_in, unquoted, written_or_none
from core.errors import BadRecord, InputError
from core.records import JsonObject, Origin, Trace

NAME = "langfuse"

_TYPES = {
    "SPAN", "GENERATION", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL",
    "EMBEDDING",
}  # fmt: skip
_NO_RUN = ("TOOL", "RETRIEVER", "EMBEDDING", "EVENT", "EVALUATOR", "GUARDRAIL")
_NO_CONTENT = "this export holds no inputs and outputs (their field group was not requested)"


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record holds Langfuse observations."""
    found = _observations(value, UNNAMED)
    return 0.9 if any(not isinstance(item, BadRecord) for item in found) else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all observations have been read."""

    def items(record: FileRecord) -> Iterator[tuple[str, JsonObject] | BadRecord]:
        return _observations(record.value, f"{UNNAMED}{record.line}")

    found = gathered(records, Origin(format=NAME, file=file), items, "observation")
    return traces_of_runs(found, _run)


def _run(found: Gathered[JsonObject]) -> Run:
    heads = [item for item in found.items if item.get("type") not in _TYPES]
    observations = [item for item in found.items if item.get("type") in _TYPES]
    unique = {str(item.get("id")): item for item in reversed(observations)}
    ordered = sorted(unique.values(), key=lambda item: str(_field(item, "startTime") or ""))
    roots = [item for item in ordered if _is_root(item, unique) and item.get("type") not in _NO_RUN]
    top = [*heads[-1:], *roots[:1]]
    logged = Run(carried=_metadata(heads[-1]).get(CARRIED) if heads else None)

    def first(side: str, role: str) -> Sequence[Turn]:
        # Of several outermost observations none has the output of the run.
        holders = top if side == "input" or len(roots) == 1 else heads[-1:]
        turns = (turns_of(item.get(side), role, logged.unknown) for item in holders)
        return next(filter(None, turns), [])

    logged.asked, logged.told = first("input", "user"), first("output", "assistant")
    for item in ordered:
        if item.get("type") == "GENERATION":
            logged.model(item.get("input"), item.get("output"))
        else:
            logged.steps.append(Step(call=_call(item)))
    if not any("input" in item or "output" in item for item in (*ordered, *top)):
        logged.notices.append(_NO_CONTENT)
    return logged


def _call(item: JsonObject) -> CapturedCall | None:
    spoken = returned_in(item.get("output"))  # some frameworks log a tool as any other span
    if item.get("type") not in ("TOOL", "RETRIEVER") and spoken is None:
        return None
    output, call_id, failed = tool_output(item.get("output"))
    if item.get("level") == "ERROR":
        failed = True
        output = output or _text(item, "statusMessage")
    fields = _metadata(item)
    arguments = parsed(item.get("input"))
    ids = ("tool_call_id", "toolCallId", "gen_ai.tool.call.id", "call_id")
    named = (_text(fields, key) for key in ids)
    call_id = call_id or next(filter(None, named), None) or _text(mapping(arguments), ids[0])
    return CapturedCall(
        tool=_text(item, "name") or "unknown tool",
        call_id=call_id,
        server=_text(fields, "server") or _text(fields, "mcp_server"),
        arguments=written_or_none(arguments),
        output=output,
        failed=failed,
        span_id=str(item.get("id")),
        parent_id=_text(item, "parentObservationId"),
    )


def _metadata(item: JsonObject) -> JsonObject:
    return mapping(parsed(item.get("metadata")))


def _observations(value: object, unnamed: str) -> Iterator[tuple[str, JsonObject] | BadRecord]:
    """The observations of a record with their trace ids, a trace's own record first, and what stands
    among them and is none. A trace that names itself nowhere is called ``unnamed``."""
    if isinstance(value, list):
        for place, item in enumerate(value):
            found = list(_observations(item, f"{unnamed}.{place}"))
            yield from found or [_observation(None, "", 0)]
        return
    if not isinstance(value, Mapping):
        return
    inner = value.get("observations")
    if isinstance(inner, list) and objects_in(inner):
        head = value["trace"] if isinstance(value.get("trace"), Mapping) else value
        named = (_field(item, "traceId") for item in objects_in(inner))
        given = head.get("id") or _field(value, "traceId") or next(filter(None, named), None)
        trace_id = str(given or unnamed)
        own = {key: item for key, item in head.items() if key not in ("observations", "type")}
        yield trace_id, _plain(own)
        for place, item in enumerate(inner):
            yield _observation(item, trace_id, place)
    elif isinstance(value.get("data"), list) and "type" not in value:
        yield from _observations(value["data"], unnamed)
    elif (own_trace := _field(value, "traceId")) is not None:
        one = _observation(value, str(own_trace), 0)
        yield from [] if isinstance(one, BadRecord) else [one]


def _observation(value: object, trace_id: str, place: int) -> tuple[str, JsonObject] | BadRecord:
    fields = mapping(value)
    kind = str(fields.get("type")).upper()
    if kind not in _TYPES:
        return BadRecord("this is no observation")
    identity = fields.get("id") or f"{fields.get('name')}-{_field(fields, 'startTime')}-{place}"
    return trace_id, {**_plain(fields), "type": kind, "id": identity}


def _plain(item: JsonObject) -> JsonObject:
    """The observation with its texts as they were: a download writes each as JSON, in quotes."""
    return {**item, **{side: unquoted(item[side]) for side in ("input", "output") if side in item}}


def _is_root(item: JsonObject, known: Mapping[str, JsonObject]) -> bool:
    parent = _field(item, "parentObservationId")
    return item.get("isRootObservation") is True or parent is None or str(parent) not in known


def _field(value: JsonObject, key: str) -> object:
    """A field in the spelling of the API or of a database export."""
    return value[key] if key in value else value.get(_snake(key))


def _text(value: JsonObject, key: str) -> str | None:
    return text_in(value, key if key in value else _snake(key))


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


def write(run: PlainRun) -> JsonObject:
    """The trace of a run with its observations: an AGENT with one TOOL observation a call."""
    said = {
        "name": "agent",
        "input": {"role": "user", "content": run.question} if run.question else None,
        "output": None if run.answer is None else {"role": "assistant", "content": run.answer},
    }
    agent = {
        "id": f"{run.trace_id}-0",
        "traceId": run.trace_id,
        "type": "AGENT",
        "startTime": placed_at(0),
        "endTime": placed_at(0),
        "level": "DEFAULT",
        "parentObservationId": None,
        **said,
    }
    tools = (_tool(call, run, index) for index, call in enumerate(run.calls, start=1))
    return {
        "id": run.trace_id,
        "timestamp": placed_at(0),
        **said,
        "metadata": {CARRIED: run.carried},
        "observations": [agent, *tools],
    }


def _tool(call: CapturedCall, run: PlainRun, index: int) -> JsonObject:
    start = placed_at(index)
    message = {"role": "tool", "tool_call_id": call.call_id, "content": call.output}
    return {
        "id": f"{run.trace_id}-{index}",
        "parentObservationId": f"{run.trace_id}-0",
        "traceId": run.trace_id,
        "type": "TOOL",
        "name": call.tool,
        "startTime": start,
        "endTime": start,
        "level": "ERROR" if call.failed else "DEFAULT",
        "input": None if call.arguments is None else input_of(call),
        "output": None if call.output is None else message,
        "metadata": {"server": call.server} if call.server else {},
    }
