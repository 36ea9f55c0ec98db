"""A file of the calls that passed, for its owner alone; ``import`` and ``verify`` read it as an MCP log."""

from __future__ import annotations

import itertools
import json
import secrets
from pathlib import Path
from typing import Any

from core.workflows.record import WireLog


class PassedLog:
    """Requests and results of all servers in one file, each before it is passed on."""

    def __init__(self, path: Path) -> None:
        self._path, self._stream = path, secrets.token_hex(8)
        self._servers: dict[str, WireLog] = {}
        self._numbers = itertools.count(1)

    def asked(self, server: str, method: str, params: dict[str, Any]) -> int:
        """Keep a request; its number. Raises ComponentUnavailable when it cannot be kept."""
        number = next(self._numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self._write(server, "client", message)
        return number

    def answered(self, server: str, number: int, outcome: dict[str, Any]) -> None:
        """Keep the ``result`` or ``error`` of a request; raises ComponentUnavailable."""
        self._write(server, "server", {"jsonrpc": "2.0", "id": number, **outcome})

    def _write(self, server: str, sender: str, message: dict[str, Any]) -> None:
        if server not in self._servers:
            self._servers[server] = WireLog(self._path, self._stream, server)
        data = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        self._servers[server].message(sender, data)

    def close(self) -> None:
        """Close the file."""
        for log in self._servers.values():
            log.close()
