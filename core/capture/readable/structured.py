"""Tool outputs as readable evidence: JSON, FHIR, MCP results and Python reprs become lines.

``path: value``, one record a block, the record's names, ids and dates repeated in each block below
it, so that a block stands alone. List positions are left out of the paths: "2" in ``results[2]``
would look like evidence for the number 2. Every value shown maps back to its place in the raw output.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from core.capture.readable.fhir import fhir_blocks, is_fhir, plain_entries
from core.capture.readable.layers import Layer, Value, Writer, joined
from core.capture.readable.nodes import Kind, Node, NotStructured, same_value
from core.capture.readable.parsers import MAX_CHARACTERS, parse_json
from core.capture.readable.record_lists import MAX_LAYERS, RecordLines
from core.capture.readable.result_shape import has_words, is_blocks, is_result, parse_text
from core.records import RawRange

_DOCUMENT_LINE = re.compile(
    r"^[ \t]*(?:```(?:json)?[ \t]*\n[ \t]*|[^\n\[{]{1,60}:[ \t]+)?(?=[\[{])", re.M
)
# What carries a block and says nothing of the world; all else of it stands in the readable text.
_TRANSPORT = {"type", "mimeType", "media_type", "data", "blob", "cache_control", "file_id"}
# The names that MCP keeps for itself in ``_meta``: the server, a task, a progress.
_RESERVED = re.compile(
    r"(?:[\w-]+\.)*(?:modelcontextprotocol|mcp)(?:\.[\w-]+)*/|(?:progressToken|traceparent|tracestate|baggage)\Z"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Readable text of one output, or of one resource inside it (``uri`` set, ``title`` if known)."""

    text: str
    raw_map: tuple[RawRange, ...]
    structured: bool
    uri: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfolded:
    """An output made readable; ``parts`` is empty when it holds no text at all.

    ``changed`` is False when the only part is the output as it came. ``error`` says that the result
    itself reports a failure, ``cut`` that it breaks off, ``waiting`` that it asks for input.
    """

    parts: tuple[Part, ...]
    changed: bool
    error: bool = False
    cut: bool = False
    waiting: bool = False
    notes: tuple[str, ...] = ()


def unfold_output(raw: str) -> Unfolded:
    """A tool output as readable text with its places in ``raw``; other text stays as it is."""
    if len(raw) > MAX_CHARACTERS:
        note = f"longer than {MAX_CHARACTERS} characters, so its structure was not read"
        whole = Part(text=raw, raw_map=(), structured=False)
        return Unfolded(parts=(whole,), changed=False, notes=(note,))
    reader = _Reader(raw)
    reader.read(Layer(raw), reader.main, 0)
    return reader.finish()


class _Section:
    def __init__(self, uri: str | None = None, title: str | None = None) -> None:
        self.writer, self.uri, self.title, self.structured = Writer(), uri, title, False


