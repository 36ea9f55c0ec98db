"""What of an answer a citation stands for: its sentence, and what the same item or paragraph adds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.citations.mentions import Mention
from core.citations.normal import trimmed
from core.records import Span
from core.text.sentences import sentence_spans

_FEW_WORDS = 2  # fewer between two marks are no statement: "[1], [2]", "[1] and [2]"
_ITEM = re.compile(r"[ \t]*(?:[-*•–+]|\d{1,2}[.)])[ \t]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """``sentence`` is what the mark closes or opens; ``around`` the stretch that it may speak for.

    Where a sentence has several marks, ``sentence`` is the part of it that this one stands for.
    """

    sentence: Span
    around: Span


def scopes_of(answer: str, mentions: Sequence[Mention], body_end: int) -> tuple[Scope, ...]:
    """The scope of each mention, in their order."""
    blocks = _blocks(answer, body_end)
    return tuple(_scope(answer, mention, mentions, blocks) for mention in mentions)


def _blocks(answer: str, end: int) -> list[Span]:
    """Paragraphs, list items with what is nested in them, table rows; headings go with what follows."""
    found: list[tuple[int, int, str]] = []
    offset = 0
    opened = False
    for line in answer[:end].split("\n"):
        start, stop = offset, offset + len(line)
        offset = stop + 1
        if not line.strip():
            opened = False
            continue
        nested = line[:1] in (" ", "\t") and found and found[-1][2] in ("item", "nested", "heading")
        kind = _line_kind(line)
        if found and ((nested and kind == "item") or (opened and kind == found[-1][2] == "prose")):
            found[-1] = (found[-1][0], stop, found[-1][2])
        elif found and found[-1][2] == "heading" and kind != "heading":
            found[-1] = (found[-1][0], stop, kind)
        else:
            found.append((start, stop, kind))
        opened = True
    return [trimmed(answer, start, stop) for start, stop, _ in found]


def _line_kind(line: str) -> str:
    text = line.strip()
    if text.startswith("|"):
        return "row"
    if _ITEM.match(line):
        return "item"
    bare = text.strip("*_#: ")
    if text.startswith("#") or (text.startswith("**") and text.endswith("**") and bare):
        return "heading"
    if text.endswith(":") and len(text) < 120:
        return "heading"
    return "prose"


def _scope(
    answer: str, mention: Mention, mentions: Sequence[Mention], blocks: Sequence[Span]
) -> Scope:
    block = next((one for one in blocks if one.overlaps(mention.span)), None)
    if block is None:
        return Scope(sentence=mention.span, around=mention.span)
    text = block.cut(answer)
    sentences = [
        Span(start=block.start + one.start, end=block.start + one.end)
        for one in sentence_spans(text)
    ]
    at = next((i for i, one in enumerate(sentences) if one.overlaps(mention.span)), 0)
    if not sentences:
        return Scope(sentence=block, around=block)
    sentence = sentences[at]
    # A mark that stands alone behind a full stop closes the sentence before it.
    alone = not re.search(
        r"[^\W\d_]{4}",
        (answer[sentence.start : mention.span.start]) + answer[mention.span.end : sentence.end],
    )
    if alone and at > 0:
        at -= 1
        sentence = Span(start=sentences[at].start, end=sentence.end)
    others = [one for one in mentions if one.key != mention.key and block.overlaps(one.span)]
    first, last = at, at
    while first > 0 and not any(sentences[first - 1].overlaps(one.span) for one in others):
        first -= 1
    while last + 1 < len(sentences) and not any(
        sentences[last + 1].overlaps(one.span) for one in others
    ):
        last += 1
    around = Span(start=sentences[first].start, end=max(sentences[last].end, sentence.end))
    return Scope(sentence=_stretch(answer, mention.span, mentions, sentence), around=around)


def _stretch(answer: str, mark: Span, mentions: Sequence[Mention], sentence: Span) -> Span:
    """What one of several marks in a sentence stands for: up to it, or on from it.

    Marks close what they stand for ("… [1], and … [2]"), unless the first opens its sentence
    ("Ostrander (2019) found …, Paakkonen (2021) …"). Those with little between them stand together.
    """
    marks = sorted(
        {one.span for one in mentions if sentence.start <= one.span.start < sentence.end},
        key=lambda span: (span.start, span.end),
    )
    if len(marks) < 2 or mark not in marks:
        return sentence
    groups = [[marks[0]]]
    for one in marks[1:]:
        if _says_little(answer[groups[-1][-1].end : one.start]):
            groups[-1].append(one)
        else:
            groups.append([one])
    at = next(i for i, group in enumerate(groups) if mark in group)
    if _says_little(answer[sentence.start : groups[0][0].start]):
        end = groups[at + 1][0].start if at + 1 < len(groups) else sentence.end
        return Span(start=groups[at][0].start, end=end)
    start = groups[at - 1][-1].end if at else sentence.start
    return trimmed(answer, start, groups[at][-1].end)


def _says_little(text: str) -> bool:
    return len(re.findall(r"[^\W_]+", text)) < _FEW_WORDS
