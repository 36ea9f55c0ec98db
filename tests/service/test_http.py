"""The HTTP API in a process of its own: verdicts, tokens, idempotency, backpressure, metrics."""

from __future__ import annotations

import base64
import gzip
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from serving import ANSWER, SENT, service

from core.capture.reading import read_traces
from core.errors import ComponentUnavailable
from core.records import State, Trace, worst_state

pytest.importorskip("fastapi", reason="the extra [service] is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")
TOKEN = "a-token-of-a-test-that-is-long"
READS, WATCHES = "another-token-that-only-reads", "another-token-that-only-watches"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
OTLP = Path(__file__).parents[1] / "core/capture/formats/fixtures"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client with a token, of a service with one place to wait."""
    tokens = tmp_path_factory.mktemp("service") / "tokens"
    tokens.write_text(f"{TOKEN}\n{READS} read\n{WATCHES} admin\n")
    options = ("--tokens", tokens, "--most-waiting", "2", "--most-bytes", "20000")
    options += ("--spans", tokens.with_name("spans.jsonl"))
    options += ("--verdicts", tokens.with_name("verdicts.jsonl"), "--quiet-seconds", "0.2")
    with (
        service("http", "--at", "127.0.0.1:0", *options) as (_, address),
        httpx.Client(base_url=address, headers=HEADERS, timeout=120) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def spans(tmp_path_factory: pytest.TempPathFactory, client: httpx.Client) -> Path:
    """The file in which the service keeps spans."""
    return next(tmp_path_factory.getbasetemp().glob("service*/spans.jsonl"))


def test_the_verbs_answer_as_the_published_document_says(client: httpx.Client) -> None:
    import jsonschema_rs

    document = client.get("/openapi.json", headers={"Authorization": ""}).json()

    verdict = client.post("/v1/verify_answer", json=SENT)
    found = verdict.json()
    asked = {"verdict_id": found["verdict_id"], "claim_id": found["claims"][1]["claim_id"]}
    replies = {
        "VerifyReply": verdict,
        "ExplainReply": client.post("/v1/explain_claim", json=asked),
        "CitationsReply": client.post("/v1/audit_citations", json=SENT),
    }

    assert found["decision"] == "block"
    assert found["state"] == worst_state(State(one["state"]) for one in found["claims"])
    assert found["claims"][0]["source_id"] == "load_patient_history"
    for name, reply in replies.items():
        assert reply.status_code == 200, reply.text
        schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
        assert jsonschema_rs.is_valid(schema, reply.json()), name


def test_a_closing_word_does_not_pass_for_the_false_statement_before_it(
    client: httpx.Client,
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "chart", "arguments": "{}"}}
    chart = {"role": "tool", "tool_call_id": "c1", "content": "potassium: 4.1 mmol/L"}
    said = {"role": "assistant", "content": "Her potassium was 6.4 mmol/L.", "tool_calls": [call]}
    ends = {"role": "assistant", "content": "Let me know if you need anything else."}
    asks = {"role": "assistant", "content": None, "tool_calls": [call]}
    trace = {"trace_id": "talk", "messages": [asks, chart, said, {**chart, "content": "ok"}, ends]}
    before_any_call = {"trace_id": "talk", "messages": [said, chart, ends]}

    reply = client.post("/v1/verify_answer", json={"trace": trace}).json()
    unheard = client.post("/v1/verify_answer", json={"trace": before_any_call}).json()

    assert reply["decision"] == "block" and reply["state"] == reply["earlier"][0]["state"]
    assert [one["decision"] for one in reply["earlier"]] == ["block"]
    assert "talk::t1" in reply["reasons"][0]
    asked = {"trace": trace, "claim_id": reply["earlier"][0]["claims"][0]["claim_id"]}
    told = client.post("/v1/explain_claim", json=asked).json()
    assert told["claim"]["text"] == "Her potassium was 6.4 mmol/L."
    audits = [
        client.post("/v1/audit_citations", json=asked).json()["notices"]
        for asked in ({"trace": trace}, {"trace": before_any_call}, SENT)
    ]
    assert audits == [["1 earlier answers are not audited with this one"]] * 2 + [[]]
    assert (unheard["decision"], unheard["earlier"]) == ("block", [])
    assert unheard["state"] == "needs_review"


def test_what_was_said_on_an_output_that_is_not_there_is_not_allowed_by_what_follows(
    client: httpx.Client,
) -> None:
    first, second = (
        {"id": name, "type": "function", "function": {"name": "chart", "arguments": "{}"}}
        for name in ("c1", "c2")
    )
    messages = [
        {"role": "user", "content": "Potassium?"},
        {"role": "assistant", "content": None, "tool_calls": [first]},
        {"role": "assistant", "content": "Her potassium was 6.4 mmol/L."},
        {"role": "assistant", "content": None, "tool_calls": [second]},
        {"role": "tool", "tool_call_id": "c2", "content": "sodium: 140 mmol/L"},
        {"role": "assistant", "content": "Let me know if you need anything else."},
    ]

    sent = {"trace": {"trace_id": "talk", "messages": messages}}
    reply = client.post("/v1/verify_answer", json=sent).json()

    assert [one["decision"] for one in reply["earlier"]] == ["unavailable"]
    assert reply["decision"] == "block"
    assert reply["reasons"][0] == "what was said before it could not be verified: talk::t1"


@pytest.mark.parametrize(
    ("body", "status", "path"),
    [
        ({"answer": "x", "tool_outputs": [{"tool_name": "t", "text": 7}]}, 400,
         "tool_outputs[0].text"),
        ({"trace": {"full_tool_outputs": [{"tool_name": "t", "text": None}]}}, 400,
         "trace[0].full_tool_outputs[0].text"),
        ({"trace": [{"surprise": 1}]}, 400, "trace"),
        ({"answer": "x", "tool_outputs": [], "repiar": True}, 400, "repiar"),
        ([], 400, None),
        ({"answer": "Rosa " * 5000, "tool_outputs": []}, 413, None),
    ],
    ids=["kind", "format", "unknown", "misspelt", "no object", "large"],
)  # fmt: skip
def test_bad_input_is_told_with_its_path(
    client: httpx.Client, body: object, status: int, path: str | None
) -> None:
    reply = client.post("/v1/verify_answer", json=body)

    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json().get("path") == path
    assert "Traceback" not in reply.text and "Rosa" not in reply.text


def test_who_has_no_token_sees_health_alone(client: httpx.Client) -> None:
    for wrong in ("", "Bearer wrong", f"Basic {TOKEN}"):
        told = {"Authorization": wrong}
        assert client.post("/v1/verify_answer", json=SENT, headers=told).status_code == 401
        assert client.get("/metrics", headers=told).status_code == 401
        assert client.get("/healthz", headers=told).status_code == 200
        assert client.get("/readyz", headers=told).status_code == 200
    assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 421


def test_a_token_is_for_what_its_line_says(client: httpx.Client) -> None:
    asked = {
        "/v1/verify_answer": SENT,
        "/v1/explain_claim": {"verdict_id": "sha256:no", "claim_id": "c01"},
    }

    def statuses(token: str) -> list[int]:
        told = {"Authorization": f"Bearer {token}"}
        posted = [client.post(path, json=sent, headers=told) for path, sent in asked.items()]
        return [each.status_code for each in (*posted, client.get("/metrics", headers=told))]

    assert statuses(READS) == [403, 404, 403]
    assert statuses(WATCHES) == [403, 403, 200]


@pytest.mark.stress
def test_connections_that_say_nothing_are_cut_off_and_are_no_load(client: httpx.Client) -> None:
    place = (client.base_url.host, client.base_url.port)
    silent = [socket.create_connection(place) for _ in range(600)]
    try:
        for number, one in enumerate(silent):
            if number % 2:
                one.sendall(b"POST /v1/verify_answer HTTP/1.1\r\nHo")

        answered = client.post("/v1/verify_answer", json={**SENT, "question": "Beside?"})
        assert answered.status_code == 200
        for one in silent:
            one.settimeout(60)
            assert one.recv(1) == b""
    finally:
        for one in silent:
            one.close()


def test_a_key_gives_the_first_reply_again_and_refuses_another_body(client: httpx.Client) -> None:
    key = {"Idempotency-Key": "order-1"}
    before = _answers(client)

    with ThreadPoolExecutor(4) as pool:
        same = list(
            pool.map(lambda _: client.post("/v1/verify_answer", json=SENT, headers=key), range(4))
        )
    other = client.post("/v1/verify_answer", json={**SENT, "question": "?"}, headers=key)

    assert {reply.status_code for reply in same} == {200}
    assert len({reply.content for reply in same}) == 1
    assert _answers(client) == before + 1
    assert other.status_code == 422


def test_whoever_comes_when_all_places_are_taken_is_told_when_to_come_back(
    client: httpx.Client,
) -> None:
    with ThreadPoolExecutor(12) as pool:
        replies = list(
            pool.map(
                lambda n: client.post("/v1/verify_answer", json={**SENT, "question": str(n)}),
                range(12),
            )
        )

    statuses = [reply.status_code for reply in replies]
    assert set(statuses) == {200, 429}
    refused = next(reply for reply in replies if reply.status_code == 429)
    assert int(refused.headers["Retry-After"]) >= 1


def test_metrics_count_and_quote_nothing(client: httpx.Client) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    assert client.post("/v1/verify_answer", json=SENT).status_code == 200
    text = client.get("/metrics").text

    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["provenanceguard_waiting"].samples[0].value == 0
    assert sum(
        sample.value
        for sample in families["provenanceguard_claims"].samples
        if sample.name.endswith("_total")
    )
    for word in ("Rosa", "metformin", "load_patient_history", *ANSWER.split(".")[:2]):
        assert word.strip() not in text


def test_no_generated_request_breaks_the_published_contract(client: httpx.Client) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    schema.config.generation.update(max_examples=15)
    checked: list[str] = []
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        negative_data_rejection,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = (
        schemathesis.checks.not_a_server_error,
        content_type_conformance,
        negative_data_rejection,
        response_schema_conformance,
        status_code_conformance,
    )
    for result in schema.get_all_operations():
        operation = result.ok()

        def tried(case: object) -> None:
            response = case.call(base_url=str(client.base_url), headers=HEADERS)  # type: ignore[attr-defined]
            if response.status_code != 429:
                case.validate_response(response, checks=list(checks))  # type: ignore[attr-defined]
            checked.append(str(response.status_code))

        operation.as_strategy().example  # noqa: B018  # the strategy can be built
        from hypothesis import given

        given(case=operation.as_strategy())(tried)()
    assert len(checked) > 30


@pytest.mark.stress
def test_a_service_that_is_asked_to_end_logs_no_word_of_a_claim(tmp_path: Path) -> None:
    with service("http", "--at", "127.0.0.1:0", "--no-token") as (process, address):
        reply = httpx.post(f"{address}/v1/verify_answer", json=SENT, timeout=120)
        httpx.post(f"{address}/v1/verify_answer", content=b'{"answer": Rosa', timeout=120)
        os.kill(process.pid, signal.SIGTERM)
        process.wait(30)
        assert process.stderr is not None
        said = process.stderr.read()

    assert reply.status_code == 200
    assert said.endswith("Stopped: nothing is served any more.\n")
    assert "Rosa" not in said and "metformin" not in said and "Traceback" not in said


def _answers(client: httpx.Client) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(
        float(line.rsplit(" ", 1)[1])
        for line in lines
        if line.startswith("provenanceguard_answers_total")
    )


def request_of(path: Path) -> bytes:
    """An export request of a recorded run, its spans as protobuf."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    document = json.loads(path.read_text("utf-8"))
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:  # protobuf's own JSON has them in base64
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    request = json_format.ParseDict(
        document, ExportTraceServiceRequest(), ignore_unknown_fields=True
    )
    return bytes(request.SerializeToString())


