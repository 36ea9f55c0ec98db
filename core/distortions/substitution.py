"""Numbers and names of a claim against those of the sentence it tells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.distortions.alignment import Alignment, same_root
from core.distortions.reading import Reading, Word
from core.distortions.records import Difference, DistortionKind, Quote, difference
from core.evidence.chart.vocabulary import drug_names
from core.evidence.comparing import fits
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Quantity, QuantityKind
from core.records import Span

_SIDES = frozenset(
    "left right upper lower proximal distal anterior posterior oral intravenous".split()
)

# A name behind one of these is a part of its own, whatever follows.
_BEFORE_NAMES = frozenset("by in from to with at dr mr mrs ms for on".split())

_BEFORE_NOUNS = _BEFORE_NAMES | frozenset("the a an of $".split())


def number_changed(at: Alignment) -> Iterator[Difference]:
    """A quantity of the claim that no quantity of the sentence gives, beside one of its kind."""
    said, stated = read_quantities(at.claim.text), read_quantities(at.premise.text)
    words = frozenset(word.stem for word in at.premise.words)
    for want in said:
        if want.kind is QuantityKind.ORDINAL or any(
            same_quantity(have, want, words) for have in stated
        ):
            continue
        if _derived(want, stated):
            continue
        others = [have for have in stated if _alike(have, want)
                  and not any(same_quantity(have, one, words) for one in said)]  # fmt: skip
        if others:
            other = others[0]
            yield difference(DistortionKind.NUMBER_CHANGED, want, other)
            return


_DEGREE = re.compile(
    r"\b(?:considerabl|dramatical|drastical|great|huge|marked|massive|significant|substantial|vast)ly\b",
    re.IGNORECASE,
)


def specificity_lost(at: Alignment) -> Iterator[Difference]:
    """A degree in place of the source's number: "greatly improves" for "reduces to 1-RTT"."""
    vague = _DEGREE.search(at.claim.text)
    if vague is None or _DEGREE.search(at.premise.text):
        return
    said, stated = (
        {word.text: word for word in reading.words if any(c.isdigit() for c in word.text)}
        for reading in (at.claim, at.premise)
    )
    changes = {"direction", "valence"}
    if said.keys() < stated.keys() and all(
        changes & {cue.feature for cue in reading.cues} for reading in (at.claim, at.premise)
    ):
        degree = Quote(vague.group(), Span(start=vague.start(), end=vague.end()))
        lost = next(word for text, word in reversed(stated.items()) if text not in said)
        yield difference(DistortionKind.SPECIFICITY_LOST, degree, lost)


def same_quantity(have: Quantity, want: Quantity, words: frozenset[str] = frozenset()) -> bool:
    """Whether two amounts may be one: at the claim's precision, after units, or as parts of a date."""
    if want.date is not None and have.date is not None:
        return all(
            a is None or b is None or a == b
            for a, b in (
                (have.date.year, want.date.year),
                (have.date.month, want.date.month),
                (have.date.day, want.date.day),
            )
        )
    if QuantityKind.PAIR in (have.kind, want.kind):
        ends = {have.amount, have.high} & {want.amount, want.high}
        return bool(ends) if have.kind is not want.kind else ends == {want.amount, want.high}
    if fits(have, want, words) is not None or fits(want, have, words) is not None:
        return True
    return have.high is not None and want.amount in (have.amount, have.high)


def _derived(want: Quantity, stated: tuple[Quantity, ...]) -> bool:
    """A share of a pair, or the sum or difference of two stated amounts."""
    for have in stated:
        if have.kind is QuantityKind.PAIR and have.high:
            share = have.amount / have.high
            if min(abs(want.amount - 100 * share), abs(want.amount - share)) <= max(
                want.step, 0.01
            ):
                return True
    amounts = [have.amount for have in stated if have.kind is QuantityKind.NUMBER]
    return any(
        abs(abs(a - b) - want.amount) <= want.step / 2 or abs(a + b - want.amount) <= want.step / 2
        for i, a in enumerate(amounts)
        for b in amounts[i + 1 :]
    )


def _alike(have: Quantity, want: Quantity) -> bool:
    if have.kind is QuantityKind.ORDINAL:
        return False
    if have.kind is not want.kind:
        return False
    if have.kind is QuantityKind.DATE:
        return True
    if have.unit is not None or want.unit is not None:
        return have.unit == want.unit
    return not have.noun or not want.noun or same_root(have.noun.lower(), want.noun.lower())


def entity_substituted(at: Alignment, source_stems: frozenset[str]) -> Iterator[Difference]:
    """A name in the place of another one: the words around it are the source's, the name is not."""
    spare = [w for w in at.premise.words if w.content and w.place not in set(at.pairs.values())]
    cued = {p for cue in at.claim.cues for p in range(cue.first, cue.last + 1)}
    for word in at.claim.words:
        if not word.content or word.place in at.pairs or word.stem in source_stems:
            continue
        if any(same_root(word.stem, other) for other in source_stems) or word.place in cued:
            continue
        for other in spare:
            if any(same_root(other.stem, w.stem) for w in at.claim.words):
                continue
            if _names(word, other, at) or _same_slot(word, other, at):
                yield difference(DistortionKind.ENTITY_SUBSTITUTED, word, other)
                return


def _names(word: Word, other: Word, at: Alignment) -> bool:
    """Two drugs, or two proper names, of which each text has one."""
    drugs = drug_names()
    one, two = drugs.get(word.text.lower()), drugs.get(other.text.lower())
    if one is not None and two is not None:
        return one != two
    if {word.text.lower(), other.text.lower()} <= _SIDES:
        return True
    if not (_proper(word, at.claim) and _proper(other, at.premise)):
        return False
    one_side, two_side = _neighbours(word, at.claim), _neighbours(other, at.premise)
    shared = {text for _, text in one_side & two_side}
    return one_side == two_side or bool(shared & _BEFORE_NAMES)


def _proper(word: Word, reading: Reading) -> bool:
    return word.place > 0 and word.text[:1].isupper() and not word.text.isupper()


def _neighbours(word: Word, reading: Reading) -> set[tuple[int, str]]:
    """The words right before and right behind, with the side they stand on."""
    found = {(0, "^") if word.place == 0 else (0, reading.words[word.place - 1].text.lower())}
    last = word.place + 1 >= len(reading.words)
    found.add((1, "$") if last else (1, reading.words[word.place + 1].text.lower()))
    return found


def _same_slot(word: Word, other: Word, at: Alignment) -> bool:
    """Both neighbours are the same, and nearly all else is too: one word was exchanged."""
    if at.coverage < 0.6 or word.text.lower().endswith(("ed", "ing", "ly")):
        return False
    held, theirs = len(at.pairs), sum(w.content for w in at.premise.words)
    wanted = sum(w.content for w in at.claim.words)
    return (
        held >= wanted - 1
        and held >= 0.6 * theirs - 1
        and _neighbours(word, at.claim) == _neighbours(other, at.premise)
        and bool({text for _, text in _neighbours(word, at.claim)} & _BEFORE_NOUNS)
    )
