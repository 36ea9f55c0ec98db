"""What a chart, or a claim about one, states: an entry with its kind, status, subject and doses."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from core.records import FactPlace, Span


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One value that a chart gives for a measurement; ``sure`` where its row holds nothing else."""

    amount: Decimal
    bound: str
    unit: str
    date: When | None
    place: FactPlace
    sure: bool
    void: bool = False  # its row says that it was entered in error or cancelled
    earlier: bool = False  # beside its value the row tells the claim's as an earlier one


@dataclass(frozen=True, slots=True)
class Measured:
    """A field of a row: what it may be the name of, and what it reads as a measurement's value.

    ``keyed_only`` says that its own label must name that: it is of something else, or holds a day.
    """

    label: str
    name: str
    keyed_only: bool
    reading: Reading | None


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