@pytest.mark.parametrize("packed", [False, True])
def test_spans_are_kept_as_verify_reads_them(
    client: httpx.Client, spans: Path, tmp_path: Path, packed: bool
) -> None:
    recorded = OTLP / "openinference/otlp.json"
    kept: list[list[Trace]] = []
    for kind, body in (
        ("application/json", recorded.read_bytes()),
        ("application/x-protobuf", request_of(recorded)),
    ):
        before = spans.stat().st_size
        headers = {"Content-Type": kind} | ({"Content-Encoding": "gzip"} if packed else {})

        reply = client.post(
            "/v1/traces", content=gzip.compress(body) if packed else body, headers=headers
        )

        assert (reply.status_code, reply.headers["content-type"]) == (200, kind), reply.text
        one = tmp_path / "one.jsonl"
        one.write_bytes(spans.read_bytes()[before:])
        kept.append([item for item in read_traces([one]) if isinstance(item, Trace)])
    (stated,) = read_traces([recorded])
    assert isinstance(stated, Trace)
    for (trace,) in kept:
        assert (trace.trace_id, trace.question, trace.answer) == (
            stated.trace_id, stated.question, stated.answer,
        )  # fmt: skip
        assert [one.text for one in trace.sources] == [one.text for one in stated.sources]
    assert spans.stat().st_mode & 0o077 == 0


