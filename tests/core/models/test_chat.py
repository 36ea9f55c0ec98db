"""The judge and the editor against a real server on loopback that misbehaves in every way we know of."""

from __future__ import annotations

import gzip
import json
import logging
import socket
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from endpoints import Handler, answering, completion, send, serving
from tables import cases

from core.errors import ComponentUnavailable, ConfigError
from core.models.editor import EditorSettings, load_editor
from core.models.judge import JudgeSettings, load_judge, settings_from
from core.records import EditorFailure, EditorText, EditRequest
from core.records.judge import JudgeFailure, JudgeRequest, JudgeText
from core.workflows.evaluation_events import send_logs
from core.workflows.store_client import StoreClient

KEY = "sk-never-shown-7f3a"
STATEMENT = EditRequest(
    claim="The HbA1c was 8.4 %.",
    premise="HbA1c 7.4 %; collected 2025-09-12.",
    verdict="unsupported",
)
CLAIMS = JudgeRequest(
    system="Check.", user="CLAIMS 1", nonce="n", claims=("c1",), labels=("s1",), tokens=100
)
REPLY = '{"claims": []}'
ELSEWHERE = "https://models.example/v1"
Asks = Callable[..., Any]


def edited(url: str, **more: Any) -> EditorText | EditorFailure:
    editor = load_editor(EditorSettings(model="m", endpoint=url, api_key=KEY, **more))
    try:
        return editor.rewrite(STATEMENT)
    finally:
        editor.close()


def judged(url: str, times: int = 1, **more: Any) -> Any:
    settings = JudgeSettings(url=url, model="m", key=KEY, **more)
    judge = load_judge(settings, "Check.", {"type": "object"})
    try:
        replies = [judge.judge(CLAIMS) for _ in range(times)]
    finally:
        judge.close()
    assert KEY not in f"{judge.name} {settings}"
    return replies[-1]


def redirecting(handler: BaseHTTPRequestHandler, _: object) -> None:
    handler.send_response(307)
    handler.send_header("location", "http://192.0.2.1/v1/chat/completions")
    handler.send_header("content-length", "0")
    handler.end_headers()


def breaking(handler: BaseHTTPRequestHandler, _: object) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)


def packed(handler: BaseHTTPRequestHandler, _: object) -> None:
    body = gzip.compress(completion(REPLY))
    handler.send_response(200)
    handler.send_header("content-encoding", "gzip")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


both = pytest.mark.parametrize("ask", [edited, judged])


@both
@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        *((answering(b"{}", status), f"answered with status {status}") for status in (401, 503)),
        *(
            (answering(body), "unreadable")
            for body in (b"not json", b"{}", b'{"choices": 3}', b"[]")
        ),
        (answering(b'{"choices": [{}]}'), ""),
        (answering(b"<html>hello</html>", kind="text/html"), ""),
        (answering(completion(None, refusal="no")), "it refused"),
        (answering(completion("x", finish="content_filter")), "it refused"),
        (answering(completion(REPLY[:4], finish="length")), ""),
        (answering(completion(None)), "with nothing"),
        (answering(completion("")), "with nothing"),
        (redirecting, "answered with status 307"),
        (breaking, ""),
        (answering(b" " * 5_000_000), "more than 4 MiB"),
        (packed, "packed"),
    ],
)
def test_whatever_goes_wrong_is_a_reason_without_the_key(
    ask: Asks, handler: Handler, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    with serving(handler) as server:
        found = ask(server.url)

    assert isinstance(found, EditorFailure | JudgeFailure)
    assert found.reason and reason in found.reason
    assert KEY not in f"{found} {caplog.text}"


@both
def test_no_server_and_a_slow_one_are_reasons(ask: Asks) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        gone = ask(f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    waiting = threading.Event()
    with serving(lambda handler, _: waiting.wait(20) and None) as server:
        slow = ask(server.url, timeout_seconds=0.3)
        waiting.set()

    assert "could not be reached" in gone.reason and "in 0.3 seconds" in slow.reason


@both
def test_without_the_extra_it_is_said_how_to_get_it(
    ask: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)

    with pytest.raises(ComponentUnavailable, match=r"\[judge\]"):
        ask("http://127.0.0.1:9/v1")


# ---------------------------------------------------------------- the editor


def test_the_editor_sees_the_claim_the_premise_and_the_verdict_and_nothing_else() -> None:
    with serving(answering(completion('{"sentence": "The HbA1c was\\n 7.4 %."}'))) as server:
        given = edited(server.url)

    assert given == EditorText(text="The HbA1c was 7.4 %.")
    (asked,) = server.asked
    messages: Any = asked["messages"]
    assert json.loads(messages[1]["content"]) == {
        "statement": STATEMENT.claim,
        "verdict": STATEMENT.verdict,
        "evidence": STATEMENT.premise,
    }
    assert len(messages) == 2 and asked["temperature"] == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("I'm sorry, but I cannot help with that.", "it refused"),
        ('{"sentence": "I cannot say."}', "it refused"),
        ('{"sentence": null}', "it found nothing in the evidence to say"),
        ("The HbA1c was 7.4 %.", "its answer was not the JSON that was asked for"),
        ('{"sentence": 7}', "its answer was not the JSON that was asked for"),
        ('["sentence"]', "its answer was not the JSON that was asked for"),
        ('{"sentence": "' + "long " * 1000 + '"}', "its answer was too long"),
    ],
)
def test_a_refusal_or_bad_output_is_a_reason(content: str, reason: str) -> None:
    with serving(answering(completion(content))) as server:
        assert edited(server.url) == EditorFailure(reason=reason)

    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": " "}, {"endpoint": "ftp://127.0.0.1"}, {"endpoint": "x"}, {"timeout_seconds": 0},
        {"endpoint": ELSEWHERE},
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_or_send_statements_away_are_refused(
    wrong: dict[str, Any],
) -> None:
    with pytest.raises(ConfigError, match="editor"):
        EditorSettings(**{"model": "small", **wrong})

    EditorSettings(model="small", endpoint=ELSEWHERE, allow_remote=True)


