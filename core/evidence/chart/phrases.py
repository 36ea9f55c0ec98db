"""What a claim says beside its name: how it is led up to, of whom, and how it stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources

from core.evidence.chart.quantities import find_doses, find_frequencies
from core.evidence.chart.records import Status
from core.records import Span

_FULL_NAME = re.compile(r"(?:(?:Mr|Mrs|Ms|Miss)\.? )?[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")


_REACTION = re.compile(
    r"(?<=\w),? (?:(?:recorded|documented|noted|listed) with|causing|(?:which|that) caused|"
    r"manifesting as)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)
def _lexicon() -> dict[str, dict[str, str]]:
    path = resources.files("core.evidence.chart").joinpath("lexicons/phrases.toml")
    return tomllib.loads(path.read_text("utf-8"))


@lru_cache(maxsize=16)
def _pattern(part: str, key: str) -> re.Pattern[str]:
    body = _lexicon()[part][key].replace(" ", r"\s+")
    return re.compile(rf"(?<![\w-])(?:{body})(?![\w-])", re.IGNORECASE)


@lru_cache(maxsize=1)
def _lead() -> re.Pattern[str]:
    body = _lexicon()["lead"]["words"].replace(" ", r"\s+")
    return re.compile(rf"\s*(?:(?:{body})(?:\s*[,:]\s*|\s+(?=\S)|(?<=that)\s))+", re.IGNORECASE)


def lead_of(text: str) -> Span | None:
    """What only leads up to the claim; None where it begins at once."""
    match = _lead().match(text)
    return Span(start=0, end=match.end()) if match is not None and match.end() < len(text) else None


def without_lead(text: str) -> str:
    """The claim without what leads up to it."""
    lead = lead_of(text)
    return text[lead.end :] if lead is not None else text


def person_spans(text: str) -> Iterator[Span]:
    """Where the claim says who it is about by age and sex alone."""
    for match in _pattern("person", "words").finditer(text):
        yield Span(start=match.start(), end=match.end())


def subject_span(text: str) -> Span | None:
    """The full name with which the claim begins."""
    lead = lead_of(text)
    match = _FULL_NAME.match(text, lead.end if lead is not None else 0)
    return Span(start=match.start(), end=match.end()) if match is not None else None


def lead_spans(text: str) -> Iterator[Span]:
    """What leads up to the claim, if anything does."""
    lead = lead_of(text)
    if lead is not None:
        yield lead


def beside_spans(text: str, *, of_entry: bool) -> Iterator[Span]:
    """What a claim says beside what a check holds against it: of whom, and an entry's dose and schedule.

    Of a drug that is not taken no dose is another claim, of an allergy that is none no reaction.
    """
    yield from lead_spans(text)
    yield from person_spans(text)
    name = subject_span(text)
    if name is not None:
        yield name
    if of_entry:
        yield from (dose.span for dose in find_doses(text))
        yield from (often.span for often in find_frequencies(text))
        reaction = _REACTION.search(text)
        if reaction is not None and "allerg" in text[: reaction.start()].casefold():
            yield Span(start=reaction.start(), end=len(text))


def status_spans(text: str, status: Status) -> Iterator[Span]:
    """Where the claim says just that status."""
    if status.value in _lexicon()["status"]:
        for match in _pattern("status", status.value).finditer(text):
            yield Span(start=match.start(), end=match.end())
