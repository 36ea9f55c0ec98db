"""What a fenced block of an answer asserts in prose: its lines, its comments, its strings (III.2)."""

from __future__ import annotations

import re

from core.decomposition.claim_type import is_written_out
from core.decomposition.clauses import may_assert
from core.records import Span

_PROGRAM_LANGUAGES = frozenset(
    "python py js javascript ts typescript tsx jsx java c cpp c++ cs csharp go rust ruby php sql bash sh "
    "shell zsh powershell html css scss xml yaml yml toml mermaid graphviz dot r matlab kotlin swift "
    "diff dockerfile makefile latex tex regex http curl".split()
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
