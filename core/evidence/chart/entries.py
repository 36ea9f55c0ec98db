"""A chart's rows, and the entries that they hold for a name: dose, schedule, start, status, subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from core.evidence.chart.labels import (
    attribute_of,
    kind_of,
    section_status,
    section_subject,
    words_of,
)
from core.evidence.chart.layout import read_rows
from core.evidence.chart.mentions import doses_of, ends_of, frequencies_of, is_allergy, starts_of
from core.evidence.chart.names import core_words, drug_spans, places_of
from core.evidence.chart.people import is_person, own_patient, patient_at_head, patient_of
from core.evidence.chart.quantities import find_dates, find_doses, find_frequencies
from core.evidence.chart.records import (
    ChartEntry,
    Dose,
    EntryKind,
    Field,
    Frequency,
    Measured,
    Row,
    Status,
    Subject,
    When,
)
from core.evidence.chart.status import standing, status_of_code, weightier
from core.records import Source, Span

_FAMILY = re.compile(
    r"\b(?:mother|father|mum|mom|dad|brother|sister|sibling|son|daughter|child|parent|grand\w+|aunt|"
    r"uncle|cousin|niece|nephew|maternal|paternal|family|relative)s?\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:spouse|husband|wife|partner|roommate|housemate|friend|donor|other person|other patient|"
    r"another patient|different patient|caregiver|carer|neighbou?r|flatmate|household)s?\b",
    re.IGNORECASE,
)
PERSON = re.compile(f"{_FAMILY.pattern}|{_OTHERS.pattern}", re.IGNORECASE)

# Where the name that heads a list item ends.
_HEAD_END = re.compile(
    r"[,(;:\u2013]|\s-\s|\d|\b(?:is|was|were|are|has|had|have|in|for|since|from|with|due|because|"
    r"until|by|"
    r"on|to|belongs|we|no|the|started|stopped|discontinued|resolved|continues|takes|denies|denied)\b",
    re.IGNORECASE,
)
_IF = re.compile(r"\W*(?:if|should|when|in case|in the event)\b", re.IGNORECASE)
_FOOTMARK = re.compile(r"\s*\[\^?\w{1,3}\]")
_SENTENCE = re.compile(
    r"[\[\]]|\be\.g\.|\b(?:is|was|were|are|has|had|takes|took|belongs|denies|if|should)\b|"
    r"[.!?]\s+[A-Z]|"
    r"\w+(?:\s\S+){11}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A source that reads as a patient's record, with its rows and the patients it names.

    ``listed`` are the names of its entries with their kinds; ``entries`` by name and ``measured`` by
    row are read when a claim first asks for them.
    """

    source: Source
    rows: tuple[Row, ...]
    patients: tuple[str, ...]
    listed: tuple[tuple[EntryKind, tuple[str, ...]], ...]
    labels: frozenset[str]
    entries: dict[tuple[str, ...], list[ChartEntry]]
    measured: dict[int, tuple[Measured, ...]]


def read_chart(source: Source) -> Chart:
    """The rows of one source; whether it is a chart is for ``is_chart`` to say."""
    rows = read_rows(source.text)
    patients: dict[str, None] = {}
    head = patient_at_head(source.text)
    if head is not None:
        patients[head] = None
    listed: dict[tuple[EntryKind, tuple[str, ...]], None] = {}
    for row in rows:
        who = patient_of(row)
        if who:
            patients.setdefault(who)
        name = name_field(row)
        if name is not None:
            kind = kind_of_row(row, name)
            words = core_words(name.text)
            if section_subject(name.label) is Subject.FAMILY:
                continue
            if words and kind is not None and len(words) <= 10:
                listed.setdefault((kind, words))
        elif not row.fields and row.paragraph is None and kind_of(row.section) is not None:
            head = _HEAD_END.split(row.text, maxsplit=1)[0]
            words = core_words(head)
            if words and len(words) <= 5 and section_subject(row.section) is Subject.PATIENT:
                listed.setdefault((kind_of(row.section) or EntryKind.OTHER, words))
    return Chart(
        source=source, rows=rows, patients=tuple(patients), listed=tuple(listed),
        labels=frozenset(field.label for row in rows for field in row.fields),
        entries={}, measured={},
    )  # fmt: skip


