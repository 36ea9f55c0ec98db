"""LangSmith runs: flat exports and nested ``child_runs``, gathered by trace."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping

from core.capture.carried import CARRIED, PlainRun, input_of, placed_at
from core.capture.files import FileRecord
from core.capture.runs import tool_output, turns_of
from core.capture.steps import Gathered, Run, Step, gathered, traces_of_runs
from core.capture.turns import CapturedCall
from core.capture.values import at, items_of, objects_in, retrieved, written, written_or_none
from core.errors import InputError
from core.records import JsonObject, Origin, Trace

NAME = "langsmith"

_RUNS = uuid.UUID("6f1d5a52-0c5e-4a0f-9a35-2f6f2f1f7c11")  # any fixed one: names of one kind of run


def detect(value: object) -> float:
    """How sure we are, from 0 to 1, that this record holds LangSmith runs."""
    return 0.9 if _runs(value) else 0.0


def read(records: Iterable[FileRecord | InputError], file: str) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all runs have been read."""

    def items(record: FileRecord) -> Iterator[tuple[str, JsonObject]]:
        return ((str(run.get("trace_id") or run.get("id")), run) for run in _runs(record.value))

    found = gathered(records, Origin(format=NAME, file=file), items, "run")
    return traces_of_runs(found, _run)


def _run(found: Gathered[JsonObject]) -> Run:
    unique = {str(run.get("id")): run for run in reversed(found.items)}
    ordered = sorted(
        unique.values(),
        key=lambda run: (str(run.get("start_time") or ""), str(run.get("dotted_order") or "")),
    )
    outermost = (run for run in ordered if str(run.get("parent_run_id")) not in unique)
    root = next(outermost, ordered[0])
    logged = Run(carried=at(root, "extra", "metadata", CARRIED))
    logged.asked = turns_of(root.get("inputs"), "user", logged.unknown)
    logged.told = turns_of(root.get("outputs"), "assistant", logged.unknown)
    for run in ordered:
        if run.get("run_type") == "llm":
            logged.model(run.get("inputs"), run.get("outputs"))
        else:
            logged.steps.append(Step(call=_call(run)))
    sides = ("inputs", "outputs")
    stored = sum(any(x.get(f"{s}_s3_urls") and not x.get(s) for s in sides) for x in ordered)
    if stored:
        logged.notices.append(
            f"the payload of {stored} runs is stored elsewhere and was not exported"
        )
    return logged


def _call(run: JsonObject) -> CapturedCall | None:
    if run.get("run_type") not in ("tool", "retriever"):
        return None
    output, call_id, failed = tool_output(run.get("outputs"))
    error = run.get("error")
    if error:
        output, failed = output or written(error), True
    if run.get("run_type") == "retriever":
        output = _documents(at(run, "outputs", "documents")) or output
    inputs = run.get("inputs")
    if isinstance(inputs, Mapping) and set(inputs) == {"input"}:
        inputs = inputs["input"]
    if isinstance(inputs, Mapping) and inputs.get("type") == "tool_call":
        call_id = call_id or str(inputs.get("id") or "") or None
        inputs = inputs.get("args")
    parent = run.get("parent_run_id")
    return CapturedCall(
        tool=str(run.get("name") or "unknown tool"),
        call_id=call_id,
        arguments=written_or_none(inputs),
        output=output,
        failed=failed,
        span_id=str(run.get("id")),
        parent_id=None if parent is None else str(parent),
    )


def _documents(listed: object) -> str | None:
    """Retrieved documents as search results, each a source of its own; None when one is no object."""
    documents = objects_in(listed)
    if not documents or len(documents) < len(items_of(listed)):
        return None
    return written(
        [retrieved(*map(one.get, ("id", "metadata", "page_content"))) for one in documents]
    )


def _runs(value: object) -> list[JsonObject]:
    """The runs of a record, the children of each behind it."""
    if isinstance(value, list):
        return [run for item in value for run in _runs(item)]
    if not isinstance(value, Mapping):
        return []
    if isinstance(value.get("runs"), list):
        return _runs(value["runs"])
    if "run_type" not in value or not ("id" in value or "inputs" in value):
        return []
    if value.get("id") is None:
        value = {**value, "id": written(value)}
    children = value.get("child_runs")
    trace_id = value.get("trace_id") or value.get("id")
    run = {key: item for key, item in value.items() if key != "child_runs"}
    below = _runs(children) if isinstance(children, list) else []
    return [
        {**run, "trace_id": trace_id},
        *({"parent_run_id": value.get("id"), **child, "trace_id": trace_id} for child in below),
    ]


def write(run: PlainRun) -> JsonObject:
    """The root run of a trace, its tool runs in ``child_runs``, as the API returns them."""
    trace_id = _id(run, 0)
    return {
        "id": trace_id,
        "trace_id": trace_id,
        "name": "agent",
        "run_type": "chain",
        "start_time": placed_at(0),
        "inputs": _message("human", run.question or None),
        "outputs": _message("ai", run.answer),
        "extra": {"metadata": {CARRIED: run.carried}},
        "child_runs": [_tool(call, run, index) for index, call in enumerate(run.calls, start=1)],
    }


def _tool(call: CapturedCall, run: PlainRun, index: int) -> JsonObject:
    message = {
        "type": "tool",
        "name": call.tool,
        "tool_call_id": call.call_id,
        "content": call.output,
        "status": "error" if call.failed else "success",
    }
    given = {"type": "tool_call", "id": call.call_id, "name": call.tool, "args": input_of(call)}
    return {
        "id": _id(run, index),
        "trace_id": _id(run, 0),
        "parent_run_id": _id(run, 0),
        "name": call.tool,
        "run_type": "tool",
        "start_time": placed_at(index),
        "inputs": {"input": given},
        "outputs": None if call.output is None else {"output": message},
        "error": None,
    }


def _message(kind: str, text: str | None) -> JsonObject:
    return {} if text is None else {"messages": [{"type": kind, "content": text}]}


def _id(run: PlainRun, index: int) -> str:
    return str(uuid.uuid5(_RUNS, f"{run.trace_id}\x1f{index}"))
