"""What a tool call shows by itself: what was asked, what the agent wrote, whether it succeeded.

A call's arguments say what was asked and what was done; its output says what the world answered. A
list of tools is evidence about tools and nothing else, and an output that only gives the arguments
back is what the agent said, not what was found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from core.records import Source, SourceStatus
from core.text.tokens import content_terms

LONGEST_ARGUMENTS = 200_000  # characters of arguments that are read
_MOST_DEPTH = 8
# How a call ended: as a sentence of its own, and behind its name in a list.
ENDED = {
    SourceStatus.OK: ("The call succeeded.", "succeeded"),
    SourceStatus.TRUNCATED: (
        "The call succeeded; its output was cut.",
        "succeeded, its output was cut",
    ),
    SourceStatus.EMPTY: ("The call returned nothing.", "returned nothing"),
    SourceStatus.ERROR: ("The call failed.", "failed"),
    SourceStatus.NOT_CAPTURED: (
        "What the call returned was not captured.",
        "its output was not captured",
    ),
    SourceStatus.ECHO: (
        "The call gave back what the agent had passed to it.",
        "gave back what the agent had passed to it",
    ),
}
# What describes a tool, in the words of the protocols in use (MCP, OpenAPI, function calling).
_DESCRIBED = re.compile(
    r"\b(?:tool_?(?:name|description)|input_?schema|parameters|description)\b\W{1,4}", re.IGNORECASE
)
_NAMED = re.compile(r"\b(?:tool_?)?name\W{1,4}[\"']?[A-Za-z_][\w./-]+", re.IGNORECASE)
_SCHEMA = re.compile(
    r"\binput_?schema\b|\"?type\"?\s*:\s*\"?object\b"
    r"|\((?:Optional, )?(?:string|number|array|boolean|object|integer|any)\)",
    re.IGNORECASE,
)
_CATALOGUE_ENTRIES = 2
_ECHO_SHARE = 0.9


def call_lines(source: Source) -> str:
    """The call as lines that a person can read: its tool, each argument by its path, how it ended."""
    lines = [f"Called {_words_of(source.tool_name)}.", ENDED[source.status][0]]
    lines += [f"{path}: {value}" for path, value in argument_leaves(source.arguments)]
    return "\n".join(lines)


def arguments_begin(call: str) -> int:
    """Where the arguments begin in the lines of a call as they were read; before them are our words."""
    return len(call) - len("".join(call.split("\n", 2)[2:]))


def is_catalogue(source: Source) -> bool:
    """Whether the output lists tools with what they take, by what it holds and not by who gave it."""
    text = source.text[:20_000]
    entries = min(len(_NAMED.findall(text)), len(_SCHEMA.findall(text)))
    return entries >= _CATALOGUE_ENTRIES and len(_DESCRIBED.findall(text)) > _CATALOGUE_ENTRIES


def is_echo(source: Source) -> bool:
    """Whether the output says hardly more than the arguments said: an echo, a note, a thought kept."""
    said = content_terms(source.text[:20_000])
    if not said or not source.arguments:
        return False
    return len(said & content_terms(source.arguments)) >= _ECHO_SHARE * len(said)


def argument_leaves(text: str | None) -> Iterator[tuple[str, str]]:
    """Each argument of a call by its path, as text; arguments that are no JSON as one text."""
    if not text:
        return
    try:
        value = json.loads(text[:LONGEST_ARGUMENTS])
    except (ValueError, RecursionError):
        yield "arguments", text[:LONGEST_ARGUMENTS]
        return
    yield from _leaves(value, "", 0)


def _leaves(value: object, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _MOST_DEPTH:
        yield path, json.dumps(value, ensure_ascii=False)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            # A path of many parts says no more than its last two.
            yield from _leaves(item, ".".join([*path.split(".")[-1:], key]).strip("."), depth + 1)
    elif isinstance(value, list):
        if all(not isinstance(item, Mapping | list) for item in value):
            yield path, ", ".join(str(item) for item in value)
        else:
            for item in value:
                yield from _leaves(item, path, depth + 1)
    elif value is not None and value != "":
        yield path or "value", str(value)


def _words_of(name: str) -> str:
    """ "write_file" as "write file": names of tools are words run together."""
    return re.sub(r"[_\-.]+|(?<=[a-z])(?=[A-Z])", " ", name).strip()
