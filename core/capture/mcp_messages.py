"""The messages of an MCP log, whoever wrote it: one shape, with sender, server and stream."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from core.capture.files import LOG_PREFIX, WrittenNumber

_MESSAGE_KEYS = ("message", "msg", "payload", "data", "body", "frame", "jsonrpc", "raw", "content")


_STREAM_KEYS = (
    "stream", "session", "session_id", "sessionId", "mcp_session_id", "Mcp-Session-Id", "connection",
    "connection_id", "pid",
)  # fmt: skip


_SENDER_KEYS = ("sender", "direction", "from", "side")


# Only words that mean the same from either side: "incoming" may be one or the other.
_SENDERS = {
    "client": "client", "server": "server", "client_to_server": "client",
    "server_to_client": "server", "client-to-server": "client", "server-to-client": "server",
    "client->server": "client", "server->client": "server",
}  # fmt: skip


_SERVER_KEYS = ("server", "server_name", "serverName", "server_label", "mcp_server")


_BRACKETED = re.compile(r"\[([\w .@/-]+)\]")


_LEVELS = {"info", "debug", "warn", "warning", "error", "trace", "stdin", "stdout", "stderr", "mcp"}


Message = tuple[Mapping[str, object], Mapping[str, object]]


def read_messages(value: object) -> Iterator[Message]:
    """The JSON-RPC messages of one record, each with the envelope that it was logged in."""
    if isinstance(value, list):
        for item in value:
            yield from read_messages(item)
        return
    if not isinstance(value, Mapping):
        return
    if _is_rpc(value):
        yield value, {}
        return
    for key in ("request", "response", *_MESSAGE_KEYS):
        inner = value.get(key)
        if isinstance(inner, str) and inner.lstrip().startswith(("{", "[")):
            try:
                inner = json.loads(inner, parse_float=WrittenNumber)
            except (ValueError, RecursionError):
                continue
        found = inner if isinstance(inner, list) else [inner]
        for item in found:
            if isinstance(item, Mapping) and _is_rpc(item):
                yield item, value


def _is_rpc(value: Mapping[str, object]) -> bool:
    return value.get("jsonrpc") == "2.0" and any(
        key in value for key in ("method", "result", "error", "id")
    )


def sender_of(envelope: Mapping[str, object]) -> str | None:
    """Who sent a message, client or server, where the log says so."""
    for key in _SENDER_KEYS:
        value = envelope.get(key)
        if isinstance(value, str) and value.lower() in _SENDERS:
            return _SENDERS[value.lower()]
    return None


def is_tool_result(result: object) -> bool:
    return isinstance(result, Mapping) and (
        "isError" in result
        or "structuredContent" in result
        or isinstance(result.get("content"), list)
    )


def stream_key(envelope: Mapping[str, object]) -> str:
    if LOG_PREFIX in envelope:
        return server_named(envelope) or ""
    parts = [str(envelope[key]) for key in (*_STREAM_KEYS, *_SERVER_KEYS) if key in envelope]
    headers = mapping(envelope.get("headers"))
    parts += [str(value) for key, value in headers.items() if key.lower() == "mcp-session-id"]
    return "\x1f".join(parts)


def server_named(envelope: Mapping[str, object]) -> str | None:
    prefix = envelope.get(LOG_PREFIX)
    named = [name for name in _BRACKETED.findall(str(prefix or "")) if name.lower() not in _LEVELS]
    if named:
        return str(named[0])
    for key in _SERVER_KEYS:
        value = envelope.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, Mapping) and (name := text_of(value, "name")):
            return name
    return None


def mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def text_of(value: Mapping[str, object], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None
