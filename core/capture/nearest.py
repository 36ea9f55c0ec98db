"""Why no format recognises a record: the format that it comes nearest to, and what it lacks of it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

# What a record of each format has, in the spelling that is met most; the simplest first.
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "native, as the services take it": ("answer", "tool_outputs"),
    "native": ("final_reply_to_user", "full_tool_outputs"),
    "chat": ("messages",),
    "responses": ("input", "output"),
    "inspect_ai": ("input", "messages", "epoch"),
    "langsmith": ("id", "run_type", "inputs", "outputs"),
    "langfuse": ("traceId", "type", "input", "output"),
    "otel": ("traceId", "spanId", "attributes"),
    "mcp": ("jsonrpc", "method", "params"),
}
SIMPLEST = '{"answer": "…", "tool_outputs": [{"tool_name": "…", "text": "…"}]}'


def what_is_missing(value: object) -> str:
    """What a record has, and which fields it lacks of the format that it comes nearest to."""
    if not isinstance(value, Mapping):
        return f"its first record is a {type(value).__name__}; a record can be {SIMPLEST}"
    keys = [str(key)[:40] for key in islice(value, 8)]
    has = f"its first record has the fields {', '.join(keys) or '(none)'}"
    share = {
        name: sum(field in value for field in fields) / len(fields)
        for name, fields in _FIELDS.items()
    }
    nearest = max(share, key=lambda name: share[name])
    lacking = [field for field in _FIELDS[nearest] if field not in value]
    if not share[nearest]:
        return f"{has}; a record can be {SIMPLEST}"
    if lacking:
        return f"{has}; the nearest format is {nearest}, which lacks {', '.join(lacking)}"
    names = ", ".join(_FIELDS[nearest])
    return f"{has}; the nearest format is {nearest}, but {names} does not hold what it needs"
