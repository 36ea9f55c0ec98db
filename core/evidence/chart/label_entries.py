"""Entries whose name is a label and whose value says how it stands: "Orthopnoea: Absent"."""

from __future__ import annotations

from functools import lru_cache

from core.evidence.chart.labels import kind_of, section_subject, words_of
from core.evidence.chart.names import core_words, places_of
from core.evidence.chart.people import own_patient
from core.evidence.chart.records import ChartEntry, EntryKind, Status, Subject
from core.evidence.chart.rows import Field, Row
from core.evidence.chart.status import standing, status_of_code
from core.records import Span

_MOST_ANSWER = 60  # characters of a value that only says how it stands
# What a label says beside a name that it asks about or tests for.
_BESIDE = frozenset(
    "history patient reported self report symptom ever screen screening test antibody antigen ab ag "
    "pcr result culture swab serology".split()
)
_MOST_AROUND = 600


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
