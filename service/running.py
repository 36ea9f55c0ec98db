"""Start the services: warm models once, then stdio or a socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.config import Config
from core.errors import ConfigError
from core.pipeline import Models, verify
from core.records import Source, Trace
from core.workflows.batching import BatchingVerifier
from service.arrivals import QUIET_SECONDS, STATES, Arrivals
from service.guard import LOOPBACK, Guard, read_tokens
from service.http_app import http_app
from service.mcp_server import mcp_server
from service.metrics import Metrics
from service.otlp import SpanFile
from service.requests import Limits
from service.verbs import Verbs

_FIRST = Trace(
    trace_id="first",
    question="What was the potassium?",
    answer="The potassium was 4.6 mmol/L.",
    sources=(Source(source_id="labs", tool_name="get_labs", text="Potassium: 4.6 mmol/L"),),
)
HEADER_SECONDS = 10.0  # a connection that only stands there is no load


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where to listen and who may ask: ``tokens`` None means whoever is on this machine."""

    host: str
    port: int
    tokens: Path | None

    def __post_init__(self) -> None:
        if self.tokens is None and self.host not in LOOPBACK:
            raise ConfigError(f"{self.host}: only a loopback address may be served without tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """Where spans that come are kept, and the verdicts on their traces; None: nowhere."""

    spans: Path | None = None
    verdicts: Path | None = None
    quiet_seconds: float = QUIET_SECONDS
    retry_set_aside: bool = False

    def __post_init__(self) -> None:
        if self.verdicts is not None and self.spans is None:
            raise ConfigError(
                "--verdicts: the spans that are judged are kept in a file: give --spans"
            )


def door(address: str, tokens: Path | None) -> Door:
    """``HOST:PORT`` as a door; raises ConfigError."""
    host, mark, port = address.rpartition(":")
    if not mark or not port.isdecimal() or int(port) > 65_535 or not host:
        raise ConfigError(f"expected HOST:PORT, found {address!r}")
    return Door(host=host.strip("[]"), port=int(port), tokens=tokens)


def serve_mcp_http(
    models: Models, config: Config, limits: Limits, at: Door,
    started: Callable[[str], None],
) -> None:  # fmt: skip
    """An MCP server over streamable HTTP at /mcp."""
    with BatchingVerifier(models, config, most_waiting=limits.most_waiting) as verifier:
        verbs = Verbs(verifier, limits)

        async def ready() -> Verbs:
            return verbs

        judge = None if models.judge is None else models.judge.name
        app = mcp_server(ready, judge).streamable_http_app(
            max_request_body_size=limits.most_bytes, host=at.host
        )
        _serve(app, at, lambda address: started(f"{address}/mcp"))


def serve_http(
    models: Models, config: Config, limits: Limits, at: Door,
    started: Callable[[str], None], arriving: Arriving,
) -> None:  # fmt: skip
    """The HTTP API."""
    metrics = Metrics()
    kept = None if arriving.spans is None else SpanFile(arriving.spans)
    with ExitStack() as open_until_then:
        verifier = open_until_then.enter_context(
            BatchingVerifier(models, config, most_waiting=limits.most_waiting, watch=metrics.batch)
        )
        metrics.watch_waiting(lambda: float(verifier.waiting))
        # What is loaded at first use is loaded now: the first who ask wait no longer than others.
        verify(_FIRST, replace(models, judge=None), config)
        taking: SpanFile | Arrivals | None = kept
        if kept is not None and arriving.verdicts is not None:
            arrivals = Arrivals(
                kept, arriving.verdicts, verifier, metrics.judged,
                quiet_seconds=arriving.quiet_seconds,
            )  # fmt: skip
            if arriving.retry_set_aside:
                arrivals.retry_set_aside()
            taking = open_until_then.enter_context(arrivals)
            metrics.watch_arrivals(STATES, arrivals.counts)
        _serve(http_app(Verbs(verifier, limits, metrics.judged), metrics, taking), at, started)


def _serve(app: ASGIApp, at: Door, started: Callable[[str], None]) -> None:
    tokens = {} if at.tokens is None else read_tokens(at.tokens)
    # Whoever binds another address stands behind names of their own.
    guarded: Any = Guard(app, tokens, LOOPBACK if at.host in LOOPBACK else None)
    family = socket.AF_INET6 if ":" in at.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((at.host, at.port))
        listening.listen(1_024)
        shown = f"[{at.host}]" if ":" in at.host else at.host
        started(f"http://{shown}:{listening.getsockname()[1]}")
        settings = uvicorn.Config(
            guarded, log_level="error", access_log=False, server_header=False,
            timeout_graceful_shutdown=10, http=PatientProtocol, backlog=1_024,
        )  # fmt: skip
        uvicorn.Server(settings).run(sockets=[listening])


class PatientProtocol(H11Protocol):
    """HTTP/1.1 whose client is cut off when a request's header is not there after `HEADER_SECONDS`.

    The server's own timer begins behind the first answer, and waits for ever after a single byte.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A client is there: its first header is waited for."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some bytes: of a header, which must end in time, or of a body, for which the app waits."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()
        elif self._waiting is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
