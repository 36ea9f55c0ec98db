"""serve mcp: the verifier as tools of an MCP server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import Decides, Reader, WholeAnswers
from cli.output import say
from cli.serving import MostBytes, MostWaiting, NoToken, Seconds, Tokens, served, tokens_file

EXAMPLE = "Example: provenanceguard serve mcp --http 127.0.0.1:8790"


def serve_mcp(
    http: Annotated[
        str | None,
        typer.Option("--http", help="HOST:PORT for streamable HTTP; port 0 takes a free one."),
    ] = None,
    tokens: Tokens = Path("data/service.tokens"),
    no_token: NoToken = False,
    most_bytes: MostBytes = 8 * 1024 * 1024,
    seconds: Seconds = 60.0,
    most_waiting: MostWaiting = 64,
    whole_answers: WholeAnswers = False,
    calibrator: Decides = None,
    reader: Reader = None,
) -> None:
    """Serve verify_answer, audit_citations and explain_claim to MCP clients; stdio without --http.

    Nothing that is sent leaves this machine. Over HTTP a bearer token is needed: one of --tokens,
    a file that is made with a fresh one when it is not there.
    """
    parts = served(most_bytes, seconds, calibrator, reader, whole_answers=whole_answers)
    if http is None:
        parts.running.serve_stdio(parts.models, parts.config, parts.limits, most_waiting)
        return
    at = parts.running.door(http, tokens_file(tokens, no_token))
    parts.running.serve_mcp_http(
        parts.models, parts.config, parts.limits, most_waiting, at,
        lambda address: say(f"serving MCP on {address}"),
    )  # fmt: skip
