"""Claims of one answer, or of the turns of one conversation, that cannot both hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.distortions.alignment import Alignment, Sentence, align, prose_of
from core.distortions.meaning import direction_differs, negation_differs
from core.distortions.reading import Reading, read_sentence
from core.distortions.records import Difference, DistortionKind
from core.distortions.substitution import number_changed, same_quantity
from core.evidence.quantities import read_quantities
from core.evidence.quantity_records import Quantity, QuantityKind
from core.evidence.words import stem
from core.provenance.lines import Blocks, Line, identifiers, read_lines, same_line
from core.provenance.records import ClaimPlace, Contradiction
from core.records import Claim, ClaimType, Span

_SAME_SUBJECT = 0.9  # of each claim's words, from which two claims speak of the same thing
_MOST_CLAIMS = 400  # of a conversation, the newest
_MOST_COMPARED = 2_000  # pairs that are read word by word, the newest first


def find_contradictions(turns: Sequence[Sequence[Claim]]) -> tuple[Contradiction, ...]:
    """Each pair of claims that says the same attribute of the same subject differently, once.

    ``turns`` are all claims of each turn, the oldest turn first; what is not factual only tells where a
    list ends. "$10" here and "$50" there may both be sourced, and one of them is wrong for its subject.
    """
    blocks = read_lines(turns)
    placed = [
        _placed(turn, claim, claims[place - 1] if place else None, blocks)
        for turn, claims in enumerate(turns)
        for place, claim in enumerate(claims)
        if claim.claim_type is ClaimType.FACTUAL
    ][-_MOST_CLAIMS:]
    found: list[Contradiction] = []
    compared = 0
    for number, later in sorted(enumerate(placed), reverse=True):  # the newest count most
        answered = False  # a correction is held against the last that was said of it
        for earlier in reversed(placed[:number]):
            if _other_subject(earlier.claim, later.claim) or _siblings(earlier, later):
                continue
            if later.line is not None or earlier.line is not None:
                found += _lines_apart(earlier, later, blocks)
                continue
            near = 2 * len(earlier.stems & later.stems) >= len(earlier.stems | later.stems)
            if near and compared < _MOST_COMPARED:
                compared += 1
                opposed = list(_opposed(earlier, later))
                found += opposed
                answered |= bool(opposed)
            if not answered and later.corrects and earlier.turn < later.turn:
                told = _corrected(earlier, later)
                answered = told is not None
                found += told or []
    order = {(one.turn, one.claim.claim_id): number for number, one in enumerate(placed)}
    return tuple(
        sorted(
            found,
            key=lambda c: (
                order[c.second.turn, c.second.claim_id],
                order[c.first.turn, c.first.claim_id],
            ),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A factual claim where it was said, as it is compared."""

    turn: int
    claim: Claim
    reading: Reading
    topic: frozenset[int]
    stems: frozenset[str]
    line: Line | None
    corrects: bool

    @property
    def place(self) -> ClaimPlace:
        """The claim as a report names it."""
        claim = self.claim
        return ClaimPlace(turn=self.turn, claim_id=claim.claim_id, text=claim.text, span=claim.span)


def _placed(turn: int, claim: Claim, before: Claim | None, blocks: Blocks) -> _Placed:
    reading = read_sentence(claim.text)
    topic = frozenset(_topic(reading))
    said = f"{before.text} {claim.text}" if before is not None else claim.text
    return _Placed(
        turn=turn,
        claim=claim,
        reading=reading,
        topic=topic,
        stems=frozenset(word.stem for word in reading.words if word.place in topic),
        line=blocks.lines.get((turn, claim.claim_id)),
        corrects=_CORRECTS.search(said) is not None,
    )


# An agent that takes back what it said: of "updated" it may be the thing that has changed.
_CORRECTS = re.compile(
    r"\b(?:actually|in fact|turns out|correction|corrected|misstated|mistaken(?:ly)?|"
    r"(?:not|n't) (?:initially|previously|originally)|(?:i|we) (?:initially|previously|earlier) "
    r"(?:said|stated|told|quoted|gave)|apologi[sz]e|(?:my|our|an?) (?:mistake|error))\b",
    re.IGNORECASE,
)


def _other_subject(one: Claim, other: Claim) -> bool:
    return bool(one.subject and other.subject) and one.subject != other.subject


