"""Rules that find what an edit can leave behind: orphaned connectives, markers, stops, subjects."""

from __future__ import annotations

import re
from collections import Counter

from core.repair.layout import Line, LineKind, Unit, heading_level, lines_of, units_of

_OPENS = re.compile(
    r"(?:and|or|but|nor|which|whose|because|whereas|although|than|of|with)\b", re.IGNORECASE
)
_OPENS_AS_PROSE = re.compile(
    r"(?:because|although|whereas|with|of)\b.*,", re.IGNORECASE | re.DOTALL
)
_OPENS_WITH_VERB = re.compile(
    r"(?:is|are|was|were|has|had|have|does|did|takes?|took|shows?|showed|reports?|reported|reduced|"
    r"reduces|increased|increases|lowers|lowered|raises|raised|causes|caused|remains|includes|"
    r"improves|improved|lists|suggests|suggested|found)\s",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?:\b(?:and|or|but|nor|the|an|of|with|to|in|on|at|by|for|from|per|than|because|which|that|"
    r"whereas|although|while|according to|as well as|such as|including)|[,;(\[–—])"
    r"[\s*_]*[.!?]?[\s*_]*$",
    re.IGNORECASE,
)
_DOUBLED = re.compile(
    r"[,;:]\s*[,;.]|(?<![.\d])\.\s?\.(?!\.)|[!?]\s*[,;.](?!\.)|\s,(?=\s|$)|(?<=[a-z])\s\.(?=\s|$)"
)
_EMPTY = re.compile(r"\(\s*\)|\[\s*\](?!\()|“\s*”|\*\*\s*\*\*(?!\*)")


def grammar_problems(text: str) -> tuple[str, ...]:
    """What is wrong with how the text reads, each with the words it is about, in order."""
    lines = lines_of(text)
    units = units_of(text, lines)
    found = [problem for unit in units for problem in _unit_problems(text, unit)]
    found += [
        problem for index in range(len(lines)) for problem in _line_problems(text, lines, index)
    ]
    if re.search(r"\n\s*\n\s*\n\s*\n", text):
        found.append("a gap of several blank lines")
    return tuple(found)


def new_problems(before: str, after: str) -> tuple[str, ...]:
    """What is wrong with ``after`` that was not wrong with ``before`` already."""
    known = Counter(grammar_problems(before))
    fresh = []
    for problem in grammar_problems(after):
        if known[problem]:
            known[problem] -= 1
        else:
            fresh.append(problem)
    return tuple(fresh)


def _unit_problems(text: str, unit: Unit) -> list[str]:
    said = unit.span.cut(text)
    bare = said.strip().lstrip("*_#> ").rstrip()
    shown = f"“{bare[:60]}”"
    found = []
    if re.match(r"[,;:.)\]!?](?!\.)", bare):
        found.append(f"opens with punctuation: {shown}")
    if (
        _OPENS.match(bare)
        and (bare[:1].islower() or unit.first)
        and not _OPENS_AS_PROSE.match(bare)
    ):
        found.append(f"opens with a connective: {shown}")
    prose = unit.kind is LineKind.TEXT and bare.rstrip("*_").endswith(".")
    if prose and _OPENS_WITH_VERB.match(bare):
        found.append(f"has lost its subject: {shown}")
    ends = bare.rstrip(",;") if unit.kind is LineKind.ITEM else bare  # items may be strung together
    if unit.kind in (LineKind.TEXT, LineKind.ITEM) and _ENDS.search(ends):
        found.append(f"breaks off: {shown}")
    if unit.kind is not LineKind.ROW and _DOUBLED.search(said):
        found.append(f"doubled punctuation: {shown}")
    if _EMPTY.search(said):
        found.append(f"empty brackets: {shown}")
    for left, right in ("()", "[]", "“”"):
        if said.count(left) != said.count(right) and not re.match(r"\(?\w{1,3}\)", bare):
            found.append(f"unbalanced {left}{right}: {shown}")
    if said.count("**") % 2:
        found.append(f"unbalanced bold: {shown}")
    if re.search(r"\S[ \t]{2,}\S", said) and unit.kind is LineKind.TEXT:
        found.append(f"doubled space: {shown}")
    return found


def _line_problems(text: str, lines: tuple[Line, ...], index: int) -> list[str]:
    line = lines[index]
    shown = f"“{line.span.cut(text).strip()[:60]}”"
    follows = next((one for one in lines[index + 1 :] if one.kind is not LineKind.BLANK), None)
    if line.kind is LineKind.ITEM:
        found = [] if line.content.cut(text).strip("*_. ") else [f"empty list item: {shown}"]
        return found + _numbering_problems(lines, index, shown)
    if line.kind is LineKind.HEADING and (
        follows is None
        or (
            follows.kind is LineKind.HEADING
            and heading_level(text, follows) <= heading_level(text, line)
        )
    ):
        return [f"heading with nothing under it: {shown}"]
    announces = line.kind is LineKind.TEXT and line.span.cut(text).rstrip(" *_").endswith(":")
    if announces and (follows is None or follows.kind is LineKind.HEADING):
        return [f"announces what is not there: {shown}"]
    below = lines[index + 1].kind if index + 1 < len(lines) else LineKind.BLANK
    rule = line.kind is LineKind.RULE and "|" in line.span.cut(text)
    return [f"table without rows: {shown}"] if rule and below is not LineKind.ROW else []


def _numbering_problems(lines: tuple[Line, ...], index: int, shown: str) -> list[str]:
    line = lines[index]
    if line.number is None:
        return []
    for before in reversed(lines[:index]):
        if before.kind is LineKind.BLANK or before.indent > line.indent:
            continue
        listed = before.indent == line.indent and before.number is not None
        skips = listed and line.number > (before.number or 0) + 1
        return [f"numbering skips: {shown}"] if skips else []
    return []
