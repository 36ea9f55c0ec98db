"""Values that a sentence adds to its fact, behind commas and in brackets, as facts of their own (III.2).

What is added is completed to a sentence (the subject carried over, a verb where it lacks one), or it
stays where it is: a split never leaves a fragment behind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from core.decomposition.clauses import (
    LONGEST_SPLIT,
    NEGATIVE,
    SCOPED,
    TOGETHER,
    Part,
    Piece,
    has_finite_verb,
    hide_nested,
    main_verb,
    opens_clause,
    opens_with_verb,
    split_facts,
)
from core.decomposition.coordination import finer
from core.records import Span

# Where a sentence goes on to another value: a comma, a semicolon, "with a BMI of 19".
_ASIDE = re.compile(
    r"\s*;\s+|,\s+(?:and\s+|but\s+|then\s+|plus\s+|(?:even\s+)?though\s+|although\s+|while\s+|"
    r"whereas\s+)?(?:with\s+)?(?!\d{4}\b)"
    r"|\s+with\s+(?=(?:a|an)\s)|\s+and\s+(?=[~<>]?\d[\d.,]*\s?%?\s(?:on|with|in|for|among|at)\s)|\s+(?:and|but|plus)\s+(?=(?:a|an|his|her)\s)"
    r"|\s+and\s+(?=[a-z][\w-]*(?:\s[\w-]+){0,2}\s(?:at|of|to|from|by)\s[^\s]*\d)"
)
_VALUED = re.compile(r"\d")
_NOT_ASIDE = re.compile(
    r"(?:or|nor|per|of|in|at|by|respectively|each|both|all|when|where|which|who|whom|whose|"
    r"that|because|since|as|before|after|until|if|n\s*=|p\s*[<=]|"
    r"(?:19|20)\d\d\b|PMID|DOI|NCT|"
    r"(?:approximately|about|roughly|around|~)?\s*[\d./%]+(?:\s+(?:to|and|or|-)\b.*)?\Z)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:to|up|down|from|against|versus|since|at|on|with|for|now|still|the (?:last|first|latest))\b",
    re.IGNORECASE,
)
# These say something of the whole sentence before them and not of its subject.
_OF_ALL = re.compile(
    r"(?:making|leading|resulting|causing|bringing|suggesting|indicating|showing|highlighting|"
    r"reflecting|implying|meaning|including|compared|according|based|given|followed|giving)\b"
)
_DOING = re.compile(r"[a-z]{3,}ing\s\S")
_DONE = re.compile(r"[a-z]{3,}ed\s\S")
# "platelets 439 ×10³/µL", "a BMI of 19.1": a measure and its value.
_MEASURE = re.compile(
    r"(?P<noun>(?:(?!(?:on|in|at|from|since|to|by|for|until|than|over|after|with)\b)"
    r"[^\W\d][\w/-]*\s+){1,5}?)(?P<of>of\s+)?(?P<value>(?:about |roughly |around )?"
    r"[~≈<>≤≥$€£¥+-]?\d.*)",
    re.DOTALL,
)
_COPULA = re.compile(r"(?:is|are|was|were|stayed|remained|went|fell|rose|dropped)\Z", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"\s*(?:in|on|at|by|during|since|as|over|between|from|after|before|with|for|among)\s", re.I
)
_SCOPE = re.compile(
    r"\s*(?:in|on|at|by|during|since|as of|over|between|from)\s(?=[^,;:]*\d)[^,;:]{2,60},\s",
    re.IGNORECASE,
)
_LONGEST_ADDED = 22  # words


def split_statement(sentence: str) -> tuple[Part, ...]:
    """The facts that a sentence coordinates, and those that it adds to them, each to stand alone."""
    hidden = hide_nested(sentence)
    parts = [
        fact
        for part in split_facts(sentence)
        for told in finer(sentence, part)
        for added in (_asides(hidden, told) if _plain(sentence, told) else [told])
        for fact in (_bracketed(sentence, hidden, added) if _ends_in_its_place(added) else [added])
    ]
    return tuple(_scoped(sentence, parts))


def _plain(sentence: str, part: Part) -> bool:
    """Whether a part ends in the one stretch that is its own, which may add values."""
    return len(sentence) <= LONGEST_SPLIT and part.pieces[-1] == part.span


def _ends_in_its_place(part: Part) -> bool:
    last = part.pieces[-1]
    return isinstance(last, str) or (last.end == part.span.end and last.start >= part.span.start)


def _scoped(sentence: str, parts: Sequence[Part]) -> list[Part]:
    """The parts, each with the date that opens the sentence: "In 2017, A was 3 and B was 4"."""
    opening = _SCOPE.match(sentence)
    if opening is None or len(parts) < 2:
        return list(parts)
    scope = Span(start=0, end=opening.end())
    return [
        part if _within(scope, part) or re.search(r"\b(?:19|20)\d\d\b", part.span.cut(sentence))
        else replace(part, pieces=(scope, *part.pieces))
        for part in parts
    ]  # fmt: skip


def _within(scope: Span, part: Part) -> bool:
    return any(isinstance(piece, Span) and piece.start < scope.end for piece in part.pieces)


# ---------------------------------------------------------------- behind commas


def _asides(text: str, part: Part) -> list[Part]:
    """Values that a sentence adds behind commas, each completed to a sentence."""
    body = part.span.cut(text)
    if NEGATIVE.search(body) or TOGETHER.search(body) or SCOPED.match(body):
        return [part]
    found: list[
        tuple[int, int, tuple[Piece, ...]]
    ] = []  # where each begins, and how it is completed
    verb = main_verb(body)
    last, measures = 0, False
    for cut in _ASIDE.finditer(body):
        behind = re.split(r"[,;]\s", body[cut.end() :], maxsplit=1)[0].strip()
        if verb is not None and cut.start() < verb.start() and _PREPOSITION.match(body):
            continue  # "In 2017, LDL was 87"
        if not _adds(body[last : cut.start()], behind):
            continue
        measures = "with" in cut.group() or (
            measures and cut.group().strip() in (",", "and", ", and")
        )
        completed = _completed(text, part, cut, behind, measures)
        if completed is None:
            continue
        found.append((cut.start(), cut.end(), completed))
        last = cut.end()
    if not found:
        return [part]
    offset = part.span.start
    first = Span(start=offset, end=offset + found[0][0])
    parts = [Part(span=first, pieces=(*part.pieces[:-1], first))]
    ends = [start for start, _, _ in found[1:]] + [len(body)]
    for (_, start, pieces), end in zip(found, ends, strict=True):
        span = Span(start=offset + start, end=offset + end)
        parts.append(Part(span=span, pieces=_until(pieces, span.end)))
    return parts


def _until(pieces: tuple[Piece, ...], end: int) -> tuple[Piece, ...]:
    """The pieces, the last one reaching to where its part ends."""
    last = pieces[-1]
    return (*pieces[:-1], Span(start=last.start, end=end)) if isinstance(last, Span) else pieces


def _adds(before: str, behind: str) -> bool:
    """Whether values stand on both sides of a cut, and what stands behind it can be a fact."""
    if not behind or _NOT_ASIDE.match(behind) or _OF_ALL.match(behind):
        return False
    if _DOING.match(behind) or _DONE.match(behind):
        return len(behind.split()) > 2 and len(before.split()) > 3 and has_finite_verb(before)
    if not _VALUED.search(before) or not _VALUED.search(behind):
        return False
    return 2 <= len(behind.split()) <= _LONGEST_ADDED


def _completed(
    text: str, part: Part, cut: re.Match[str], behind: str, measures: bool
) -> tuple[Piece, ...] | None:
    """What is added as pieces that make a sentence; None where it cannot stand without the rest.

    ``measures`` says that it belongs to a "with": "with a BMI of 19 and a pulse of 60".
    """
    offset = part.span.start
    start = offset + cut.end()
    added = Span(start=start, end=start + len(behind))
    if opens_clause(behind, True) and not opens_with_verb(behind):
        return (added,)
    before = Span(start=offset, end=offset + cut.start())
    subject = subject_of(text, Part(span=before, pieces=(*part.pieces[:-1], before)))
    verb = main_verb(before.cut(text))
    # "Two drugs are listed: A, ordered in May": that is of A, and not of the subject.
    listed = verb is not None and re.search(r":\s", before.cut(text)[verb.end() :]) is not None
    if listed:
        subject = None
    if subject is not None and opens_with_verb(behind):
        # "The hotel, opened in May 2023, has 12 rooms": what stands between commas ends no sentence.
        joined = re.search(r"and|but|then|;", cut.group()) is not None or (
            verb is None and "," not in before.cut(text)
        )
        return (subject, added) if joined else None
    if subject is not None and verb and (_DOING.match(behind) or _DONE.match(behind)):
        return (subject, _be(subject.cut(text)), added)
    if _GOES_ON.match(behind) or has_finite_verb(behind) or _PARTICIPLE.match(behind):
        return None
    if verb is None:  # notes: "LDL 94, HDL 61"
        label = subject is not None and subject.cut(text).endswith(":")
        return (subject, added) if subject is not None and label else (added,)
    share = re.compile(rf"\s[^\d\s]*(?={_SHARE})").search(before.cut(text), verb.end() - 1)
    if share is not None and not listed and re.match(_SHARE, behind):  # "were 30% on A, 22% on B"
        return (Span(start=offset, end=offset + share.start()), added)
    measure = _MEASURE.fullmatch(behind)
    if measure is None:
        return None
    if measures and re.match(r"(?:a|an)\s", behind):
        return None if subject is None else (subject, "had", added)
    if measure.group("of"):
        return None
    noun = measure.group("noun").split()
    if noun[0].endswith("ly"):
        return None
    if noun[0].lower() in ("this", "that", "these", "those", "he", "she", "it", "they", "you"):
        return (added,)  # a clause whose verb we do not know
    stays = len(noun) > 1 and noun[-1] in ("steady", "stable", "unchanged", "flat", "normal")
    at = start + (measure.group("noun").rindex(noun[-1]) if stays else measure.end("noun"))
    kept = verb.group() if _COPULA.match(verb.group()) and not stays and not listed else None
    named = Span(start=start, end=at)
    if (
        kept is None
        and not stays
        and not listed
        and _MEASURE.match(before.cut(text)[verb.end() :].strip())
    ):
        return (Span(start=offset, end=offset + verb.end()), added)  # "lists A 5 mg, B 10 mg"
    return (named, kept or _be(named.cut(text)), Span(start=at, end=added.end))


# "is spent, leaving EUR 30,000", and not "fasting glucose 90": it has an object of its own.
_PARTICIPLE = re.compile(
    r"[a-z]{3,}(?:ing|ed)\s(?:(?:the|a|an|its|his|her|their|only|about|another)\s|[A-Z]{3}\s|[^\w\s]?\d)"
)
_SHARE = r"[~<>]?\d[\d.,]*\s?%?\s(?:on|with|in|for|among|at)\s"


def _be(subject: str) -> str:
    word = (subject.split() or [""])[-1].casefold()
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return "were" if plural or word in ("they", "patients") else "was"


# ---------------------------------------------------------------- in brackets

_BRACKET = re.compile(r"\s*\((?P<said>[^()]{3,160})\)(?=[\s.,;:]*\Z)")
# The name right in front of a bracket that begins here: of it the bracket says "born in 1984".
_NAMED = re.compile(
    r"\b(?:(?:Mr|Mrs|Ms|Dr)\.\s)?[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,4}(?=\s\([^()]*\Z)"
)
# A date, a gloss, a reference, an interval: these belong to what stands before the bracket.
_BELONGS = re.compile(
    r"https?\S*|\S*[/.]\S*|"
    r"(?:\W|\d|to|and|or|from|since|in|on|of|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|january|"
    r"february|march|april|june|july|august|september|october|november|december|st|nd|rd|th|ci|n|p|"
    r"pmid|doi|nct\d++|am|pm)*",
    re.IGNORECASE,
)


def _bracketed(sentence: str, hidden: str, part: Part) -> list[Part]:
    """What stands in brackets at a part's end as facts of their own: "(8 tickets left)", "(eGFR 121)"."""
    raw = part.span.cut(sentence)
    match = _BRACKET.search(raw)
    if match is None or not raw[: match.start()].strip() or NEGATIVE.search(raw):
        return [part]
    said = match.group("said")
    if all(map(_BELONGS.fullmatch, said.split())) or re.search(r"\b(?:e\.g|i\.e|n\s?=)", said):
        return [part]
    offset = part.span.start
    main = Span(start=offset, end=offset + match.start())
    last = part.pieces[-1]
    kept = main if isinstance(last, str) else Span(start=last.start, end=main.end)
    found = [Part(span=main, pieces=(*part.pieces[:-1], kept))]
    at = match.start("said")
    for each in re.finditer(r"(?:[^,;]|,(?=\d{3}\b))+", said):
        lead = len(each.group()) - len(each.group().lstrip())
        span = Span(start=offset + at + each.start() + lead, end=offset + at + each.end())
        completed = _completed_bracket(sentence, hidden, part, span)
        if completed is None:
            return [part]
        found.append(Part(span=span, pieces=completed))
    return found


