"""All facts of one trace, sorted so that a claim's values are found without reading them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from core.evidence.calls import argument_leaves
from core.evidence.comparing import Amounts
from core.evidence.facts import Fact, Record, SourceFacts, argument_facts, source_facts
from core.evidence.holders import PERSON, Holders
from core.evidence.units import measured_by
from core.evidence.words import acronyms, core_words, said_share, stems
from core.records import Source, Trace
from core.text.fields import enclosed

Key = TypeVar("Key", tuple[str, int], tuple[str, str])

_WRITTEN_CHARACTERS = 200  # shorter arguments ask for something
_HELD_CHARACTERS = 200_000  # of a source whose words are compared with the claim's
_CATALOGUE = re.compile(r"\b(?:inputschema|input_schema|tool_description)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute of one source: the facts under the same path, in order."""

    source_id: str
    path: str
    facts: tuple[Fact, ...]
    core: frozenset[str]
    short: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What stands at a place of an output: a record, and the one fact of it that is meant, if any."""

    source_id: str
    record: Record
    fact: Fact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactIndex:
    """A trace's facts by amount, by attribute, by place, and by source."""

    outputs: tuple[SourceFacts, ...]
    arguments: tuple[SourceFacts, ...]
    amounts: Amounts[Fact]
    attributes: tuple[Attribute, ...]
    named: tuple[tuple[str, Record, frozenset[str]], ...] = ()
    written: tuple[tuple[str, frozenset[str]], ...] = ()
    people: frozenset[str] = frozenset()
    texts: tuple[tuple[str, str, bool], ...] = field(default=())
    placed: dict[tuple[str, int, int], Stated] = field(default_factory=dict)
    beside: dict[tuple[str, int], tuple[Fact, ...]] = field(default_factory=dict)
    by_path: dict[tuple[str, str], tuple[Fact, ...]] = field(default_factory=dict)
    people_of: dict[str, frozenset[str]] = field(default_factory=dict)
    asked: dict[str, frozenset[str]] = field(default_factory=dict)
    records_of: dict[str, tuple[Record, ...]] = field(default_factory=dict)
    alone_in: dict[str, tuple[Fact, ...]] = field(default_factory=dict)
    holders: Holders = field(default_factory=lambda: Holders(over={}, beside={}))


def index_trace(trace: Trace) -> FactIndex:
    """Read every output and every call of a trace once."""
    sources = [source for source in trace.sources if not is_catalogue(source)]
    outputs = tuple(source_facts(source) for source in sources)
    arguments = tuple(argument_facts(source) for source in sources)
    facts = [fact for one in (*outputs, *arguments) for fact in one.facts]
    beside = _grouped((f, (f.source_id, f.record.index)) for one in outputs for f in one.facts)
    return FactIndex(
        outputs=outputs,
        arguments=arguments,
        amounts=Amounts(
            ((fact.quantity, fact) for fact in facts if fact.quantity is not None),
            lambda fact: stems(fact.path),
        ),
        attributes=tuple(_attributes(outputs)),
        named=tuple(_named(outputs)),
        written=tuple(_written(sources)),
        people=_people(facts),
        texts=tuple(_texts(sources)),
        placed=_placed(outputs),
        beside=beside,
        holders=Holders(over={s.source_id: enclosed(s.text) for s in sources}, beside=beside),
        by_path=_grouped((f, (f.source_id, f.path)) for one in outputs for f in one.facts),
        people_of={one.source_id: _people(one.facts) for one in outputs},
        asked={source.source_id: frozenset(_asked(source)) for source in sources},
        records_of={one.source_id: tuple(_of_fields(one.facts)) for one in outputs},
        alone_in={one.source_id: tuple(_alone(one.facts)) for one in outputs},
    )


def _of_fields(facts: Iterable[Fact]) -> Iterator[Record]:
    """The records of a source that have fields, in order."""
    seen = set()
    for fact in facts:
        if fact.structured and fact.record.index not in seen:
            seen.add(fact.record.index)
            yield fact.record


def _alone(facts: Iterable[Fact]) -> list[Fact]:
    """The fields whose name stands once in a source: they are of all of it, not of one of its records."""
    by_path: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.structured and fact.path:
            by_path.setdefault(fact.path, []).append(fact)
    return [found[0] for found in by_path.values() if len(found) == 1]


