"""LangSmith runs: flat exports and nested ``child_runs``, gathered by trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.answers import AnswersSeen
from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall, CapturedRun, written
from core.capture.runs import tool_output, turns_of
from core.capture.spans import SpanCall
from core.capture.steps import Run, Step, traces_of_steps
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "langsmith"

Logged = Mapping[str, object]


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are LangSmith runs."""
    return 0.9 if any(_runs(value) for value in values) else 0.0


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all runs have been read."""
    seen = AnswersSeen()
    traces: dict[str, list[Logged]] = {}
    lines: dict[str, int] = {}
    notes: dict[str, dict[str, None]] = {}
    for record in records:
        if isinstance(record, InputError):
            yield record
            continue
        runs = _runs(record.value)
        if not runs:
            yield BadRecord("no run in this record", file=file, line=record.line)
        for run in runs:
            trace_id = str(run.get("trace_id") or run.get("id"))
            traces.setdefault(trace_id, []).append(run)
            lines.setdefault(trace_id, record.line)
            notes.setdefault(trace_id, {}).update(dict.fromkeys(record.notes))
    for trace_id, runs in traces.items():
        origin = Origin(format=NAME, file=file, line=lines[trace_id])
        yield from _traces(trace_id, runs, origin, tuple(notes[trace_id]), seen)


def _traces(
    trace_id: str, runs: Sequence[Logged], origin: Origin, notes: Sequence[str], seen: AnswersSeen
) -> Iterator[Trace]:
    unique = {str(run.get("id")): run for run in reversed(runs)}
    ordered = sorted(unique.values(), key=_order)
    ids = set(unique)
    root = next((run for run in ordered if str(run.get("parent_run_id")) not in ids), ordered[0])
    unknown: dict[str, None] = {}
    logged = Run(
        asked=turns_of(root.get("inputs"), "user", unknown),
        told=turns_of(root.get("outputs"), "assistant", unknown),
    )
    for item in ordered:
        step = Step(call=next(_calls(item), None))
        if item.get("run_type") == "llm":
            before = turns_of(item.get("inputs"), "user", unknown)
            step = Step(before=before, after=turns_of(item.get("outputs"), "assistant", unknown))
        logged.steps.append(step)
    stored = [run for run in ordered if _stored_elsewhere(run)]
    notices = [*notes, *(f"blocks of the type {kind} were not understood" for kind in unknown)]
    if stored:
        notices.append(
            f"the payload of {len(stored)} runs is stored elsewhere and was not exported"
        )
    run = CapturedRun(
        origin=origin,
        trace_id=trace_id or None,
        question="",
        answer=None,
        calls=(),
        notices=notices,
        carried=_metadata(root).get(CARRIED),
    )
    yield from traces_of_steps(run, logged, seen)


def _metadata(run: Logged) -> Logged:
    extra = run.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}


def _calls(run: Logged) -> Iterator[SpanCall]:
    if run.get("run_type") not in ("tool", "retriever"):
        return
    output, call_id, failed = tool_output(run.get("outputs"))
    error = run.get("error")
    if error:
        output, failed = output or written(error), True
    if run.get("run_type") == "retriever" and isinstance(run.get("outputs"), Mapping):
        output = _documents(run["outputs"]) or output
    inputs = run.get("inputs")
    if isinstance(inputs, Mapping) and set(inputs) == {"input"}:
        inputs = inputs["input"]
    if isinstance(inputs, Mapping) and inputs.get("type") == "tool_call":
        call_id = call_id or str(inputs.get("id") or "") or None
        inputs = inputs.get("args")
    yield SpanCall(
        call=CapturedCall(
            tool=str(run.get("name") or "unknown tool"),
            call_id=call_id,
            arguments=None if inputs is None else written(inputs),
            output=output,
            failed=failed,
        ),
        span_id=str(run.get("id")),
        parent_id=None if run.get("parent_run_id") is None else str(run["parent_run_id"]),
    )


def _documents(outputs: object) -> str | None:
    documents = outputs.get("documents") if isinstance(outputs, Mapping) else None
    if not isinstance(documents, list) or not documents:
        return None
    blocks = []
    for document in documents:
        if not isinstance(document, Mapping):
            return None
        metadata = document.get("metadata")
        fields: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
        address = document.get("id") or fields.get("source") or fields.get("url")
        text = str(document.get("page_content") or "")
        block = {"type": "search_result", "content": [{"type": "text", "text": text}]}
        blocks.append({**block, **({"source": str(address)} if address else {})})
    return written(blocks)


def _runs(value: object) -> list[Logged]:
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


def _order(run: Logged) -> tuple[str, str]:
    return str(run.get("start_time") or ""), str(run.get("dotted_order") or "")


def _stored_elsewhere(run: Logged) -> bool:
    return any(run.get(f"{side}_s3_urls") and not run.get(side) for side in ("inputs", "outputs"))
