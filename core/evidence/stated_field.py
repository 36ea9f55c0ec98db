"""Whether one field of a record says all of a claim that has no value to check: "She has never smoked".

A field says what its record is about in its name and its value: ``Tobacco smoking status: Never
smoker``. A claim is stated whole by it where every word of the value is in the claim, and every word
of the claim is the value's, the field's or the record's name, somebody's name, or says only that it
stands there. Unlike the paper, which has no checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.evidence.accounting import WEIGHTY, left_beside
from core.evidence.claim_view import ClaimView, view_claim
from core.evidence.derivation_parts import place_of
from core.evidence.fact_index import WORD_BEGINS, FactIndex, Stated
from core.evidence.facts import Fact
from core.evidence.holders import naming_words
from core.evidence.stated_whole import WHOLE, is_clean, is_current, is_of_the_person
from core.evidence.words import stems
from core.records import Check, Claim, Outcome
from core.text.han import parts_of

_WORD = re.compile(r"[^\W_]+")
_LEAST_WORDS = 2  # of a claim, its people aside
_DOUBTFUL = re.compile(
    r"\b(?:if|unless|may|might|could|should|would|or|only|all|every|each|both|same|than|most|least)\b|\?",
    re.IGNORECASE,
)


def stated_in_field(claim: Claim, index: FactIndex) -> Check | None:
    """A check that one field states all of the claim, or that the record it names says otherwise.

    None where a word is left or the claim has a value.
    """
    view = view_claim(claim.text, index.people)
    if view.quantities or _DOUBTFUL.search(claim.text) or len(view.words) < _LEAST_WORDS:
        return None
    found: list[Fact] = []
    moved: list[tuple[Fact, frozenset[str]]] = []
    spoken = naming_words(claim.text)
    for fact in _with_a_word(view.words, index):
        stated = Stated(source_id=fact.source_id, record=fact.record, fact=fact)
        said = _value_said(fact, view)
        if said and index.holders.foreign(fact, spoken - said):
            moved.append((fact, said))
            continue
        if not said or left_beside(claim.text, stated, said, index):
            continue
        if not is_clean(stated, view, index) or not is_of_the_person(view, [stated], index):
            continue
        if is_current(stated, view, index):
            found.append(fact)
    if not found:
        return None if view.denies else _held_otherwise(claim.text, view, moved, spoken, index)
    return Check(
        check=WHOLE,
        outcome=Outcome.SUPPORTS,
        reason=f"The field says just this: {found[0].path}: {found[0].value[:80]}.",
        facts=tuple(place_of(fact) for fact in found[:3]),
        binding=1.0,
    )


def _held_otherwise(
    text: str,
    view: ClaimView,
    moved: Iterable[tuple[Fact, frozenset[str]]],
    spoken: frozenset[str],
    index: FactIndex,
) -> Check | None:
    """What the record that a claim names holds instead of a sibling's value, which it says of it.

    Only where the claim would be stated whole if the record held that value: "INV-1 is overdue", where
    INV-1 is paid and INV-2 overdue.
    """
    for fact, said in moved:
        for own in index.holders.named_instead(fact, spoken - said):
            stated = Stated(source_id=own.source_id, record=own.record, fact=own)
            if _value_said(own, view) or left_beside(text, stated, said, index):
                continue
            if is_clean(stated, view, index) and is_current(stated, view, index):
                return Check(
                    check="value",
                    outcome=Outcome.CONTRADICTS,
                    veto=True,
                    reason=f"{own.path}: {own.value[:80]}, not {fact.value[:80]}, which stands in "
                    "another record.",
                    facts=(place_of(own),),
                )
    return None


def _with_a_word(words: frozenset[str], index: FactIndex) -> Iterator[Fact]:
    """The fields of words, without a number, whose value shares a word with the claim."""
    seen: set[int] = set()
    for word in sorted(words):
        for fact in index.worded.get(word[:WORD_BEGINS], ()):
            if id(fact) not in seen:
                seen.add(id(fact))
                yield fact


def _value_said(fact: Fact, view: ClaimView) -> frozenset[str]:
    """The claim's words that say the field's value, each word of it; empty where one is not said."""
    spoken = {word.casefold() for word in _WORD.findall(view.text)}
    found: set[str] = set()
    for word in (part for whole in _WORD.findall(fact.value) for part in parts_of(whole)):
        if word.casefold() in WEIGHTY and word.casefold() not in spoken:
            return frozenset()
        said = {each for each in view.words for one in stems(word) if _akin(one, each)}
        if stems(word) and not said:
            return frozenset()
        found |= said
    return frozenset(found)


def _akin(one: str, other: str) -> bool:
    """Whether two stems are forms of one word: of smoked and of smoker."""
    short, long = sorted((one, other), key=len)
    begins = len(short) >= WORD_BEGINS and long.startswith(short)
    return short == long or (begins and len(long) - len(short) < WORD_BEGINS)