def name_field(row: Row) -> Field | None:
    """The field that says what the row is an entry of; None for rows without one."""
    best = None
    for field in row.fields:
        words = words_of(field.label)
        if (
            not words
            or words[0] in ("patient", "subject", "demographics")
            or is_person(words)
            or {"person", "name"} <= set(words)
            or _SENTENCE.search(_FOOTMARK.sub("", field.text))
            or not re.search(r"[A-Za-z]{3}", field.text)
        ):
            continue
        if attribute_of(field.label) == "name" and words[-1] not in ("text", "code"):
            return field
        if attribute_of(field.label) == "name" and best is None:
            best = field
    return best or _first_text(row)


def _first_text(row: Row) -> Field | None:
    """The first words of an object in a list of entries whose keys say nothing ("dx.t: Gout")."""
    for field in row.fields:
        path, _, key = field.label.rpartition(".")
        listed = path and len(key) <= 2 and kind_of(path) is not None
        worded = re.match(r"[A-Za-z][A-Za-z-]{2}", field.text) and not _SENTENCE.search(field.text)
        if listed and worded and status_of_code(field.text) is None:
            return field
    return None


def kind_of_row(row: Row, name: Field | None) -> EntryKind | None:
    """The kind of entry: by the name's own label, the row's kind fields, its section; None unknown."""
    if name is not None:
        own = kind_of(name.label)
        if own is not None and own is not EntryKind.OBSERVATION:
            return own
    for field in row.fields:
        if attribute_of(field.label) == "kind":
            kind = kind_of(field.text)
            if kind is not None:
                return kind
    for field in row.fields:
        kind = kind_of(field.label)
        if kind is not None and kind is not EntryKind.CONDITION:
            return kind
    return kind_of(row.section) or (kind_of(name.label) if name is not None else None)


# ---------------------------------------------------------------- entries of a name


MOST_ENTRIES = 60
_MOST_AROUND = 600  # characters of a row in which another person may be named


def entries_of(chart: Chart, name: tuple[str, ...]) -> list[ChartEntry]:
    """Everything that the chart says of a name, in its order."""
    if name not in chart.entries:
        chart.entries[name] = list(islice(_entries_of(chart, name), MOST_ENTRIES))
    return chart.entries[name]


def _entries_of(chart: Chart, name: tuple[str, ...]) -> Iterator[ChartEntry]:
    for index, row in enumerate(chart.rows):
        if row.fields:
            entry = _field_entry(chart, row, name) or label_entry(chart.source.source_id, row, name)
            if entry is not None:
                yield entry
            continue
        places = places_of(name, row.text)
        for place in places[:3]:
            yield _text_entry(chart, index, row, name, place, places)


def _field_entry(chart: Chart, row: Row, name: tuple[str, ...]) -> ChartEntry | None:
    there = "\\" in row.text or places_of(name, row.text)  # an escape may hide a letter
    if not there or not any(places_of(name, field.text) for field in row.fields):
        return None
    own = name_field(row)
    held, place = None, None
    for field in ([own] if own is not None else []) + [f for f in row.fields if f is not own]:
        if field is not own and attribute_of(field.label) in ("status", "start", "end"):
            continue
        places = places_of(name, field.text)
        if places:
            held, place = field, places[0]
            break
    if held is None or place is None:
        return None
    named = held is own
    status, subject, words = _row_standing(row, held, place, named)
    kind = kind_of_row(row, own if named else held) or _kind_by_words(name)
    at = Span(start=held.span.start + place.start, end=held.span.start + place.end)
    entry = ChartEntry(
        source_id=chart.source.source_id, span=row.span, name=held.text[place.start : place.end],
        name_span=at, kind=kind, status=status, subject=subject, named=named, status_text=words,
        whose=own_patient(row), around=f"{row.section}\n{row.text[:_MOST_AROUND]}",
    )  # fmt: skip
    column = attribute_of(held.label) == "name" and kind_of(held.label) is EntryKind.MEDICATION
    if not named and not (column and len(core_words(held.text)) == len(name)):
        text, names = held.text, [*_names_apart(held.text, [place]), place]
        return replace(
            entry,
            doses=tuple(doses_of(text, names, place)),
            frequencies=tuple(frequencies_of(text, names, place)),
            starts=tuple(starts_of(text, names, place)),
        )
    return replace(
        entry,
        doses=tuple(field_doses(row)),
        frequencies=tuple(field_frequencies(row)),
        starts=tuple(field_dates(row, "start")),
        ends=(*field_dates(row, "end"), *_noted_ends(row)),
    )


