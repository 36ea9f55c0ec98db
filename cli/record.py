"""record: what passes between an MCP client and its server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.options import JsonPath
from cli.output import counted, say, write_json
from core.errors import ConfigError

EXAMPLE = "Example: provenanceguard record --log ehr.jsonl --http http://127.0.0.1:8000/mcp"


def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The command that starts a stdio server, behind --."),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option("--http", help="The address of a streamable-HTTP server to stand before."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", help="Where to listen with --http; 0 takes a free port.")
    ] = 0,
    log: Annotated[
        Path, typer.Option("--log", help="Where the messages are kept; a file there is continued.")
    ] = Path("mcp-log.jsonl"),
    name: Annotated[
        str | None,
        typer.Option("--name", help="The server's name; else the one it gives itself."),
    ] = None,
    json_path: JsonPath = None,
) -> None:
    """Keep what passes between an MCP client and its server, and change none of it.

    Where a client's settings say how to start a server, put "provenanceguard record --log ehr.jsonl
    --" before the server's own command. The log is an input of import and verify, together with a
    transcript or alone. A message is kept before it is passed on; when it cannot be kept, nothing
    more passes. The exit code is the server's.
    """
    import secrets

    from core.workflows.record import WireLog, record_stdio

    if bool(command) == bool(http):
        raise ConfigError("give either a server command behind -- or --http ADDRESS")
    wire = WireLog(log, secrets.token_hex(8), name)
    if command:
        if json_path is not None and str(json_path) == "-":
            raise ConfigError("--json: stdout belongs to the server; give a file")
        code = record_stdio(command, wire)
        write_json(json_path, {"log": str(log), "messages": wire.messages, "exit_code": code})
        raise SystemExit(code)
    from core.workflows.record import Recorder

    with Recorder(str(http), wire, port) as recorder:
        say(f"recording into {log}; connect the client to {recorder.url}")
        try:
            recorder.serve()
        except KeyboardInterrupt:
            say(f"{counted(wire.messages, 'message')} recorded in {log}")
            write_json(json_path, {"log": str(log), "messages": wire.messages, "exit_code": 0})
