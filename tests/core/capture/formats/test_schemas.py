"""The fixtures against the official types of their formats, so that they cannot drift from reality.

The packages are large and the product does not need them: where one is not installed, its test is
skipped and says so.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.capture.readable.structured import unfold_output

FIXTURES = Path(__file__).parent / "fixtures"


def records(name: str) -> list[dict[str, object]]:
    text = (FIXTURES / name).read_text()
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    value = json.loads(text)
    return value if isinstance(value, list) else [value]


def package(name: str) -> object:
    return pytest.importorskip(name, reason=f"the official package {name} is not installed")


@pytest.mark.stress
def test_anthropic_fixtures_are_messages_of_the_official_types():
    types = package("anthropic.types.beta")
    adapter = package("pydantic").TypeAdapter(list[types.BetaMessageParam])

    for record in records("anthropic/parallel_results.json"):
        adapter.validate_python(record["messages"])
        types.BetaMessage.model_validate(record["response"], strict=True)
    for record in records("anthropic/mcp_connector.json"):
        message = types.BetaMessage.model_validate(record, strict=True)
        kinds = [block.type for block in message.content]
        assert kinds.count("mcp_tool_use") == kinds.count("mcp_tool_result") == 2


def test_responses_fixtures_are_responses_of_the_official_types():
    types = package("openai.types.responses")
    adapter = package("pydantic").TypeAdapter(types.ResponseInputParam)

    for name in ("hosted_mcp.json", "chained.jsonl", "unanswered.json"):
        for record in records(f"responses/{name}"):
            response = types.Response.model_validate(record.get("response", record), strict=True)
            assert all(type(item).__name__ != "dict" for item in response.output)
            given = record.get("request", record)["input"]
            if isinstance(given, list):
                adapter.validate_python(given)


@pytest.mark.parametrize(
    "name", ["otel/attributes.json", "otel/no_content.json", "openinference/otlp.json"]
)
def test_otlp_fixtures_are_read_by_the_official_protocol(name):
    trace = package("opentelemetry.proto.trace.v1.trace_pb2")
    json_format = package("google.protobuf.json_format")

    for record in records(name):
        message = json_format.ParseDict(record, trace.TracesData())
        assert message.resource_spans[0].scope_spans[0].spans


def test_otel_fixtures_use_the_official_attribute_names():
    package("opentelemetry.semconv")
    names = set()
    for module in (
        "gen_ai_attributes",
        "mcp_attributes",
        "jsonrpc_attributes",
        "error_attributes",
        "server_attributes",
    ):
        try:
            attributes = pytest.importorskip(
                f"opentelemetry.semconv._incubating.attributes.{module}", reason=module
            )
        except pytest.skip.Exception:
            continue  # not in every release of the conventions
        names |= {value for value in vars(attributes).values() if isinstance(value, str)}

    for name in ("otel/attributes.json", "otel/no_content.json"):
        for record in records(name):
            for span in record["resourceSpans"][0]["scopeSpans"][0]["spans"]:
                assert {item["key"] for item in span["attributes"]} <= names


def test_openinference_fixtures_use_the_official_attribute_names():
    trace = package("openinference.semconv.trace")
    names = {
        value
        for holder in (
            trace.SpanAttributes, trace.MessageAttributes, trace.ToolCallAttributes,
            trace.DocumentAttributes, trace.ToolAttributes,
        )
        for value in vars(holder).values()
        if isinstance(value, str)
    }  # fmt: skip

    for record in records("openinference/otlp.json"):
        for span in record["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for item in span["attributes"]:
                parts = [part for part in _without_indexes(item["key"]) if part]
                assert set(parts) <= names, item["key"]


def _without_indexes(key: str) -> list[str]:
    parts, held = [], []
    for piece in key.split("."):
        if piece.isdigit():
            parts.append(".".join(held))
            held = []
        else:
            held.append(piece)
    return [*parts, ".".join(held)]


def test_langsmith_fixtures_are_runs_of_the_official_type():
    schemas = package("langsmith.schemas")

    for name in ("langchain_runs.jsonl", "nested.json", "stored_elsewhere.json"):
        for record in records(f"langsmith/{name}"):
            run = schemas.Run(**{key: item for key, item in record.items() if key != "child_runs"})
            assert run.run_type in ("chain", "llm", "tool", "retriever")


def test_langfuse_fixtures_are_observations_of_the_official_type():
    types = package("langfuse.api")
    convert = package("langfuse.api.core.serialization").convert_and_respect_annotation_metadata
    observation = types.ObservationV2

    for record in records("langfuse/observations.json")[0]["data"]:
        named = convert(object_=record, annotation=observation, direction="read")
        observation.model_validate(named)


def test_inspect_fixtures_are_samples_of_the_official_type():
    log = package("inspect_ai.log")

    for name in ("attachments.json", "truncated.json"):
        for record in records(f"inspect_ai/{name}"):
            for sample in record["samples"]:
                log.EvalSample.model_validate(sample)


def test_mcp_results_of_the_tests_are_results_of_the_official_type():
    types = package("mcp.types")

    result = types.CallToolResult.model_validate(
        {
            "content": [
                {"type": "text", "text": "a"},
                {"type": "resource", "resource": {"uri": "ehr://p/1", "text": "b"}},
                {"type": "resource_link", "uri": "ehr://p/2", "name": "c"},
                {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            ],
            "structuredContent": {"a": 1},
            "isError": False,
        }
    )

    for written in (result.model_dump_json(by_alias=True), repr(result), str(result)):
        unfolded = unfold_output(written)
        assert [part.text.split("\n")[0] for part in unfolded.parts] == ["a", "b"]
        assert "isError" not in unfolded.parts[0].text
