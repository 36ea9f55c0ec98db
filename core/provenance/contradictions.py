"""Claims of one answer, or of the turns of one conversation, that cannot both hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.words import stem
from core.provenance.distortions.alignment import Alignment, Sentence, align, prose_of
from core.provenance.distortions.meaning import direction_differs, negation_differs
from core.provenance.distortions.reading import Reading, read_sentence
from core.provenance.distortions.records import Difference, DistortionKind
from core.provenance.distortions.substitution import number_changed, same_quantity
from core.provenance.records import ClaimPlace, Contradiction
from core.records import Claim, Span

_SAME_SUBJECT = 0.9  # of each claim's words, from which two claims speak of the same thing
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
    stems = [
        frozenset(word.stem for word in reading.words if word.place in _topic(reading))
        for reading in readings
    ]
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
    at = _aligned(other, one)
    if not _same_thing(at):
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
    left, right = _numbers_apart(at)
    if left or right:
        # Two numbers that differ are an attribute's value; a differing time or two more numbers tell
        # of another occasion.
        if len(left) == len(right) == 1 and {q.kind for q in left + right} <= _VALUES:
            yield from number_changed(at)
        return
    yield from negation_differs(at)
    yield from direction_differs(at)


_VALUES = frozenset({QuantityKind.NUMBER, QuantityKind.MONEY})


def _numbers_apart(at: Alignment) -> tuple[list[Quantity], list[Quantity]]:
    """The quantities of each text that the other does not give, to the claim's precision."""
    said, stated = read_quantities(at.claim.text), read_quantities(at.premise.text)
    return (
        [want for want in said if not any(same_quantity(have, want) for have in stated)],
        [have for have in stated if not any(same_quantity(have, want) for want in said)],
    )


def _same_thing(at: Alignment) -> bool:
    """Whether nearly every word of each text that is no number and no cue is in the other.

    Identifiers must be the same in both; a line of a list ("Price: $10") tells of its own item, so that
    two such lines are compared only where they name one by its identifier.
    """
    ours, theirs = _topic(at.claim), _topic(at.premise)
    if _identifiers(at.claim) != _identifiers(at.premise) or _labels(at.claim) != _labels(
        at.premise
    ):
        return False
    if _LISTED.search(at.claim.text) and not _identifiers(at.claim):
        return False
    kept, known = len(ours & set(at.pairs)), len(theirs & set(at.pairs.values()))
    least = _SAME_SUBJECT * max(len(ours), len(theirs))
    return bool(ours) and kept >= least and known >= least


_LISTED = re.compile(r"\w: ")
# A letter and a digit in one word, or five digits and more in a row: what a booking or a card is called.
_IDENTIFIER = re.compile(r"\b(?=\w*[A-Za-z_])(?=\w*\d)\w{4,}\b|(?<![$€£.,\d])\b\d{5,}\b(?![.,]\d)")
# "Option 2", "Flight 1": numbered, not counted.
_LABEL = re.compile(r"\b([A-Z][a-z]+|[Oo]ption|[Ss]tep|[Ii]tem) (\d{1,2})\b(?![.,%]\d)")


def _identifiers(reading: Reading) -> frozenset[str]:
    return frozenset(match.group().lower() for match in _IDENTIFIER.finditer(reading.text))


def _labels(reading: Reading) -> frozenset[str]:
    return frozenset(match.group().lower() for match in _LABEL.finditer(reading.text))


_OPPOSABLE = frozenset({"negation", "direction", "valence"})


def _topic(reading: Reading) -> set[int]:
    """The places of what a claim is about: all but its numbers and the cues that may be opposed."""
    apart = [item.span for item in read_quantities(reading.text)]
    apart += [cue.span for cue in reading.cues if cue.feature in _OPPOSABLE]
    return {
        word.place
        for word in reading.words
        if word.content and not any(span.overlaps(word.span) for span in apart)
    }


def _aligned(claim: Reading, premise: Reading) -> Alignment:
    stems = frozenset(stem(word.text) for word in premise.words)
    span = Span(start=0, end=len(premise.text))
    alone = prose_of([Sentence(source_id="", span=span, text=premise.text, stems=stems)])
    return align(claim, premise, alone, "")