class _Cited:
    """A source that a tool result cites for its blocks (MCP's draft ``citations``, SEP-3094)."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self.identity = _ref(value) if value.node.kind is Kind.OBJECT else None
        self.uri = value.node.string("uri", "url", "source")
        self.title = value.node.string("title", "name")
        self.section: _Section | None = None


def _ref(value: Value) -> str | None:
    """What a block calls a source by: text, a number, or an object with an id."""
    node = value.node if value.node.kind is not Kind.OBJECT else value.node.get("id")
    return node.value if node is not None and node.kind in (Kind.STRING, Kind.NUMBER) else None


def _texts(value: Value, keys: Sequence[str]) -> list[Value]:
    """What the fields of an object say, of those that are texts."""
    parts = (value.get(key) for key in keys)
    return [part for part in parts if part is not None and part.node.kind is Kind.STRING]


def _said(value: Value, keys: Sequence[str]) -> list[str]:
    """Those of the keys that hold a text."""
    return [key for key in keys if value.node.string(key) is not None]


class _Reader:
    """Walks one output from its outermost layer inwards and collects what it finds."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.main = _Section()
        self.sections = [self.main]
        self.changed = self.error = self.cut = self.waiting = False
        self.notes: list[str] = []

    def finish(self) -> Unfolded:
        parts = []
        for section in self.sections:
            text = section.writer.text
            if text.strip():
                parts.append(
                    Part(
                        text=text,
                        raw_map=section.writer.raw_map(self.raw) if self.changed else (),
                        structured=section.structured,
                        uri=section.uri,
                        title=section.title,
                    )
                )
        return Unfolded(
            parts=tuple(parts),
            changed=self.changed,
            error=self.error,
            cut=self.cut,
            waiting=self.waiting,
            notes=tuple(dict.fromkeys(self.notes)),
        )

    def read(self, layer: Layer, section: _Section, depth: int) -> None:
        """Write what a text says, unfolding it when it is structured."""
        found = parse_text(layer.text) if depth < MAX_LAYERS else None
        if found is None:
            self.embedded(layer, section, depth)
            return
        value = Value(layer, found.node)
        if found.node.kind is Kind.STRING:
            self.changed = True
            self.read(layer.inside(found.node), section, depth + 1)
            return
        self.changed, self.cut = True, self.cut or found.cut
        if is_result(found.node):
            self.result(value, section, depth)
        elif is_blocks(found.node):
            self.blocks(value.items, section, depth)
        else:
            section.structured = True
            self.records(value, section, depth)

    def embedded(self, layer: Layer, section: _Section, depth: int) -> None:
        """Text, with at most one JSON document in it ("Found 3 results:" and then the list)."""
        text = layer.text
        for index, place in enumerate(_DOCUMENT_LINE.finditer(text)):
            if index == 3 or depth >= MAX_LAYERS:
                break
            try:
                found = parse_json(text, place.end())
            except NotStructured:
                continue
            rest = text[found.end :].lstrip(" \t\r\n`")
            if found.cut or not (found.node.members or found.node.items) or len(rest) > 2_000:
                continue
            if found.end - place.end() < 40:  # a set of citation marks, an example
                continue
            self.changed = section.structured = True
            self.lines(layer, section, 0, place.start() if "`" in place.group() else place.end())
            self.records(Value(layer, found.node), section, depth)
            self.lines(layer, section, len(text) - len(rest), len(text))
            return
        self.lines(layer, section, 0, len(text))

    def lines(self, layer: Layer, section: _Section, start: int, end: int) -> None:
        """Text as it is, each line with its place."""
        text = layer.text[start:end]
        if not text.strip():
            return
        section.writer.gap()
        at = start
        for line in text.splitlines(keepends=True):
            section.writer.add_from(line, layer, at, at + len(line))
            at += len(line)

    # ------------------------------------------------------------ MCP results and content blocks

    def result(self, value: Value, section: _Section, depth: int) -> None:
        node = value.node
        flag = node.get("isError") or node.get("is_error")
        self.error = self.error or (flag is not None and flag.is_word("true"))
        kind = node.string("resultType")
        self.waiting = self.waiting or kind == "input_required"
        content = value.get("content")
        cited = value.get("citations")
        sources = [_Cited(each) for each in (cited.items if cited is not None else [])]
        if content is not None and content.node.kind is Kind.STRING:
            self.read(content.layer.inside(content.node), section, depth + 1)
        elif content is not None:
            self.blocks(content.items, section, depth, sources)
        for source in sources:
            self.names(source, section)
        done = {"content", "citations", "isError", "is_error", "resultType"}
        self.rest(value, section, depth, {*done, "structuredContent", "structured_content"})
        structured = value.get("structuredContent") or value.get("structured_content")
        if structured is None or structured.node.kind is Kind.WORD:
            return
        if not self.repeats(structured, content):
            section.structured = True
            self.records(structured, section, depth)

    def repeats(self, structured: Value, content: Value | None) -> bool:
        """Whether a text block already says what ``structuredContent`` says: one source, not two."""
        wanted = [structured.node]
        if [key for key, _ in structured.node.members] == ["result"]:
            wanted.append(structured.node.members[0][1])  # how FastMCP wraps what is no object
        texts = [
            item.node.string("text") or ""
            for item in (content.items if content is not None else [])
        ]
        whole: list[Node] = []
        for text in texts:
            found = parse_text(text)
            if found is not None and any(same_value(found.node, node) for node in wanted):
                return True
            if found is not None:
                whole.append(found.node)
            if any(node.kind is Kind.STRING and node.value == text for node in wanted):
                return True
        # FastMCP writes a list as one text block an item.
        return any(
            node.kind is Kind.ARRAY
            and len(node.items) == len(texts) > 0
            and all(
                item.value == text if item.kind is Kind.STRING else has_words(text, item)
                for item, text in zip(node.items, texts, strict=True)
            )
            for node in wanted
        )

    def blocks(
        self,
        items: Sequence[Value],
        whole: _Section,
        depth: int,
        cited: Sequence[_Cited] = (),
    ) -> None:
        for item in items:
            node = item.node
            section = self.credited(item, cited) or whole
            kind = node.string("type") or (node.name or "").removesuffix("Content").lower()
            text = node.get("text")
            if kind in ("resource", "embeddedresource") or node.get("resource") is not None:
                self.resource(item, section, depth)
            elif kind in ("resource_link", "resourcelink"):
                self.link(item, section, depth)
            elif kind in ("search_result", "document"):
                self.search_result(item, depth)
            elif kind in ("image", "audio", "input_image", "image_url"):
                data = node.get("source") or node
                mime = (
                    node.string("mimeType")
                    or data.string("media_type", "mimeType")
                    or "unknown type"
                )
                self.notes.append(
                    f"an {kind.replace('_', ' ')} ({mime}) was kept but cannot be verified"
                )
                self.changed = True
                self.rest(item, section, depth, {"source", "image_url"})
            elif text is not None and text.kind is Kind.STRING:
                self.read(item.layer.inside(text), section, depth + 1)
                self.rest(item, section, depth, {"text", "citationRefs", "citation_refs"})
            elif node.kind is Kind.STRING:
                self.read(item.layer.inside(node), section, depth + 1)
            else:
                section.structured = True
                self.records(item, section, depth)

    def credited(self, item: Value, cited: Sequence[_Cited]) -> _Section | None:
        """The section of the one source that a block says it is taken from; None without one."""
        refs = item.get("citationRefs") or item.get("citation_refs")
        named = [_ref(ref) for ref in (refs.items if refs is not None else [])]
        found = [
            source
            for index, source in enumerate(cited)
            if any(name in (source.identity, source.uri) for name in named)
            or (source.identity is None and str(index) in named)
        ]
        if len(found) != 1 or len(named) != 1 or found[0].uri is None:
            return None
        (source,) = found
        if source.section is None:
            source.section = _Section(uri=source.uri, title=source.title)
            self.sections.append(source.section)
        return source.section

    def rest(self, value: Value, section: _Section, depth: int, done: Collection[str] = ()) -> None:
        """Write what else an object says: its fields that are not done."""
        left = []
        for key, node in value.node.members:
            if key == "_meta":
                kept = tuple(member for member in node.members if not _RESERVED.match(member[0]))
                node = replace(node, members=kept)
            empty = node.is_word("null") or (
                node.kind is Kind.OBJECT and Value(value.layer, node).is_empty
            )
            if not (empty or key in done or key in _TRANSPORT):
                left.append((key, node))
        if left:
            others = Value(value.layer, replace(value.node, members=tuple(left)))
            RecordLines(section.writer, depth).write(others, "", ())

    def names(self, cited: _Cited, section: _Section) -> None:
        """A line that says which source the tool itself cites for what it gave, and all it says of it."""
        keys = ("title", "name", "uri", "url", "source")
        told = _texts(cited.value, keys)
        if cited.value.node.kind is Kind.STRING:
            told = [cited.value]
        if told and cited.section is None:
            section.writer.block([("cited source: ", *joined(told, " · "))])
        done = {"id", *_said(cited.value, keys)}
        self.rest(cited.value, cited.section or section, 0, done)

    def resource(self, item: Value, whole: _Section, depth: int) -> None:
        """An embedded resource: a section of its own under its URI."""
        value = item.get("resource") or item
        uri, text = value.node.string("uri"), value.get("text")
        title = value.node.string("title", "name")
        if text is not None and text.node.kind is Kind.STRING:
            section = _Section(uri=uri, title=title)
            self.sections.append(section)
            self.read(text.layer.inside(text.node), section, depth + 1)
            done = {"text", "uri", *_said(value, ("title", "name"))[:1]}
            self.rest(value, section, depth, done)
        else:
            mime, section = value.node.string("mimeType") or "unknown type", whole
            self.notes.append(
                f"the resource {uri or 'without URI'} ({mime}) is binary: not verifiable"
            )
            self.rest(value, section, depth)
        if value is not item:
            self.rest(item, section, depth, {"resource"})

    def link(self, value: Value, section: _Section, depth: int) -> None:
        keys = ("title", "name", "description", "uri")
        section.writer.block([("resource link: ", *joined(_texts(value, keys), " · "))])
        self.notes.append(
            f"the resource {value.node.string('uri')} is linked, its content not captured"
        )
        self.rest(value, section, depth, _said(value, keys))

    def search_result(self, value: Value, depth: int) -> None:
        """One of several sources that one call found (title and text under its own address)."""
        named = ("source", "url", "uri")
        address, title = value.node.string(*named), value.get("title")
        done = {*_said(value, ("title",)), *_said(value, named)[:1]}
        section = _Section(uri=address, title=value.node.string("title"))
        self.sections.append(section)
        if title is not None and title.node.kind is Kind.STRING:
            section.writer.block([("title: ", title)])
        holding = "content" if value.get("content") is not None else "source"
        content = value.get(holding)
        if content is not None and content.node.kind is Kind.ARRAY:
            self.blocks(content.items, section, depth + 1)
            self.rest(value, section, depth, {holding, *done})
            return
        inner = content is not None and bool(content.node.members)
        holder = content if inner and content is not None else value
        keys = ["text", "data", "content"] if inner else ["content", "text", "data"]
        if holder.node.string("type") == "base64":
            mime = holder.node.string("media_type") or "unknown type"
            self.notes.append(f"a document ({mime}) was kept but cannot be verified")
            keys = []
        read = [key for key in _said(holder, keys) if holder.node.string(key) != address][:1]
        for part in _texts(holder, read):
            self.read(part.layer.inside(part.node), section, depth + 1)
        if inner:
            self.rest(holder, section, depth, read)
        self.rest(value, section, depth, {holding, *done} if inner else {*read, *done})

    # ------------------------------------------------------------ records

    def records(self, value: Value, section: _Section, depth: int) -> None:
        if is_fhir(value):
            for lines in fhir_blocks(value):
                section.writer.block(lines)
            for entry in plain_entries(value):
                RecordLines(section.writer, depth).write(entry, "", ())
            return
        RecordLines(section.writer, depth).write(value, "", ())