def _noted_ends(row: Row) -> Iterator[When]:
    """The days that a row's notes say it ended on ("stopped 2021-02-03")."""
    for field in row.fields:
        if attribute_of(field.label) in ("note", "status", "other", "kind"):
            whole = Span(start=0, end=0)
            for date in ends_of(field.text, [whole], whole):
                yield replace(date, span=field.span)


def _row_standing(row: Row, held: Field, place: Span, named: bool) -> tuple[Status, Subject, str]:
    # "Suspected: gout", "Erroneous entry: gout": the label's words stand before the name.
    lead = f"{' '.join(words_of(held.label.rpartition('.')[2]))}: "
    moved = Span(start=place.start + len(lead), end=place.end + len(lead))
    said = standing(lead + held.text, moved)
    status, subject, words = said.status, said.subject, said.words
    if status is Status.UNSTATED:
        path, _, last = held.label.rpartition(".")
        status = section_status(row.section or path)
        status = section_status(last) if status is Status.UNSTATED else status
        words = row.section
    if subject is Subject.PATIENT:
        subject = section_subject(row.section)
        if subject is Subject.PATIENT:
            subject = section_subject(held.label.rpartition(".")[0])
        for field in row.fields:
            told_of = section_subject(field.label)
            if told_of is not Subject.PATIENT and _beside(field, held):
                subject = told_of
    if not named:
        beside = [f.text for f in row.fields if f is not held]
        if status is Status.UNSTATED and any(_IF.match(text) for text in beside):
            status = Status.HYPOTHETICAL
        return status, subject, words
    told = Status.UNSTATED
    for field in row.fields:
        attribute = attribute_of(field.label)
        found: Status | None = None
        if attribute == "status":
            found = _status_of_field(field)
            subject = _subject_of(field.text) or subject
        elif (
            attribute == "subject" and _beside(field, held)
        ) or field.text.strip() == "FamilyMemberHistory":
            subject = _subject_of(field.text) or subject
        elif attribute in ("note", "other", "kind") and field is not held:
            found = _status_of_note(field)
            noted = standing(f"X : {field.text}", Span(start=0, end=1))
            subject = noted.subject if noted.subject is not Subject.PATIENT else subject
        elif attribute == "end" and re.search(r"[A-Za-z]{4}", field.text):
            found = status_of_code(field.text)
        if found is not None and weightier(found, told) is found:
            told, words = found, f"{field.label.split('.')[-1]}: {field.text}"[:120]
    if told is not Status.UNSTATED:
        # A row's own status overrules the heading's, unless the words at the name are worse.
        status = weightier(told, said.status)
    return status, subject, words


def _beside(field: Field, held: Field) -> bool:
    """Whether two fields are of one object: what stands above a list says nothing of its items."""
    path, own = field.label.rpartition(".")[0], held.label.rpartition(".")[0]
    return own.startswith(path)


def _status_of_field(field: Field) -> Status | None:
    words = words_of(field.label)
    code = status_of_code(field.text)
    if "negated" in words or "error" in words:
        said_yes = code is Status.ACTIVE
        return (Status.ABSENT if "negated" in words else Status.ERROR) if said_yes else None
    if words[-1] in ("active", "taking", "current") and code in (Status.ABSENT, Status.ACTIVE):
        return Status.ACTIVE if code is Status.ACTIVE else Status.PAST
    if "intent" in words:
        return code if code is Status.PLANNED else None
    if code is not None:
        return code
    return _said(field.text)


def _status_of_note(field: Field) -> Status | None:
    return status_of_code(field.text) or _said(field.text)


def _said(text: str) -> Status | None:
    # The note speaks of the entry: its words stand behind the entry's name.
    said = standing(f"X {text}", Span(start=0, end=1))
    return said.status if said.status is not Status.UNSTATED else None


def _subject_of(text: str) -> Subject | None:
    if _FAMILY.search(text):
        return Subject.FAMILY
    return Subject.OTHER if _OTHERS.search(text) else None


def _kind_by_words(name: tuple[str, ...]) -> EntryKind:
    return EntryKind.MEDICATION if drug_spans(" ".join(name)) else EntryKind.CONDITION


