"""What the outputs and calls of a trace state: one list of fields and sentences, each with its record.

Made from the facts that were read of every source once (``core.evidence.fact_index``); nothing is parsed
here again but the sentences of prose. Where the words of a claim stand (in a field's name, its value,
beside it, over it) is looked up in arrays, so that a claim is compared with all fields at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.evidence.comparing import readings_of
from core.evidence.fact_index import FactIndex
from core.evidence.facts import Fact, SourceFacts
from core.evidence.names import weekdays_named
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.words import acronyms, stems
from core.records import FactPlace, Span, Trace
from core.text.fields import Said, TextField

Places = NDArray[np.int32]

MOST_FIELDS = 12_000  # of a trace; those behind them hold nothing
_MOST_QUOTED = 80  # characters
_CODE_DIGITS = 7  # of a whole number without a unit that is more likely somebody's number
_MOST_WORDS = 6  # of a value that names or classifies something; a longer one is a text
_STEP = re.compile(r"[.\[\]/]+")
_ZONE = re.compile(r"\d[+-]\Z")  # what stands before the hours of a time zone


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing that a source states: a field with its value, or a sentence (``path`` may be its key).

    ``record`` numbers the record that it stands in, over all sources; ``span`` is in the source's text,
    None in a call's arguments. ``owner`` is what its record goes by.
    """

    source_id: str
    record: int
    path: str
    text: str
    quantities: tuple[Quantity, ...]
    span: Span | None
    prose: bool
    call: bool
    owner: str = ""

    @property
    def leaf(self) -> str:
        """The last step of the path, by which siblings in other records are found."""
        return _STEP.split(self.path)[-1].casefold()

    @property
    def name(self) -> str:
        """What the field is called in words: the last two steps of its path; empty for a sentence."""
        steps = [] if self.prose else _STEP.split(self.path)[-2:]
        return " ".join(_spaced(step) for step in steps).strip()

    @property
    def called(self) -> str:
        """What a person is told that it is: its name and whose, or that it is a sentence."""
        said = self.alone
        return f"{said} ({self.owner})" if self.owner else said

    @property
    def alone(self) -> str:
        """The same without whose it is."""
        return f"“{self.name}”" if self.name else "a sentence" if self.prose else "a field"

    @property
    def quoted(self) -> str:
        """Its value, cut to what a reason can quote."""
        said = " ".join(self.text.split())
        return said if len(said) <= _MOST_QUOTED else f"{said[:_MOST_QUOTED].rstrip()} …"

    @property
    def where(self) -> FactPlace:
        """Its place."""
        return FactPlace(source_id=self.source_id, span=self.span, path=self.path or None)

    @property
    def weekdays(self) -> frozenset[int]:
        """The weekdays that it names, and those of the whole dates in it, Monday 0."""
        found = {day.weekday for item in self.quantities for day in readings_of(item)}
        return weekdays_named(self.text).union(day for day in found if day is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """All fields of a trace, in the order of their records, and where each word stands.

    ``of_label``, ``of_value``, ``of_context`` and ``of_source`` give by stem the fields in whose name or
    value it stands, the records over which it stands (headings, what the call asked) and the sources.
    ``alike`` gives the fields that hold a value of one type, ``leaves`` those with an amount of one name.
    """

    fields: tuple[Field, ...]
    record: Places
    source: Places
    prose: NDArray[np.bool_]
    records: int
    of_label: Mapping[str, Places]
    of_step: Mapping[str, Places]
    of_value: Mapping[str, Places]
    of_context: Mapping[str, Places]
    of_source: Mapping[str, Places]
    of_whole: Mapping[str, Places]
    alike: Mapping[str, Places]
    leaves: Mapping[str, Places]
    weekday: Mapping[int, Places]
    place_of: Mapping[int, int]
    index: FactIndex


def type_of(item: Quantity) -> str:
    """What a quantity can be compared with: its kind, and its unit where it has one."""
    if item.kind is QuantityKind.NUMBER:
        return f"number {item.unit or ''}"
    return item.kind.value


def outline_of(trace: Trace, index: FactIndex) -> Outline:
    """The outline of a trace's outputs and calls."""
    fields: list[Field] = []
    place_of: dict[int, int] = {}
    contexts: list[frozenset[str]] = []
    whole: dict[str, frozenset[str]] = {}
    for one in index.outputs:
        over = index.holders.over.get(one.source_id)
        asked = index.asked.get(one.source_id, frozenset())
        alone = frozenset[str]().union(
            *(stems(f.value) for f in index.alone_in.get(one.source_id, ()) if _names(f.value))
        )
        whole[one.source_id] = alone
        for record, found in _by_record(one):
            begins = one.records[record].span.start
            owner = one.records[record].name[:_MOST_QUOTED]
            above = " ".join(over.at(begins)) if over is not None else ""
            contexts.append(asked | alone | stems(above) | stems(one.records[record].kind))
            for field, facts in found:
                place_of.update((id(fact), len(fields)) for fact in facts)
                named = "" if owner in (field.path, field.text) or field.prose else owner
                fields.append(replace(field, record=len(contexts) - 1, owner=named))
    for one in index.arguments:
        if not one.facts:  # records are numbered without gaps
            continue
        contexts.append(index.asked.get(one.source_id, frozenset()))
        for _, facts in one.fields:
            if facts:
                place_of.update((id(fact), len(fields)) for fact in facts)
                fields.append(replace(_field(facts, call=True), record=len(contexts) - 1))
    del fields[MOST_FIELDS:]
    place_of = {k: v for k, v in place_of.items() if v < MOST_FIELDS}
    return _arranged(fields, contexts, whole, place_of, index)


def _in_name(item: Quantity, field: Field) -> bool:
    """Whether a number is a name or code or part of one ("NL 423"), and no amount of the field."""
    plain = item.kind is QuantityKind.NUMBER and item.unit is None and not field.prose
    long = len(str(int(abs(item.amount)))) >= _CODE_DIGITS and item.step >= 1
    return plain and (long or any(map(str.isalpha, field.text[: item.span.start])))


def _names(value: str) -> bool:
    return len(value.split()) <= _MOST_WORDS


def _field(facts: Sequence[Fact], *, call: bool = False) -> Field:
    first = facts[0]
    spans = [fact.span for fact in facts if fact.span is not None]
    return Field(
        source_id=first.source_id,
        record=0,
        path=first.path,
        text=first.value,
        quantities=tuple(_cleaned(facts)),
        span=Span(start=spans[0].start, end=spans[-1].end) if spans else None,
        prose=not first.structured,
        call=call,
    )


def _cleaned(facts: Iterable[Fact]) -> Iterator[Quantity]:
    """The quantities of a field without the offset of a time zone, which is no time of day."""
    for fact in facts:
        item = fact.quantity
        if item is None:
            continue
        zone = item.kind is QuantityKind.CLOCK and _ZONE.search(fact.value[: item.span.start])
        if not zone:
            yield item


def _by_record(
    one: SourceFacts,
) -> Iterator[tuple[int, list[tuple[Field, Sequence[Fact]]]]]:
    """The fields of each record of an output, then the sentences that stand in it."""
    values: dict[int, list[tuple[Field, Sequence[Fact]]]] = {}
    sentences: dict[int, list[tuple[Field, Sequence[Fact]]]] = {}
    for field, facts in one.fields:
        if field.said is Said.VALUE and facts:
            values.setdefault(field.record, []).append((_field(facts), facts))
        elif any(map(str.isalpha, field.value)) and (
            field.said in (Said.SENTENCE, Said.KEY) or (field.said is Said.LABEL and facts)
        ):
            sentence = _sentence(one.source_id, field, facts)
            sentences.setdefault(field.record, []).append((sentence, facts))
    for at in sorted(values.keys() | sentences.keys()):
        yield at, values.get(at, []) + sentences.get(at, [])


def _sentence(source_id: str, field: TextField, facts: Sequence[Fact]) -> Field:
    said = field.value[:600]
    return Field(
        source_id=source_id,
        record=0,
        path=said if field.said is Said.LABEL else field.path,
        text=said,
        quantities=tuple(fact.quantity for fact in facts if fact.quantity is not None),
        span=field.span,
        prose=True,
        call=False,
    )


def _arranged(
    fields: Sequence[Field],
    contexts: Sequence[frozenset[str]],
    whole: Mapping[str, frozenset[str]],
    place_of: Mapping[int, int],
    index: FactIndex,
) -> Outline:
    labels, steps, values, sources = _Postings(), _Postings(), _Postings(), _Postings()
    alike, leaves, weekday = _Postings(), _Postings(), dict[int, list[int]]()
    numbered = {name: at for at, name in enumerate(dict.fromkeys(f.source_id for f in fields))}
    held: dict[int, set[str]] = {}
    for at, field in enumerate(fields):
        said = stems(field.text)
        *steps_over, leaf = _STEP.split(field.path)
        name = stems(_spaced(leaf))
        short = {leaf.casefold()} if len(leaf) < 4 else acronyms(_spaced(leaf))
        labels.add(name | {f"={each}" for each in short}, at)
        steps.add(stems(" ".join(map(_spaced, steps_over))) - name, at)
        values.add(said, at)
        held.setdefault(numbered[field.source_id], set()).update(said | name)
        if field.path != field.text:  # "Pain (0-10)": no other amount stands in place of a label's
            alike.add({type_of(item) for item in field.quantities if not _in_name(item, field)}, at)
        if field.quantities and not field.prose:
            leaves.add({field.leaf}, at)
        for day in field.weekdays:
            weekday.setdefault(day, []).append(at)
    for at, words in held.items():
        sources.add(words, at)
    over, wholes = _Postings(), _Postings()
    for source_id, named in whole.items():
        if source_id in numbered:
            wholes.add(named, numbered[source_id])
    for at, above in enumerate(contexts):
        over.add(above, at)
    record = np.array([field.record for field in fields], dtype=np.int32)
    return Outline(
        fields=tuple(fields),
        record=record,
        source=np.array([numbered[f.source_id] for f in fields], dtype=np.int32),
        prose=np.array([f.prose for f in fields], dtype=np.bool_),
        records=len(np.unique(record)),
        of_label=labels.done(),
        of_step=steps.done(),
        of_value=values.done(),
        of_context=over.done(),
        of_source=sources.done(),
        of_whole=wholes.done(),
        alike=alike.done(),
        leaves=leaves.done(),
        weekday={day: np.array(at, dtype=np.int32) for day, at in weekday.items()},
        place_of=place_of,
        index=index,
    )


def _spaced(name: str) -> str:
    """The words of a name that are run together."""
    return re.sub(r"[._]+|(?<=[a-z])(?=[A-Z])", " ", name)


class _Postings:
    """Where each word stands."""

    def __init__(self) -> None:
        self._at: dict[str, list[int]] = {}

    def add(self, words: Iterable[str], at: int) -> None:
        for word in words:
            self._at.setdefault(word, []).append(at)

    def done(self) -> Mapping[str, Places]:
        return {word: np.array(at, dtype=np.int32) for word, at in self._at.items()}
