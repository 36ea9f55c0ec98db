"""Where a fact goes on to another one, by a model that learned it from claims read by hand (III.2).

Candidates are brackets, punctuation and the words that add something; what the sentence denies, puts
under a condition or leaves open with an "or" is never cut.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.decomposition.clauses import (
    LONGEST_SPLIT,
    MAYBE_VERB,
    NEGATIVE,
    SCOPED,
    has_finite_verb,
    opens_clause,
    opens_with_verb,
    reads_as_sentence,
)
from core.decomposition.grammar import SUBJECTS
from core.decomposition.parsing import Word, parsed
from core.evidence.quantities import read_quantities
from core.evidence.values import protected_values
from core.records import Span

_ADDING = (
    "with|while|whereas|using|for|from|at|during|since|after|before|including|such as|based on|"
    "due to|despite"
)
_PREPOSITIONS = (
    f"{_ADDING}|in|on|to|of|by|as|via|plus|through|across|without|that|which|who|because"
)
_CANDIDATE = re.compile(
    r"(?P<open>(?:\s+\(|\uff08)\s*)|\s+(?P<dash>[-\u2013\u2014]{1,2})\s+|\s*(?P<semicolon>;)\s+|"
    r"\s+(?P<arrow>[|\u2022])\s+|(?P<colon>[:\uff1a])\s+|"
    r"(?P<comma>[,\u3001\uff0c])\s+(?:(?P<joint>and|but|plus|then|so|yet|also)\s+)?"
    r"|\s+(?P<and>and|but|&|\+|then)\s+(?:also\s+|then\s+)?"
    rf"|\s+(?=(?P<word>{_ADDING})\s)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|either|neither|respectively|between|otherwise|would|could)\b", re.I
)
_SUBORDINATE = re.compile(r"\s*(?:as|after|before|until|once|where)\b", re.IGNORECASE)
_OR = re.compile(r"\s(?:or|nor|and/or)\s", re.IGNORECASE)
_JOINS_ON = re.compile(
    r"\b(?:and|or|but|nor|of|in|on|at|to|by|with|for|from|than)\Z", re.IGNORECASE
)
_STATISTIC = re.compile(r"\b(?:CI|HR|OR|RR|SD|IQR)\b|\b[pn]\s*[<=]", re.IGNORECASE)
_VALUE_FIRST = re.compile(
    r"[~$\u20ac\u00a3\u00a5<>]?\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d",
    re.I,
)
# What takes back a part of what stands before it.
_LIMITS = re.compile(
    r"(?:not|no|nor|never|except|excluding|only|rather|unless|at least|at most|at all)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\s()\[\],;:]+")
_CLOSED = {
    "article": frozenset("a an the".split()),
    "possessive": frozenset("his her its their your my our this these those".split()),
    "pronoun": frozenset("he she it they you i we there".split()),
    "preposition": frozenset(_PREPOSITIONS.split("|")),
    "copula": frozenset("is are was were has have had be been being".split()),
    "approximate": frozenset("about approximately around roughly nearly almost over up ~ only".split()),
    "number": frozenset("one two three four five six seven eight nine ten both each all".split()),
}  # fmt: skip

_FINITE_TAGS = ("VBZ", "VBP", "VBD", "MD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A place where a sentence may go on: what is before ends at ``left``, what is behind begins at
    ``right``; ``close`` is the end of a bracket, -1 for another cut. ``kind`` is the mark or word."""

    left: int
    right: int
    close: int
    kind: str
    inside: bool
    seen: Mapping[str, float]


def candidates(text: str, within: Span, scene: Mapping[str, float]) -> list[Cut]:
    """The cuts that a stretch may have, with what is seen of each; ``scene`` is seen of them all."""
    body = within.cut(text)
    opens = SCOPED.match(body) or _SUBORDINATE.match(body)
    if len(body) > LONGEST_SPLIT or opens or _CONDITION.search(body):
        return []
    places = [found for found in _places(body) if _free(body, found)]
    values = [value.span for value in protected_values(body)] if places else []
    values += [item.span for item in read_quantities(body)] if places else []
    places = [
        found
        for found in places
        if not any(span.start < found[0] and found[1] < span.end for span in values)
    ]
    words = parsed(re.sub(r"[_*`#|]", " ", body)) if places else ()
    places = [found for found in places if found[2] >= 0 or not _leans(words, found[0], found[1])]
    kinds = [found[3] for found in places]
    cuts = []
    for at, (left, right, close, kind, inside) in enumerate(places):
        follows = places[at + 1][0] if at + 1 < len(places) else len(body)
        before = places[at - 1][1] if at else 0
        seen = _seen(body, left, right, max(follows, right), min(before, left))
        seen |= _grammar(words, left, right, close if close >= 0 else max(follows, right))
        seen |= {
            f"kind {kind}": 1.0, "inside": float(inside), "same": float(kinds.count(kind)),
            "place": float(at), "all": float(len(places)), "rank": float(kinds[:at].count(kind)),
            f"next {kinds[at + 1] if at + 1 < len(places) else 'end'}": 1.0,
            f"last {kinds[at - 1] if at else 'start'}": 1.0,
        }  # fmt: skip
        if close >= 0:
            seen |= {"closes": float(not body[close:].strip(" .)*_")),
                     "held": float(len(body[right:close].split()))}  # fmt: skip
        cuts.append(
            Cut(
                left=within.start + left,
                right=within.start + right,
                close=within.start + close if close >= 0 else -1,
                kind=kind,
                inside=inside,
                seen={**seen, **scene},
            )
        )
    return cuts


