"""serve: the verifier as an MCP server, as an HTTP API, and between a client and its servers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.judging import Deciding, Judging
from cli.options import WholeAnswers
from cli.output import say
from core.errors import ComponentUnavailable, ConfigError, ProvenanceGuardError
from core.site_config import site_config

if TYPE_CHECKING:
    from core.config import Config
    from core.ports import Judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving(Deciding):
    """What each way to serve is started with."""

    most_bytes: Annotated[int, typer.Option("--most-bytes", min=1, help="The largest request.")] = (
        8 * 1024 * 1024
    )
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.001, help="How long one request may take.")
    ] = 60.0
    whole_answers: WholeAnswers = False

    def asked(self, judging: Judging) -> Judge | None:
        """The judge beside the models, whose requests are told in counts; no request chooses another.

        It has a third of a request's time: one more try, and the rest is the models'.
        """
        judge = judging.asked(self.seconds / 3)
        if judge is None:
            return None
        from core.workflows.judges import Logged

        return Logged(judge, say)

    def loaded(self, config: Config, judging: Judging, judge: Judge | None) -> Any:
        """The models, loaded."""
        return judging.beside(self.models(config, whole_answers=self.whole_answers), judge)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening(Serving):
    """Who may ask over a socket, and how many may wait."""

    tokens: Annotated[
        Path, typer.Option("--tokens", help="Bearer tokens, one a line; made when it is not there.")
    ] = Path("data/service.tokens")
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Whoever is on this machine may ask; loopback only.")
    ] = False
    most_waiting: Annotated[
        int,
        typer.Option("--most-waiting", min=1, help="Answers that may wait before others get 429."),
    ] = 64

    def serve(
        self, judging: Judging, how: str, address: str | None, told: str = "", **more: Any
    ) -> None:
        """Serve one of the services; on stdin and stdout without an address.

        Raises ComponentUnavailable without the extra.
        """
        config, judge = site_config(), self.asked(judging)
        limits = service_module("requests").Limits(
            most_bytes=self.most_bytes, seconds=self.seconds, most_waiting=self.most_waiting
        )
        if address is None:
            service_module("stdio").serve_stdio(
                lambda: _told(lambda: self.loaded(config, judging, judge)),
                config, limits, None if judge is None else judge.name,
            )  # fmt: skip
            return
        models = self.loaded(config, judging, judge)
        running = service_module("running")
        at = running.door(address, None if self.no_token else self.tokens)
        getattr(running, how)(
            models, config, limits, at, lambda here: say(f"{told} on {here}"), **more
        )


def _told(load: Callable[[], Any]) -> Any:
    """What is loaded; why it is not is told on stderr too, before a client asks for it."""
    try:
        return load()
    except ProvenanceGuardError as error:
        say(str(error))
        raise


def service_module(name: str) -> Any:
    """A module of the service package; raises ComponentUnavailable without the extra."""
    try:
        return import_module(f"service.{name}")
    except ModuleNotFoundError as error:
        raise ComponentUnavailable(
            f"{error.name} is not installed: pip install 'provenanceguard-workbench[service]'"
        ) from None


def serve_mcp(
    http: Annotated[
        str | None,
        typer.Option("--http", help="HOST:PORT for streamable HTTP; port 0 takes a free one."),
    ] = None,
    *,
    listening: Listening,
    judging: Judging,
) -> None:
    """Serve verify_answer, audit_citations and explain_claim to MCP clients; stdio without --http.

    Nothing that is sent leaves this machine, unless --judge names another. Over HTTP a bearer token
    is needed: one of --tokens, a file that is made with a fresh one when it is not there.
    """
    listening.serve(judging, "serve_mcp_http", http, "serving MCP")


def serve_http(
    at: Annotated[
        str, typer.Option("--at", help="HOST:PORT; port 0 takes a free one.")
    ] = "127.0.0.1:8791",
    spans: Annotated[
        Path | None,
        typer.Option(
            "--spans", help="Also take OpenTelemetry's spans (POST /v1/traces) into this file."
        ),
    ] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option(
            "--verdicts", help="Judge the traces of --spans as they come, into this file."
        ),
    ] = None,
    quiet_seconds: Annotated[
        float,
        typer.Option(
            "--quiet-seconds",
            min=0.05,
            help="A trace whose outermost span came is judged when nothing more came for so long.",
        ),
    ] = 5.0,
    retry_set_aside: Annotated[
        bool,
        typer.Option(
            "--retry-set-aside", help="Judge the traces again that this program failed on."
        ),
    ] = False,
    *,
    listening: Listening,
    judging: Judging,
) -> None:
    """Serve POST /v1/verify_answer, audit_citations and explain_claim; /openapi.json tells the rest.

    A bearer token is needed: one of --tokens, a file that is made with a fresh one when it is not
    there. /healthz and /readyz are open, /metrics has counters for Prometheus.
    """
    arriving = service_module("running").Arriving(
        spans=spans,
        verdicts=verdicts,
        quiet_seconds=quiet_seconds,
        retry_set_aside=retry_set_aside,
    )
    listening.serve(judging, "serve_http", at, "serving HTTP", arriving=arriving)


def serve_proxy(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The command that starts a stdio server, behind --."),
    ] = None,
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", help='Several servers: a client\'s own settings, {"mcpServers": {...}}.'
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option("--log", help="Also keep the calls in this file, for its owner alone."),
    ] = None,
    most_calls: Annotated[
        int, typer.Option("--most-calls", min=1, help="Outputs kept of one conversation.")
    ] = 256,
    serving: Serving,
    judging: Judging,
) -> None:
    """Stand between an MCP client (stdio) and its servers, and keep what their tools give.

    The client sees the servers' tools, resources and prompts, and verify_answer, audit_citations and
    explain_claim, which need the final answer alone. A name that several servers have, or that is
    one of these three, becomes SERVER__NAME. What passed is kept in memory and ends with the client.
    """
    if bool(command) == (config is not None):
        raise ConfigError("give either a server command behind -- or --config FILE")
    proxy, upstream = service_module("proxy"), service_module("upstream")
    from core.workflows.batching import BatchingVerifier
    from service.captured import Room
    from service.requests import Limits
    from service.verbs import Verbs

    servers = (
        upstream.one_server(command, os.environ) if command else upstream.read_settings(config)
    )
    settings = site_config()
    limits = Limits(most_bytes=serving.most_bytes, seconds=serving.seconds)
    judge = serving.asked(judging)
    room = Room(most_calls=most_calls, most_bytes=serving.most_bytes)

    def load() -> Verbs:
        models = serving.loaded(settings, judging, judge)
        return Verbs(BatchingVerifier(models, settings), limits)

    asyncio.run(proxy.serve_proxy(servers, load, room, log))
