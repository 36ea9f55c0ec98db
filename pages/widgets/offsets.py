"""Offsets as a browser counts them: Python counts code points and bytes, JavaScript UTF-16 units."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Offsets:
    """Maps code-point and UTF-8 byte offsets of one text to UTF-16 offsets.

    Only what is wider than one unit is remembered, so that a plain text costs nothing.
    """

    def __init__(self, text: str) -> None:
        self._length = len(text)
        if text.isascii():
            self._astral: list[int] = []
            self._wide: list[tuple[int, int]] = []
            return
        self._astral = [at for at, letter in enumerate(text) if ord(letter) > 0xFFFF]
        self._wide = []
        extra = 0
        for at, letter in enumerate(text):
            width = _utf8_width(ord(letter))
            if width > 1:
                extra += width - 1
                # From this byte on, the code point is the byte offset less ``extra``.
                self._wide.append((at + 1 + extra, extra))

    def of_point(self, point: int) -> int:
        """The UTF-16 offset of a code-point offset; one beyond the text counts as its end."""
        point = max(0, min(point, self._length))
        return point + bisect_left(self._astral, point)

    def of_byte(self, byte: int) -> int:
        """The UTF-16 offset of a UTF-8 byte offset that lies between two code points."""
        return self.of_point(self.point_of_byte(byte))

    def point_of_byte(self, byte: int) -> int:
        """The code-point offset of a UTF-8 byte offset that lies between two code points."""
        at = bisect_right(self._wide, byte, key=lambda pair: pair[0])
        return max(0, min(byte - (self._wide[at - 1][1] if at else 0), self._length))


def _utf8_width(code: int) -> int:
    if code < 0x80:
        return 1
    if code < 0x800:
        return 2
    return 3 if code < 0x10000 else 4
