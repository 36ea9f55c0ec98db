"""III.3: the least of a source that could show a claim: a few fields of one record, or two sentences.

A small reader loses the thread in a long window, and the fields beside the one that decides distract it
most. So each source is read once more by no more than what the claim's words and values lead to. A field
is told with its name and a table's cell with its column's: what is read here is not the source's text
letter by letter, and is quoted nowhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.evidence.fact_index import FactIndex
from core.evidence.facts import Fact, Record
from core.evidence.words import stems
from core.indexing import IndexedSource, Standing
from core.records import Check, Claim, Outcome, Span
from core.stages.premise import Group
from core.text.chunks import Unit
from core.text.tokens import content_terms

MOST_FIELDS = 4  # of the record that a claim is about
MOST_BESIDE = 2  # fields that stand once in the source: its title, its number
MOST_SENTENCES = 2
MOST_LINES = 3  # of a call
LONGEST_LINE = 600  # characters, of a line of a call
VALUE_CHARACTERS = 240  # of a field whose words are compared
HALVED_BY = 300.0  # characters: what is as long must tell twice as much as a single word
LEAST_GAIN = 0.05
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_JOINED = re.compile(r"[a-z][A-Z]|_")
# Names of containers: "result.price" is a price.
_CONTAINERS = frozenset("result results data items item value params response content".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Closest:
    """What of a source's output could show a claim, and what of its call; empty where nothing does."""

    output: str = ""
    call: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """Those of the two that there are."""
        return tuple(text for text in (self.output, self.call) if text)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something that may be taken: the words it holds, and how long it is."""

    words: frozenset[str]
    length: int


def closest_of(
    claim: Claim, checks: Sequence[Check], indexed: IndexedSource, index: FactIndex
) -> Closest:
    """The least of one source that could show the claim, of what came back and of what was asked.

    A list of tools says nothing of the world, however many of the claim's words stand in it.
    """
    words, terms = stems(claim.text), content_terms(claim.text)
    lines = _lines(terms, indexed.call, indexed.call_units, indexed.call_groups)
    return Closest(
        output=_of_output(words, terms, checks, indexed, index),
        call=_sentences(words, lines, len(indexed.call_units), MOST_LINES),
    )


def _of_output(
    words: frozenset[str],
    terms: frozenset[str],
    checks: Sequence[Check],
    indexed: IndexedSource,
    index: FactIndex,
) -> str:
    """Fields of the best record, or sentences where these say more of the claim."""
    if indexed.standing is Standing.CATALOGUE:
        return ""
    source_id = indexed.source.source_id
    told = _told(checks, source_id, index)
    fields = _fields(words, told, source_id, index)
    lines = _lines(terms, indexed.source.text, indexed.units, indexed.groups)
    prose = _sentences(words, lines, len(indexed.units), MOST_SENTENCES)
    counted = len(words & stems(fields)) + min(MOST_SENTENCES, sum(map(len, told.values())))
    return fields if fields and counted >= len(words & stems(prose)) else prose


def told_in(checks: Sequence[Check], source_id: str) -> list[Span]:
    """Where the checks that found something found it in this source."""
    return [
        place.span
        for check in checks
        if check.outcome is not Outcome.SILENT
        for place in (*check.facts, *(check.derivation.inputs if check.derivation else ()))
        if place.source_id == source_id and place.span is not None
    ]


def _told(
    checks: Sequence[Check], source_id: str, index: FactIndex
) -> dict[int, frozenset[tuple[int, int]]]:
    """Where checks found in this source what the claim states, or states otherwise; by record."""
    found: dict[int, frozenset[tuple[int, int]]] = {}
    for span in told_in(checks, source_id):
        at = (span.start, span.end)
        stated = index.placed.get((source_id, *at))
        if stated is not None:
            record = stated.record.index
            found[record] = found.get(record, frozenset()) | {at}
    return found


def _fields(
    words: frozenset[str],
    told: Mapping[int, frozenset[tuple[int, int]]],
    source_id: str,
    index: FactIndex,
) -> str:
    """The fields of one record that hold most of the claim, with what stands once in the source."""
    records = index.records_of.get(source_id, ())
    weights = _weights(words, [record.stems for record in records], len(records))
    if not records or not weights:
        return ""
    top = max(weights.values())

    def worth(record: Record) -> float:
        shared = math.fsum(weights[word] for word in sorted(words & record.stems))
        return shared + top * min(2, len(told.get(record.index, ())))

    best = max(records, key=lambda record: (round(worth(record), 6), -record.index))
    there = index.beside[source_id, best.index]
    facts = _distinct(there)
    at = told.get(best.index, frozenset())
    shown = {(f.path, f.value) for f in there if f.span and (f.span.start, f.span.end) in at}
    begun = [place for place, fact in enumerate(facts) if (fact.path, fact.value) in shown]
    pieces = [_piece(fact) for fact in facts]
    chosen = _greedy(words, pieces, weights, MOST_FIELDS, begun[:MOST_FIELDS])
    picked = [facts[place] for place in chosen]
    left = words - frozenset[str]().union(*(pieces[place].words for place in chosen))
    if left & weights.keys():
        alone = [fact for fact in index.alone_in.get(source_id, ()) if fact.record is not best]
        beside = _greedy(left, [_piece(fact) for fact in alone], weights, MOST_BESIDE)
        picked += [alone[place] for place in beside]
    picked.sort(key=lambda fact: fact.span.start if fact.span else 0)
    return "\n".join(dict.fromkeys(_line(fact) for fact in picked))


def _lines(
    terms: frozenset[str], text: str, units: Sequence[Unit], groups: Sequence[Group]
) -> list[str]:
    """The sentences and lines of a text whose group shares a term with the claim, in order."""
    places = sorted(place for group in groups if group.terms & terms for place in group.units)
    return [units[place].span.cut(text)[:LONGEST_LINE] for place in places]


def _sentences(words: frozenset[str], lines: Sequence[str], among: int, most: int) -> str:
    """Of the ``among`` lines of a text, those that hold most of the claim between them, in order."""
    pieces = [_Piece(stems(line), len(line)) for line in lines]
    weights = _weights(words, [piece.words for piece in pieces], among)
    chosen = _greedy(words, pieces, weights, most)
    return "\n".join(lines[place] for place in sorted(chosen))


def _weights(
    words: frozenset[str], holding: Sequence[frozenset[str]], among: int
) -> dict[str, float]:
    """How much each word of the claim tells ``among`` pieces apart, of which these hold one; words
    that stand in none are left out."""
    counts: dict[str, int] = {}
    for there in holding:
        for word in words & there:
            counts[word] = counts.get(word, 0) + 1
    return {
        word: 0.1 + math.log1p((among - count + 0.5) / (count + 0.5))
        for word, count in counts.items()
    }


def _greedy(
    words: frozenset[str],
    pieces: Sequence[_Piece],
    weights: Mapping[str, float],
    most: int,
    begun: Sequence[int] = (),
) -> list[int]:
    """Places of at most ``most`` pieces: after those begun with, each next is what adds most."""
    chosen = list(begun)
    covered = frozenset[str]().union(*(pieces[place].words for place in chosen))
    # What shares no word now never will.
    waiting = {place for place, piece in enumerate(pieces) if piece.words & words}
    while len(chosen) < most and (waiting := waiting - {*chosen}):
        wanted = words - covered
        gain, place = max(
            (_gain(pieces[place], wanted, weights), -place) for place in waiting
        )  # the first of several that add alike
        if gain <= LEAST_GAIN:
            break
        chosen.append(-place)
        covered |= pieces[-place].words
    return chosen


def _gain(piece: _Piece, wanted: frozenset[str], weights: Mapping[str, float]) -> float:
    shared = math.fsum(weights.get(word, 0.0) for word in sorted(wanted & piece.words))
    return round(shared / (1.0 + piece.length / HALVED_BY), 6)


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    """The fields of a record, each once: a field of two numbers is two facts."""
    found: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        if fact.structured:
            found.setdefault((fact.path, fact.value), fact)
    return list(found.values())


def _piece(fact: Fact) -> _Piece:
    words = stems(fact.path) | stems(fact.value[:VALUE_CHARACTERS])
    return _Piece(words, len(fact.value))


def _line(fact: Fact) -> str:
    name = _name(fact.path)
    return f"{name}: {fact.value}" if name else fact.value


@lru_cache(maxsize=4_096)
def _name(path: str) -> str:
    """How a field is called: the end of its path in words ("regular market price")."""
    parts = [part for part in re.split(r"[.\[\]]+", path) if part and not part.isdigit()][-2:]
    if len(parts) == 2 and parts[0].lower() in _CONTAINERS:
        parts = parts[1:]
    return " ".join(
        " ".join(_WORD.findall(part)).lower() if _JOINED.search(part) else part for part in parts
    )
