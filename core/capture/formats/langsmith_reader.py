"""LangSmith runs: flat exports and nested ``child_runs``, gathered by trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.capture.carried import CARRIED
from core.capture.files import FileRecord
from core.capture.outputs import CapturedCall, CapturedRun, trace_of_run, written
from core.capture.runs import tool_output, turns_of
from core.capture.spans import SpanCall, merge_calls, new_turns
from core.capture.turns import Said, Turn, read_conversation
from core.config import Config
from core.errors import BadRecord, InputError
from core.records import Origin, Trace

NAME = "langsmith"

Run = Mapping[str, object]


def detect(values: Sequence[object]) -> float:
    """How sure we are, from 0 to 1, that these records are LangSmith runs."""
    return 0.9 if any(_runs(value) for value in values) else 0.0


def read(
    records: Iterable[FileRecord | InputError], file: str, config: Config
) -> Iterator[Trace | InputError]:
    """One trace a trace id, when all runs have been read."""
    traces: dict[str, list[Run]] = {}
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
        yield _trace(trace_id, runs, origin, tuple(notes[trace_id]))


def _trace(trace_id: str, runs: Sequence[Run], origin: Origin, notes: Sequence[str]) -> Trace:
    unique = {str(run.get("id")): run for run in reversed(runs)}
    ordered = sorted(unique.values(), key=_order)
    ids = set(unique)
    root = next((run for run in ordered if str(run.get("parent_run_id")) not in ids), ordered[0])
    seen: dict[object, int] = {}
    turns: list[Turn] = []
    for run in ordered:
        if run.get("run_type") == "llm" or run is root:
            spoken = [*turns_of(run.get("inputs"), "user")]
            if run.get("run_type") == "llm":
                spoken.extend(turns_of(run.get("outputs"), "assistant"))
            turns.extend(new_turns(spoken, seen))
    ends = turns_of(root.get("outputs"), "assistant")
    turns.extend(new_turns(ends, seen))
    said = [t for t in ends if isinstance(t, Said) and t.role == "assistant" and not t.calls_tools]
    talk = read_conversation(turns, said[-1].text if said else None)
    asked = [
        t.text
        for t in turns_of(root.get("inputs"), "user")
        if isinstance(t, Said) and t.role == "user"
    ]
    stored = [run for run in ordered if _stored_elsewhere(run)]
    notices = [*notes, *talk.notices]
    if stored:
        notices.append(
            f"the payload of {len(stored)} runs is stored elsewhere and was not exported"
        )
    return trace_of_run(
        CapturedRun(
            origin=origin,
            trace_id=trace_id,
            question=asked[0] if len(asked) == 1 else talk.question,
            answer=talk.answer,
            calls=merge_calls(turns, [call for run in ordered for call in _calls(run)]),
            notices=notices,
            carried=_metadata(root).get(CARRIED),
        )
    )


def _metadata(run: Run) -> Run:
    extra = run.get("extra")
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}


def _calls(run: Run) -> Iterator[SpanCall]:
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


def _runs(value: object) -> list[Run]:
    """The runs of a record, the children of each behind it."""
    if isinstance(value, list):
        return [run for item in value for run in _runs(item)]
    if not isinstance(value, Mapping):
        return []
    if isinstance(value.get("runs"), list):
        return _runs(value["runs"])
    if "run_type" not in value or "id" not in value:
        return []
    children = value.get("child_runs")
    trace_id = value.get("trace_id") or value.get("id")
    run = {key: item for key, item in value.items() if key != "child_runs"}
    below = _runs(children) if isinstance(children, list) else []
    return [
        {**run, "trace_id": trace_id},
        *({"parent_run_id": value.get("id"), **child, "trace_id": trace_id} for child in below),
    ]


def _order(run: Run) -> tuple[str, str]:
    return str(run.get("start_time") or ""), str(run.get("dotted_order") or "")


def _stored_elsewhere(run: Run) -> bool:
    return any(run.get(f"{side}_s3_urls") and not run.get(side) for side in ("inputs", "outputs"))
