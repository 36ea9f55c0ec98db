"""Readable text that remembers which part of the raw output each stretch came from.

A tool output is often text inside a string inside JSON inside a repr. A ``Layer`` is one of these
texts with the place of each of its code points in the outermost one; a ``Writer`` collects readable
text and the raw ranges behind it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from core.capture.readable.nodes import Kind, Node, string_offsets
from core.records import RawRange, Span


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """A text and where each of its code points stands in the raw output; None: it is the output."""

    text: str
    positions: Sequence[int] | None = None

    def raw(self, start: int, end: int) -> tuple[int, int]:
        """The raw code points behind ``[start, end)`` of this text."""
        if self.positions is None:
            return start, end
        return self.positions[start], self.positions[end]

    def inside(self, node: Node) -> Layer:
        """The layer of what a string node says."""
        offsets = string_offsets(self.text, node)
        if self.positions is not None:
            outer = self.positions
            offsets = array("q", [outer[offset] for offset in offsets])
        return Layer(node.value, offsets)


@dataclass(frozen=True, slots=True)
class Value:
    """A node in the layer that it was read from."""

    layer: Layer
    node: Node

    @property
    def shown(self) -> str:
        """What a reader sees: a string's text, everything else as it was written."""
        if self.node.kind is Kind.STRING and self.node.value:
            return self.node.value
        return self.layer.text[self.node.start : self.node.end]

    @property
    def is_empty(self) -> bool:
        """Whether this is an empty list or object, and not one that broke off before its end."""
        node = self.node
        return (
            node.kind in (Kind.OBJECT, Kind.ARRAY)
            and not (node.members or node.items)
            and self.shown[-1:] in ("]", "}", ")")
        )

    @property
    def broke_off(self) -> bool:
        """Whether nothing can be said of it, because the text ended here."""
        node = self.node
        if node.kind is Kind.OTHER:
            return not node.value
        return (
            node.kind in (Kind.OBJECT, Kind.ARRAY)
            and not (node.members or node.items)
            and not self.is_empty
        )

    def get(self, key: str) -> Value | None:
        """The member of that key."""
        node = self.node.get(key)
        return None if node is None else Value(self.layer, node)

    @property
    def items(self) -> list[Value]:
        """The items of a list."""
        return [Value(self.layer, node) for node in self.node.items]

    @property
    def members(self) -> list[tuple[str, Value]]:
        """The members of an object, in order, duplicates kept."""
        return [(key, Value(self.layer, node)) for key, node in self.node.members]


Piece = str | Value
Line = tuple[Piece, ...]


def joined(values: Sequence[Piece], between: str) -> Line:
    """The values as one line, with a text between them."""
    pieces = [piece for value in values for piece in (between, value)]
    return tuple(pieces[1:])


class Writer:
    """Collects readable text; blocks are separated by one blank line."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._ranges: list[tuple[int, int, int, int]] = []

    def add(self, text: str) -> None:
        """Text that stands for nothing in the raw output (a label, a separator)."""
        self._pieces.append(text)
        self._length += len(text)

    def add_from(self, text: str, layer: Layer, start: int, end: int) -> None:
        """Text that was made from ``[start, end)`` of the layer."""
        raw_start, raw_end = layer.raw(start, end)
        if text:
            self._ranges.append((self._length, self._length + len(text), raw_start, raw_end))
        self.add(text)

    def gap(self) -> None:
        """A blank line, unless nothing has been written yet."""
        if self._length:
            self.add("\n\n")

    def block(self, lines: Sequence[Line]) -> None:
        """One record: its lines, behind a blank line."""
        if not lines:
            return
        self.gap()
        for index, line in enumerate(lines):
            if index:
                self.add("\n")
            for piece in line:
                if isinstance(piece, str):
                    self.add(piece)
                else:
                    self.add_from(piece.shown, piece.layer, piece.node.start, piece.node.end)

    @property
    def text(self) -> str:
        """Everything written so far."""
        return "".join(self._pieces)

    def raw_map(self, raw: str) -> tuple[RawRange, ...]:
        """Text ranges to byte ranges of ``raw`` in UTF-8, in the order of the text."""
        to_bytes = _byte_offsets(raw, sorted({at for row in self._ranges for at in row[2:]}))
        return tuple(
            RawRange(
                text=Span(start=start, end=end),
                raw_start=to_bytes[raw_start],
                raw_end=to_bytes[raw_end],
            )
            for start, end, raw_start, raw_end in self._ranges
        )


def _byte_offsets(raw: str, wanted: Sequence[int]) -> dict[int, int]:
    if raw.isascii():
        return {at: at for at in wanted}
    offsets, done, total = {}, 0, 0
    for at in wanted:
        total += len(raw[done:at].encode("utf-8", "replace"))
        offsets[at], done = total, at
    return offsets
