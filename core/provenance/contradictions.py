"""Claims of one answer, or of the turns of one conversation, that cannot both hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.evidence.quantities import read_quantities
from core.evidence.words import stem
from core.provenance.distortions.alignment import Alignment, Sentence, align, prose_of
from core.provenance.distortions.meaning import direction_differs, negation_differs
from core.provenance.distortions.reading import Reading, read_sentence
from core.provenance.distortions.records import Difference, DistortionKind
from core.provenance.distortions.substitution import number_changed
from core.provenance.records import ClaimPlace, Contradiction
from core.records import Claim, Span

_SAME_SUBJECT = 0.8  # coverage, both ways, from which two claims speak of the same thing
_LEAST_WORDS = 2
_MOST_CLAIMS = 400  # of a conversation, compared pair by pair


def find_contradictions(turns: Sequence[Sequence[Claim]]) -> tuple[Contradiction, ...]:
    """Each pair of claims that says the same attribute of the same subject differently, once.

    "$10" here and "$50" there may both be sourced, and one of them is wrong for its subject.
    """
    placed = [
        (ClaimPlace(turn=turn, claim_id=claim.claim_id, text=claim.text), claim)
        for turn, claims in enumerate(turns)
        for claim in claims
    ][:_MOST_CLAIMS]
    readings = [read_sentence(claim.text) for _, claim in placed]
    stems = [frozenset(word.stem for word in reading.topic) for reading in readings]
    found: list[Contradiction] = []
    for later in range(len(placed)):
        for earlier in range(later):
            if 2 * len(stems[earlier] & stems[later]) < len(stems[earlier] | stems[later]):
                continue
            if _other_subject(placed[earlier][1], placed[later][1]):
                continue
            found += _opposed(
                placed[earlier][0], placed[later][0], readings[earlier], readings[later]
            )
    return tuple(found)


def _other_subject(one: Claim, other: Claim) -> bool:
    return bool(one.subject and other.subject) and one.subject != other.subject


def _opposed(
    first: ClaimPlace, second: ClaimPlace, one: Reading, other: Reading
) -> Iterator[Contradiction]:
    at, back = _aligned(other, one), _aligned(one, other)
    if min(at.coverage, back.coverage) < _SAME_SUBJECT or len(at.pairs) < _LEAST_WORDS:
        return
    for difference in _differences(at):
        yield Contradiction(
            kind=_KINDS[difference.kind],
            first=first,
            second=second,
            first_said=difference.stated or first.text,
            second_said=difference.said or second.text,
        )
        return


_KINDS = {
    DistortionKind.NUMBER_CHANGED: "number",
    DistortionKind.NEGATION_FLIP: "negation",
    DistortionKind.DIRECTION_REVERSED: "meaning",
}


def _differences(at: Alignment) -> Iterator[Difference]:
    if _only_numbers_differ(at):
        yield from number_changed(at)
    yield from negation_differs(at)
    yield from direction_differs(at)


def _only_numbers_differ(at: Alignment) -> bool:
    """Whether every content word is in both, and each text states one number: the same attribute."""
    said, stated = read_quantities(at.claim.text), read_quantities(at.premise.text)
    if len(said) != 1 or len(stated) != 1:
        return False
    return _covered(at.claim, set(at.pairs), said[0].span) and _covered(
        at.premise, set(at.pairs.values()), stated[0].span
    )


def _covered(reading: Reading, held: set[int], number: Span) -> bool:
    rest = [
        word
        for word in reading.words
        if word.content and not (word.span.start < number.end and number.start < word.span.end)
    ]
    return bool(rest) and all(word.place in held for word in rest)


def _aligned(claim: Reading, premise: Reading) -> Alignment:
    stems = frozenset(stem(word.text) for word in premise.words)
    span = Span(start=0, end=len(premise.text))
    alone = prose_of([Sentence(source_id="", span=span, text=premise.text, stems=stems)])
    return align(claim, premise, alone, "")
