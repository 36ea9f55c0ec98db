"""What a stretch of running text says of a name in it: doses, schedules, dates, allergy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.evidence.chart.binding import bound
from core.evidence.chart.quantities import find_dates, find_doses, find_frequencies
from core.evidence.chart.records import Dose, Frequency, When
from core.records import Span

_PRIOR = re.compile(
    r"\b(?:from|previously|formerly|was|old dose|instead of|rather than|not|max(?:imum)?|up to|down "
    r"from|up from|prior|before|earlier|initially|target)\s*(?:of\s|dose\s|at\s|the\s)*\Z",
    re.IGNORECASE,
)
_START = re.compile(
    r"\b(?:since|from|start(?:ed|ing|s)?|began|begun|beginning|initiated|commenced|onset|diagnosed|"
    r"ordered|prescribed|added|introduced|dx|dating (?:from|back to)|authored|first (?:seen|noted))\b"
    r"(?:(?!\b(?:after|before|later|until|until|and|with|up|down|increased|reduced|"
    r"changed)\b)[^.;]){0,40}?\Z",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:until|till|to|through|ended|stopped|discontinued|resolved|ceased|cleared|abated|finished|"
    r"healed|end|held|cancelled|canceled)\b[^.;]{0,25}?\Z",
    re.IGNORECASE,
)

_ALLERGIC = re.compile(
    r"\b(?:allerg(?:y|ies|ic)(?: reactions?)?(?: to|:| include| includes| are| is)|"
    r"(?:hyper)?sensitiv(?:e|ity) to|"
    r"intoleran(?:t|ce)(?: of| to)|"
    r"anaphyla(?:xis|ctic)\w*(?: reactions?)?(?: to| after| with| from)|react(?:s|ed)? (?:\w+ )?to|"
    r"reaction to|"
    r"rash (?:with|from|after|on)|hives (?:with|from|after|on)|cannot tolerate)\s[^.;]{0,60}\Z",
    re.IGNORECASE,
)
_ALLERGY_BEHIND = re.compile(
    r"(?: (?:is|was|are) (?:\w+ )?as an?)?\W{0,3}(?:allerg(?:y|ies|ic|ens?)|intolerance|"
    r"hypersensitivity|anaphylaxis|caused (?:a |an "
    r")?(?:rash|hives|anaphyla\w+))",
    re.IGNORECASE,
)


def is_allergy(text: str, place: Span) -> bool:
    """Whether the words around a name make it what somebody is allergic to."""
    before = text[max(0, place.start - 110) : place.start]
    match = _ALLERGIC.search(before)
    if match and not re.search(r"\b(?:takes?|taking|on|but|and (?:he|she))\b", match.group()):
        return True
    return _ALLERGY_BEHIND.match(text, place.end) is not None


def doses_of(text: str, names: Sequence[Span], name: Span) -> Iterator[Dose]:
    """The doses that belong to a name in a text; earlier doses ("up from 5 mg") are left out."""
    items = [dose for dose in find_doses(text) if not _PRIOR.search(text[: dose.span.start])]
    for index in bound(text, [item.span for item in items], names, name):
        yield items[index]


def frequencies_of(text: str, names: Sequence[Span], name: Span) -> Iterator[Frequency]:
    """The schedules that belong to a name in a text."""
    items = list(find_frequencies(text))
    for index in bound(text, [item.span for item in items], names, name):
        yield items[index]


def starts_of(text: str, names: Sequence[Span], name: Span) -> Iterator[When]:
    """The dates that a name's use or illness began, as its sentence says."""
    items = [date for date in find_dates(text) if _START.search(text[: date.span.start])]
    items = [
        date
        for date in items
        if not _END.search(text[max(0, date.span.start - 30) : date.span.start])
    ]
    for index in bound(text, [item.span for item in items], names, name):
        yield items[index]


def ends_of(text: str, names: Sequence[Span], name: Span) -> Iterator[When]:
    """The dates until which it lasted."""
    items = [date for date in find_dates(text) if _END.search(text[: date.span.start])]
    for index in bound(text, [item.span for item in items], names, name):
        yield items[index]
