"""JSON text and Python object reprs as trees of nodes that remember their places.

The standard parsers forget positions (JSON) or would have to evaluate what a tool wrote (reprs).
Nothing is ever evaluated; depth and size are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.capture.readable.nodes import Kind, Node, NotStructured, Parsed, unescape

MAX_DEPTH = 120
MAX_CHARACTERS = 32 * 1024 * 1024
_SPACE = re.compile(r"[ \t\r\n]*")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_JSON_RUN = re.compile(r'[^"\\\x00-\x08\x0b\x0c\x0e-\x1f]*')
_JSON_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_JSON_PLAIN = re.compile(r'"([^"\\\x00-\x08\x0b\x0c\x0e-\x1f]*)"')
_PYTHON_NUMBER = re.compile(r"[+-]?(?:inf|nan|(?:\d[\d_]*)?\.?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)j?")
_PYTHON_RUNS = {"'": re.compile(r"[^'\\\n]*"), '"': re.compile(r'[^"\\\n]*')}
_PREFIXED = re.compile(r"[bBrRuU]{0,2}(?=['\"])")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def parse_json(text: str, start: int = 0) -> Parsed:
    """The JSON value at ``start``; a text that breaks off is closed and marked. NotStructured."""
    return _Json(text).parse(start)


def parse_repr(text: str, start: int = 0) -> Parsed:
    """The Python repr at ``start``, without evaluating it; ``a=1 b=2`` is an object. NotStructured."""
    return _Repr(text).parse(start)


class _Json:
    """Recursive descent over one text; ``at`` is the next code point."""

    words = {"true": "true", "false": "false", "null": "null"}
    number = _JSON_NUMBER
    trailing_comma = False

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth, self.cut = text, 0, 0, False

    def parse(self, start: int) -> Parsed:
        if len(self.text) > MAX_CHARACTERS:
            raise NotStructured(f"longer than {MAX_CHARACTERS} characters")
        self.at = start
        node = self.document()
        return Parsed(node, self.cut, self.at)

    def document(self) -> Node:
        return self.value()

    def space(self) -> str:
        """The next character after white space; empty at the end."""
        head = self.text[self.at : self.at + 1]
        if head and head not in " \t\r\n":
            return head
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def value(self) -> Node:
        head = self.space()
        if head == "{":
            return self.object()
        if head == "[":
            return self.array("]")
        return self.string() if head == '"' else self.scalar()

    def scalar(self) -> Node:
        start = self.at
        for word, written in self.words.items():
            if self.text.startswith(word, start):
                self.at += len(word)
                return Node(Kind.WORD, start, self.at, written)
        found = self.number.match(self.text, start)
        if found and found.end() > start:
            self.at = found.end()
            if self.at == len(self.text) and self.depth:
                self.cut = True  # 12 may have been 125: no number is better than a wrong one
                return Node(Kind.OTHER, start, self.at)
            return Node(Kind.NUMBER, start, self.at, found.group())
        rest = self.text[start:].strip()
        if any(word.startswith(rest) for word in (*self.words, "-")):  # it breaks off here
            self.cut, self.at = True, len(self.text)
            return Node(Kind.OTHER, start, self.at)
        raise NotStructured(f"character {start}")

    def entries(self, closing: str) -> Iterator[None]:
        """Once for each entry of what opens here; whoever goes on reads it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotStructured(f"nested more than {MAX_DEPTH} deep")
        self.at += 1
        while (head := self.space()) and head != closing:
            yield
            head = self.space()
            if head in ("", closing):
                return
            if head != ",":
                raise NotStructured(f"character {self.at}: expected a comma")
            self.at += 1
            if self.space() == closing and not self.trailing_comma:
                raise NotStructured(f"character {self.at}: a comma before {closing}")

    def colon(self) -> bool:
        """Whether a value follows the colon that is here; False at the end of the text."""
        self.at += 1
        return bool(self.space())

    def object(self) -> Node:
        start = self.at
        members: list[tuple[str, Node]] = []
        for _ in self.entries("}"):
            if self.text[self.at] != '"':
                raise NotStructured(f"character {self.at}: expected a key")
            key = self.string().value
            if self.space() != ":" and self.at < len(self.text):
                raise NotStructured(f"character {self.at}: expected a colon")
            if not self.colon():
                break
            members.append((key, self.value()))
        return self.close(Kind.OBJECT, start, members=members)

    def array(self, closing: str) -> Node:
        start = self.at
        items = [self.value() for _ in self.entries(closing)]
        return self.close(Kind.ARRAY, start, items=items)

    def close(
        self,
        kind: Kind,
        start: int,
        *,
        members: list[tuple[str, Node]] | None = None,
        items: list[Node] | None = None,
        name: str | None = None,
    ) -> Node:
        self.depth -= 1
        if self.space():
            self.at += 1
        else:
            self.cut = True
        told, listed = tuple(members or ()), tuple(items or ())
        return Node(kind, start, self.at, members=told, items=listed, name=name)

    def string(self) -> Node:
        start = self.at
        plain = _JSON_PLAIN.match(self.text, start)
        if plain:
            self.at = plain.end()
            return Node(Kind.STRING, start, self.at, plain[1])
        return self.quoted(start, start + 1, _JSON_RUN, '"', python=False)

    def quoted(
        self, start: int, inner: int, run: re.Pattern[str], quote: str, *, python: bool
    ) -> Node:
        at, text, escaped = inner, self.text, False
        while True:
            found = run.match(text, at)
            at = found.end() if found else at
            head = text[at : at + 1]
            if head == quote or not head:
                break
            if head != "\\":
                raise NotStructured(f"character {at}: a control character in a string")
            if not python and not _JSON_ESCAPE.match(text, at) and len(text) - at > 6:
                raise NotStructured(f"character {at}: no such escape")
            escaped = True
            at += 2
        stop = min(at, len(text))
        self.at = stop + 1
        if at >= len(text):
            self.cut, self.at = True, len(text)
        body = text[inner:stop]
        value = unescape(body, python, self.cut) if escaped else body
        return Node(Kind.STRING, start, self.at, value, python=python, escaped=escaped)


