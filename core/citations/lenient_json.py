"""JSON as language models write it: read what is there, name every repair, lose nothing in silence."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from core.errors import InputError

MAX_DEPTH = 100
_FENCE = re.compile(
    r"\s*(?:```|~~~)[A-Za-z0-9]*[ \t]*\r?\n(?P<body>.*?)(?:\r?\n\s*(?:```|~~~)\s*)?\Z", re.S
)
_FENCED = re.compile(
    r"(?:```|~~~)[A-Za-z0-9]*[ \t]*\r?\n(?P<body>.*?)(?:\r?\n\s*(?:```|~~~)|\Z)", re.S
)
_LITERALS = {"true": True, "false": False, "null": None}
_FOREIGN = {"True": True, "False": False, "None": None, "undefined": None}
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_QUOTES = {'"': '"', "'": "'", "“": "”", "”": "”", "„": "“”", "‘": "’", "’": "’"}
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MISSING = object()  # a value that the end of the text cut off


@dataclass(frozen=True, slots=True, kw_only=True)
class LenientJson:
    """The value read, the repairs it took, and every stretch of the text that is not in it."""

    value: object
    fixups: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def read_lenient_json(raw: str | bytes) -> LenientJson:
    """The JSON value in ``raw``; InputError when there is none or it is nested deeper than 100."""
    fixups: list[str] = []
    if isinstance(raw, bytes):
        text = raw.decode("utf-8", errors="replace")
        if "\ufffd" in text and b"\xef\xbf\xbd" not in raw:
            fixups.append("non_utf8")
    else:
        text = raw
    if text.startswith("\ufeff"):
        text = text[1:]
        fixups.append("byte_order_mark")
    strict = _strict(text)
    if strict is not None:
        return LenientJson(value=strict[0], fixups=tuple(fixups))
    body, around = _unfenced(text, fixups)
    reader = _Reader(body, fixups)
    value = reader.document()
    return LenientJson(
        value=value, fixups=tuple(dict.fromkeys(reader.fixups)), dropped=(*around, *reader.dropped)
    )


def text_fields(item: object, names: Sequence[str], path: str) -> dict[str, str]:
    """The texts of an object by name, "" where none is given; InputError names the path of others."""
    if not isinstance(item, Mapping):
        raise InputError(f"expected an object, found {type(item).__name__}", path=path)
    for name in names:
        if not isinstance(item.get(name), str | None):
            found = type(item[name]).__name__
            raise InputError(f"expected text, found {found}", path=f"{path}.{name}")
    return {name: item.get(name) or "" for name in names}


def _strict(text: str) -> tuple[object] | None:
    """The value when ``text`` is JSON as it stands, with no key twice in one object."""
    try:
        return (json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant),)
    except (ValueError, RecursionError):
        return None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _unfenced(text: str, fixups: list[str]) -> tuple[str, list[str]]:
    """The fenced part of ``text`` where one holds the JSON, and what stands around it."""
    whole = _FENCE.match(text)
    found = whole if whole and "```" not in whole["body"] else None
    if found is None:
        blocks = [block for block in _FENCED.finditer(text) if re.search(r"[{\[]", block["body"])]
        outside = _FENCED.sub("", text)
        if len(blocks) != 1 or re.search(r'[{\[]\s*["“{\[]', outside):
            return text, []
        found = blocks[0]
    fixups.append("fence")
    around = [text[: found.start()].strip(), text[found.end() :].strip()]
    if any(around):
        fixups.append("prose_trim")
    return found["body"], [part for part in around if part]


class _Reader:
    """One pass over a text; every deviation from JSON leaves its name in ``fixups``."""

    def __init__(self, text: str, fixups: list[str]) -> None:
        self.text = text
        self.at = 0
        self.fixups = fixups
        self.dropped: list[str] = []

    def document(self) -> object:
        """The first object or list of the text, or the single value that it is."""
        start = re.search(r"[{\[]", self.text)
        if start is None:
            raise InputError(f"no JSON object or list in it: {self.text.strip()[:60]!r}")
        if self.text[: start.start()].strip():
            self._drop(self.text[: start.start()], "prose_trim")
        self.at = start.start()
        value = self._value(0)
        rest = self.text[self.at :].strip()
        if rest.strip("`~ \n\t;"):
            self._drop(rest, "extra_value" if rest.lstrip(", \n\t")[:1] in "{[" else "prose_trim")
        return value

    def _drop(self, text: str, fixup: str) -> None:
        self.fixups.append(fixup)
        if text.strip():
            self.dropped.append(text.strip())

    def _peek(self) -> str:
        """The next character that is neither white space nor a comment; empty at the end."""
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
                continue
            comment = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S).match(self.text, self.at)
            if comment is None:
                return self.text[self.at]
            self._drop(comment.group(), "comment")
            self.at = comment.end()
        return ""

    def _value(self, depth: int) -> object:
        if depth > MAX_DEPTH:
            raise InputError(f"nested deeper than {MAX_DEPTH}")
        character = self._peek()
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._list(depth)
        if character in _QUOTES:
            return self._string()
        if not character:
            return _MISSING
        return self._bare()

    def _object(self, depth: int) -> dict[str, object]:
        self.at += 1
        found: dict[str, object] = {}
        comma = False
        while True:
            character = self._peek()
            if character in ("}", "]", ""):
                self._close(character, "}", "brace", comma)
                return found
            if character == ",":
                self._comma(comma or not found)
                comma = True
                continue
            if found and not comma:
                self.fixups.append("missing_comma")
            comma = False
            start = self.at
            key = self._key()
            if self._peek() not in (":", "="):
                fixup = "drop_partial_key" if not self._peek() else "key_without_value"
                self._drop(self.text[start : self.at], fixup)
                continue
            if self._peek() == "=":
                self.fixups.append("equals_sign")
            self.at += 1
            value = self._value(depth + 1) if self._peek() not in (",", "}", "]") else _MISSING
            if value is _MISSING:
                self._drop(self.text[start : self.at], "drop_partial_key")
                continue
            if key in found:
                self._drop(json.dumps({key: found[key]}, ensure_ascii=False), "duplicate_key")
            found[key] = value

    def _list(self, depth: int) -> list[object]:
        self.at += 1
        found: list[object] = []
        comma = False
        while True:
            character = self._peek()
            if character in ("]", "}", ""):
                self._close(character, "]", "bracket", comma)
                return found
            if character == ",":
                self._comma(comma or not found)
                comma = True
                continue
            if found and not comma:
                self.fixups.append("missing_comma")
            comma = False
            if character in (":", "="):
                self._drop(character, "stray_character")
                self.at += 1
                continue
            value = self._value(depth + 1)
            if value is not _MISSING:
                found.append(value)

    def _comma(self, stray: bool) -> None:
        if stray:
            self.fixups.append("stray_comma")
        self.at += 1

    def _close(self, character: str, expected: str, name: str, comma: bool) -> None:
        """End an object or a list: at its bracket, at another's, or where the text was cut off."""
        if comma:
            self.fixups.append("trailing_comma" if character else "strip_trailing_comma")
        if character == expected:
            self.at += 1
        else:  # the bracket of an outer frame is left to it
            self.fixups.append(f"close_{name}")
            if (
                character
                and self.text.find(expected, self.at + 1) > 0
                and not self._outer(character)
            ):
                self._drop(character, "stray_character")
                self.at += 1

    def _outer(self, character: str) -> bool:
        """Whether a frame is open that ``character`` closes."""
        before = self.text[: self.at]
        opener = "{" if character == "}" else "["
        return before.count(opener) > before.count(character)

    def _key(self) -> str:
        if self.text[self.at] in _QUOTES:
            key = self._string()
            return key if isinstance(key, str) else ""
        word = _WORD.match(self.text, self.at)
        end = word.end() if word else self.at + 1
        key = self.text[self.at : end]
        self.at = end
        if word is None:
            self._drop(key, "stray_character")
            return ""
        self.fixups.append("unquoted_key")
        return key

    def _string(self) -> str:
        opener = self.text[self.at]
        closers = _QUOTES[opener]
        if opener != '"':
            self.fixups.append("single_quotes" if opener == "'" else "curly_quotes")
            closers += '"' if opener in "“„”" else ("'" if opener in "‘’" else "")
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "\\":
                parts.append(self._escape())
                continue
            if character in closers and self._ends_string(opener):
                self.at += 1
                return "".join(parts)
            if character in closers:
                self.fixups.append("unescaped_quote")
            elif character < " ":
                self.fixups.append("control_character")
            parts.append(character)
            self.at += 1
        self.fixups.append("close_string")
        return "".join(parts).rstrip()

    def _ends_string(self, opener: str) -> bool:
        """Whether a quote mark here can end a string: JSON goes on behind it, or nothing does."""
        rest = self.text[self.at + 1 : self.at + 200].lstrip()
        if not rest or rest[0] in "}]:":
            return True
        if rest[0] == ",":
            following = rest[1:].lstrip()[:1]
            return not following or following in "\"'“„‘{[}]-" or following.isalnum()
        return opener in ('"', "“") and rest[0] in '"“{['

    def _escape(self) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "u":
            digits = self.text[self.at + 2 : self.at + 6]
            if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                self.at += 6
                return self._joined(int(digits, 16))
            self.fixups.append("bad_escape")
            self.at += 2
            return "\\u"
        self.at += 2
        if following in _ESCAPES:
            return _ESCAPES[following]
        if following not in ('"', "\\", "/"):
            self.fixups.append("bad_escape")
            return "\\" + following if following not in ("'", "") else following
        return following

    def _joined(self, code: int) -> str:
        """A character of its code; two halves of a surrogate pair are one, half a pair is marked."""
        low = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(self.text, self.at)
        if 0xD800 <= code < 0xDC00 and low:
            self.at += 6
            return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00)
        if 0xD800 <= code < 0xE000:
            self.fixups.append("bad_escape")
            return "\ufffd"
        return chr(code)

    def _bare(self) -> object:
        """A number, a literal, or a word that should have been quoted."""
        number = _NUMBER.match(self.text, self.at)
        if number and not self.text[number.end() : number.end() + 1].isalnum():
            self.at = number.end()
            return self._number(number.group())
        word = _WORD.match(self.text, self.at)
        if word and word.group() in _LITERALS:
            self.at = word.end()
            return _LITERALS[word.group()]
        if word and word.group() in _FOREIGN:
            self.at = word.end()
            self.fixups.append("python_literal")
            return _FOREIGN[word.group()]
        end = re.compile(r"[,\]}\n]|\Z").search(self.text, self.at)
        stop = max(end.start() if end else len(self.text), self.at + 1)
        text = self.text[self.at : stop].strip()
        self.at = stop
        self.fixups.append("unquoted_value")
        return text

    def _number(self, text: str) -> object:
        try:
            return json.loads(text)
        except ValueError:
            self.fixups.append("number_as_text")
            return text
