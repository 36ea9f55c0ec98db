"""Words, content terms and how two texts share them: what routing, premise and literals count."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from itertools import pairwise

from core.records import Span
from core.text.han import RUN, english_of, parts_of

PLAIN_WORD = re.compile(r"[^\W_]+")


def words_joined_by(marks: str) -> re.Pattern[str]:
    """The pattern of runs of letters and digits, those that one of ``marks`` joins taken as one."""
    return re.compile(rf"[^\W_]+(?:[{marks}][^\W_]+)*")


# A word keeps inner apostrophes, decimals and hyphens: "bench-6", "7.2", "patient's".
WORD = words_joined_by("-'’.,/")
_NEGATIONS = frozenset("no not never none without neither nor cannot".split())
_THOUSANDS = re.compile(r"^\d{1,3}(?:,\d{3})+(?:\.\d+)?$")

STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has
    have having he her here hers him his how i if in into is it its itself just me more most my of
    off on once only or other our out over own per same she should so some such than that the their
    them then there these they this those through to too under until up us very was we were what
    when where which while who whom why will with would you your according based currently s t
    """.split()
)


def word_spans(text: str) -> tuple[Span, ...]:
    """Where the words of ``text`` are, in order."""
    return tuple(Span(start=m.start(), end=m.end()) for m in WORD.finditer(text))


def denies(text: str, more: frozenset[str] = frozenset()) -> bool:
    """Whether a word of ``text`` negates ("no", "cannot", "didn't") or is one of ``more``."""
    return any(word in _NEGATIONS or word in more or word.endswith("n't") for word in words(text))


def words(text: str) -> list[str]:
    """The words of ``text``, lower-cased, in order, split at inner commas and slashes."""
    found = []
    for match in WORD.finditer(text.lower()):
        word = match.group().replace("’", "'")
        if _THOUSANDS.match(word):
            found.append(word.replace(",", ""))
        else:
            found.extend(part for part in re.split(r"[,/]", word) if part)
    return found


def is_content_word(word: str) -> bool:
    """Whether a word carries content: no stopword, and more than punctuation."""
    lowered = word.lower().replace("’", "'").removesuffix("'s")
    return bool(lowered) and lowered not in STOPWORDS


@lru_cache(maxsize=65_536)
def normalised_term(word: str) -> str:
    """A lower-cased word without possessive, plural or simple verb endings, to compare by."""
    term = word.removesuffix("'s")
    if any(letter.isdigit() for letter in term):
        return re.sub(r"(\.\d*?)0+$", r"\1", term).rstrip(".") if "." in term else term
    if len(term) > 4 and term.endswith("ies"):
        term = term[:-3] + "y"
    elif len(term) > 3 and term.endswith("s") and not term.endswith(("ss", "us", "is")):
        term = term[:-1]
    for ending in ("ing", "ed"):
        if len(term) > len(ending) + 3 and term.endswith(ending):
            term = term[: -len(ending)]
            break
    return term[:-1] if len(term) > 4 and term.endswith("e") else term


def content_terms(text: str) -> frozenset[str]:
    """The distinct content terms of a text, normalised (``T`` of III.4)."""
    found = frozenset(content_sequence(text))
    return found if text.isascii() else found | _english_terms(RUN.findall(text))


def with_english(terms: Iterable[str]) -> frozenset[str]:
    """Terms with what the Chinese ones among them are called in English."""
    found = frozenset(terms)
    return found | _english_terms(run for term in found for run in RUN.findall(term))


def _english_terms(runs: Iterable[str]) -> frozenset[str]:
    called = frozenset[str]().union(*(english_of(run) for run in set(runs)))
    return frozenset(normalised_term(word) for word in called if is_content_word(word))


def content_bigrams(text: str) -> frozenset[tuple[str, str]]:
    """Pairs of content terms that follow each other, stopwords between them left out."""
    return frozenset(pairwise(content_sequence(text)))


def content_sequence(text: str) -> list[str]:
    """The content terms in order; a run of Chinese characters is its words, one by one."""
    found: list[str] = []
    for word in words(text):
        if word.isascii() or not RUN.search(word):
            parts: tuple[str, ...] = (word,)
        else:
            parts = parts_of(word)
        found += [normalised_term(part) for part in parts if is_content_word(part)]
    return found


def overlap(claim_terms: frozenset[str], premise_terms: frozenset[str]) -> float:
    """|T_claim ∩ T_premise| / |T_claim| (III.4); a claim without content terms overlaps nothing."""
    if not claim_terms:
        return 0.0
    return len(claim_terms & premise_terms) / len(claim_terms)


class Rarity(dict[str, float]):
    """How much each term tells documents apart; ``heaviest`` is what the rarest weighs."""

    @cached_property
    def heaviest(self) -> float:
        """Looked for once: every overlap that is weighted asks for it."""
        return max(self.values(), default=1.0) or 1.0


def rarity(documents: Iterable[frozenset[str]]) -> Rarity:
    """How much a term tells documents apart: ln(1 + (N - n + ½) / (n + ½)), n documents hold it."""
    counts: dict[str, int] = {}
    total = 0
    for terms in documents:
        total += 1
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
    return Rarity((term, math.log(1 + (total - n + 0.5) / (n + 0.5))) for term, n in counts.items())


def weighted_overlap(claim_terms: frozenset[str], terms: frozenset[str], weights: Rarity) -> float:
    """Like `overlap`, with rare terms counting more; terms in no document weigh as the rarest."""
    if not claim_terms:
        return 0.0
    # Summed in sorted order: a set's own order changes between runs, and with it the last bit.
    held = sum(weights.get(term, weights.heaviest) for term in sorted(claim_terms & terms))
    whole = sum(weights.get(term, weights.heaviest) for term in sorted(claim_terms))
    return held / whole if whole else 0.0
