"""Tidying up where edits touched a text: hollow lines, orphaned headings, gaps, stray punctuation.

Nothing is changed away from the touched places, so text that nobody edited keeps its bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from core.records import Span
from core.repair.edits import Edit, apply_edits, chain_edits, edited_ranges
from core.repair.layout import Line, LineKind, Unit, cells_of, heading_level, lines_of, units_of

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
_EMPTY_PAIR = re.compile(
    r"\(\s*[,;]?\s*\)|\[\s*\](?!\()|“\s*”|\"\s+\"|\*\*\s*\*\*|(?<!_)__\s*__(?!_)"
)
_HOLLOW_CELL = ("", "-", "–", "—", "n/a")


def mend(text: str, touched: Sequence[Span]) -> tuple[Edit, ...]:
    """Edits of ``text`` that tidy up around the ``touched`` ranges (empty ones are deletions)."""
    edits: tuple[Edit, ...] = ()
    current, places = text, list(touched)
    for _ in range(_PASSES):
        near = _Touched(places)
        found = next((made for rule in _RULES if (made := _apart(rule(current, near)))), None)
        if not found:
            break
        places = _followed(places, found)
        edits = tuple(chained.edit for chained in chain_edits(text, edits, found))
        current = apply_edits(text, edits)
    return edits


class _Touched:
    """The touched places of a text, to ask whether one of them meets an area."""

    def __init__(self, places: Sequence[Span]) -> None:
        self.deletions = sorted({place.start for place in places if place.start == place.end})
        self._starts: list[int] = []
        self._ends: list[int] = []
        for place in sorted(places, key=lambda place: (place.start, place.end)):
            if self._ends and place.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], place.end)
            else:
                self._starts.append(place.start)
                self._ends.append(place.end)

    def meets(self, start: int, end: int) -> bool:
        """Whether a place overlaps or borders on ``[start, end)``."""
        at = bisect_left(self._ends, start)
        return at < len(self._starts) and self._starts[at] <= end

    def deleted_in(self, start: int, end: int) -> bool:
        """Whether something was taken out from ``start`` to ``end``, both included."""
        at = bisect_left(self.deletions, start)
        return at < len(self.deletions) and self.deletions[at] <= end


def _apart(edits: Sequence[Edit]) -> list[Edit]:
    """The edits without those that overlap an earlier one; the next pass sees to them."""
    chosen: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.span.start, edit.span.end)):
        if not chosen or edit.span.start >= chosen[-1].span.end and edit.span != chosen[-1].span:
            chosen.append(edit)
    return chosen


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


def _hollow_lines(text: str, touched: _Touched) -> list[Edit]:
    """Lines of which only a marker, a bracket or a stop is left."""
    lines = lines_of(text)
    return [
        _without_line(text, lines, index)
        for index in _touched_lines(lines, touched)
        if _is_hollow(text, lines[index])
    ]


def _is_hollow(text: str, line: Line) -> bool:
    if line.kind in (LineKind.BLANK, LineKind.RULE, LineKind.FENCE):
        return False
    if line.kind is LineKind.ROW:
        return all(
            cell.cut(text).strip().lower() in _HOLLOW_CELL for cell in cells_of(text, line.span)
        )
    return not any(character.isalnum() for character in line.content.cut(text))


def _without_line(text: str, lines: Sequence[Line], index: int) -> Edit:
    start, end = lines[index].span.start, lines[index].end
    if end == len(text) and index:  # the last line takes the break before it along
        start = lines[index - 1].span.end
    return Edit(span=Span(start=start, end=end), after="")


def _blank_runs(text: str, touched: _Touched) -> list[Edit]:
    """Blank lines that a removal brought together, or left at the start."""
    lines = lines_of(text)
    near = set(_touched_lines(lines, touched))
    edits = []
    for index in sorted(near | {index + 1 for index in near}):
        if index >= len(lines) or lines[index].kind is not LineKind.BLANK:
            continue
        if index == 0 or lines[index - 1].kind is LineKind.BLANK:
            edits.append(_without_line(text, lines, index))
    return edits


def _loose_end(text: str, touched: _Touched) -> list[Edit]:
    """White space that a removal left at the end of the text."""
    bare = len(text.rstrip())
    if bare < len(text) and touched.meets(bare, len(text)) and touched.meets(len(text), len(text)):
        return [Edit(span=Span(start=bare, end=len(text)), after="")]
    return []


def _table_heads(text: str, touched: _Touched) -> list[Edit]:
    """A table's head and rule without a row below them."""
    lines, edits = lines_of(text), []
    for index in range(len(lines) - 1):
        head, rule = lines[index], lines[index + 1]
        if (
            head.kind is not LineKind.ROW
            or rule.kind is not LineKind.RULE
            or "|" not in rule.span.cut(text)
        ):
            continue
        below = lines[index + 2] if index + 2 < len(lines) else None
        empty = below is None or below.kind is not LineKind.ROW
        if empty and touched.meets(head.span.start, rule.end):
            edits.append(Edit(span=Span(start=head.span.start, end=rule.end), after=""))
    return edits


