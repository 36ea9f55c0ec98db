"""Python object reprs as a tree of nodes that remember their places."""

from __future__ import annotations

import re

from core.capture.readable.json_text import Json, read
from core.capture.readable.nodes import Kind, Node, NotStructured, Parsed

_PYTHON_NUMBER = re.compile(r"[+-]?(?:inf|nan|(?:\d[\d_]*)?\.?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)j?")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null", "NotImplemented": "null"}


def parse_repr(text: str, start: int = 0) -> Parsed:
    """The Python repr at ``start``, without evaluating it; ``a=1 b=2`` is an object. NotStructured."""
    return read(_Repr(text), start)


class _Repr(Json):
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