def _places(body: str) -> list[tuple[int, int, int, str, bool]]:
    """(end of what is before, start of what is behind, end of the bracket, kind, within a bracket)."""
    found, closes = [], -1
    for match in _CANDIDATE.finditer(body):
        kind = match.lastgroup or ""
        inside = match.start() < closes
        if kind == "open":
            close = _closing(body, match.end())
            if inside or close < 0:
                continue
            closes = close
            found.append((match.start(), match.end(), close, "bracket", False))
            continue
        if kind == "joint":
            kind = "comma"
        word = match["word"] or match["and"] or match["joint"]
        name = f"{kind} {word.lower()}" if word else kind
        found.append((match.start(), match.end(), -1, name, inside))
    return [each for each in found if body[: each[0]].strip() and body[each[1] :].strip(" .")]


def _closing(body: str, at: int) -> int:
    """Where the bracket that was opened before ``at`` closes; -1 where it holds another or is open."""
    for place in range(at, min(len(body), at + 300)):
        if body[place] in "(\uff08":
            return -1
        if body[place] in ")\uff09":
            return place
    return -1


def _free(body: str, place: tuple[int, int, int, str, bool]) -> bool:
    """Whether a cut leaves every negation with what it denies, and every "or" with both its sides."""
    left, right, close, kind, _ = place
    before, behind = body[:left], body[right : close if close >= 0 else len(body)]
    if kind == "colon" and re.search(r"[\u2192/|]\s*[\w ]{1,30}\Z", before):
        return False  # "Departure: 06:00 → Arrival: 06:30"
    if _JOINS_ON.search(before):
        return False
    if kind == "bracket":
        return _STATISTIC.search(behind) is None
    if _LIMITS.match(behind):
        return False
    if kind == "dash" and _VALUE_FIRST.match(behind) and not re.search(r"\d", before):
        return False  # "Date of birth - 24 May 1947"
    if kind.startswith("and") and MAYBE_VERB.match(behind):
        return False
    if kind == "comma" and opens_with_verb(behind):
        return False  # "The hotel, opened in May, has 12 rooms"
    opened = before.rfind("(")
    if opened > before.rfind(")"):
        before, behind = before[opened + 1 :], behind.split(")")[0]
    own = kind == "semicolon" or opens_clause(behind, True)
    if NEGATIVE.search(before) and not own:
        return False
    reach = re.split(r";\s", behind)[0]
    return own or not _OR.search(reach)


def _seen(body: str, left: int, right: int, follows: int, before: int) -> dict[str, float]:
    """What is seen around a cut, ``before`` and ``follows`` being the cuts beside it."""
    ahead, behind = body[before:left], body[right:follows]
    rest = body[right:]
    first = (_WORDS.findall(rest) or [""])[0]
    last = (_WORDS.findall(body[:left]) or [""])[-1]
    second = (_WORDS.findall(rest) + ["", ""])[1]
    seen = {
        "words before": float(len(ahead.split())),
        "words behind": float(len(behind.split())),
        "words ahead": float(len(body[:left].split())),
        "words rest": float(len(rest.split())),
        "digits before": float(any(c.isdigit() for c in ahead)),
        "digits ahead": float(any(c.isdigit() for c in body[:left])),
        "digits behind": float(any(c.isdigit() for c in behind)),
        "digits rest": float(any(c.isdigit() for c in rest)),
        "verb ahead": float(has_finite_verb(body[:left])),
        "verb before": float(has_finite_verb(ahead)),
        "verb behind": float(has_finite_verb(behind)),
        "verb rest": float(has_finite_verb(rest)),
        "opens clause": float(opens_clause(rest, True)),
        "opens verb": float(opens_with_verb(rest)),
        "colon ahead": float(": " in body[:left]),
        "value last": float(any(c.isdigit() for c in last)),
    }
    return seen | _word("1", first) | _word("2", second) | _word("0", last)


def _leans(words: Sequence[Word], left: int, right: int) -> bool:
    """Whether what is before a cut needs what is behind: a subject its verb, "Outside London," all."""
    before = [word for word in words if word.start < left]
    opens = before and before[0].tag in ("IN", "TO", "VBN", "VBG")
    if opens and not any(w.tag in _FINITE_TAGS and w.role != "relcl" for w in before):
        return True
    return any(
        word.role in SUBJECTS
        and words[word.head].start >= right
        and words[word.head].tag in _FINITE_TAGS
        for word in words
        if word.start < left
    )


