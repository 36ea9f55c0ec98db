"""The optional editor against a real server on loopback that misbehaves in every way we know of."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.errors import ComponentUnavailable, ConfigError
from core.models.editor import EditorSettings, load_editor
from core.records import EditorFailure, EditorText, EditRequest

REQUEST = EditRequest(
    claim="The HbA1c was 8.4 %.",
    premise="HbA1c 7.4 %; collected 2025-09-12.",
    verdict="unsupported",
)

Handler = Callable[[BaseHTTPRequestHandler, dict[str, object]], None]


class Server:
    """A chat endpoint that answers as ``handler`` does and keeps what it was asked."""

    def __init__(self, handler: Handler) -> None:
        asked: list[dict[str, object]] = []
        self.asked = asked
        self.released = threading.Event()

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                body = json.loads(self.rfile.read(length))
                asked.append(body)
                handler(self, body)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@contextmanager
def serving(handler: Handler) -> Iterator[Server]:
    server = Server(handler)
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join(5)


def send(
    handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, kind: str = "application/json"
) -> None:
    handler.send_response(status)
    handler.send_header("content-type", kind)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def completion(content: str | None, finish: str = "stop", refusal: str | None = None) -> bytes:
    message = {"role": "assistant", "content": content, "refusal": refusal}
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "small",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
    ).encode()


def test_without_the_extra_judge_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)

    with pytest.raises(ComponentUnavailable, match=r"\[judge\]"):
        load_editor(EditorSettings(model="small", endpoint="http://127.0.0.1:9/v1"))


def answer_of(handler: Handler, timeout_seconds: float = 10) -> EditorText | EditorFailure:
    with serving(handler) as server:
        editor = load_editor(
            EditorSettings(model="small", endpoint=server.url, timeout_seconds=timeout_seconds)
        )
        try:
            return editor.rewrite(REQUEST)
        finally:
            editor.close()


def test_a_good_answer_is_the_sentence_it_holds() -> None:
    given = answer_of(lambda h, _: send(h, completion('{"sentence": "The HbA1c was\\n 7.4 %."}')))

    assert given == EditorText(text="The HbA1c was 7.4 %.")


def test_the_model_sees_the_claim_the_premise_and_the_verdict_and_nothing_else() -> None:
    with serving(lambda h, _: send(h, completion('{"sentence": "x"}'))) as server:
        load_editor(EditorSettings(model="small", endpoint=server.url)).rewrite(REQUEST)

    (asked,) = server.asked
    messages = asked["messages"]
    assert isinstance(messages, list)
    assert json.loads(messages[1]["content"]) == {
        "statement": REQUEST.claim,
        "verdict": REQUEST.verdict,
        "evidence": REQUEST.premise,
    }
    assert len(messages) == 2
    assert asked["temperature"] == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("I'm sorry, but I cannot help with that.", "it refused"),
        ('{"sentence": "I cannot say."}', "it refused"),
        ('{"sentence": null}', "it found nothing in the evidence to say"),
        ("The HbA1c was 7.4 %.", "its answer was not the JSON that was asked for"),
        ('{"sentence": 7}', "its answer was not the JSON that was asked for"),
        ('["sentence"]', "its answer was not the JSON that was asked for"),
        ("", "it answered with nothing"),
        (None, "it answered with nothing"),
        ('{"sentence": "' + "long " * 1000 + '"}', "its answer was too long"),
    ],
)
def test_a_refusal_or_bad_output_is_a_reason(content: str | None, reason: str) -> None:
    given = answer_of(lambda h, _: send(h, completion(content)))

    assert given == EditorFailure(reason=reason)


def test_a_refusal_or_a_filter_in_the_protocol_is_a_refusal() -> None:
    refused = answer_of(lambda h, _: send(h, completion(None, refusal="no")))
    filtered = answer_of(lambda h, _: send(h, completion("x", finish="content_filter")))

    assert refused == filtered == EditorFailure(reason="it refused")


def test_an_answer_cut_off_by_the_token_limit_is_not_used() -> None:
    given = answer_of(lambda h, _: send(h, completion('{"sentence": "The', finish="length")))

    assert given == EditorFailure(reason="its answer was too long")


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_status_is_a_reason_and_is_not_asked_again(status: int) -> None:
    with serving(lambda h, _: send(h, b"{}", status=status)) as server:
        given = load_editor(EditorSettings(model="small", endpoint=server.url)).rewrite(REQUEST)

    assert given == EditorFailure(reason=f"its endpoint answered with status {status}")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body",
    [b"not json", b"", b"{}", b'{"choices": []}', b'{"choices": 3}', b"[]", b'{"choices": [{}]}'],
)
def test_an_unreadable_body_is_a_reason(body: bytes) -> None:
    given = answer_of(lambda h, _: send(h, body))

    assert isinstance(given, EditorFailure)
    assert "unreadable" in given.reason or "nothing" in given.reason


def test_a_web_page_instead_of_an_answer_is_a_reason() -> None:
    given = answer_of(lambda h, _: send(h, b"<html>hello</html>", kind="text/html"))

    assert isinstance(given, EditorFailure)


def test_a_server_that_hangs_is_given_up_after_the_timeout() -> None:
    gate = threading.Event()

    given = answer_of(lambda h, _: gate.wait(20) or None, timeout_seconds=0.3)
    gate.set()

    assert given == EditorFailure(reason="it gave no answer in 0.3 seconds")


def test_a_connection_that_breaks_in_the_middle_is_a_reason() -> None:
    def breaks(handler: BaseHTTPRequestHandler, _: object) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"choices"')
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    assert isinstance(answer_of(breaks), EditorFailure)


def test_an_unreachable_endpoint_is_a_reason() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        editor = load_editor(EditorSettings(model="small", endpoint=f"http://127.0.0.1:{port}/v1"))

        given = editor.rewrite(REQUEST)

    assert given == EditorFailure(reason="its endpoint could not be reached")


def test_a_redirect_is_not_followed() -> None:
    def elsewhere(handler: BaseHTTPRequestHandler, _: object) -> None:
        handler.send_response(307)
        handler.send_header("location", "http://192.0.2.1/v1/chat/completions")
        handler.send_header("content-length", "0")
        handler.end_headers()

    assert answer_of(elsewhere) == EditorFailure(reason="its endpoint answered with status 307")


def test_statements_do_not_leave_the_machine_unless_that_is_allowed() -> None:
    with pytest.raises(ConfigError, match="is not this machine"):
        EditorSettings(model="small", endpoint="https://models.example.org/v1")

    allowed = EditorSettings(
        model="small", endpoint="https://models.example.org/v1", allow_remote=True
    )
    assert allowed.endpoint.startswith("https")


@pytest.mark.parametrize(
    "wrong",
    [{"model": " "}, {"endpoint": "ftp://127.0.0.1"}, {"endpoint": "x"}, {"timeout_seconds": 0}],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="editor"):
        EditorSettings(**{"model": "small", **wrong})  # type: ignore[arg-type]
