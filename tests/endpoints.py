"""Chat endpoints on loopback, for tests: they answer as a test says, and keep what they were asked."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Handler = Callable[[BaseHTTPRequestHandler, dict[str, object]], None]
_CLAIM = re.compile(r"^(\d+)\. (.*?)(?:   \[it credits: .*\])?$", re.MULTILINE)


class Server:
    """A chat endpoint that answers as ``handler`` does and keeps what it was asked."""

    def __init__(self, handler: Handler, port: int = 0) -> None:
        asked: list[dict[str, object]] = []
        keys: set[str | None] = set()
        self.asked, self.keys = asked, keys
        self.released = threading.Event()

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                body = json.loads(self.rfile.read(length))
                asked.append(body)
                keys.add(self.headers.get("authorization"))
                handler(self, body)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", port), Answering)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@contextmanager
def serving(handler: Handler, port: int = 0) -> Iterator[Server]:
    """The server, until the block ends."""
    server = Server(handler, port)
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,), daemon=True)
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


def answering(body: bytes, status: int = 200, kind: str = "application/json") -> Handler:
    return lambda handler, _: send(handler, body, status, kind)


def reading(readings: Mapping[str, Mapping[str, object]]) -> Handler:
    """Answers each request with the reading of each claim by its text, "not shown" for any other."""

    def handler(http: BaseHTTPRequestHandler, asked: dict[str, object]) -> None:
        user = str(asked["messages"][1]["content"])  # type: ignore[index]
        numbered = _CLAIM.findall(user.rpartition("\nCLAIMS ")[2])
        claims = [
            {"n": int(n), **readings.get(text, {"verdict": "not_shown", "why": "It is not there."})}
            for n, text in numbered
        ]
        send(http, completion(json.dumps({"claims": claims})))

    return handler
