"""What a block of an answer asserts: lines, comments, strings, and the fields of data (III.2)."""

from __future__ import annotations

import html
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


def data_fields(text: str, language: str = "", *, fenced: bool = False) -> tuple[Field, ...]:
    """The fields of a block of data, each a claim of its own; none where it is no data.

    Data is what its fence calls so, or what opens and reads like JSON or XML, fenced or bare. A line
    that neither is read as keeps its words: nothing of a block of data is left out but its marks.
    Words beside elements ("<b>Potassium</b> is 4.1") are sentences with marks, and stay whole.
    """
    if _JSON_LIKE.match(text):
        return tuple(_json_fields(text))
    if _XML_LIKE.match(text) and not _BESIDE_ELEMENT.search(text):
        return tuple(_xml_fields(text))
    lines = language in _DATA_LANGUAGES or (fenced and _XML_LIKE.match(text))
    return tuple(_line_fields(text)) if lines else ()


_JSON_LIKE = re.compile(r"\s*[\[{]\s*(?:[\[{]\s*)*\"(?:[^\"\\\n]|\\.)*\"\s*[:,\]]")
_JSON_PART = re.compile(
    r"\"(?P<string>(?:[^\"\\\n]|\\.)*)\"(?P<names>\s*:)?"
    r"|(?P<other>\[\s*\]|\{\s*\}|[^\s\[\]{}:,\"]+)"
)
_XML_LIKE = re.compile(r"\s*<(?:\?xml\b|[A-Za-z])[^<>]*>[^<>]*<(?:/|[A-Za-z])")
_BESIDE_ELEMENT = re.compile(r"</[A-Za-z][^<>]*>\s*[^\s<]")
_XML_MARK = re.compile(
    r"<!--(?P<note>.{1,2000}?)-->|<!\[CDATA\[|\]\]>|</[A-Za-z][^<>]*>|<[?!][A-Za-z][^<>]*>"
    r"|<(?P<tag>[A-Za-z][\w:.-]*+)(?P<given>[^<>]*+)>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"(?<![\w:.-])([\w:.-]++)\s*=\s*[\"']?([^\"'<>]+)")
# A sign belongs to its number: "-3.1" is no item of a list.
_ITEM_MARK = re.compile(r"[ \t]*(?:[-+](?:[ \t]+|(?=[^\W\d_])))*")


def _json_fields(text: str) -> Iterator[Field]:
    name = ""
    for part in _JSON_PART.finditer(text):
        if part["names"] is not None:
            name = part["string"]
        else:  # an empty list or text says that there is nothing
            yield _field(part.start(), part.end(), name, part["string"] or part.group())


def _xml_fields(text: str) -> Iterator[Field]:
    name, at = "", 0
    for mark in (*_XML_MARK.finditer(text), None):
        end = len(text) if mark is None else mark.start()
        if said := text[at:end].strip():
            yield _field(at, end, name, html.unescape(said))
        if mark is None:
            return
        at = mark.end()
        if mark["note"]:
            yield _field(*mark.span("note"), "", mark["note"].strip())
        elif mark["tag"]:
            name = mark["tag"]
            for given in _ATTRIBUTE.finditer(text, *mark.span("given")):
                yield _field(*given.span(), given[1], html.unescape(given[2]))


def _line_fields(text: str) -> Iterator[Field]:
    name = ""
    for line in re.finditer(r"[^\n\r\u2028\u2029]+", text):
        said = _ITEM_MARK.sub("", line.group(), count=1).rstrip(" \t")
        if said.endswith((":", "=")):
            name = said[:-1].strip()
        elif any(character.isalnum() for character in said):
            yield _field(*line.span(), "" if re.search(r"[:=]", said) else name, said)


def _field(start: int, end: int, name: str, said: str) -> Field:
    return Field(span=Span(start=start, end=end), text=f"{name}: {said}" if name else said)


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