class _Repr(_Json):
    """What Python prints: literals, calls ``Name(key=value)`` and ``<opaque>`` values."""

    words = {"True": "true", "False": "false", "None": "null", "NotImplemented": "null"}
    number = _PYTHON_NUMBER
    trailing_comma = True

    def document(self) -> Node:
        """Any value, or ``meta=None content=[…]``: what pydantic prints for a model as a string."""
        self.space()
        start = self.at
        found = _NAME.match(self.text, start)
        if not found or not self.text.startswith("=", found.end()):
            return self.value()
        members: list[tuple[str, Node]] = []
        while name := self.field_name():
            members.append((name, self.value()))
        if not self.cut and self.space():
            raise NotStructured(f"character {self.at}: text after the fields")
        return Node(Kind.OBJECT, start, self.at, members=tuple(members), name="")

    def field_name(self) -> str | None:
        if not self.space():
            return None
        found = _NAME.match(self.text, self.at)
        if not found or not self.text.startswith("=", found.end()):
            return None
        self.at = found.end() + 1
        if not self.space():
            self.cut = True
            return None
        return found.group()

    def value(self) -> Node:
        head = self.space()
        if head == "{":
            return self.object()
        if head in ("[", "("):
            return self.array("]" if head == "[" else ")")
        if head == "<":
            return self.opaque()
        prefix = _PREFIXED.match(self.text, self.at)
        if prefix:
            quote = self.text[prefix.end()]
            return self.quoted(self.at, prefix.end() + 1, _PYTHON_RUNS[quote], quote, python=True)
        found = _NAME.match(self.text, self.at)
        if found and self.text.startswith("(", found.end()):
            return self.call(found)
        return self.scalar()

    def object(self) -> Node:
        """A dictionary or a set."""
        start = self.at
        members: list[tuple[str, Node]] = []
        items: list[Node] = []
        for _ in self.entries("}"):
            key = self.value()
            if self.space() != ":":
                items.append(key)
            elif self.colon():
                text = self.text[key.start : key.end]
                members.append((key.value if key.kind is Kind.STRING else text, self.value()))
            else:
                break
        if members and items:
            raise NotStructured(f"character {start}: half a dictionary, half a set")
        return self.close(Kind.ARRAY if items else Kind.OBJECT, start, members=members, items=items)

    def call(self, found: re.Match[str]) -> Node:
        start, self.at = self.at, found.end()
        members: list[tuple[str, Node]] = []
        items: list[Node] = []
        for _ in self.entries(")"):
            if name := self.field_name():
                members.append((name, self.value()))
            elif self.cut:
                break
            else:
                items.append(self.value())
        node = self.close(Kind.OBJECT, start, members=members, items=items, name=found.group())
        if not members and len(items) == 1 and items[0].kind is Kind.STRING:
            return items[0]  # AnyUrl('…') is the text in it
        return node

    def opaque(self) -> Node:
        """``<Role.user: 'user'>`` or ``<object at 0x…>``."""
        start = self.at
        end = self.text.find(">", start)
        if end < 0:
            raise NotStructured(f"character {start}: an opening < without its end")
        self.at = end + 1
        return Node(Kind.OTHER, start, self.at, self.text[start : self.at])
