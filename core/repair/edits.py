"""Span edits of a text: applying them, chaining them, and following a place through them."""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from core.records import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """``span`` of a text becomes ``after``; the edits of one text never overlap."""

    span: Span
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chained:
    """One edit of the first text that does what edits ``first`` and then ``second`` did."""

    edit: Edit
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPiece:
    """A stretch that two texts share, or that only the old or only the new one has."""

    text: str
    old: bool
    new: bool


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made; no edits give the same text. ValueError when two overlap."""
    pieces, at = [], 0
    for edit in sorted(edits, key=_order):
        if edit.span.start < at:
            raise ValueError(f"edits overlap at {edit.span.start}")
        pieces += [text[at : edit.span.start], edit.after]
        at = edit.span.end
    return "".join([*pieces, text[at:]])


def edited_ranges(edits: Sequence[Edit]) -> tuple[Span, ...]:
    """Where each edit's ``after`` stands in the edited text, in the order given."""
    shift, found = 0, {}
    for index in sorted(range(len(edits)), key=lambda index: _order(edits[index])):
        edit = edits[index]
        start = edit.span.start + shift
        found[index] = Span(start=start, end=start + len(edit.after))
        shift += len(edit.after) - (edit.span.end - edit.span.start)
    return tuple(found[index] for index in range(len(edits)))


def chain_edits(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Chained, ...]:
    """Edits of ``text`` equal to making ``first`` and then ``second``; meeting ones become one."""
    middle = apply_edits(text, first)
    ranges = edited_ranges(first)
    chained = []
    for one, two in _clusters(ranges, [edit.span for edit in second]):
        if not two:
            (only,) = one
            chained.append(Chained(edit=first[only], first=(only,), second=()))
            continue
        low = min([ranges[i].start for i in one] + [second[j].span.start for j in two])
        high = max([ranges[i].end for i in one] + [second[j].span.end for j in two])
        inside = [
            Edit(span=_moved(second[j].span, -low), after=second[j].after) for j in sorted(two)
        ]
        earlier = [i for i in range(len(first)) if i not in one and ranges[i].end <= low]
        start = low - _growth(first, earlier)
        end = high - _growth(first, [*earlier, *one])
        chained.append(
            Chained(
                edit=Edit(
                    span=Span(start=start, end=end), after=apply_edits(middle[low:high], inside)
                ),
                first=tuple(sorted(one)),
                second=tuple(sorted(two)),
            )
        )
    return tuple(sorted(chained, key=lambda each: _order(each.edit)))


def narrowed(text: str, edit: Edit) -> Edit:
    """The same edit without the whole words at either end that it leaves as they are."""
    old, new = _tokens(edit.span.cut(text)), _tokens(edit.after)
    start = end = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Edit(
        span=Span(
            start=edit.span.start + len("".join(old[:start])),
            end=edit.span.end - len("".join(old[len(old) - end :])),
        ),
        after="".join(new[start : len(new) - end]),
    )


def word_diff(before: str, after: str) -> tuple[DiffPiece, ...]:
    """The two texts as shared, removed and added words; the old pieces joined give ``before``.

    White space and punctuation alone between two changes belong to the changes: "the chart" becomes
    "a trial", not "the" → "a", space, "chart" → "trial".
    """
    old, new = _tokens(before), _tokens(after)
    changes: list[list[int]] = []  # a, b, c, d: old[a:b] becomes new[c:d]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        if changes and not any(token[0].isalnum() for token in old[changes[-1][1] : a]):
            changes[-1][1], changes[-1][3] = b, d
        else:
            changes.append([a, b, c, d])
    pieces, at = [], 0
    for a, b, c, d in [*changes, [len(old), len(old), len(new), len(new)]]:
        shown = (
            DiffPiece(text="".join(old[at:a]), old=True, new=True),
            DiffPiece(text="".join(old[a:b]), old=True, new=False),
            DiffPiece(text="".join(new[c:d]), old=False, new=True),
        )
        pieces += [piece for piece in shown if piece.text]
        at = b
    return tuple(pieces)


def share_of_words_kept(before: str, after: str) -> float | None:
    """The share of the old text's words that the new one still has in order; None without words."""
    old = [token for token in _tokens(before) if token[:1].isalnum()]
    new = [token for token in _tokens(after) if token[:1].isalnum()]
    if not old:
        return None
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / len(old)


# A number or a date is one token with its marks ("1.5", "2025-03-01", "120/80"), as is "patient's".
_TOKEN = re.compile(r"\d[^\W_]*(?:[.,:/–-]\d[^\W_]*)+|[^\W_]+(?:['’][^\W_]+)*|\s+|.", re.DOTALL)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text)


def _order(edit: Edit) -> tuple[int, int]:
    return (edit.span.start, edit.span.end)


def _moved(span: Span, by: int) -> Span:
    return Span(start=span.start + by, end=span.end + by)


def _growth(edits: Sequence[Edit], which: Sequence[int]) -> int:
    return sum(len(edits[i].after) - (edits[i].span.end - edits[i].span.start) for i in set(which))


def _clusters(first: Sequence[Span], second: Sequence[Span]) -> list[tuple[set[int], set[int]]]:
    """Which first and second ranges must become one edit; all others stay as they are."""
    by_start = sorted(range(len(first)), key=lambda i: (first[i].start, first[i].end))
    ends = [first[i].end for i in by_start]  # rising, as the ranges never overlap
    clusters: list[tuple[set[int], set[int]]] = []
    for j in sorted(range(len(second)), key=lambda j: (second[j].start, second[j].end)):
        at = bisect_left(ends, second[j].start)
        touched = set()
        while at < len(by_start) and first[by_start[at]].start <= second[j].end:
            if _meet(first[by_start[at]], second[j]):
                touched.add(by_start[at])
            at += 1
        if clusters and clusters[-1][0] & touched:
            clusters[-1][0].update(touched)
            clusters[-1][1].add(j)
        else:
            clusters.append((touched, {j}))
    joined = {i for one, _ in clusters for i in one}
    return clusters + [({i}, set()) for i in range(len(first)) if i not in joined]


def _meet(first: Span, second: Span) -> bool:
    """Whether two edits work on the same place; two that are only side by side stay apart."""
    if second.start == second.end:
        return first.start <= second.start <= first.end
    if first.start == first.end:
        return second.start < first.start < second.end
    return first.overlaps(second)
