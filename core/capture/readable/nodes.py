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


def unescape(body: str, python: bool, cut: bool) -> str:
    """A string as it was meant, from between its quotes; ``cut``: it broke off."""
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