def _empty_sections(text: str, touched: _Touched) -> list[Edit]:
    """Headings with nothing under them any more."""
    lines, edits = lines_of(text), []
    for index, line in enumerate(lines):
        if line.kind is not LineKind.HEADING:
            continue
        follows, between = _what_follows(text, lines, index)
        ends_here = follows is None or (
            lines[follows].kind is LineKind.HEADING
            and heading_level(text, lines[follows]) <= heading_level(text, line)
        )
        if ends_here and touched.meets(between.start, between.end):
            edits.append(_without_line(text, lines, index))
    return edits


def _empty_introductions(text: str, touched: _Touched) -> list[Edit]:
    """A line that announces a list ("The patient takes:") of which nothing is left."""
    lines, edits = lines_of(text), []
    for index, line in enumerate(lines):
        if line.kind not in (LineKind.TEXT, LineKind.ITEM):
            continue
        if not re.search(r":[*_\s]*$", line.content.cut(text)):
            continue
        follows, between = _what_follows(text, lines, index)
        if follows is not None and _belongs_under(lines[follows], line, follows - index):
            continue
        if touched.meets(between.start, between.end):
            last = units_of(text, lines[index : index + 1])[-1:]
            whole = not last or last[0].span.start <= line.content.start
            edits.append(
                _without_line(text, lines, index) if whole else Edit(span=last[0].span, after="")
            )
    return edits


_STATES = re.compile(
    r"[.!?;,:]\W*\Z|\b(?:is|are|was|were|has|have|had|takes?|weighs?|shows?|lists?|no|not)\b",
    re.IGNORECASE,
)
_HEAD_WORDS = 8


def _empty_heads(text: str, touched: _Touched) -> list[Edit]:
    """A short line that named the list right under it ("Samuel Joshi (SYN-47989)"), now empty."""
    lines, edits = lines_of(text), []
    for index, line in enumerate(lines):
        said = line.content.cut(text)
        if (
            line.kind is not LineKind.TEXT
            or len(said.split()) > _HEAD_WORDS
            or _STATES.search(said)
        ):
            continue
        above = index == 0 or lines[index - 1].kind is LineKind.BLANK
        below = lines[index + 1] if index + 1 < len(lines) else None
        empty = below is None or below.kind in (LineKind.BLANK, LineKind.HEADING)
        if above and empty and touched.deleted_in(line.end, line.end):
            edits.append(_without_line(text, lines, index))
    return edits


def _belongs_under(below: Line, line: Line, distance: int) -> bool:
    if line.kind is LineKind.ITEM:
        return below.indent > line.indent
    return below.kind in (LineKind.ITEM, LineKind.ROW, LineKind.FENCE) or (
        below.kind is LineKind.TEXT and (distance == 1 or below.indent > line.indent)
    )


