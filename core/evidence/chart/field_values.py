"""Doses, schedules and dates of a row of fields, with the units that other fields hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from core.evidence.chart.labels import attribute_of, words_of
from core.evidence.chart.quantities import find_dates, find_doses, find_frequencies
from core.evidence.chart.records import Dose, Frequency, When
from core.evidence.chart.rows import Field, Row

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