def test_a_finished_trace_is_judged_and_counted(client: httpx.Client, spans: Path) -> None:
    text = (OTLP / "openinference/otlp.json").read_text("utf-8").replace("c0ffee00" * 4, "ab" * 16)

    sent = client.post("/v1/traces", content=text, headers={"Content-Type": "application/json"})

    assert sent.status_code == 200
    end, pause = time.monotonic() + 60, threading.Event()
    verdicts = spans.with_name("verdicts.jsonl")
    while "ab" * 16 not in verdicts.read_text("utf-8"):
        assert time.monotonic() < end
        pause.wait(0.05)
    assert 'arrived_traces{state="judged"}' in client.get("/metrics").text


def test_the_official_exporter_is_understood(client: httpx.Client, spans: Path) -> None:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult

    results: list[SpanExportResult] = []

    class Watched(OTLPSpanExporter):
        def export(self, given: Any) -> SpanExportResult:
            results.append(super().export(given))
            return results[-1]

    provider = TracerProvider()
    exporter = Watched(endpoint=f"{client.base_url}/v1/traces", headers=HEADERS)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("t").start_as_current_span("execute_tool load_chart") as span:
        span.set_attribute("gen_ai.tool.name", "load_chart")
    provider.shutdown()

    assert results == [SpanExportResult.SUCCESS]
    last = json.loads(spans.read_text("utf-8").splitlines()[-1])
    sent = last["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert sent["traceId"] == f"{span.get_span_context().trace_id:032x}"
    assert sent["spanId"] == f"{span.get_span_context().span_id:016x}"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {"Authorization": "Bearer nobody-knows-this-token"}, 401),
        (b"{}", {"Authorization": f"Bearer {READS}"}, 403),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {"Content-Encoding": "br"}, 415),
        (b"", {}, 400),
        (b"[1]", {}, 400),
        (b'{"resourceSpans": 5}', {}, 400),
        (b"\xff", {}, 400),
        (b"\xff\xff\xff", {"Content-Type": "application/x-protobuf"}, 400),
        (b"{}", {"Content-Encoding": "gzip"}, 400),
        (gzip.compress(b"{}", mtime=0)[:-4], {"Content-Encoding": "gzip"}, 400),
        (gzip.compress(b" " * 1_000_000, mtime=0), {"Content-Encoding": "gzip"}, 413),
        (b" " * 20_001, {}, 413),
    ],
)
def test_what_is_no_export_request_is_refused_and_not_kept(
    client: httpx.Client, spans: Path, body: bytes, headers: dict[str, str], status: int
) -> None:
    before = spans.read_bytes()

    reply = client.post(
        "/v1/traces", content=body, headers={"Content-Type": "application/json"} | headers
    )

    assert reply.status_code == status, reply.text
    assert spans.read_bytes() == before


def test_a_file_that_was_moved_away_begins_anew_and_a_full_disk_is_told(tmp_path: Path) -> None:
    from service.otlp import JSON, SpanFile

    kept = SpanFile(tmp_path / "spans.jsonl")
    kept.keep(b'{"resourceSpans": []}', JSON, "", 100)
    (tmp_path / "spans.jsonl").rename(tmp_path / "of-monday.jsonl")
    kept.keep(b'{"resourceSpans": [1]}', JSON, "", 100)

    assert (tmp_path / "spans.jsonl").read_text("utf-8") == '{"resourceSpans": [1]}\n'
    with pytest.raises(ComponentUnavailable, match="cannot be kept"):
        SpanFile(Path("/dev/full")).keep(b'{"resourceSpans": []}', JSON, "", 100)