def _grammar(words: Sequence[Word], left: int, right: int, end: int) -> dict[str, float]:
    """What hangs on what across a cut: the word that heads what is behind, and what it hangs on."""
    behind = [w for w in words if right <= w.start < max(end, right + 1)]
    if not behind:
        return {}
    inside = {w.index for w in behind}
    roots = [w for w in behind if w.head == w.index or w.head not in inside]
    root = roots[0]
    head = words[root.head]
    found = {
        f"role {root.role}": 1.0, f"tag {root.tag[:2]}": 1.0, f"exact {root.tag}": 1.0,
        f"first {behind[0].tag[:2]}": 1.0, f"first role {behind[0].role}": 1.0,
        f"head {head.tag[:2]}": 1.0, f"head role {head.role}": 1.0,
        "hangs left": float(head.index < behind[0].index), "hangs right": float(head.start >= end),
        "hangs self": float(root.head == root.index), "roots": float(len(roots)),
        "distance": float(min(abs(root.index - head.index), 20)),
        "subject": float(any(w.role in ("nsubj", "nsubjpass") for w in behind)),
        "verbs": float(sum(w.is_verb for w in behind)),
        "finite": float(any(w.tag in _FINITE_TAGS for w in behind)),
        "numbers": float(sum(w.tag == "CD" for w in behind)),
    }  # fmt: skip
    before = [w for w in words if w.start < left]
    crossing = [w for w in before if w.head != w.index and words[w.head].start >= right]
    held = {w.index for w in before}
    loose = sum(w.head == w.index or w.head not in held for w in before)
    found["crossing"] = float(len(crossing))
    found["all lean"] = float(bool(before) and len(crossing) >= loose)
    found["finite before"] = float(any(w.tag in _FINITE_TAGS for w in before))
    if before:
        found[f"last {before[-1].tag[:2]}"] = 1.0
    return found


def _word(place: str, word: str) -> dict[str, float]:
    bare = word.strip("*_\"'.")
    low = bare.lower()
    found = {
        "digit": any(c.isdigit() for c in bare),
        "capital": bare[:1].isupper(),
        "ing": low.endswith("ing") and len(low) > 4,
        "ed": low.endswith("ed") and len(low) > 4,
        "ly": low.endswith("ly"),
        "plural": low.endswith("s"),
        "upper": bare.isupper() and len(bare) > 1,
        **{name: low in words for name, words in _CLOSED.items()},
    }
    return {f"{name} {place}": 1.0 for name, holds in found.items() if holds}


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One stretch that a cut leaves: where it is said, the stretches of its text, and the cut that
    opened it (None for the first)."""

    span: Span
    stretches: tuple[Span, ...]
    opened: Cut | None


def segments(text: str, within: Span, cuts: Sequence[Cut]) -> list[Segment]:
    """The stretches that the chosen cuts leave; one, the whole, without a cut."""
    brackets = [cut for cut in cuts if cut.close >= 0]
    main = [cut for cut in cuts if cut.close < 0 and not cut.inside]
    held = [
        cut for cut in cuts
        if cut.inside and any(b.right <= cut.left < b.close for b in brackets)
    ]  # fmt: skip
    found = []
    edges: list[tuple[int, Cut | None]] = [(within.start, None), *((c.right, c) for c in main)]
    ends = [cut.left for cut in main] + [within.end]
    for (start, cut), end in zip(edges, ends, strict=True):
        stretches = _without(text, start, end, brackets)
        if stretches:
            place = Span(start=stretches[0].start, end=stretches[-1].end)
            found.append(Segment(span=place, stretches=stretches, opened=cut))
    for bracket in brackets:
        inner = [cut for cut in held if bracket.right <= cut.left < bracket.close]
        starts: list[tuple[int, Cut]] = [(bracket.right, bracket), *((c.right, c) for c in inner)]
        stops = [cut.left for cut in inner] + [bracket.close]
        for (start, cut), end in zip(starts, stops, strict=True):
            if text[start:end].strip():
                place = Span(start=start, end=end)
                found.append(Segment(span=place, stretches=(place,), opened=cut))
    return sorted(found, key=lambda each: each.span.start)


def _without(text: str, start: int, end: int, brackets: Sequence[Cut]) -> tuple[Span, ...]:
    """A stretch without the brackets that are facts of their own."""
    found, at = [], start
    for bracket in brackets:
        if start <= bracket.left < end:
            found.append(Span(start=at, end=bracket.left))
            at = bracket.close + 1
    found.append(Span(start=at, end=max(at, end)))
    return tuple(span for span in found if any(c.isalnum() for c in span.cut(text)))


def scene_of(body: str, **more: bool) -> dict[str, float]:
    """What is seen of a whole stretch: whether it is a sentence, and what is said of its place."""
    return {
        "sentence": float(reads_as_sentence(body)),
        "stretch words": float(len(body.split())),
        **{name: float(holds) for name, holds in more.items()},
    }
