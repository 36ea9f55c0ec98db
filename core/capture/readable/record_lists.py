"""Lists of records as lines that people read, each with where it stands in the output."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.capture.readable.fhir import fhir_blocks, is_fhir
from core.capture.readable.layers import Line, Value, Writer, joined
from core.capture.readable.nodes import Kind, NotStructured
from core.capture.readable.parsers import parse_json
from core.capture.readable.result_shape import holds_objects, weight

MAX_LAYERS = 6
_INLINE_LINES = 12
_LIST_CHARACTERS = 300
_CONTEXT_LINES = 5
_CONTEXT_CHARACTERS = 120
_IDENTIFYING = re.compile(
    r"(?:^|[._])(?:id|uuid|mrn|pmid|pmcid|doi|nct|name|names|title|date|dob|patient|subject|symbol"
    r"|ticker|code|label|birthdate|first_name|last_name|given|family|display|query|city)$"
    r"|(?:_id|Id|ID|_name|Name|_date|Date|_number|Number)$"
)


class RecordLines:
    """Writes JSON values as blocks of ``path: value`` lines."""

    def __init__(self, writer: Writer, depth: int) -> None:
        self.writer, self.depth = writer, depth

    def write(self, value: Value, path: str, context: tuple[Line, ...]) -> None:
        if is_fhir(value):
            for lines in fhir_blocks(value):
                self.writer.block(lines)
        elif value.node.members:
            self.block(value, path, context)
        elif value.node.kind is Kind.ARRAY and value.node.items:
            loose: list[Line] = []
            for item in map(self.opened, value.items):
                if item.node.members or holds_objects(item):
                    self.write(item, path, context)
                else:
                    loose.extend(_list_lines(item, path))
            self.writer.block([*context, *loose] if loose else [])
        else:
            self.writer.block([*context, *_list_lines(value, path)])

    def block(self, value: Value, path: str, context: tuple[Line, ...]) -> None:
        lines: list[Line] = []
        children: list[tuple[str, Value]] = []
        self.collect(value, path, lines, children, 0)
        if lines:
            self.writer.block([*(line for line in context if line not in lines), *lines])
        if children:
            below = tuple(dict.fromkeys((*context, *_identifying(lines))))[-_CONTEXT_LINES:]
            for where, child in children:
                self.write(child, where, below)

    def collect(
        self,
        value: Value,
        path: str,
        lines: list[Line],
        children: list[tuple[str, Value]],
        depth: int,
    ) -> None:
        parts: list[tuple[str, Value]] = [*value.members, *(("", item) for item in value.items)]
        for key, part in parts:
            part = self.opened(part)
            where = f"{path}.{key}" if path and key else path or key
            if holds_objects(part) or (part.node.kind is Kind.OBJECT and is_fhir(part)):
                children.append((where, part))
            elif part.node.kind is Kind.OBJECT and part.node.members:
                if depth < 6 and weight(part.node, _INLINE_LINES) <= _INLINE_LINES:
                    self.collect(part, where, lines, children, depth + 1)
                else:
                    children.append((where, part))
            else:
                lines.extend(_list_lines(part, where))

    def opened(self, value: Value) -> Value:
        """What is in a string that is itself JSON, and the value itself otherwise."""
        text = value.node.value if value.node.kind is Kind.STRING else ""
        if len(text) < 2 or text.lstrip()[:1] not in ("{", "[") or self.depth >= MAX_LAYERS:
            return value
        try:
            found = parse_json(text)
        except NotStructured:
            return value
        if found.cut or text[found.end :].strip() or not (found.node.members or found.node.items):
            return value
        return Value(value.layer.inside(value.node), found.node)


def _list_lines(value: Value, path: str) -> Iterator[Line]:
    """The lines of a value that holds no records."""
    label = f"{path}: " if path else ""
    node = value.node
    if value.broke_off:
        return
    if value.is_empty:
        yield (label, value, " (none listed)")
    elif node.kind is Kind.ARRAY:
        leaves = list(_leaves(value))
        shown = [leaf.shown for leaf in leaves]
        if sum(map(len, shown)) > _LIST_CHARACTERS or any("\n" in text for text in shown):
            yield from ((label, leaf) for leaf in leaves)
        elif leaves:
            yield (label, *joined(leaves, ", "))
    else:
        yield (f"{path}:\n" if path and "\n" in value.shown else label, value)


def _leaves(value: Value) -> Iterator[Value]:
    for item in value.items:
        if item.node.kind is Kind.ARRAY and item.node.items:
            yield from _leaves(item)
        elif not item.broke_off:
            yield item


def _identifying(lines: list[Line]) -> list[Line]:
    """The lines that say which record this is: names, ids, dates, titles."""
    found: list[Line] = []
    for line in lines:
        label = line[0] if isinstance(line[0], str) else ""
        value = line[-1]
        if not isinstance(value, Value) or len(line) != 2:
            continue
        if _IDENTIFYING.search(label.rstrip(": \n")) and len(value.shown) <= _CONTEXT_CHARACTERS:
            found.append(line)
    return found[:_CONTEXT_LINES]