def _people(facts: Iterable[Fact]) -> frozenset[str]:
    """The words of the names of those whose records these facts are of."""
    return frozenset().union(*(stems(f.value) for f in facts if f.path.lower() == PERSON))


def _asked(source: Source) -> Iterator[str]:
    """The words of what a call asked for, which all of its output is about; no text that it wrote."""
    yield from stems(source.tool_name)
    for _, leaf in argument_leaves(source.arguments):
        if len(leaf) <= _WRITTEN_CHARACTERS:
            yield from stems(leaf)


def _placed(outputs: tuple[SourceFacts, ...]) -> dict[tuple[str, int, int], Stated]:
    """What stands at each place that a check may point at; the first of several facts there."""
    found: dict[tuple[str, int, int], Stated] = {}
    for one in outputs:
        for fact in one.facts:
            if fact.span is not None:
                key = (one.source_id, fact.span.start, fact.span.end)
                found.setdefault(
                    key, Stated(source_id=one.source_id, record=fact.record, fact=fact)
                )
        for record in one.records:
            key = (one.source_id, record.span.start, record.span.end)
            found.setdefault(key, Stated(source_id=one.source_id, record=record))
    return found


def _grouped(pairs: Iterable[tuple[Fact, Key]]) -> dict[Key, tuple[Fact, ...]]:
    found: dict[Key, list[Fact]] = {}
    for fact, key in pairs:
        found.setdefault(key, []).append(fact)
    return {key: tuple(facts) for key, facts in found.items()}


def _written(sources: list[Source]) -> Iterator[tuple[str, frozenset[str]]]:
    """The words of each call's arguments that are long enough to be a text."""
    for source in sources:
        stated = source.arguments or source.extra.get("arguments")
        if isinstance(stated, str) and len(stated) > _WRITTEN_CHARACTERS:
            yield source.source_id, stems(stated[:_HELD_CHARACTERS].replace("\\n", " "))


def _named(outputs: tuple[SourceFacts, ...]) -> Iterator[tuple[str, Record, frozenset[str]]]:
    """The dated records that have a name, with the words of its head ("Td" of "Td (adult)")."""
    for one in outputs:
        for record in one.records:
            head = stems(re.split(r"[(\[,;/]", record.name)[0]) if record.dates else frozenset()
            if head and not any(key.lower().startswith("birth") for key, _ in record.dates):
                yield one.source_id, record, head


def is_catalogue(source: Source) -> bool:
    """Whether an output lists tools and their schemas, which say nothing of the world."""
    return len(_CATALOGUE.findall(source.text[:20_000])) >= 2


def _texts(sources: list[Source]) -> Iterator[tuple[str, str, bool]]:
    for source in sources:
        if source.is_evidence:
            yield source.source_id, source.text, True
        stated = source.arguments or source.extra.get("arguments")
        if isinstance(stated, str) and stated:
            yield source.source_id, stated, False


def _attributes(outputs: tuple[SourceFacts, ...]) -> Iterator[Attribute]:
    for one in outputs:
        grouped: dict[str, list[Fact]] = {}
        for fact in one.facts:
            if fact.structured and fact.path and fact.quantity is not None:
                grouped.setdefault(fact.path, []).append(fact)
        for path, facts in grouped.items():
            yield Attribute(
                source_id=one.source_id,
                path=path,
                facts=tuple(facts),
                core=core_words(path),
                short=acronyms(path),
            )


def said_attributes(
    words: frozenset[str], shorts: frozenset[str], index: FactIndex
) -> tuple[tuple[Attribute, float], ...]:
    """The attributes that a claim names, with the share of their words that it says; best first."""
    found = []
    for attribute in index.attributes:
        share = said_share(attribute.core, words)
        if attribute.short & shorts:
            share = 1.0
        if share >= 0.5:
            found.append((attribute, share))
    found.sort(key=lambda pair: (-pair[1], -len(pair[0].core & words)))
    return tuple(found)


def measured_attributes(unit: str | None, index: FactIndex) -> tuple[Attribute, ...]:
    """The attributes that are counted in a unit, where a claim names none: kg is of a weight."""
    words = measured_by(unit)
    return tuple(attribute for attribute in index.attributes if attribute.core & words)