def _numbering(text: str, touched: _Touched) -> list[Edit]:
    """Ordered lists with a gap where an item was taken out."""
    lines, edits = lines_of(text), []
    for run in _numbered_runs(lines):
        area = Span(start=max(0, lines[run[0]].span.start - 1), end=lines[run[-1]].end)
        numbers = [lines[index].number or 0 for index in run]
        rising = all(a < b for a, b in zip(numbers, numbers[1:], strict=False))
        if not rising or not touched.meets(area.start, area.end):
            continue
        first_gone = numbers[0] > 1 and touched.meets(area.start, lines[run[0]].span.start)
        begin = 1 if first_gone else numbers[0]
        edits += [
            Edit(span=_number_span(text, lines[index]), after=str(begin + place))
            for place, index in enumerate(run)
            if numbers[place] != begin + place
        ]
    return edits


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


def _empty_pairs(text: str, touched: _Touched) -> list[Edit]:
    return [
        Edit(span=Span(start=match.start(), end=match.end()), after="")
        for match in _EMPTY_PAIR.finditer(text)
        if touched.meets(match.start(), match.end())
    ]


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


def _stray_marks(text: str, touched: _Touched) -> list[Edit]:
    """Doubled spaces and stops, and punctuation that lost what it belonged to."""
    for pattern, after in _STRAY:
        edits = [
            Edit(span=Span(start=match.start(), end=match.end()), after=after)
            for match in pattern.finditer(text)
            if match.end() > match.start() and touched.meets(match.start(), match.end())
        ]
        if edits:
            return edits
    return []


def _openings(text: str, touched: _Touched) -> list[Edit]:
    """Sentences that open with a connective or in lower case where their beginning was taken away."""
    lines, edits = lines_of(text), []
    for unit in units_of(text, lines):
        if unit.kind is LineKind.ROW or not _lost_beginning(text, unit, lines[unit.line], touched):
            continue
        start = unit.span.start
        stray = _STRAY_OPENING.match(text, start)
        connective = CONNECTIVE.match(text, start)
        if stray:
            edits.append(Edit(span=Span(start=start, end=stray.end()), after=""))
        elif connective and connective.end() < unit.span.end:
            edits.append(Edit(span=Span(start=start, end=connective.end()), after=""))
        elif _LOWER_WORD.match(text, start) and _opens_capital(text, start):
            edits.append(Edit(span=Span(start=start, end=start + 1), after=text[start].upper()))
    return edits


_STRAY_OPENING = re.compile(r"[,;:.)\]]+\s*")
_LOWER_WORD = re.compile(r"[a-z]+(?![\w-])")


def _lost_beginning(text: str, unit: Unit, line: Line, touched: _Touched) -> bool:
    """Whether something was taken out right before the unit, or at the head of its line."""
    start = unit.span.start
    begin = start
    while begin > 0 and text[begin - 1] in " \t":
        begin -= 1
    if touched.deleted_in(begin, start):
        return True
    # Before a list item it was another item that went, not this one's beginning.
    own = unit.first and unit.kind is not LineKind.ITEM
    return own and touched.deleted_in(line.span.start, start)


def _opens_capital(text: str, start: int) -> bool:
    """Whether a sentence beginning here is written with a capital: prose is, list items vary."""
    before = text[max(0, start - 200) : start]
    bare = before.rstrip()
    return not bare or bare[-1] in ".!?" or before.rstrip(" \t").endswith("\n")


# ---------------------------------------------------------------- places


def _touched_lines(lines: Sequence[Line], touched: _Touched) -> list[int]:
    return [
        index for index, line in enumerate(lines) if touched.meets(line.span.start, line.span.end)
    ]


def _what_follows(text: str, lines: Sequence[Line], index: int) -> tuple[int | None, Span]:
    """The next line that is not blank, and the stretch up to it."""
    places = range(index + 1, len(lines))
    after = next((at for at in places if lines[at].kind is not LineKind.BLANK), None)
    end = len(text) if after is None else lines[after].span.start
    return after, Span(start=lines[index].span.end, end=end)


Rule = Callable[[str, _Touched], list[Edit]]
_RULES: tuple[Rule, ...] = (
    _empty_pairs,
    _stray_marks,
    _hollow_lines,
    _table_heads,
    _empty_introductions,
    _empty_heads,
    _empty_sections,
    _blank_runs,
    _loose_end,
    _openings,
    _numbering,
)
