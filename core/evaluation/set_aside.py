"""Set-aside errors both ways, against hand-read claims and the places where they are said (III.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.decomposition.markdown import BlockKind, blocks
from core.records import Claim, ClaimType, Span
from core.text.sentences import sentence_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAsideErrors:
    """Reference claims that no factual claim covers, and stretches that claim nothing.

    ``remarks`` are sentences of the read part of an answer in which no reference claim is said;
    ``remarks_checked`` of them became factual claims.
    """

    reference: int
    claims_set_aside: int
    remarks: int
    remarks_checked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAnswer:
    """An answer read by hand up to ``read_until``: where its claims are said, and what was made of it."""

    answer: str
    read_until: int
    places: Sequence[Span]
    claims: Sequence[Claim]


def measure_set_aside(answers: Iterable[ReadAnswer]) -> SetAsideErrors:
    """Both errors over answers; headings are context and count on neither side."""
    reference = lost = remarks = checked = 0
    for one in answers:
        factual = [each.span for each in one.claims if each.claim_type is ClaimType.FACTUAL]
        reference += len(one.places)
        lost += sum(not _covered(place, factual) for place in one.places)
        for unit in claimless(one.answer, one.read_until, one.places):
            remarks += 1
            checked += _covered(unit, factual)
    return SetAsideErrors(
        reference=reference, claims_set_aside=lost, remarks=remarks, remarks_checked=checked
    )


def claimless(answer: str, read_until: int, places: Sequence[Span]) -> list[Span]:
    """The sentences of the read part in which no reference claim is said."""
    found = []
    for block in blocks(answer):
        if block.kind in (BlockKind.HEADING, BlockKind.TABLE_HEAD, BlockKind.CODE):
            continue
        for sentence in sentence_spans(block.span.cut(answer)):
            start = block.span.start + sentence.start
            unit = Span(start=start, end=block.span.start + sentence.end)
            letters = sum(character.isalpha() for character in unit.cut(answer))
            said = any(unit.overlaps(place) for place in places)
            if unit.end <= read_until and letters >= 2 and not said:
                found.append(unit)
    return found


def _covered(place: Span, spans: Sequence[Span]) -> bool:
    """Whether the spans together cover at least half of the place."""
    held = {
        at for span in spans for at in range(max(place.start, span.start), min(place.end, span.end))
    }
    return 2 * len(held) >= place.end - place.start
