"""III.3: a source narrowed to what a claim is about: windows, and the least that could show it.

Windows are the source's own text within a fixed length. A small NLI model loses the thread in a long one,
and the fields beside the one that decides distract it most, so each source is read once more by no more
than what the claim's words and values lead to: a few fields of one record, or two sentences. There a
field is told with its name and a table's cell with its column's: that text is quoted nowhere.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.config import Config
from core.errors import PremiseError
from core.evidence.fact_index import FactIndex
from core.evidence.facts import Fact, Record
from core.evidence.words import stems
from core.records import Check, Claim, Outcome, Premise, Span
from core.text.chunks import Unit, joined
from core.text.tokens import content_terms, weighted_overlap
from core.verification.prepare import Group, IndexedSource, Standing

HEAD_CHARACTERS = 160  # of the line that says whose record it is; longer ones say more than that
FRONT_UNITS = 6
TOLD_ALREADY = 0.3  # of a claim's term that stands in what is taken, beside one that does not
HALVED_BY = 400.0  # characters: a group as long as this must tell twice as much as a mere word
HEAD_WEIGHT = 0.3  # of a claim's term that heads the source, beside one that does not
MOST_FIELDS = 4  # of the record that a claim is about
MOST_BESIDE = 2  # fields that stand once in the source: its title, its number
MOST_SENTENCES = 2
MOST_LINES = 3  # of a call
LONGEST_LINE = 600  # characters, of a line of a call
VALUE_CHARACTERS = 240  # of a field whose words are compared
CLOSEST_HALVED_BY = 300.0  # characters: what is as long must tell twice as much as a single word
LEAST_GAIN = 0.05
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_JOINED = re.compile(r"[a-z][A-Z]|_")
# Names of containers: "result.price" is a price.
_CONTAINERS = frozenset("result results data items item value params response content".split())


def select_premise(
    claim: Claim,
    indexed: IndexedSource,
    closeness: Sequence[float],
    config: Config,
    head: int | None = None,
) -> Premise:
    """The evidence of a source that says most about ``claim``, in source order, as one premise.

    ``closeness`` has the cosine of the claim with the chunk each of the source's groups stands in;
    ``head`` is the unit that says whose record it is, which goes with whatever is taken (``head_of``).
    The text is the selected spans joined by newlines and holds at most ``config.premise_characters``
    characters. Raises PremiseError when the source holds no text.
    """
    if not indexed.units:
        name = indexed.source.source_id
        raise PremiseError(f"{name}: the tool output holds no text to check against")
    worth = _worth(claim, indexed, closeness)
    return _premise_of(indexed, _choose(indexed, worth, config, head))


def _worth(claim: Claim, indexed: IndexedSource, closeness: Sequence[float]) -> list[float]:
    """What each group tells of the claim: shared terms, rare ones first, and half the cosine.

    What heads a source (its title, whose record it is) says what all of it is about: alone it is no
    evidence, however rare its words are, so that terms that stand there count less.
    """
    terms = content_terms(claim.text)
    grouped, rare = indexed.groups, indexed.group_rarity
    heads = terms & (grouped[0].terms | content_terms(claim.subject or ""))
    telling = terms - heads
    share = len(telling) / (len(telling) + HEAD_WEIGHT * len(heads)) if terms else 0.0
    return [
        round(
            share * weighted_overlap(telling, group.terms, rare)
            + (1 - share) * weighted_overlap(heads, group.terms, rare)
            + 0.5 * max(close, 0.0),
            6,
        )
        for group, close in zip(grouped, closeness, strict=True)
    ]


def head_of(claim: Claim, indexed: IndexedSource) -> int | None:
    """The unit at a source's front that names what the claim is about: a patient, a title.

    A line of a record says nothing of "Elena Marchetti" by itself; with the line that says whose
    record it is, it does. None where the front names nothing of the claim, or is too long.
    """
    terms = content_terms(f"{claim.text} {claim.subject or ''}")
    parts, grouped = indexed.units, indexed.groups
    front: list[int] = [
        *(grouped[0].units if grouped else ()),
        *range(min(FRONT_UNITS, len(parts))),
    ]
    for index in front:
        if _length(parts[index]) > HEAD_CHARACTERS:
            continue
        if terms & content_terms(parts[index].span.cut(indexed.source.text)):
            return index
    return None


def _choose(
    indexed: IndexedSource, worth: Sequence[float], config: Config, head: int | None
) -> set[int]:
    """Take the worthiest groups that fit, each with the heading of its block."""
    parts, grouped = indexed.units, indexed.groups
    best = max(worth)
    chosen: set[int] = set() if head is None else {head}
    left = config.premise_characters - _cost(parts, chosen)
    for rank in sorted(range(len(grouped)), key=lambda g: (-worth[g], g)):
        if chosen - {head} and worth[rank] < config.distracting_below * best:
            break
        group = set(grouped[rank].units)
        wanted = (group | {grouped[rank].heading}) - chosen
        cost = _cost(parts, wanted)
        if cost > left:
            wanted = group - chosen
            cost = _cost(parts, wanted)
        if cost <= left:
            chosen |= wanted
            left -= cost
    # One unit is always taken: it is at most as long as the smallest budget that config allows.
    return (
        chosen
        if chosen - {head}
        else {grouped[max(range(len(worth)), key=lambda g: worth[g])].units[0]}
    )


def _premise_of(indexed: IndexedSource, chosen: set[int]) -> Premise:
    """The chosen units in source order, as spans of the source and their text."""
    source, parts = indexed.source, indexed.units
    told = [parts[index].span for index in sorted(chosen)]
    spans = tuple(joined(source.text, told, lambda between: between == " "))
    return Premise(
        source_id=source.source_id,
        text="\n".join(span.cut(source.text) for span in spans),
        spans=spans,
        truncated=len(chosen) < len(parts),
    )


def _length(unit: Unit) -> int:
    return unit.span.end - unit.span.start


def nearest_window(
    claim: Claim,
    indexed: IndexedSource,
    closeness: Sequence[float],
    config: Config,
    head: int | None = None,
) -> Premise:
    """One to three neighbouring groups around the best one: short enough for a small NLI model.

    Unlike the paper, which reads one long window, the
    long and the short one are read apart: what a long premise adds is often only distraction.
    """
    parts, grouped = indexed.units, indexed.groups
    worth = _worth(claim, indexed, closeness)
    best = max(range(len(grouped)), key=lambda g: (worth[g], -g))
    chosen = set(grouped[best].units)
    left = config.window_characters - _cost(parts, chosen)
    beside = sorted(
        (g for g in (best - 1, best + 1) if 0 <= g < len(grouped)), key=lambda g: -worth[g]
    )
    front = () if head is None else ((head,),)
    for wanted in [*front, (grouped[best].heading,), *(grouped[g].units for g in beside)]:
        cost = _cost(parts, {*wanted} - chosen)
        if cost <= left:
            chosen.update(wanted)
            left -= cost
    return _premise_of(indexed, chosen)


def shown_window(
    indexed: IndexedSource, facts: Sequence[Span], config: Config, head: int | None = None
) -> Premise | None:
    """Where the checks found what the claim states: each fact's group with its heading.

    "HDL was 75" shares no word with the lines of a "High Density Lipoprotein Cholesterol" of 75.29,
    and words alone never bring an NLI model there. ``facts`` are spans of the source's text, the most
    telling first; None when none of them stands in a unit.
    """
    parts, grouped = indexed.units, indexed.groups
    starts = [unit.span.start for unit in parts]
    group_of = {unit: index for index, group in enumerate(grouped) for unit in group.units}
    chosen: set[int] = set()
    left = config.premise_characters
    for fact in facts:
        at = bisect_right(starts, fact.start) - 1
        if at not in group_of:
            continue
        group = grouped[group_of[at]]
        for wanted in (set(group.units) - chosen, {group.heading} - chosen):
            cost = _cost(parts, wanted)
            if cost <= left:
                chosen |= wanted
                left -= cost
    if not chosen:
        return None
    if head is not None and head not in chosen and _length(parts[head]) + 1 <= left:
        chosen.add(head)
    return _premise_of(indexed, chosen)


def call_windows(claim: Claim, indexed: IndexedSource, config: Config) -> tuple[Premise, ...]:
    """What was asked: the call's first two lines (tool, how it ended) and its best arguments.

    An argument may be a document that the agent wrote. So a long call is read twice, as an output
    is: what tells most wherever it stands, and the best line with what stands around it.
    """
    call, parts, grouped = indexed.call, indexed.call_units, indexed.call_groups
    rare = indexed.call_rarity
    begun = {*range(min(2, len(parts)))}
    asked = [(g, group) for g, group in enumerate(grouped) if not begun >= {*group.units}]
    rest = [group for _, group in asked]
    heaviest = max(rare.values(), default=1.0) or 1.0
    weights = {term: rare.get(term, heaviest) for term in content_terms(claim.text)}
    covering = _cover(parts, rest, weights, begun, config.premise_characters - _cost(parts, begun))
    chosen = [covering]
    if rest and len(call) > config.window_characters:
        best = max(range(len(rest)), key=lambda g: (_worth_of(rest[g], weights, {}), -g))
        near = _around(parts, rest, best, begun, config.window_characters)
        if not near <= covering:
            chosen.append(near)
    return tuple(_of_call(indexed, units) for units in chosen)


def _of_call(indexed: IndexedSource, units: set[int]) -> Premise:
    parts = indexed.call_units
    text = "\n".join(parts[index].span.cut(indexed.call) for index in sorted(units))
    source_id, truncated = indexed.source.source_id, len(units) < len(parts)
    return Premise(source_id=source_id, text=text, spans=(), truncated=truncated, call=text)


def _around(
    parts: tuple[Unit, ...], grouped: Sequence[Group], best: int, begun: set[int], most: int
) -> set[int]:
    """The best group with those after and before it that fit in ``most`` characters."""
    chosen = begun | {*grouped[best].units}
    left = most - _cost(parts, chosen)
    for side in (range(best + 1, len(grouped)), range(best - 1, -1, -1)):
        for g in side:
            cost = _cost(parts, {*grouped[g].units} - chosen)
            if cost > left:
                break
            chosen |= {*grouped[g].units}
            left -= cost
    return chosen


def _cover(
    parts: tuple[Unit, ...],
    grouped: Sequence[Group],
    weights: Mapping[str, float],
    begun: set[int],
    left: int,
) -> set[int]:
    """Add to the units ``begun`` groups that tell most within ``left`` characters, with headings.

    Each next group is the one that adds most: of a term that stands in what is taken already a third
    counts, and of two that add alike the shorter is taken. ``weights`` are those of the claim's terms.
    """
    chosen, told = set(begun), dict[str, float]()
    waiting = {g for g, group in enumerate(grouped) if group.terms & weights.keys()}
    while waiting:
        gains = []
        for g in waiting:
            cost = _cost(parts, set(grouped[g].units) - chosen)
            if cost <= left:
                gain = _worth_of(grouped[g], weights, told)
                gains.append((gain / (1.0 + cost / HALVED_BY), -g))
        if not gains:
            break
        g = -max(gains)[1]
        waiting.remove(g)
        for wanted in ({*grouped[g].units} - chosen, {grouped[g].heading} - chosen):
            if (cost := _cost(parts, wanted)) <= left:
                chosen |= wanted
                left -= cost
        told.update((term, TOLD_ALREADY) for term in grouped[g].terms & weights.keys())
    return chosen


def _worth_of(group: Group, weights: Mapping[str, float], told: Mapping[str, float]) -> float:
    # Summed in sorted order: a set's own order changes between runs, and with it the last bit.
    shared = sorted(group.terms & weights.keys())
    return round(sum(weights[term] * told.get(term, 1.0) for term in shared), 6)


def _cost(parts: tuple[Unit, ...], units: set[int]) -> int:
    return sum(_length(parts[index]) + 1 for index in units)


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusedPremise:
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


def focused_premise_of(
    claim: Claim, checks: Sequence[Check], indexed: IndexedSource, index: FactIndex
) -> FocusedPremise:
    """The least of one source that could show the claim, of what came back and of what was asked.

    A list of tools says nothing of the world, however many of the claim's words stand in it.
    """
    words, terms = stems(claim.text), content_terms(claim.text)
    lines = _lines(terms, indexed.call, indexed.call_units, indexed.call_groups)
    return FocusedPremise(
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
    return round(shared / (1.0 + piece.length / CLOSEST_HALVED_BY), 6)


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
