"""Tidying up where edits touched a text: hollow lines, orphaned headings, gaps, stray punctuation.

Nothing is changed away from the touched places, so text that nobody edited keeps its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from core.records import Span
from core.text.edits import Edit, apply_edits, chain_edits, edited_ranges
from core.text.layout import Line, LineKind, cells_of, lines_of, units_of

_PASSES = 60  # each pass makes one kind of change; a text settles after a handful

# Openings that lean on the sentence before them; without it they hang in the air.
CONNECTIVE = re.compile(
    r"(?:however|moreover|furthermore|additionally|in addition|besides|likewise|similarly|"
    r"nevertheless|nonetheless|conversely|in contrast|by contrast|on the other hand|instead|"
    r"therefore|thus|hence|consequently|as a result|accordingly|for this reason|also|then|"
    r"meanwhile|at the same time|on the contrary|even so|still|and|but|or|so|yet)"
    r"(?:,\s+|\s+(?=[a-z]))",
    re.IGNORECASE,
)
_EMPTY_PAIR = re.compile(r"\(\s*[,;]?\s*\)|\[\s*\](?!\()|“\s*”|\"\s+\"|\*\*\s*\*\*|(?<!_)__\s*__(?!_)")
_HOLLOW_CELL = ("", "-", "–", "—", "n/a")


def mend(text: str, touched: Sequence[Span]) -> tuple[Edit, ...]:
    """Edits of ``text`` that tidy up around the ``touched`` ranges (empty ones are deletions)."""
    edits: tuple[Edit, ...] = ()
    current, places = text, list(touched)
    for _ in range(_PASSES):
        found = next((made for rule in _RULES if (made := rule(current, places))), None)
        if not found:
            break
        places = _followed(places, found)
        edits = tuple(chained.edit for chained in chain_edits(text, edits, found))
        current = apply_edits(text, edits)
    return edits


def _followed(places: Sequence[Span], edits: Sequence[Edit]) -> list[Span]:
    """The touched places in the edited text, and where it was edited itself."""
    moved = []
    ordered = sorted(edits, key=lambda edit: edit.span.start)
    for place in places:
        start, end = (_through(at, ordered) for at in (place.start, place.end))
        moved.append(Span(start=start, end=max(start, end)))
    return [*moved, *edited_ranges(edits)]


def _through(at: int, ordered: Sequence[Edit]) -> int:
    shift = 0
    for edit in ordered:
        if edit.span.end <= at:
            shift += len(edit.after) - (edit.span.end - edit.span.start)
        elif edit.span.start < at:
            return edit.span.start + shift
    return at + shift


# ---------------------------------------------------------------- lines


def _hollow_lines(text: str, touched: Sequence[Span]) -> list[Edit]:
    """Lines of which only a marker, a bracket or a stop is left."""
    lines = lines_of(text)
    return [
        _without_line(text, lines, index)
        for index in _touched_lines(lines, touched)
        if _is_hollow(text, lines[index])
    ][:1]


def _is_hollow(text: str, line: Line) -> bool:
    if line.kind in (LineKind.BLANK, LineKind.RULE, LineKind.FENCE):
        return False
    if line.kind is LineKind.ROW:
        return all(cell.cut(text).strip().lower() in _HOLLOW_CELL for cell in cells_of(text, line.span))
    return not any(character.isalnum() for character in line.content.cut(text))


def _without_line(text: str, lines: Sequence[Line], index: int) -> Edit:
    start, end = lines[index].span.start, lines[index].end
    if end == len(text) and index:  # the last line takes the break before it along
        start = lines[index - 1].span.end
    return Edit(span=Span(start=start, end=end), after="")


def _blank_runs(text: str, touched: Sequence[Span]) -> list[Edit]:
    """Blank lines that a removal brought together, or left at either end."""
    lines = lines_of(text)
    near = set(_touched_lines(lines, touched))
    for index, line in enumerate(lines):
        if line.kind is not LineKind.BLANK or index not in near | {i + 1 for i in near}:
            continue
        after_blank = index > 0 and lines[index - 1].kind is LineKind.BLANK
        at_an_end = index == 0 or all(one.kind is LineKind.BLANK for one in lines[index:])
        if after_blank or at_an_end:
            return [_without_line(text, lines, index)]
    return []


def _table_heads(text: str, touched: Sequence[Span]) -> list[Edit]:
    """A table's head and rule without a row below them."""
    lines = lines_of(text)
    for index in range(len(lines) - 1):
        head, rule = lines[index], lines[index + 1]
        if head.kind is not LineKind.ROW or rule.kind is not LineKind.RULE or "|" not in rule.span.cut(text):
            continue
        below = lines[index + 2] if index + 2 < len(lines) else None
        if (below is None or below.kind is not LineKind.ROW) and _touches(
            touched, Span(start=head.span.start, end=rule.end)
        ):
            return [Edit(span=Span(start=head.span.start, end=rule.end), after="")]
    return []


