"""What a chart, or a claim about one, states: an entry with its kind, status, subject and doses."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from core.records import Span


class EntryKind(StrEnum):
    """What an entry is about."""

    MEDICATION = "medication"
    CONDITION = "condition"
    ALLERGY = "allergy"
    OBSERVATION = "observation"
    PROCEDURE = "procedure"
    IMMUNISATION = "immunisation"
    OTHER = "other"


class Status(StrEnum):
    """What is said of an entry; ``UNSTATED`` where nothing says it either way."""

    ACTIVE = "active"
    HISTORY = "history"
    PAST = "past"
    PLANNED = "planned"
    ON_HOLD = "on hold"
    CANCELLED = "cancelled"
    UNCERTAIN = "uncertain"
    HYPOTHETICAL = "hypothetical"
    ABSENT = "absent"
    ERROR = "entered in error"
    UNSTATED = "unstated"


class Subject(StrEnum):
    """Whom an entry is about."""

    PATIENT = "patient"
    FAMILY = "family member"
    OTHER = "other person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dose:
    """An amount in its smallest common unit ("500 mg" is 500000 of ``mcg``); ``text`` as written."""

    amount: Decimal
    unit: str
    text: str
    span: Span
    per_day: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequency:
    """How often: times a day, times of day, as needed; ``text`` as written."""

    per_day: Fraction | None
    moments: frozenset[str]
    as_needed: bool
    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """A date as written, of year, month or day; ``others`` are further readings of "3/4/2020"."""

    year: int
    month: int | None
    day: int | None
    text: str
    span: Span
    others: tuple[tuple[int | None, int | None, int | None], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartEntry:
    """One thing that a chart says; ``span`` is its row in the source's text.

    ``named`` says that the row is an entry of that name and no passing mention in a sentence;
    ``whose`` is the patient whom the row's own field names, ``around`` its heading and words.
    """

    source_id: str
    span: Span
    name: str
    name_span: Span
    kind: EntryKind
    status: Status
    subject: Subject
    named: bool
    doses: tuple[Dose, ...] = ()
    frequencies: tuple[Frequency, ...] = ()
    starts: tuple[When, ...] = ()
    ends: tuple[When, ...] = ()
    status_text: str = ""
    whose: str = ""
    around: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """A field of a row as a measurement's: what it may be the name of, and the value it may give.

    ``aside`` says that its label is of something else than a value, ``dated`` that it holds a day;
    ``sure`` that its row is about nothing else and takes nothing back, ``void`` that it is withdrawn.
    """

    label: str
    name: str
    aside: bool
    dated: bool
    value: str | None
    unit: str
    date: When | None
    sure: bool
    void: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A labelled value of a row; ``label`` is its whole path, ``span`` the value's place.

    ``label_start`` is where the label stands in the source, where it stands beside its value.
    """

    label: str
    text: str
    span: Span
    label_start: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One entry, line or sentence; ``section`` is the heading or path that it stands under.

    ``paragraph`` numbers the stretch of running prose that a sentence belongs to; None elsewhere.
    """

    text: str
    span: Span
    section: str = ""
    fields: tuple[Field, ...] = ()
    paragraph: int | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the text; ``text`` is without its list mark."""

    start: int
    text: str
    indent: int
    marked: bool
    blank: bool
