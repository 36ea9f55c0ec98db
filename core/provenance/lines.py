"""The lines of lists in what an agent says: "Flight HX212: Price: $120" with the lines around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.words import STOP, stem
from core.records import Claim

_COLON = re.compile(r"(?<=[^\d\s]): +|(?<=\d): +(?!\d)")
_WORD = re.compile(r"[^\W_]+(?:[-.:][^\W_]+)*")
# What a line can be held to: what it counts, costs, or when it is.
_VALUES = frozenset({QuantityKind.NUMBER, QuantityKind.MONEY, QuantityKind.CLOCK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line "label: value" of one turn; ``block`` numbers the lists of the turn.

    ``quantity`` is the only amount of the value, which begins with it; ``rest`` are the stems of what
    else the value says, ``above`` those of the labels that the line stands under. ``thing`` is what was
    last called by an identifier, in the line or before its list.
    """

    turn: int
    block: int
    label: frozenset[str]
    above: frozenset[str]
    value: frozenset[str]
    quantity: Quantity | None
    rest: frozenset[str]
    identifiers: frozenset[str]
    thing: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """The lines of a conversation: by claim, and by the list they stand in."""

    lines: Mapping[tuple[int, str], Line]
    members: Mapping[tuple[int, int], tuple[Line, ...]]


def read_lines(turns: Sequence[Sequence[Claim]]) -> Blocks:
    """Every line of every list; a claim that is no line ends a list, whatever kind of claim it is."""
    lines: dict[tuple[int, str], Line] = {}
    members: dict[tuple[int, int], list[Line]] = {}
    for turn, claims in enumerate(turns):
        block, called = 0, frozenset[str]()
        for claim in claims:
            line = _line(claim.text, turn, block, called)
            if line is None:
                block += 1
                called = identifiers(claim.text) or called
                continue
            lines[turn, claim.claim_id] = line
            members.setdefault((turn, block), []).append(line)
    return Blocks(lines=lines, members={place: tuple(found) for place, found in members.items()})


def _line(text: str, turn: int, block: int, called: frozenset[str]) -> Line | None:
    cuts = list(_COLON.finditer(text))
    if not cuts:
        return None
    start = cuts[-2].end() if len(cuts) > 1 else 0
    value = text[cuts[-1].end() :]
    found = [
        item
        for item in read_quantities(text)
        if item.span.start >= cuts[-1].end() and item.kind in _VALUES
    ]
    at = cuts[-1].end()
    only, rest = None, value
    if len(found) == 1 and not any(_stems(text[at : found[0].span.start])):
        only, rest = found[0], text[found[0].span.end :]
    return Line(
        turn=turn,
        block=block,
        label=frozenset(_stems(text[start : cuts[-1].start()])),
        above=frozenset(_stems(text[:start])),
        value=frozenset(_stems(value)),
        quantity=only,
        rest=frozenset(_stems(rest)),
        identifiers=identifiers(text),
        thing=identifiers(text) or called,
    )


def _stems(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text.lower()):
        if match.group() not in STOP or match.group() in ("no", "none", "not"):
            yield stem(match.group())


# A letter and a digit in one word, or five digits and more in a row: what a booking or a card is called.
_IDENTIFIER = re.compile(r"\b(?=\w*[A-Za-z_])(?=\w*\d)\w{4,}\b|(?<![$€£.,\d])\b\d{5,}\b(?![.,]\d)")


def identifiers(text: str) -> frozenset[str]:
    """What the text calls by an identifier, in lower case."""
    return frozenset(match.group().lower() for match in _IDENTIFIER.finditer(text))


def same_line(one: Line, other: Line, blocks: Blocks) -> bool:
    """Whether two lines give the same attribute of the same thing: only the amount may differ.

    What a line is about stands in the lines around it: a list of another flight, with another cabin or
    without the insurance, is another thing. Lines that stand alone are held together by an identifier.
    """
    if one.label != other.label or one.rest != other.rest or one.thing != other.thing:
        return False
    if not (one.above <= other.above or other.above <= one.above):
        return False
    if one.turn == other.turn and (one.block == other.block or not one.identifiers):
        return False  # the items of one list, or of two lists of one answer
    theirs = blocks.members[other.turn, other.block]
    ours = blocks.members[one.turn, one.block]
    if not (_alone(one, ours) and _alone(other, theirs)):
        return False
    named, known = _named(ours), _named(theirs)
    if not (named <= known or known <= named):
        return False
    agreed = _agreement(ours, theirs, one.label)
    return agreed is not None and (agreed > 0 or bool(one.thing))


def _alone(line: Line, members: Sequence[Line]) -> bool:
    """Whether no other line of the list gives an amount under the same labels."""
    alike = [each for each in members if each.label == line.label and each.above == line.above]
    return sum(each.quantity is not None for each in alike) == 1


def _agreement(ours: Sequence[Line], theirs: Sequence[Line], apart: frozenset[str]) -> int | None:
    """How many labels of both lists say the same; None where one says something else."""
    left, right = _by_label(ours), _by_label(theirs)
    shared = (left.keys() & right.keys()) - {apart}
    for label in shared:
        if left[label] != right[label]:
            return None
    return len(shared)


def _named(lines: Sequence[Line]) -> frozenset[str]:
    return frozenset().union(*(line.identifiers for line in lines))


def _by_label(lines: Sequence[Line]) -> dict[frozenset[str], set[frozenset[str]]]:
    found: dict[frozenset[str], set[frozenset[str]]] = {}
    for line in lines:
        found.setdefault(line.label, set()).add(line.value)
    return found