# ---------------------------------------------------------------- entries in running text


@lru_cache(maxsize=8192)
def _names_in(text: str) -> tuple[Span, ...]:
    return tuple(drug_spans(text))


def _text_entry(
    chart: Chart, index: int, row: Row, name: tuple[str, ...], place: Span, places: Sequence[Span]
) -> ChartEntry:  # fmt: skip
    names = _names_apart(row.text, places) + list(places)
    said = standing(row.text, place, names)
    listed = row.paragraph is None
    status = said.status
    words = said.words
    if status is Status.UNSTATED and (listed or row.section):
        heading = section_status(row.section)
        if listed or heading not in (Status.HISTORY, Status.ACTIVE):
            status, words = heading, row.section
    subject = said.subject
    if subject is Subject.PATIENT and listed:
        subject = section_subject(row.section)
    kind = _text_kind(row, place, name)
    text = row.text
    if row.paragraph is not None:
        follow = _follow_up(chart, index)
        status, text, words = _continued(follow, status, text, words)
    start = row.span.start
    return ChartEntry(
        source_id=chart.source.source_id, span=row.span, name=row.text[place.start : place.end],
        name_span=Span(start=start + place.start, end=start + place.end), kind=kind, status=status,
        subject=subject, named=listed and kind_of(row.section) is not None and place.start <= 12,
        status_text=words, around=f"{row.section}\n{row.text[:_MOST_AROUND]}",
        doses=tuple(doses_of(text, names, place)), frequencies=tuple(frequencies_of(text, names, place)),
        starts=tuple(starts_of(text, names, place)), ends=tuple(ends_of(text, names, place)),
    )  # fmt: skip


def _follow_up(chart: Chart, index: int) -> Row | None:
    """The next sentence of the paragraph, when it goes on about the same thing without naming one."""
    if index + 1 >= len(chart.rows):
        return None
    row, nxt = chart.rows[index], chart.rows[index + 1]
    if nxt.paragraph != row.paragraph or _names_in(nxt.text):
        return None
    goes_on = re.match(
        r"(?:It|This|The (?:dose|order|drug|medication|tablets?|prescription|diagnosis|entry)|That)\b",
        nxt.text,
    )
    return nxt if goes_on else None


def _continued(
    follow: Row | None, status: Status, text: str, words: str
) -> tuple[Status, str, str]:
    if follow is None:
        return status, text, words
    head = re.match(r"\w+(?: \w+)?", follow.text)
    assert head is not None
    said = standing(follow.text, Span(start=0, end=head.end()))
    if weightier(said.status, status) is said.status and said.status is not Status.UNSTATED:
        status, words = said.status, said.words
    return status, f"{text} {follow.text}", words


def _names_apart(text: str, places: Sequence[Span]) -> list[Span]:
    return [span for span in _names_in(text) if not _overlap(span, places)]


def _overlap(span: Span, places: Sequence[Span]) -> bool:
    return any(map(span.overlaps, places))


def _text_kind(row: Row, place: Span, name: tuple[str, ...]) -> EntryKind:
    if is_allergy(row.text, place):
        return EntryKind.ALLERGY
    by_words = _kind_by_words(name)
    if row.paragraph is None:
        section = kind_of(row.section)
        if section is EntryKind.CONDITION and by_words is EntryKind.MEDICATION:
            return by_words
        return section or by_words
    return by_words


_MOST_ANSWER = 60  # characters of a value that only says how it stands
# What a label says beside a name that it asks about or tests for.
_BESIDE = frozenset(
    "history patient reported self report symptom ever screen screening test antibody antigen ab ag "
    "pcr result culture swab serology".split()
)


def label_entry(source_id: str, row: Row, name: tuple[str, ...]) -> ChartEntry | None:
    """The entry that a field's label names and its value answers; None where none does."""
    for field in row.fields:
        if not _names(field.label, name) or len(field.text) > _MOST_ANSWER:  # few labels, many rows
            continue
        path, _, label = field.label.rpartition(".")
        status = _answer(field)
        if status is Status.UNSTATED:
            continue
        subject = section_subject(path)
        if subject is Subject.PATIENT and field.text.strip().casefold() in ("family", "relative"):
            subject = Subject.FAMILY
        return ChartEntry(
            source_id=source_id, span=row.span, name=label,
            name_span=Span(start=field.span.start, end=field.span.start),
            kind=kind_of(path) or EntryKind.CONDITION, status=status, subject=subject, named=True,
            status_text=f"{label}: {field.text}"[:120], whose=own_patient(row),
            around=f"{row.section}\n{row.text[:_MOST_AROUND]}",
        )  # fmt: skip
    return None