def _siblings(one: _Placed, other: _Placed) -> bool:
    """Whether two claims are items of one list: each is what was said behind the same lead."""
    leads = [each.claim.text.removesuffix(each.claim.said) for each in (one, other)]
    return (
        one.turn == other.turn
        and leads[0] == leads[1] != ""
        and all(lead != each.claim.text for lead, each in zip(leads, (one, other), strict=True))
    )


def _lines_apart(earlier: _Placed, later: _Placed, blocks: Blocks) -> Iterator[Contradiction]:
    """Two lines of lists that give one attribute of one thing two amounts."""
    one, other = earlier.line, later.line
    if one is None or other is None or one.quantity is None or other.quantity is None:
        return
    have, want = one.quantity, other.quantity
    if have.kind is not want.kind or have.unit != want.unit or same_quantity(have, want):
        return
    if same_line(one, other, blocks):
        yield _contradiction("number", earlier, later, have.text, want.text)


def _corrected(earlier: _Placed, later: _Placed) -> list[Contradiction] | None:
    """What an agent takes back of a wider or an equal statement; None where it speaks of another thing."""
    topic = _said_of(later) - _CORRECTING
    have, want = _amounts(earlier), _amounts(later)
    if len(topic) < _LEAST_TOPIC or not topic <= earlier.stems:
        return None
    apart = [q for q in want if not any(same_quantity(known, q) for known in have)]
    lost = [q for q in have if not any(same_quantity(q, known) for known in want)]
    if len(apart) > 1 or len(lost) > 1 or len(apart) != len(lost):
        return None
    if not identifiers(later.claim.text) <= identifiers(earlier.claim.text):
        return None
    if not apart:
        return [] if want else None
    if lost[0].kind is not apart[0].kind or lost[0].unit != apart[0].unit:
        return None
    return [_contradiction("number", earlier, later, lost[0].text, apart[0].text)]


def _said_of(claim: _Placed) -> frozenset[str]:
    """What a claim is about, without the reason that it gives."""
    reason = _REASON.search(claim.reading.text)
    end = reason.start() if reason is not None else len(claim.reading.text)
    return frozenset(
        word.stem
        for word in claim.reading.words
        if word.place in claim.topic and word.span.start < end
    )


_REASON = re.compile(r",?\s+(?:because|due to|as a result|owing to|since)\b", re.IGNORECASE)
_LEAST_TOPIC = 2  # words of what is corrected: "total cost"
_CORRECTING = frozenset(stem(word) for word in "actually fact turn correction corrected".split())


def _amounts(said: _Placed) -> list[Quantity]:
    return [item for item in read_quantities(said.reading.text) if item.kind in _VALUES]


def _contradiction(
    kind: str, earlier: _Placed, later: _Placed, first_said: str, second_said: str
) -> Contradiction:
    return Contradiction(
        kind=kind,
        first=earlier.place,
        second=later.place,
        first_said=first_said,
        second_said=second_said,
    )


def _opposed(earlier: _Placed, later: _Placed) -> Iterator[Contradiction]:
    at = _aligned(later.reading, earlier.reading)
    if not _same_thing(at):
        return
    for difference in _differences(at):
        yield _contradiction(
            _KINDS[difference.kind],
            earlier,
            later,
            difference.stated or earlier.claim.text,
            difference.said or later.claim.text,
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

    Identifiers must be the same in both.
    """
    ours, theirs = _topic(at.claim), _topic(at.premise)
    if identifiers(at.claim.text) != identifiers(at.premise.text):
        return False
    if _labels(at.claim) != _labels(at.premise):
        return False
    kept, known = len(ours & set(at.pairs)), len(theirs & set(at.pairs.values()))
    least = _SAME_SUBJECT * max(len(ours), len(theirs))
    return bool(ours) and kept >= least and known >= least


# "Option 2", "Room 214": numbered, not counted.
_LABEL = re.compile(r"\b([A-Z][a-z]+|[Oo]ption|[Ss]tep|[Ii]tem) (\d{1,4})\b(?![.,%]\d)")


def _labels(reading: Reading) -> frozenset[str]:
    counted = [item.span for item in read_quantities(reading.text) if item.unit or item.noun]
    return frozenset(
        match.group().lower()
        for match in _LABEL.finditer(reading.text)
        if not any(span.start <= match.start(2) < span.end for span in counted)
    )


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