def _empty_sections(text: str, touched: Sequence[Span]) -> list[Edit]:
    """Headings with nothing under them any more."""
    lines = lines_of(text)
    for index, line in enumerate(lines):
        if line.kind is not LineKind.HEADING:
            continue
        follows = _next_line(lines, index)
        between = Span(start=line.span.end, end=lines[follows].span.start if follows else len(text))
        ends_here = follows is None or (
            lines[follows].kind is LineKind.HEADING
            and _level(text, lines[follows]) <= _level(text, line)
        )
        if ends_here and _touches(touched, between):
            return [_without_line(text, lines, index)]
    return []


def _empty_introductions(text: str, touched: Sequence[Span]) -> list[Edit]:
    """A line that announces a list ("The patient takes:") of which nothing is left."""
    lines = lines_of(text)
    for index, line in enumerate(lines):
        if line.kind not in (LineKind.TEXT, LineKind.ITEM):
            continue
        if not re.search(r":[*_\s]*$", line.content.cut(text)):
            continue
        follows = _next_line(lines, index)
        if follows is not None and _belongs_under(lines[follows], line, follows - index):
            continue
        between = Span(start=line.span.end, end=lines[follows].span.start if follows else len(text))
        if _touches(touched, between):
            last = [unit for unit in units_of(text, lines) if unit.span.end <= line.span.end][-1]
            if last.first or last.span.start <= line.content.start:
                return [_without_line(text, lines, index)]
            return [Edit(span=last.span, after="")]
    return []


def _belongs_under(below: Line, line: Line, distance: int) -> bool:
    if line.kind is LineKind.ITEM:
        return below.indent > line.indent
    return below.kind in (LineKind.ITEM, LineKind.ROW, LineKind.FENCE) or (
        below.kind is LineKind.TEXT and (distance == 1 or below.indent > line.indent)
    )


def _level(text: str, line: Line) -> int:
    marks = re.match(r"\s*(#+)", line.span.cut(text))
    return len(marks.group(1)) if marks else 7


def _numbering(text: str, touched: Sequence[Span]) -> list[Edit]:
    """Ordered lists with a gap where an item was taken out."""
    lines = lines_of(text)
    for run in _numbered_runs(lines):
        area = Span(start=max(0, lines[run[0]].span.start - 1), end=lines[run[-1]].end)
        numbers = [lines[index].number or 0 for index in run]
        rising = all(a < b for a, b in zip(numbers, numbers[1:], strict=False))
        if not rising or not _touches(touched, area):
            continue
        first_gone = numbers[0] in (2, 3, 4) and _touches(
            touched, Span(start=area.start, end=lines[run[0]].span.start)
        )
        begin = 1 if first_gone else numbers[0]
        edits = [
            Edit(span=_number_span(text, lines[index]), after=str(begin + place))
            for place, index in enumerate(run)
            if numbers[place] != begin + place
        ]
        if edits:
            return edits
    return []


def _numbered_runs(lines: Sequence[Line]) -> Iterator[list[int]]:
    """Items of one ordered list: the same indent, with only deeper or blank lines between."""
    open_runs: dict[int, list[int]] = {}
    for index, line in enumerate(lines):
        if line.kind is LineKind.BLANK:
            continue
        for indent in [deep for deep in open_runs if deep > line.indent]:
            yield open_runs.pop(indent)
        if line.number is not None:
            open_runs.setdefault(line.indent, []).append(index)
        elif line.indent in open_runs:
            yield open_runs.pop(line.indent)
    yield from open_runs.values()