# ---------------------------------------------------------------- the judge


def test_a_judge_is_asked_with_a_schema_a_seed_and_no_temperature() -> None:
    with serving(answering(completion(REPLY))) as server:
        reply = judged(server.url)
        spent = judged(server.url, tokens=99)

    (asked,) = server.asked
    assert isinstance(reply, JudgeText) and reply.text == REPLY
    assert (asked["temperature"], asked["model"]) == (0, "m") and "seed" in asked
    assert asked["response_format"]["type"] == "json_schema"  # type: ignore[index]
    assert isinstance(spent, JudgeFailure) and "budget" in spent.reason


def test_what_a_server_does_not_know_is_asked_for_more_plainly_and_only_once() -> None:
    def old(handler: BaseHTTPRequestHandler, body: dict[str, object]) -> None:
        known = "response_format" not in body and "tools" not in body
        send(handler, completion(REPLY) if known else b"{}", 200 if known else 400)

    with serving(old) as server:
        assert isinstance(judged(server.url, times=2), JudgeText)

    assert len(server.asked) == 4


def test_a_reply_by_a_tool_call_is_read() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "reply", "arguments": REPLY}}
    body = json.loads(completion(None))
    body["choices"][0]["message"]["tool_calls"] = [call]
    with serving(answering(json.dumps(body).encode())) as server:
        reply = judged(server.url)

    assert isinstance(reply, JudgeText) and reply.text == REPLY


@cases
def test_texts_leave_this_machine_only_over_https_to_a_host_that_is_named(url: str) -> None:
    with pytest.raises(ConfigError):
        JudgeSettings(url=url, model="m")

    with pytest.raises(ConfigError):
        JudgeSettings(url="http://[", model="m")
    JudgeSettings(url="https://models.example/v1", model="m", hosts=frozenset({"models.example"}))
    JudgeSettings(url="http://[::1]:8080/v1", model="m")


@pytest.mark.parametrize(
    "bad",
    ["http://[", "http://127.0.0.1:99999", "ftp://h", "http://u:s3cret@h", "https://h/?k=s3cret"],
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda url: JudgeSettings(url=url, model="m", hosts=frozenset({"h"})),
        lambda url: EditorSettings(model="m", endpoint=url, allow_remote=True),
        lambda url: send_logs(url, ()),
        lambda url: StoreClient(
            "phoenix", {"PHOENIX_COLLECTOR_ENDPOINT": url}, lambda seconds: None
        ),
    ],
    ids=["judge", "editor", "otlp", "store"],
)
def test_every_address_is_refused_in_one_sentence_that_does_not_repeat_it(
    ask: Callable[[str], Any], bad: str
) -> None:
    with pytest.raises(ConfigError, match="expected an http") as refused:
        ask(bad)

    assert "s3cret" not in str(refused.value) and bad not in str(refused.value)


def test_a_key_comes_from_the_environment_or_a_file_that_only_its_owner_reads(
    tmp_path: Path,
) -> None:
    url, file = "http://localhost/v1", tmp_path / "key"
    file.write_text(KEY + "\n")
    named = {"PROVENANCEGUARD_JUDGE_KEY_FILE": str(file)}
    file.chmod(0o644)
    with pytest.raises(ConfigError) as refused:
        settings_from(url, "m", named)
    file.chmod(0o600)

    assert settings_from(url, "m", named).key == KEY
    assert settings_from(url, "m", {"PROVENANCEGUARD_JUDGE_KEY": KEY}).key == KEY
    assert settings_from(url, "m", {"PROVENANCEGUARD_JUDGE_SECONDS": "600"}).timeout_seconds == 600
    for wrong in ("soon", "0", "nan", "1e9"):
        with pytest.raises(ConfigError, match="expected 1 to 86400 seconds"):
            settings_from(url, "m", {"PROVENANCEGUARD_JUDGE_SECONDS": wrong})
    assert KEY not in str(refused.value)
