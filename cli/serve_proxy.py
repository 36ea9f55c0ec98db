"""serve proxy: between an MCP client and its servers, with the verbs beside their tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from cli.judging import models_for
from cli.options import Decides, Reader, WholeAnswers
from cli.serving import MostBytes, Seconds, service_module
from core.errors import ConfigError

EXAMPLE = "Example: provenanceguard serve proxy -- python ehr_server.py"


def serve_proxy(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The command that starts a stdio server, behind --."),
    ] = None,
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
    most_bytes: MostBytes = 8 * 1024 * 1024,
    seconds: Seconds = 60.0,
    whole_answers: WholeAnswers = False,
    calibrator: Decides = None,
    reader: Reader = None,
) -> None:
    """Stand between an MCP client (stdio) and its servers, and keep what their tools give.

    The client sees the servers' tools, resources and prompts, and verify_answer, audit_citations and
    explain_claim, which need the final answer alone. A name that several servers have, or that is
    one of these three, becomes SERVER__NAME. What passed is kept in memory and ends with the client.
    """
    if bool(command) == (config is not None):
        raise ConfigError("give either a server command behind -- or --config FILE")
    running, upstream = service_module("proxy_running"), service_module("upstream")
    from core.config import Config
    from service.captured import Room
    from service.verbs import Limits

    servers = (
        upstream.one_server(command, os.environ) if command else upstream.read_settings(config)
    )
    settings = Config()
    running.serve_proxy(
        servers,
        lambda: models_for(settings, calibrator, reader=reader, whole_answers=whole_answers),
        settings,
        Limits(most_bytes=most_bytes, seconds=seconds),
        Room(most_calls=most_calls, most_bytes=most_bytes),
        log,
    )