def _number_span(text: str, line: Line) -> Span:
    digits = re.compile(r"\d+").search(text, line.span.start)
    assert digits is not None
    return Span(start=digits.start(), end=digits.end())


# ---------------------------------------------------------------- within a line


def _empty_pairs(text: str, touched: Sequence[Span]) -> list[Edit]:
    return [
        Edit(span=Span(start=match.start(), end=match.end()), after="")
        for match in _EMPTY_PAIR.finditer(text)
        if _touches(touched, Span(start=match.start(), end=match.end()))
    ][:1]


_STRAY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?<=\S)[ \t]{2,}(?=\S)"), " "),
    (re.compile(r"[ \t]+(?=\r?\n|\Z)"), ""),
    (re.compile(r"(?<=[^\s|])[ \t]+(?=[,.;:!?)](?:\s|\Z))"), ""),
    (re.compile(r"(?<=[(\[])[ \t]+"), ""),
    (re.compile(r"[,;:][ \t]*(?=[.!?;](?:\s|\Z))"), ""),
    (re.compile(r",[ \t]*(?=,)"), ""),
    (re.compile(r"(?<=[.!?])[ \t]*[,;](?=\s|\Z)"), ""),
    (re.compile(r"(?<=[^.\d])\.[ \t]*(?=\.(?:\s|\Z))"), ""),
    (re.compile(r"(?:(?<=\n)|\A)[ \t]+(?=[^\s\-*+•\d|#>])"), ""),
)  # fmt: skip


def _stray_marks(text: str, touched: Sequence[Span]) -> list[Edit]:
    """Doubled spaces and stops, and punctuation that lost what it belonged to."""
    for pattern, after in _STRAY:
        for match in pattern.finditer(text):
            span = Span(start=match.start(), end=match.end())
            if span.start < span.end and _touches(touched, span):
                return [Edit(span=span, after=after)]
    return []


def _openings(text: str, touched: Sequence[Span]) -> list[Edit]:
    """Sentences that open with a connective or in lower case where their beginning was taken away."""
    gone = {place.start for place in touched if place.start == place.end}
    for unit in units_of(text):
        if unit.kind is LineKind.ROW:
            continue
        start = unit.span.start
        before = text[:start]
        stands = len(before.rstrip(" \t"))
        if not any(stands <= at <= start for at in gone) and not (
            unit.first and any(_only_marker(text[at:start]) for at in gone if at <= start)
        ):
            continue
        stray = re.compile(r"[,;:.)\]]+\s*").match(text, start)
        if stray:
            return [Edit(span=Span(start=start, end=stray.end()), after="")]
        connective = CONNECTIVE.match(text, start)
        if connective and connective.end() < unit.span.end:
            return [Edit(span=Span(start=start, end=connective.end()), after="")]
        word = re.compile(r"[a-z]+(?![\w-])").match(text, start)
        if word and _opens_capital(text, start):
            return [Edit(span=Span(start=start, end=start + 1), after=text[start].upper())]
    return []


def _only_marker(between: str) -> bool:
    """Whether only a list marker and white space lie between a removal and a sentence."""
    return "\n" not in between and not any(character.isalpha() for character in between)


def _opens_capital(text: str, start: int) -> bool:
    """Whether a sentence beginning here is written with a capital: prose is, list items vary."""
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?" or text[:start].rstrip(" \t").endswith("\n")


# ---------------------------------------------------------------- places


def _touches(touched: Sequence[Span], area: Span) -> bool:
    return any(place.start <= area.end and area.start <= place.end for place in touched)


def _touched_lines(lines: Sequence[Line], touched: Sequence[Span]) -> list[int]:
    return [
        index
        for index, line in enumerate(lines)
        if _touches(touched, Span(start=line.span.start, end=line.span.end))
    ]


def _next_line(lines: Sequence[Line], index: int) -> int | None:
    for after in range(index + 1, len(lines)):
        if lines[after].kind is not LineKind.BLANK:
            return after
    return None


Rule = Callable[[str, Sequence[Span]], list[Edit]]
_RULES: tuple[Rule, ...] = (
    _empty_pairs,
    _stray_marks,
    _hollow_lines,
    _table_heads,
    _empty_introductions,
    _empty_sections,
    _blank_runs,
    _openings,
    _numbering,
)
