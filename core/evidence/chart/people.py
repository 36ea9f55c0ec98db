"""Whom a chart is of, and whom else it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from core.evidence.chart.labels import RELATIVES, words_of
from core.evidence.chart.records import Field, Row

_HEAD_CHARACTERS = 400
_WHO = frozenset("sex gender birth birthdate dob born mrn nhs age yrs".split())
_PERSONAL = frozenset("patient subject re pt client resident person who".split())
_PARTS = frozenset("last first forename surname given family firstname lastname".split())
_NAME = r"[A-Z][\w'\u2019-]+(?: [A-Z][\w'\u2019-]+){0,3}"
_NAMED = re.compile(rf"\b[Nn]ame:\s*(?P<who>{_NAME})(?=\s*(?:[;,|\n]|\Z))")
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss)\.? (?:[A-Z][\w'’-]+ ?){1,3}(?<! )")
# At the top of a record: "Ana Ruiz (48 F)", "RUIZ, Ana  DOB …", "Ana Ruiz 45F", "patient;Ana Ruiz;40;F".
_AGED = re.compile(
    rf"(?P<who>{_NAME})[*_]*\s*[,;(\u2014-]*\s*(?:\d{{1,3}}\s?[;,]?\s?(?:[MF]\b|y\b|y/?o\b|yrs?\b|years?\b|"
    r"female|male)|[Aa](?:ge|GE):?\s*\d{1,3}\b|[MF][ ,]\s?\d{1,3}\b|(?:DOB|MRN|born)\b|\d{1,2}\.\s)"
)
_TURNED = re.compile(
    r"\b(?P<last>[A-Z][\w'\u2019-]+), (?P<first>[A-Z][a-z\u00e0-\u017f'\u2019-]+)"
    r"(?=\s*(?:\(?(?:Mr|Mrs|Ms|Miss|Dr|Prof)\b|\s\d{1,3}\s?(?:y|yo|[MF])\b|DOB|MRN))"
)
_FULL = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_TITLES = frozenset("mr mrs ms miss dr mstr prof".split())


def patient_at_head(text: str) -> str | None:
    """The name at the top of a record, beside an age, a sex, a birth date or a number."""
    head = text[:_HEAD_CHARACTERS]
    turned = _TURNED.search(head)
    if turned is not None:
        return f"{turned['first']} {turned['last']}"
    aged = _AGED.search(head)
    return aged["who"] if aged is not None and " " in aged["who"] else None


def patient_of(row: Row) -> str | None:
    """The patient whom a row names; None for rows that name somebody else or nobody."""
    if any(_relates(field) for field in row.fields):
        return None
    parts = [field for field in row.fields if _is_part(field)]
    if len(parts) > 1:
        order = sorted(
            parts, key=lambda one: words_of(one.label)[-1] in ("last", "surname", "family")
        )
        return " ".join(one.text.strip() for one in order[:2])
    for field in row.fields:
        words = words_of(field.label)
        personal = is_person(words) or (words == ("name",) and _identifies(row))
        if personal and _is_name(field.text):
            return field.text.split(",")[0].strip()
    if row.fields:
        return None
    titled = _TITLED.search(row.text)
    if titled is not None:
        return titled.group()
    named = _NAMED.search(row.text)
    beside = set(re.findall(r"[a-z]+", row.text.casefold())) & _WHO
    return named["who"].strip() if named is not None and beside else None


def own_patient(row: Row) -> str:
    """The name in a row's own field for its patient; empty when it has none."""
    for field in row.fields:
        words = words_of(field.label)
        personal = words and words[0] in _PERSONAL and words[-1] in (*_PERSONAL, "name")
        if personal and _is_name(field.text):
            return field.text.strip()
    return ""


def _is_name(value: str) -> bool:
    """Whether a value is somebody's name: no role ("patient", "self"), and no id (one word with a digit),
    which nobody compares with a name that a claim says."""
    said = value.strip()
    is_id = re.fullmatch(r"\S*\d\S*", said) is not None
    return (
        not is_id
        and re.search(r"[A-Za-z]{2}", said) is not None
        and (said.casefold() not in {*_PERSONAL, "self", "proband", "none", "null", "unknown"})
    )


def _relates(field: Field) -> bool:
    words = set(words_of(field.label))
    flat = "." not in field.label  # in a path it is of another object than the row's
    return flat and bool(words & (RELATIVES | {"relation", "relationship", "rel"}))


def _is_part(field: Field) -> bool:
    words = words_of(field.label)
    if (
        not words
        or words[-1] not in _PARTS
        or not re.fullmatch(r"[^\d;:]{2,40}", field.text.strip())
    ):
        return False
    return len(words) > 1 or words[-1] in ("forename", "surname", "firstname", "lastname")


def _identifies(row: Row) -> bool:
    """Whether a row says who somebody is: "id: 17; name: Ana Ruiz; birth date: 1961-04-07"."""
    return any(set(words_of(field.label)) & _WHO for field in row.fields)


def is_person(words: tuple[str, ...]) -> bool:
    """Whether a label names the person of the record: patient, patient.name, full_name."""
    if words[:1] and words[0] in _PERSONAL and words[-1] in (*_PERSONAL, "name", "nm", "display"):
        return True
    return words[-1:] == ("name",) and bool(
        {"full", "first", "last", "family", "given", "demographics", "surname"} & set(words[:-1])
    )


def words_of_name(name: str) -> frozenset[str]:
    """A name's words in lower case, without titles."""
    return frozenset(word.casefold() for word in _WORD.findall(name)) - _TITLES


def meant_patient(text: str, patients: Sequence[str]) -> str | None:
    """The patient whom a claim names by a name that is no other patient's too."""
    said = {word.casefold() for word in _WORD.findall(text)}
    full = [who for who in patients if len(words_of_name(who)) > 1]
    named = [who for who in full if len(words_of_name(who) & said) > 1]
    return named[0] if len({words_of_name(who) for who in named}) == 1 else None


def named_other(text: str, patients: Iterable[str], sources: Iterable[str]) -> str | None:
    """The full name in a claim that stands in the records and is none of their patients'."""
    own = [words_of_name(who) for who in patients]
    if not own:
        return None
    texts = list(sources)
    for match in _FULL.finditer(text):
        words = words_of_name(match.group())
        # A surname may be the same: a patient's son is another person.
        if len(words) < 2 or any(words <= who or who <= words for who in own):
            continue
        if any(match.group().casefold() in each.casefold() for each in texts):
            return match.group()
    return None