def _completed_bracket(
    sentence: str, hidden: str, part: Part, span: Span
) -> tuple[Piece, ...] | None:
    said = span.cut(sentence)
    if not _VALUED.search(said) or not re.search(r"[^\W\d_]{3,}", said):
        return None  # "(4h33m)", "(152g)": of what stands before it
    if opens_clause(said, True):
        return (span,)
    body = part.span.cut(hidden)
    if said.startswith("born "):
        named = _NAMED.search(sentence, part.span.start, span.start)
        return None if named is None else (Span(start=named.start(), end=named.end()), "was", span)
    subject = subject_of(hidden, part)
    if main_verb(body) is None and not any(isinstance(piece, str) for piece in part.pieces):
        labelled = subject is not None and _VALUED.search(body[: body.find("(")]) is not None
        return (subject, span) if labelled and subject is not None else None
    measure = _MEASURE.fullmatch(said)
    if measure is None or measure.group("of") or has_finite_verb(said):
        return None
    noun = Span(start=span.start, end=span.start + measure.end("noun"))
    value = Span(start=span.start + measure.start("value"), end=span.end)
    return (noun, _be(noun.cut(sentence)), value)


def subject_of(text: str, part: Part) -> Span | None:
    """What a part is about: the words before its verb or, without one, before its first value."""
    whole = next((piece for piece in part.pieces if isinstance(piece, Span)), part.span)
    body = whole.cut(text)
    verb = main_verb(body)
    label = re.match(r"[^:()]{1,60}(?=:\s)", body)
    if verb is None and label is not None and len(label.group().split()) <= 6:
        return Span(start=whole.start, end=whole.start + label.end() + 1)
    if verb is None and len(part.pieces) > 1:
        return whole  # the subject that was carried over
    value = re.search(r"(?<!\S)\S*\d", body)
    end = verb.start() if verb is not None else value.start() if value is not None else 0
    subject = body[:end].rstrip(" :~+-")
    unscoped = subject[opening.end() :] if (opening := _SCOPE.match(subject)) else subject
    if not unscoped.strip() or len(subject.split()) > 10 or _VALUED.search(unscoped):
        return None
    return Span(start=whole.start, end=whole.start + len(subject))