@lru_cache(maxsize=8192)
def _names(label: str, name: tuple[str, ...]) -> bool:
    """Whether a label is that name, asked about or not ("History of asthma (reported)")."""
    words = " ".join(words_of(label.rpartition(".")[2]))
    if not places_of(name, words):
        return False
    beside = set(core_words(words)) - set(name)
    return all(word in _BESIDE or word.isdigit() for word in beside)


def _answer(field: Field) -> Status:
    code = status_of_code(field.text)
    if code is not None:
        return code
    if len(field.text.split()) > 1:
        return standing(f"X: {field.text}", Span(start=0, end=1)).status
    return Status.UNSTATED


_NO_DOSE = frozenset(
    "dispense dispensed quantity refills refill repeats supply supplied max maximum weight height "
    "number count id identifier page footnote ref reference index mrn code phone".split()
)


_EARLIER = frozenset(
    "before previous previously old former prior was end ended stopped reason target maximum".split()
)
_HOLDING = ("name", "dose", "other", "frequency")


def field_doses(row: Row) -> Iterator[Dose]:
    for field in row.fields:
        attribute = attribute_of(field.label)
        words = set(words_of(field.label))
        if words & _NO_DOSE - {"code"} or (
            attribute not in _HOLDING and "value" not in words and not _is_amount(field)
        ):
            continue
        text = field.text
        if re.fullmatch(r"\s*\d+(?:[.,]\d+)*\s*", text):
            text = f"{text.strip()} {_unit_for(row, field)}"
        for dose in find_doses(text):
            yield replace(dose, span=field.span)


def _is_amount(field: Field) -> bool:
    """Whether a value begins as a dose does, whatever its column is called; an earlier one is none."""
    words = set(words_of(field.label))
    first = next(find_doses(field.text.strip(" *_`~")), None)
    return first is not None and first.span.start == 0 and not words & _EARLIER


def _unit_for(row: Row, field: Field) -> str:
    for word in words_of(field.label):
        if next(find_doses(f"1 {word}"), None) is not None and word not in ("tablet", "tablets"):
            return word
    stem = field.label.rpartition(".")[0]
    for other in row.fields:
        if words_of(other.label)[-1:] in (("unit",), ("units",)) and other.label.startswith(stem):
            return other.text
    return ""


def field_frequencies(row: Row) -> Iterator[Frequency]:
    coded = {
        field.label.rpartition(".")[2]: field for field in row.fields if "repeat." in field.label
    }
    if "frequency" in coded and "period" in coded:
        unit = coded["periodUnit"].text if "periodUnit" in coded else "d"
        text = f"{coded['frequency'].text} times every {coded['period'].text} {unit}"
        times, period = coded["frequency"].text, coded["period"].text
        if times.isdigit() and period == "1":
            text = f"{times} times per {unit}"
        elif times == "1":
            text = f"every {period} {unit}"
        for frequency in find_frequencies(text):
            yield replace(frequency, span=coded["frequency"].span, text=text)
    for field in row.fields:
        attribute = attribute_of(field.label)
        holds = attribute in _HOLDING or "value" in words_of(field.label) or _is_amount(field)
        whole = next(find_frequencies(field.text.strip()), None)
        holds = holds or (whole is not None and whole.text == field.text.strip())
        if not holds or field.label.endswith("period"):
            continue
        text = field.text
        if attribute == "frequency" and text.strip().casefold() in ("night", "morning", "evening"):
            text = f"in the {text.strip()}" if "ing" in text else "at night"
        if attribute == "frequency" and text.strip().isdigit() and "repeat." not in field.label:
            text = f"{text.strip()} times per day"
        for frequency in find_frequencies(text):
            yield replace(frequency, span=field.span)


def field_dates(row: Row, wanted: str) -> Iterator[When]:
    for field in row.fields:
        if attribute_of(field.label) == wanted:
            dates = list(find_dates(field.text))
            for date in dates[:1]:
                yield replace(date, span=field.span)
