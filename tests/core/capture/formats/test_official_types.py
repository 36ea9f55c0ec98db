"""Exports against the official types of their formats, so that other programs can read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.capture.carried import CARRIED, plain_run
from core.capture.files import write_json
from core.capture.reading import read_traces
from core.records import JsonObject
from core.workflows.trace_export import FORMATS

SAMPLE = Path(__file__).parents[4] / "sample_data" / "traces.jsonl"


@pytest.fixture(scope="module")
def runs() -> list[object]:
    from core.capture.native_record import read_trace

    outputs = [
        {"tool_name": "chart", "server": "ehr", "call_id": "c-1", "text": "500 mg"},
        {"tool_name": "labs", "server": "ehr", "status": "error", "text": "no such patient"},
        {"tool_name": "scan", "status": "not_captured", "text": ""},
        {
            "tool_name": "search",
            "arguments": '{"words": "dose"}',
            "status": "truncated",
            "text": "a",
        },
    ]
    record = {"user_question": "Dose?", "full_tool_outputs": outputs}
    whole = {**record, "question_id": "q1", "final_reply_to_user": "500 mg."}
    sample = [plain_run(trace) for trace in read_traces([SAMPLE])]
    return [*sample[:20], *(plain_run(read_trace(one, None)) for one in (record, whole))]


def exported(format: str, runs: list[object]) -> list[JsonObject]:
    return [json.loads(write_json(FORMATS[format].write(run))) for run in runs]


def package(name: str) -> object:
    return pytest.importorskip(name, reason=f"the official package {name} is not installed")


def test_chat_exports_are_messages_of_the_official_types(runs):
    types = package("openai.types.chat")
    adapter = package("pydantic").TypeAdapter(list[types.ChatCompletionMessageParam])

    for record in exported("chat", runs):
        adapter.validate_python(record["messages"])


def test_responses_exports_are_requests_and_responses_of_the_official_types(runs):
    types = package("openai.types.responses")
    adapter = package("pydantic").TypeAdapter(types.ResponseInputParam)

    for record in exported("responses", runs):
        adapter.validate_python(record["request"]["input"])
        if "response" in record:
            types.Response.model_validate(record["response"], strict=True)


def test_anthropic_exports_are_messages_of_the_official_types(runs):
    types = package("anthropic.types.beta")
    adapter = package("pydantic").TypeAdapter(list[types.BetaMessageParam])

    for record in exported("anthropic", runs):
        adapter.validate_python(record["messages"])
        if "response" in record:
            types.BetaMessage.model_validate(record["response"], strict=True)


@pytest.mark.parametrize("format", ["otel", "openinference"])
def test_span_exports_are_read_by_the_official_protocol(format, runs):
    trace = package("opentelemetry.proto.trace.v1.trace_pb2")
    json_format = package("google.protobuf.json_format")

    for record, run in zip(exported(format, runs), runs, strict=True):
        message = json_format.ParseDict(record, trace.TracesData())
        spans = message.resource_spans[0].scope_spans[0].spans
        assert len(spans) == len(run.calls) + 1
        assert len({span.span_id for span in spans}) == len(spans)
        assert {span.parent_span_id for span in spans[1:]} <= {spans[0].span_id}


def test_openinference_exports_use_the_official_attribute_names(runs):
    trace = package("openinference.semconv.trace")
    names = {value for value in vars(trace.SpanAttributes).values() if isinstance(value, str)}
    names |= {value for value in vars(trace.ToolAttributes).values() if isinstance(value, str)}

    assert used("openinference", runs) <= names | {"tool.id", CARRIED}


def test_otel_exports_use_the_official_attribute_names(runs):
    module = package("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    errors = package("opentelemetry.semconv.attributes.error_attributes")
    names = {value for value in vars(module).values() if isinstance(value, str)}

    assert used("otel", runs) <= names | {errors.ERROR_TYPE, CARRIED}


def used(format: str, runs: list[object]) -> set[str]:
    return {
        item["key"]
        for record in exported(format, runs)
        for span in record["resourceSpans"][0]["scopeSpans"][0]["spans"]
        for item in span["attributes"]
    }


def test_langsmith_exports_are_runs_of_the_official_type(runs):
    schemas = package("langsmith.schemas")

    for record in exported("langsmith", runs):
        for run in (record, *record["child_runs"]):
            fields = {key: item for key, item in run.items() if key != "child_runs"}
            assert schemas.Run(**fields).run_type in ("chain", "tool")


def test_langfuse_exports_hold_observations_of_the_official_type(runs):
    types = package("langfuse.api")
    convert = package("langfuse.api.core.serialization").convert_and_respect_annotation_metadata

    for record in exported("langfuse", runs):
        for item in record["observations"]:
            whole = {"projectId": "p", **item}
            named = convert(object_=whole, annotation=types.ObservationV2, direction="read")
            types.ObservationV2.model_validate(named)


def test_inspect_exports_are_samples_of_the_official_type(runs):
    log = package("inspect_ai.log")

    for record in exported("inspect_ai", runs):
        log.EvalSample.model_validate(record)
