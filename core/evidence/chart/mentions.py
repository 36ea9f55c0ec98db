"""What a stretch of running text says of a name in it: doses, schedules, dates, allergy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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


# A number is taken whole: its digits can be shared out among the repetitions in too many ways.
_FORWARD = re.compile(
    r"[\s,:(-]*(?:of|oral|tablets?|capsules?|a day of|daily|dose of|per day of|each of|the|"
    r"\d[\w.]*+|mg|mcg|once|twice|bid|tid|by mouth|po|worth of|[\s-])*",
    re.IGNORECASE,
)
_CLOSE = re.compile(
    r"[\s,:(=\u2013-]*(?:at|of|is|was|to|dose|dosed|oral|the|tablets?|capsules?|[\s-])*",
    re.IGNORECASE,
)
_BREAK = re.compile(r";|\.\s+[A-Z]|\bbut\b|\bwhereas\b|\bwhile\b|\n\n")


def owner(text: str, item: Span, names: Sequence[Span]) -> Span | None:
    """The name that the item belongs to: the nearest before it, or the one it leads up to.

    "5 mg of amlodipine" leads up to its name unless another name stands right before it.
    """
    before = [name for name in names if name.end <= item.start]
    after = [name for name in names if name.start >= item.end]
    last = max(before, key=lambda name: name.end, default=None)
    following = min(after, key=lambda name: name.start, default=None)
    if last is not None and _CLOSE.fullmatch(text[last.end : item.start]):
        return last
    apart = last is not None and text[item.end : item.end + 2].lstrip()[:1] in (",", ";", "/")
    # "Amitriptyline 10 mg at night, naproxen": what stands behind the comma begins anew.
    if following is not None and _FORWARD.fullmatch(text[item.end : following.start]) and not apart:
        return following
    if last is None:
        return following
    if _BREAK.search(text[last.end : item.start]) and following is not None:
        return following
    return last


def bound(text: str, items: Sequence[Span], names: Sequence[Span], name: Span) -> list[int]:
    """Indices of the items that belong to ``name``; "5 mg and 10 mg respectively" goes in order."""
    if re.search(r"\brespectively\b", text, re.IGNORECASE) and len(items) == len(names) > 1:
        order = sorted(names, key=lambda one: one.start)
        return [index for index, one in enumerate(order) if one == name]
    return [index for index, item in enumerate(items) if owner(text, item, names) == name]
