"""What a block of an answer asserts: lines, comments, strings, and the fields of data (III.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.decomposition.claim_type import is_written_out
from core.decomposition.clauses import may_assert
from core.records import Span

_PROGRAM_LANGUAGES = frozenset(
    "python py js javascript ts typescript tsx jsx java c cpp c++ cs csharp go rust ruby php sql bash sh "
    "shell zsh powershell html css scss mermaid graphviz dot r matlab kotlin swift "
    "dockerfile makefile latex tex regex http curl".split()
)
_DATA_LANGUAGES = frozenset(
    "json jsonl ndjson json5 yaml yml toml ini properties xml csv tsv diff patch".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value of a block of data under the name before it; ``span`` is in the block."""

    span: Span
    text: str


def data_fields(text: str, language: str = "") -> tuple[Field, ...]:
    """The fields of a block of data, each a claim of its own; none where it is no data.

    Data is what its fence calls so, or what opens and reads like JSON or XML, fenced or bare. A line
    that neither is read as keeps its words: nothing of a block of data is left out but its marks.
    """
    if _JSON_LIKE.match(text):
        return tuple(_json_fields(text))
    if _XML_LIKE.match(text):
        return tuple(_xml_fields(text))
    return tuple(_line_fields(text)) if language in _DATA_LANGUAGES else ()


_JSON_LIKE = re.compile(r"\s*[\[{]\s*(?:[\[{]\s*)*\"(?:[^\"\\\n]|\\.)*\"\s*[:,\]]")
_JSON_PART = re.compile(
    r"\"(?P<string>(?:[^\"\\\n]|\\.)*)\"(?P<names>\s*:)?|(?P<other>[^\s\[\]{}:,\"]+)"
)
_XML_LIKE = re.compile(r"\s*<(?:\?xml\b|[A-Za-z])[^<>]*>[^<>]*<(?:/|[A-Za-z])")
_XML_PART = re.compile(
    r"<(?P<tag>[A-Za-z][\w:.-]*)|(?<![\w:.-])(?P<name>[\w:.-]+)=[\"'](?P<value>[^\"'<>]*)[\"']"
    r"|(?<=>)(?P<text>[^<>]+)|<!--(?P<note>.{1,2000}?)-->",
    re.DOTALL,
)


def _json_fields(text: str) -> Iterator[Field]:
    name = ""
    for part in _JSON_PART.finditer(text):
        if part["names"] is not None:
            name = part["string"]
        elif said := part["string"] if part["other"] is None else part["other"]:
            yield _field(part, name, said)


def _xml_fields(text: str) -> Iterator[Field]:
    name = ""
    for part in _XML_PART.finditer(text):
        if part["tag"] is not None:
            name = part["tag"]
        elif part["value"]:
            yield _field(part, part["name"], part["value"])
        elif said := (part["text"] or part["note"] or "").strip():
            yield _field(part, name if part["text"] else "", said)


def _line_fields(text: str) -> Iterator[Field]:
    name = ""
    for line in re.finditer(r"[^\n\r\u2028\u2029]+", text):
        said = line.group().strip(" \t+-")
        if said.endswith((":", "=")):
            name = said[:-1].strip()
        elif any(character.isalnum() for character in said):
            yield _field(line, "" if re.search(r"[:=]", said) else name, said)


def _field(part: re.Match[str], name: str, said: str) -> Field:
    return Field(
        span=Span(start=part.start(), end=part.end()), text=f"{name}: {said}" if name else said
    )


def code_prose(text: str, language: str) -> tuple[Span, ...] | None:
    """The lines of a fenced block that assert something in prose; None when all of it is prose.

    In a program those are comments and strings that read as sentences.
    """
    lines = list(re.finditer(r"[^\n\r\u2028\u2029]+", text))
    lines = [line for line in lines if line.group().strip()]
    program = language in _PROGRAM_LANGUAGES
    if not program and 2 * sum(_reads(line.group()) for line in lines) >= len(lines):
        return None
    return tuple(
        Span(start=line.start() + part.start("said"), end=line.start() + part.end("said"))
        for line in lines
        if (part := _said_in(line.group())) is not None
    )


def _said_in(line: str) -> re.Match[str] | None:
    """What a line of code asserts: the whole line, its comment, or a string in it."""
    for pattern in (_LINE_IN_CODE, _SAID_IN_CODE, _QUOTED_IN_CODE):
        for part in pattern.finditer(line):
            if _asserted(part.group("said")):
                return part
    return None


_MARK = r"(?:#+|//+|--+|/\*+|<!--|;+|%+|\*|rem\b)"
_SAID_IN_CODE = re.compile(
    rf"(?:(?<![^\s])|\A){_MARK}[ \t]*(?P<said>[^\n]{{8,}}?)[ \t]*(?:\*/|-->)?[ \t]*\Z",
    re.IGNORECASE,
)
_QUOTED_IN_CODE = re.compile(r"[\"'`\[({](?P<said>[^\"'`\[\](){}\n]{12,})[\"'`\])}]")
_LINE_IN_CODE = re.compile(r"\A[ \t]*(?P<said>[^\n]+?)[ \t]*\Z")


def _asserted(text: str) -> bool:
    return len(text.split()) >= 4 and _reads(text) and (may_assert(text) or is_written_out(text))


def _reads(line: str) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", line)
    letters = sum(character.isalnum() or character in " .,:%/()-" for character in line)
    if re.search(
        r"[{};]\s*\Z|\A\s*(?:def|class|import|from|const|let|var|return|function)\b|=>|\(\)|==",
        line,
    ):
        return False
    return len(words) >= 2 and letters >= 0.85 * len(line.strip())
