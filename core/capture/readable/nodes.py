"""JSON and Python object reprs as one tree of nodes that remember where they were written.

Both are read by parsers of our own, because the standard ones forget positions (JSON) or would have
to evaluate what a tool wrote (reprs). Nothing is ever evaluated; depth and size are bounded.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

MAX_DEPTH = 120
MAX_CHARACTERS = 32 * 1024 * 1024

_SPACE = re.compile(r"[ \t\r\n]*")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_PYTHON_NUMBER = re.compile(r"[+-]?(?:inf|nan|(?:\d[\d_]*)?\.?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)j?")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_JSON_RUN = re.compile(r'[^"\\\x00-\x08\x0b\x0c\x0e-\x1f]*')
_JSON_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_JSON_PLAIN = re.compile(r'"([^"\\\x00-\x08\x0b\x0c\x0e-\x1f]*)"')
_JSON_WORDS = {"true": "true", "false": "false", "null": "null"}
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null", "NotImplemented": "null"}
_JSON_PIECE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+", re.S
)
_PYTHON_PIECE = re.compile(
    r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[0-7]{1,3}|\\.|[^\\]+", re.S
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "\n": ""}
_REPLACEMENT = "�"


class Kind(StrEnum):
    """What a node is."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    NUMBER = "number"
    WORD = "word"  # true, false, null
    OTHER = "other"  # a repr without data, such as <object at 0x…>; without value: it broke off


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One value: ``[start, end)`` of the text it was read from, quotes included.

    ``value`` is the decoded string, or the scalar as written. An object keeps duplicate keys;
    ``name`` is the class of a repr (``TextContent``). ``python`` says whose escapes a string uses.
    """

    kind: Kind
    start: int
    end: int
    value: str = ""
    members: tuple[tuple[str, Node], ...] = ()
    items: tuple[Node, ...] = ()
    name: str | None = None
    python: bool = False
    escaped: bool = False

    def get(self, key: str) -> Node | None:
        """The last member of that key, as JSON parsers choose; None when there is none."""
        for name, node in reversed(self.members):
            if name == key:
                return node
        return None

    def string(self, *keys: str) -> str | None:
        """The first of the keys that holds a string; None when none does."""
        for key in keys:
            node = self.get(key)
            if node is not None and node.kind is Kind.STRING:
                return node.value
        return None

    def is_word(self, word: str) -> bool:
        """Whether this is ``true``, ``false`` or ``null``."""
        return self.kind is Kind.WORD and self.value == word


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed text; ``cut`` when it ends in the middle of the value, ``end`` where the value ends."""

    node: Node
    cut: bool
    end: int


class NotStructured(ValueError):
    """The text is not of the language asked for."""


def parse_json(text: str, start: int = 0) -> Parsed:
    """The JSON value at ``start``; a text that breaks off is closed and marked. NotStructured."""
    return _read(_Json(text), start)


def parse_repr(text: str, start: int = 0) -> Parsed:
    """The Python repr at ``start``, without evaluating it; ``a=1 b=2`` is an object. NotStructured."""
    return _read(_Repr(text), start)


def same_value(one: Node, other: Node) -> bool:
    """Whether two nodes hold the same data, whatever the order of keys or the way it is written."""
    if one.kind is not other.kind:
        return False
    if one.kind is Kind.OBJECT:
        left, right = dict(one.members), dict(other.members)
        return left.keys() == right.keys() and all(same_value(left[k], right[k]) for k in left)
    if one.kind is Kind.ARRAY:
        return len(one.items) == len(other.items) and all(map(same_value, one.items, other.items))
    return one.value == other.value


def string_offsets(text: str, node: Node) -> Sequence[int]:
    """Where each code point of a string node's value, and its end, stands in ``text``."""
    inner = node.start
    while text[inner] not in "\"'":  # the prefix of b'…'
        inner += 1
    inner += 1
    if not node.escaped:
        return range(inner, inner + len(node.value) + 1)
    offsets = array("q")
    pattern = _PYTHON_PIECE if node.python else _JSON_PIECE
    at, missing = inner, len(node.value)
    for piece in pattern.finditer(text, inner, node.end):
        if missing <= 0:
            break
        if text[piece.start()] == "\\":
            decoded = _decode(piece.group(), node.python)
            offsets.extend([piece.start()] * len(decoded))
            missing, at = missing - len(decoded), piece.end()
        else:
            at = min(piece.end(), piece.start() + missing)
            missing -= at - piece.start()
            offsets.extend(range(piece.start(), at))
    offsets.append(at)
    return offsets


