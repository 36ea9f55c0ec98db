"""JSON text as a tree of nodes that remember their places."""

from __future__ import annotations

import re

from core.capture.readable.nodes import Kind, Node, NotStructured, Parsed, unescape

_SPACE = re.compile(r"[ \t\r\n]*")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")


_JSON_RUN = re.compile(r'[^"\\\x00-\x08\x0b\x0c\x0e-\x1f]*')
_JSON_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_JSON_PLAIN = re.compile(r'"([^"\\\x00-\x08\x0b\x0c\x0e-\x1f]*)"')
_JSON_WORDS = {"true": "true", "false": "false", "null": "null"}


def parse_json(text: str, start: int = 0) -> Parsed:
    """The JSON value at ``start``; a text that breaks off is closed and marked. NotStructured."""
    return read(Json(text), start)


class Json:
    """Recursive descent over one text; ``at`` is the next code point."""

    words = _JSON_WORDS
    number = _JSON_NUMBER

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth, self.cut = text, 0, 0, False

    def document(self, start: int) -> Node:
        self.at = start
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
        if head == '"':
            return self.string()
        return self.scalar()

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

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotStructured(f"nested more than {MAX_DEPTH} deep")
        self.at += 1

    def object(self) -> Node:
        start = self.at
        self.deeper()
        members: list[tuple[str, Node]] = []
        while (head := self.space()) and head != "}":
            key = self.key()
            if self.space() != ":":
                if self.at >= len(self.text):
                    break
                raise NotStructured(f"character {self.at}: expected a colon")
            self.at += 1
            if not self.space():
                break
            members.append((key, self.value()))
            if not self.comma("}"):
                break
        return self.close(Kind.OBJECT, start, members=tuple(members))

    def key(self) -> str:
        if self.text[self.at] != '"':
            raise NotStructured(f"character {self.at}: expected a key")
        return self.string().value

    def array(self, closing: str) -> Node:
        start = self.at
        self.deeper()
        items: list[Node] = []
        while (head := self.space()) and head != closing:
            items.append(self.value())
            if not self.comma(closing):
                break
        return self.close(Kind.ARRAY, start, items=tuple(items))

    def comma(self, closing: str) -> bool:
        """Whether another item may follow; raises when neither a comma nor the end is there."""
        head = self.space()
        if head == ",":
            self.at += 1
            after = self.space()
            if after == closing and not self.trailing_comma:
                raise NotStructured(f"character {self.at}: a comma before {closing}")
            return after != ""
        if head in ("", closing):
            return False
        raise NotStructured(f"character {self.at}: expected a comma")

    trailing_comma = False

    def close(
        self,
        kind: Kind,
        start: int,
        *,
        members: tuple[tuple[str, Node], ...] = (),
        items: tuple[Node, ...] = (),
        name: str | None = None,
    ) -> Node:
        self.depth -= 1
        if self.space():
            self.at += 1
        else:
            self.cut = True
        return Node(kind, start, self.at, members=members, items=items, name=name)

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


MAX_DEPTH = 120
MAX_CHARACTERS = 32 * 1024 * 1024


def read(parser: Json, start: int) -> Parsed:
    """The whole of what the parser finds; raises NotStructured for a text that is too long."""
    if len(parser.text) > MAX_CHARACTERS:
        raise NotStructured(f"longer than {MAX_CHARACTERS} characters")
    node = parser.document(start)
    return Parsed(node, parser.cut, parser.at)
