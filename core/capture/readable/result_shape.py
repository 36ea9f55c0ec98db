"""Which parts of a tool's output are the result, and which wrap it: by shape, never by name alone."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.capture.readable.layers import Value
from core.capture.readable.nodes import Kind, Node, NotStructured, Parsed, same_value
from core.capture.readable.parsers import parse_json, parse_repr

_REPR_START = re.compile(r"\s*(?:[A-Za-z_][\w.]*[=(]|[\[({])")
_REPR_SIGN = re.compile(r"[\w\])'\"]=|[\[{(,:]\s*(?:'|None|True|False|[A-Z]\w*\()|\(")
_BETWEEN = re.compile(r"[,\s]*")
_BLOCK_TYPES = {
    "text", "image", "audio", "resource", "resource_link", "search_result", "document",
    "input_text", "output_text", "input_image", "image_url",
}  # fmt: skip
_RESULT_KEYS = {
    "content", "isError", "is_error", "structuredContent", "structured_content", "_meta", "meta",
    "resultType", "citations",
}  # fmt: skip


def parse_text(text: str) -> Parsed | None:
    """A whole text as JSON or as a Python repr; None when it is neither."""
    head = text.lstrip()[:1]
    if not head:
        return None
    if head in '{["':
        found = _whole(parse_json, text)
        if found is not None and (head != '"' or not found.cut):
            return found
    if head == "{" and (found := _json_lines(text)) is not None:
        return found
    if _REPR_START.match(text) and _REPR_SIGN.search(text, 0, 4_000):
        found = _whole(parse_repr, text)
        if found is not None and _tells(found.node):
            return found
    return None


def _whole(parse: Callable[[str], Parsed], text: str) -> Parsed | None:
    try:
        found = parse(text)
    except NotStructured:
        return None
    if text[found.end :].strip() or (found.cut and not (found.node.members or found.node.items)):
        return None
    return found


def _json_lines(text: str) -> Parsed | None:
    """A text of two or more JSON objects, one behind the other, as one list."""
    items: list[Node] = []
    at = 0
    while at < len(text):
        try:
            found = parse_json(text, at)
        except NotStructured:
            return None
        if found.cut or found.node.kind is not Kind.OBJECT:
            return None
        items.append(found.node)
        between = _BETWEEN.match(text, found.end)
        at = between.end() if between else found.end
    if len(items) < 2:
        return None
    return Parsed(Node(Kind.ARRAY, 0, len(text), items=tuple(items)), False, len(text))


def _tells(node: Node) -> bool:
    """Whether a repr holds named data: a dictionary, fields, or known content blocks."""
    if node.kind is Kind.OBJECT:
        return bool(node.members) and (
            node.name is None or node.name == "" or node.name[0].isupper()
        )
    return node.kind is Kind.ARRAY and any(
        item.kind is Kind.OBJECT and item.members for item in node.items
    )


def is_result(node: Node) -> bool:
    """Whether an object is an MCP tool result, however it was printed."""
    if node.kind is not Kind.OBJECT:
        return False
    keys = {key for key, _ in node.members}
    content = node.get("content")
    marked = keys & {"isError", "is_error", "structuredContent", "resultType", "_meta"}
    if content is None:
        return "structuredContent" in keys and keys <= _RESULT_KEYS
    if content.kind is Kind.STRING:
        return bool(marked) and keys <= _RESULT_KEYS
    if content.kind is not Kind.ARRAY:
        return False
    return (is_blocks(content) and (bool(marked) or keys <= _RESULT_KEYS)) or (
        not content.items and bool(marked)
    )


def is_blocks(node: Node) -> bool:
    """Whether a list holds nothing but content blocks."""
    return node.kind is Kind.ARRAY and bool(node.items) and all(map(_is_block, node.items))


def _is_block(node: Node) -> bool:
    if node.kind is not Kind.OBJECT:
        return False
    if node.name and node.name.removesuffix("Content") in ("Text", "Image", "Audio"):
        return True
    if node.name in ("EmbeddedResource", "ResourceLink"):
        return True
    kind = node.string("type")
    if kind not in _BLOCK_TYPES:
        return False
    return any(
        node.get(key) is not None
        for key in ("text", "data", "resource", "uri", "source", "content", "image_url", "file_id")
    )


def has_words(text: str, node: Node) -> bool:
    found = parse_text(text)
    return found is not None and same_value(found.node, node)


def holds_objects(value: Value) -> bool:
    """Whether a list holds records, itself or in its lists."""
    node = value.node
    return node.kind is Kind.ARRAY and any(
        item.kind is Kind.OBJECT
        or (item.kind is Kind.ARRAY and holds_objects(Value(value.layer, item)))
        for item in node.items
    )


def weight(node: Node, limit: int) -> int:
    """How many lines a value takes, counted only a little past the limit."""
    if node.kind is not Kind.OBJECT:
        return 1
    total = 0
    for _, part in node.members:
        total += weight(part, limit - total)
        if total > limit:
            break
    return total
