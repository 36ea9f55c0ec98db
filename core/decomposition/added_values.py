"""Values that a sentence adds to its fact, behind commas and in brackets, as facts of their own (III.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.decomposition.clauses import (
    NEGATIVE,
    SCOPED,
    TOGETHER,
    Part,
    has_finite_verb,
    hide_nested,
    main_verb,
    opens_clause,
    split_facts,
)
from core.records import Span

# Where a sentence goes on to another value: a comma, a semicolon, "with a BMI of 19".
_ASIDE = re.compile(
    r"\s*;\s+|,\s+(?:and\s+|but\s+|then\s+|plus\s+)?(?!\d{4}\b)"
    r"|\s+with (?=(?:a|an)\s)|\s+(?:and|but|plus)\s+(?=(?:a|an|his|her)\s)"
    r"|\s+and\s+(?=[a-z][\w-]*(?:\s[\w-]+){0,2}\s(?:at|of|to|from|by)\s[^\s]*\d)"
)
_PARTICIPLE = re.compile(r"[a-z]{3,}(?:ing|ed)\s\w+")
_VALUED = re.compile(r"\d")
_NOT_ASIDE = re.compile(
    r"(?:or|nor|per|of|in|at|by|respectively|each|both|n\s*=|p\s*[<=]|(?:19|20)\d\d\b|PMID|DOI|NCT|"
    r"(?:approximately|about|roughly|around|~)?\s*[\d./%]+(?:\s+(?:to|and|or|-)\b.*)?\Z)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:to|up|down|from|against|versus|since|at|on|with|for|was|were|is|now|still|a|an)\b",
    re.IGNORECASE,
)
_LONGEST_ADDED = 22  # words
_LONGEST_READ = 2_000  # characters; longer "sentences" are tables or dumps


def split_statement(sentence: str) -> tuple[Part, ...]:
    """The facts that a sentence coordinates, and those that it adds to them, each to stand alone."""
    hidden = hide_nested(sentence)
    return tuple(
        fact
        for part in split_facts(sentence)
        for added in (_asides(hidden, part) if len(sentence) <= _LONGEST_READ else [part])
        for fact in _bracketed(sentence, hidden, added)
    )


def _asides(text: str, part: Part) -> list[Part]:
    """Values that a sentence adds behind commas, each with its subject carried over."""
    body = part.span.cut(text)
    if NEGATIVE.search(body) or TOGETHER.search(body) or SCOPED.match(body):
        return [part]
    cuts: list[re.Match[str]] = []
    last = 0
    for cut in _ASIDE.finditer(body):
        behind = re.split(r"[,;]", body[cut.end() :], maxsplit=1)[0].strip()
        if not _adds(body[last : cut.start()], behind):
            continue
        cuts.append(cut)
        last = cut.end()
    return list(_aside_parts(text, part, body, cuts)) if cuts else [part]


def _adds(before: str, behind: str) -> bool:
    """Whether values stand on both sides of a cut, and what stands behind it can be a fact."""
    if _PARTICIPLE.match(behind) and len(behind.split()) > 2 and len(before.split()) > 3:
        return has_finite_verb(before)
    if not _VALUED.search(before) or not _VALUED.search(behind):
        return False
    return 2 <= len(behind.split()) <= _LONGEST_ADDED and _NOT_ASIDE.match(behind) is None


def _aside_parts(text: str, part: Part, body: str, cuts: Sequence[re.Match[str]]) -> Iterator[Part]:
    offset = part.span.start
    subject = _subject(text, part)
    edges = [0, *(edge for cut in cuts for edge in (cut.start(), cut.end())), len(body)]
    for place, (first, last) in enumerate(zip(edges[::2], edges[1::2], strict=True)):
        span = Span(start=offset + first, end=offset + last)
        added = span.cut(text)
        alone = subject is None or opens_clause(added, True)
        if place and not alone and not main_verb(body) and not _GOES_ON.match(added):
            alone = True
        if place == 0:
            yield Part(span=span, pieces=(*part.pieces[:-1], span))
        elif alone or subject is None:
            yield Part(span=span, pieces=(span,))
        else:
            yield Part(span=span, pieces=(subject, span))


_BRACKET = re.compile(r"\s*\((?P<said>[^()]{3,160})\)(?=[\s.,;:]*\Z)")
# A date, a gloss, a reference, an interval: these belong to what stands before the bracket.
_BELONGS = re.compile(
    r"(?:\W|\d|to|and|or|from|since|in|on|of|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|january|"
    r"february|march|april|june|july|august|september|october|november|december|st|nd|rd|th|ci|n|p|"
    r"pmid|doi|nct\d+|am|pm|https?\S*|\S*[/.]\S*)*",
    re.IGNORECASE,
)


def _bracketed(sentence: str, hidden: str, part: Part) -> list[Part]:
    """What stands in brackets at a part's end as facts of their own: "(8 tickets left)", "(eGFR 121)"."""
    raw = part.span.cut(sentence)
    match = _BRACKET.search(raw)
    if match is None or not raw[: match.start()].strip() or NEGATIVE.search(raw):
        return [part]
    said = match.group("said")
    if (
        not _VALUED.search(said)
        or _BELONGS.fullmatch(said)
        or re.search(r"\b(?:e\.g|i\.e|n\s?=)", said)
    ):
        return [part]
    subject = _subject(hidden, part)
    offset = part.span.start
    main = Span(start=offset, end=offset + match.start())
    found = [Part(span=main, pieces=(*part.pieces[:-1], main))]
    at = match.start("said")
    for each in re.finditer(r"(?:[^,;]|,(?=\d{3}\b))+", said):
        lead = len(each.group()) - len(each.group().lstrip())
        span = Span(start=offset + at + each.start() + lead, end=offset + at + each.end())
        found.append(Part(span=span, pieces=(span,) if subject is None else (subject, span)))
    return found


def _subject(text: str, part: Part) -> Span | None:
    """What a part is about: the words before its verb or, without one, before its first value."""
    whole = part.pieces[0] if len(part.pieces) > 1 else part.span
    body = whole.cut(text)
    verb = main_verb(body)
    label = re.match(r"[^:()]{1,60}(?=:\s)", body)
    if verb is None and label is not None and len(label.group().split()) <= 6:
        return Span(start=whole.start, end=whole.start + label.end())
    value = re.search(r"(?<!\S)\S*\d", body)
    end = verb.start() if verb is not None else value.start() if value is not None else len(body)
    subject = body[:end].rstrip(" :~+-")
    if not subject.strip() or len(subject.split()) > 8 or _VALUED.search(subject):
        return None
    return Span(start=whole.start, end=whole.start + len(subject))
