"""Whether a chart gives the negative result of a test that a claim states: "Her FIT was negative"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.evidence.chart.entries import Chart
from core.evidence.chart.labels import section_subject
from core.evidence.chart.names import words_in
from core.evidence.chart.phrases import without_lead
from core.evidence.chart.records import Subject
from core.evidence.chart.rows import Row
from core.records import Check, FactPlace, Outcome, Span

_TEST = (
    r"(?:antibody |antigen |screening |blood )?(?:tests?|testing|screen(?:ing)?|swab|result|serology|"
    r"antigen|antibody|PCR|culture)"
)
_RESULT = r"(?:negative|not detected|non-reactive)"
_OWNER = r"(?:(?:[Hh]is|[Hh]er|[Tt]heir|[Tt]he|[\w.'’ -]{1,40}?['’]s)\s+)?"
_CLAIMS = (
    re.compile(
        rf"{_OWNER}(?P<name>[A-Za-z][\w /-]{{1,40}}?)(?:\s+{_TEST})*\s+(?:was|were|is|came back|returned) "
        rf"{_RESULT}(?:\s+(?:on|by)\s+(?:the\s+)?(?P<by>[\w-]+))?\s*\.?"
    ),
    re.compile(
        r"(?:[Hh]e|[Ss]he|[A-Z][\w.'’ -]{1,40}?)\s+(?:screened|tested|tests|screens)\s+negative\s+for\s+"
        r"(?P<name>[A-Za-z][\w /-]{1,40}?)(?:\s+(?:on|by)\s+(?:the\s+)?(?P<by>[\w-]+))?\s*\.?"
    ),
)
_NEGATIVE = re.compile(r"\b(?:negative|neg|not detected|non-reactive)\b", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"\bpositive\b|\bpos\b|(?<!not )\bdetected\b|(?<!non-)\breactive\b|\bequivocal\b|\bnot (?:yet )?done\b|"
    r"\bpending\b|\berror\b|\bif\b|\brepeat\b|\btemplate\b|\bawaited\b|\bprevious\w*\b",
    re.IGNORECASE,
)
_PLAIN = frozenset("test testing screen screening swab result antibody antigen ab ag".split())
_MOST_ROW = 300  # characters of a row of fields that is about one test


def screen_checks(text: str, charts: Sequence[Chart]) -> Iterator[Check]:
    """A check that the one chart has that negative result, where nothing in it says otherwise."""
    plain = without_lead(text).strip()
    said = next((match for claim in _CLAIMS if (match := claim.fullmatch(plain))), None)
    if said is None or len(charts) != 1:
        return
    name = {word.text for word in words_in(said["name"])} - _PLAIN
    by = {word.text for word in words_in(said["by"] or "")}
    if not name:
        return
    places = []
    for row in charts[0].rows:
        for stretch in _stretches(row):
            words = {word.text for word in words_in(stretch)}
            numbers = re.findall(r"[\w-]*\d[\w-]*", said["name"])
            if not name <= words or any(number not in stretch for number in numbers):
                continue
            if _OTHERWISE.search(stretch) or section_subject(row.section) is not Subject.PATIENT:
                return
            if by <= words and _NEGATIVE.search(stretch):
                places.append(FactPlace(source_id=charts[0].source.source_id, span=row.span))
    if places:
        yield Check(
            check="status", outcome=Outcome.SUPPORTS, binding=1.0, facts=tuple(places[:5]),
            claim_span=Span(start=0, end=len(text)),
            reason=f"The chart gives {said['name'].strip()} as negative.",
        )  # fmt: skip


def _stretches(row: Row) -> list[str]:
    if row.fields and len(row.text) <= _MOST_ROW:
        return [row.text]
    return re.split(r"[;,\n]\s*|\.\s", row.text)