def _read(parser: _Json, start: int) -> Parsed:
    if len(parser.text) > MAX_CHARACTERS:
        raise NotStructured(f"longer than {MAX_CHARACTERS} characters")
    node = parser.document(start)
    return Parsed(node, parser.cut, parser.at)


class _Json:
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
        value = _unescape(body, python, self.cut) if escaped else body
        return Node(Kind.STRING, start, self.at, value, python=python, escaped=escaped)


class _Repr(_Json):
    """What Python prints: literals, calls ``Name(key=value)`` and ``<opaque>`` values."""

    words = _PYTHON_WORDS
    number = _PYTHON_NUMBER
    trailing_comma = True
    _runs = {"'": re.compile(r"[^'\\\n]*"), '"': re.compile(r'[^"\\\n]*')}
    _prefixed = re.compile(r"[bBrRuU]{0,2}(?=['\"])")

    def document(self, start: int) -> Node:
        self.at = start
        self.space()
        found = _NAME.match(self.text, self.at)
        if found and self.text.startswith("=", found.end()):
            return self.fields(self.at)
        return self.value()

    def fields(self, start: int) -> Node:
        """``meta=None content=[…]``: what pydantic prints for a model as a string."""
        members: list[tuple[str, Node]] = []
        while found := self.field_name():
            members.append((found, self.value()))
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
            return self.object_or_set()
        if head == "[":
            return self.array("]")
        if head == "(":
            return self.array(")")
        if head == "<":
            return self.opaque()
        prefix = self._prefixed.match(self.text, self.at)
        if prefix:
            start, inner = self.at, prefix.end() + 1
            quote = self.text[prefix.end()]
            return self.quoted(start, inner, self._runs[quote], quote, python=True)
        found = _NAME.match(self.text, self.at)
        if found and self.text.startswith("(", found.end()):
            return self.call(found)
        return self.scalar()

    def object_or_set(self) -> Node:
        start = self.at
        self.deeper()
        members: list[tuple[str, Node]] = []
        items: list[Node] = []
        while (head := self.space()) and head != "}":
            key = self.value()
            if self.space() == ":":
                self.at += 1
                if not self.space():
                    break
                members.append((self.written(key), self.value()))
            else:
                items.append(key)
            if not self.comma("}"):
                break
        if members and items:
            raise NotStructured(f"character {start}: half a dictionary, half a set")
        if items:
            return self.close(Kind.ARRAY, start, items=tuple(items))
        return self.close(Kind.OBJECT, start, members=tuple(members))

    def written(self, key: Node) -> str:
        return key.value if key.kind is Kind.STRING else self.text[key.start : key.end]

    def call(self, found: re.Match[str]) -> Node:
        start, self.at = self.at, found.end()
        self.deeper()
        members: list[tuple[str, Node]] = []
        items: list[Node] = []
        while (head := self.space()) and head != ")":
            name = self.field_name()
            if name:
                members.append((name, self.value()))
            elif self.cut:
                break
            else:
                items.append(self.value())
            if not self.comma(")"):
                break
        node = self.close(
            Kind.OBJECT, start, members=tuple(members), items=tuple(items), name=found.group()
        )
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


def _unescape(body: str, python: bool, cut: bool) -> str:
    pattern = _PYTHON_PIECE if python else _JSON_PIECE
    decode: Callable[[re.Match[str]], str] = lambda piece: (  # noqa: E731
        _decode(piece.group(), python) if piece.group()[0] == "\\" else piece.group()
    )
    if cut and body.endswith("\\") and not body.endswith("\\\\"):
        body = body[:-1]
    return "".join(map(decode, pattern.finditer(body)))


def _decode(piece: str, python: bool) -> str:
    """One escape sequence; a lone surrogate becomes U+FFFD, because no UTF-8 can hold it."""
    code = piece[1]
    if code == "u" and len(piece) == 12:
        high, low = int(piece[2:6], 16), int(piece[8:12], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    if code in "uUx" and len(piece) > 2:
        number = int(piece[2:], 16)
        return (
            _REPLACEMENT
            if number == 0 or 0xD800 <= number < 0xE000 or number > 0x10FFFF
            else chr(number)
        )
    if python and code in "01234567":
        number = int(piece[1:], 8)
        return chr(number) if number else _REPLACEMENT
    if code in _ESCAPES and (python or code in "ntrbf"):
        return _ESCAPES[code]
    if python and code not in "\\'\"":
        return piece  # Python keeps a backslash that escapes nothing
    return code
