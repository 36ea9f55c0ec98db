"""What may go in front of a statement so that it stands alone, and what is seen of each (III.2).

Candidates are what stands above the statement (headings, an introduction, the items over it), what
the question names, the patient, the last date, and what the statement was cut from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.decomposition.claim_type import is_generic_title
from core.decomposition.clauses import has_finite_verb, main_verb, reads_as_sentence
from core.decomposition.heading_context import head_of
from core.decomposition.parsing import Word, parsed
from core.evidence.values import protected_values
from core.text.tokens import content_terms

_LONGEST = 14  # words of a candidate
_ASKED_KINDS = ("identifier", "quoted", "name", "date")
# What stands in the same section or sentence; a patient has been made sure of.
# Things that an agent makes, and words that speak of what they hold.
_SURE = frozenset(
    ("patient", "lead", "parent", "subject", "predicate", "label", "rest", "last", "whole")
)
_MADE = re.compile(
    r"\b(?:reports?|documents?|presentations?|ppt|slides?|files?|pages?|webpages?|websites?|plans?|"
    r"lists?|tutorials?|guides?|charts?|graphs?|diagrams?|spreadsheets?|excel|mindmaps?|mind maps?|"
    r"summar(?:y|ies)|itinerar(?:y|ies)|tables?|posters?|images?|articles?|templates?|middleware|code|"
    r"app|function)\b",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"\b(?:includ\w*|contain\w*|contents?|sections?|cover\w*|features?|structure|created|generated|"
    r"key|needs?|shopping)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(r"(?:it|this|these|they|the|he|she|both|all)\b", re.IGNORECASE)
_DOES = re.compile(r"[A-Z][a-z]+(?:ed|ing|ly)\b")
_SPLITS = re.compile(r"[,;:(]\s|\s(?:of|in|on|at|for|with|and|by|is|was|are|were|has|have|had)\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Words that may go in front; ``near`` is 0 for the nearest of its kind."""

    text: str
    kind: str
    near: int
    terms: frozenset[str]


def _candidate(text: str, kind: str, near: int = 0) -> Candidate:
    return Candidate(text=text, kind=kind, near=near, terms=content_terms(text))


