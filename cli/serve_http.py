"""serve http: the verifier as an HTTP API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import Decides, Reader, WholeAnswers
from cli.output import say
from cli.serving import MostBytes, MostWaiting, NoToken, Seconds, Tokens, served, tokens_file

EXAMPLE = "Example: provenanceguard serve http --at 127.0.0.1:8791 --tokens service.tokens"


def serve_http(
    at: Annotated[
        str, typer.Option("--at", help="HOST:PORT; port 0 takes a free one.")
    ] = "127.0.0.1:8791",
    tokens: Tokens = Path("data/service.tokens"),
    no_token: NoToken = False,
    most_bytes: MostBytes = 8 * 1024 * 1024,
    seconds: Seconds = 60.0,
    most_waiting: MostWaiting = 64,
    whole_answers: WholeAnswers = False,
    calibrator: Decides = None,
    reader: Reader = None,
) -> None:
    """Serve POST /v1/verify_answer, audit_citations and explain_claim; /openapi.json tells the rest.

    A bearer token is needed: one of --tokens, a file that is made with a fresh one when it is not
    there. /healthz and /readyz are open, /metrics has counters for Prometheus.
    """
    parts = served(most_bytes, seconds, calibrator, reader, whole_answers=whole_answers)
    place = parts.running.door(at, tokens_file(tokens, no_token))
    parts.running.serve_http(
        parts.models, parts.config, parts.limits, most_waiting, place,
        lambda address: say(f"serving HTTP on {address}"),
    )  # fmt: skip