@dataclass(slots=True)
class Surroundings:
    """What an answer said on the way down to a statement; the question's phrases, and how widely
    each term is spread over the answer's lines."""

    question: str
    phrases: tuple[Candidate, ...]
    asked: frozenset[str]
    spread: Mapping[str, float]
    headings: list[tuple[int, str]] = field(default_factory=list)
    parents: list[tuple[int, str]] = field(default_factory=list)
    intro: str = ""
    topics: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    layout: str = ""
    parsed_lines: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, question: str, answer: str) -> Surroundings:
        """Those of an answer before its first line."""
        asked = " ".join(question[:LONGEST_PARSED].split())
        lines = [content_terms(line) for line in answer.splitlines() if line.strip()]
        counts: dict[str, int] = {}
        for terms in lines:
            for term in terms:
                counts[term] = counts.get(term, 0) + 1
        phrases = list(dict.fromkeys(noun_phrases(asked)))[:12]
        values = [v for v in protected_values(asked) if v.kind in _ASKED_KINDS]
        return cls(
            question=asked,
            phrases=(
                *(_candidate(text, "question", at) for at, text in enumerate(phrases)),
                *(_candidate(value.text, f"asked {value.kind}") for value in values),
            ),
            asked=content_terms(asked),
            spread={term: count / len(lines) for term, count in counts.items()},
        )

    def phrases_of(self, line: str) -> tuple[str, ...]:
        """The noun phrases of a line that stands over several statements."""
        if line not in self.parsed_lines:
            self.parsed_lines[line] = tuple(dict.fromkeys(noun_phrases(line)))
        return self.parsed_lines[line]

    def enter(self, level: int, title: str) -> None:
        """Goes under a heading; what stood before it is no context any more."""
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.headings.append((level, title))
        self.intro, self.parents, self.topics, self.dates = "", [], (), ()
        self.date(title)

    def item(self, depth: int) -> None:
        """Goes to a list item of a depth."""
        while self.parents and self.parents[-1][0] >= depth:
            self.parents.pop()

    def remember(self, sentence: str) -> None:
        """Remembers what a sentence is about."""
        verb = main_verb(sentence) if len(sentence) < LONGEST_PARSED else None
        subject = sentence[: verb.start()].strip(" ,") if verb is not None else ""
        if subject and len(subject.split()) <= 8 and content_terms(subject):
            self.topics = (subject, *self.topics[:1])

    def date(self, said: str) -> None:
        """Remembers the last date that was written."""
        found = [value.text for value in protected_values(said) if value.kind == "date"]
        if found:
            self.dates = (found[-1], *(date for date in self.dates[:1] if date != found[-1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A statement, what may go in front of it, and what is seen of both.

    ``terms`` are those of the statement with the patient that is named in it anyway.
    """

    around: Surroundings
    terms: frozenset[str]
    offered: tuple[Candidate, ...]
    scene: Mapping[str, float]
    lead: frozenset[str]
    above: tuple[frozenset[str], ...]
    intro: frozenset[str]
    led: str
    said: str

    @classmethod
    def of(
        cls, around: Surroundings, said: str, lead: str, before: str, patient: str,
        scene: Mapping[str, float],
        people: Sequence[str] = (),
    ) -> Fragment:  # fmt: skip
        """A statement under what a layout puts in front of it, ``before`` being what it was cut from."""
        terms = content_terms(said)
        # A name from the question or a heading may be another patient's.
        names = content_terms(" ".join(people))
        offered = dict.fromkeys(
            one
            for one in _candidates(around, lead, before, patient)
            if one.terms - terms
            and one.text.count("(") == one.text.count(")")
            and (one.kind in _SURE or not one.terms & names)
        )
        return cls(
            around=around,
            terms=terms,
            offered=tuple(offered),
            scene={**scene, **_scene(around, said, lead), "held": float(len(terms))},
            lead=content_terms(lead),
            above=tuple(content_terms(title) for _, title in around.headings),
            intro=content_terms(around.intro),
            led=lead,
            said=said,
        )

    def seen(self, one: Candidate) -> dict[str, float]:
        """What the model is told of a candidate in front of this statement."""
        new = one.terms - self.terms
        spread = sorted(self.around.spread.get(term, 0.0) for term in new)
        words = one.text.split()
        return {
            **self.scene,
            f"kind {one.kind}": 1.0,
            f"kind {one.kind} {min(one.near, 4)}": 1.0,
            "terms": float(len(one.terms)),
            "new": float(len(new)),
            "overlap": float(len(one.terms & self.terms)),
            "words": float(len(words)),
            "least spread": spread[0],
            "most spread": spread[-1],
            "mean spread": sum(spread) / len(spread),
            "asked": len(new & self.around.asked) / len(new),
            "in heading": float(sum(bool(new & terms) for terms in self.above)),
            "in intro": len(new & self.intro) / len(new),
            "in lead": len(new & self.lead) / len(new),
            "digits": float(any(c.isdigit() for c in one.text)),
            "capital": float(one.text[:1].isupper()),
            "verb": float(has_finite_verb(one.text)),
            "names": float(sum(word[:1].isupper() for word in words[1:])),
            "generic": float(is_generic_title(one.text)),
            "is lead": float(one.text == self.led),
            "made": float(_MADE.search(one.text) is not None),
        }


def _scene(around: Surroundings, said: str, lead: str) -> dict[str, float]:
    """What is seen of a statement and its place, whatever goes in front of it."""
    above = " ".join(title for _, title in around.headings)
    holding = " ".join((around.intro, lead, above))
    words = said.split()
    return {
        "any lead": float(bool(lead)),
        "depth": float(len(around.headings)),
        "over": float(len(around.parents)),
        "any intro": float(bool(around.intro)),
        f"layout {around.layout}": 1.0,
        "said sentence": float(reads_as_sentence(said)),
        "said verb": float(has_finite_verb(said)),
        "said words": float(len(words)),
        "said label": float(re.match(r"[^:]{1,60}: ", said) is not None),
        "said digits": float(any(c.isdigit() for c in said)),
        "said names": float(sum(word[:1].isupper() for word in words[1:])),
        "said points": float(_POINTS.match(said) is not None),
        "said capital": float(said[:1].isupper()),
        "said does": float(_DOES.match(said) is not None),
        "phrases": float(len(around.phrases)),
        "made asked": float(_MADE.search(around.question) is not None),
        "made above": float(_MADE.search(above) is not None),
        "made intro": float(_MADE.search(around.intro) is not None),
        "holds above": float(_HOLDS.search(holding) is not None),
    }


def _candidates(around: Surroundings, lead: str, before: str, patient: str) -> Iterator[Candidate]:
    """What may go in front, outermost first."""
    if patient:
        yield _candidate(patient, "patient")
    yield from around.phrases
    for near, (_, title) in enumerate(reversed(around.headings[-4:])):
        yield _candidate(title, "heading", near)
        if (head := head_of(title)) and head != title:
            yield _candidate(head, "heading head", near)
        if len(title.split()) > 3:
            yield from (
                _candidate(each, "heading phrase", near) for each in around.phrases_of(title)
            )
    for near, date in enumerate(around.dates):
        yield _candidate(date, "date", near)
    for near, topic in enumerate(around.topics):
        yield _candidate(topic, "topic", near)
    if around.intro:
        yield _candidate(around.intro, "intro")
        for near, phrase in enumerate(around.phrases_of(around.intro)):
            yield _candidate(phrase, "intro", 1 + min(near, 3))
    for near, (_, text) in enumerate(reversed(around.parents[-3:])):
        yield _candidate(text, "parent", near)
    if lead:
        yield _candidate(lead, "lead")
    yield from _of_sentence(before)


def _of_sentence(before: str) -> Iterator[Candidate]:
    """Parts of what a statement was cut from: subject, predicate, label, its last phrase, all of it."""
    if not before:
        return
    verb = main_verb(before)
    if verb is not None:
        yield _candidate(before[: verb.start()].strip(" ,"), "subject")
        yield _candidate(before[: verb.end()].strip(" ,"), "predicate")
    label = re.match(r"[^:]{1,60}(?=:\s)", before)
    if label is not None:
        yield _candidate(label.group(), "label")
        behind = before[label.end() + 1 :].strip()
        if 0 < len(behind.split()) <= _LONGEST:
            yield _candidate(behind, "rest")
    last = _SPLITS.split(before)[-1].strip()
    if 0 < len(last.split()) <= 6:
        yield _candidate(last, "last")
    if len(before.split()) <= _LONGEST:
        yield _candidate(before, "whole")


_OWN = frozenset(("subject", "predicate", "label", "rest", "last", "whole"))


def beside(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates may both go in front: of what a statement was cut from, one part only."""
    return one.kind not in _OWN or other.kind not in _OWN


def composed(chosen: Sequence[Candidate], said: str) -> str:
    """What is said behind what goes in front of it."""
    predicates = [one.text for one in chosen if one.kind == "predicate"]
    labels = [one.text for one in chosen if one.kind != "predicate"]
    said = " ".join([*predicates, said])
    return f"{' - '.join(labels)}: {said}" if labels else said


LONGEST_PARSED = 600  # characters
_MODIFIERS = frozenset(("amod", "compound", "nummod", "nmod", "poss", "quantmod", "punct", "case"))
_LINKS = frozenset("of for from to in about on with by at".split())
_EDGES = " \"'“”,.*`"


def noun_phrases(text: str) -> Iterator[str]:
    """The noun phrases of a text in order, without article, each also with what a preposition adds."""
    words = parsed(text[:LONGEST_PARSED])
    children: dict[int, list[Word]] = {}
    for word in words:
        if word.head != word.index:
            children.setdefault(word.head, []).append(word)
    for word in words:
        if not word.tag.startswith("NN") or word.role in ("compound", "nmod"):
            continue
        start = words[_first(word, words, children)].start
        last = _last(word, children)
        for end in dict.fromkeys((word.end, last.end)):
            phrase = text[start:end].strip(_EDGES)
            if phrase and len(phrase.split()) <= _LONGEST:
                yield phrase


def _first(word: Word, words: Sequence[Word], children: Mapping[int, Sequence[Word]]) -> int:
    """Where the phrase of a noun begins, articles and pronouns left out."""
    mine = {child.index for child in children.get(word.index, []) if child.role in _MODIFIERS}
    for child in list(mine):
        mine |= {each.index for each in children.get(child, [])}
    first = word.index
    while first - 1 in mine and words[first - 1].tag not in ("PRP$", "DT", ",", "``", ":"):
        first -= 1
    return first


def _last(word: Word, children: Mapping[int, Sequence[Word]]) -> Word:
    """The last word of "tickets from Beijing to Shanghai" by its first noun."""
    last = word
    for link in children.get(word.index, []):
        if link.role == "prep" and link.index == last.index + 1 and link.text.lower() in _LINKS:
            things = [each for each in children.get(link.index, []) if each.role == "pobj"]
            last = things[0] if things else last
    return last
