"""The front door of the distortion checks: what a claim changes of the sentence that it tells."""

from __future__ import annotations

from collections.abc import Iterator

from core.distortions.alignment import Alignment, Prose, Sentence, nearest
from core.distortions.certainty import (
    certainty_raised,
    qualifier_added,
    qualifier_dropped,
)
from core.distortions.circumstance import (
    comparator_changed,
    scope_changed,
    status_changed,
)
from core.distortions.comparison import comparison_of
from core.distortions.meaning import cause_made, direction_differs, negation_differs
from core.distortions.reading import read_sentence
from core.distortions.records import Difference, Distortion
from core.distortions.substitution import entity_substituted, number_changed, specificity_lost
from core.records import Span

LEAST_COVERAGE = 0.45  # of the claim's content words, rare ones weighing more
_AS_GOOD = 0.9  # of the best coverage: a sentence that may be the one that was told
_LEAST_PAIRS = 2


def find_distortions(claim: str, prose: Prose) -> tuple[Distortion, ...]:
    """Every kind of change at most once, shown beside the nearest sentence.

    A kind is left out where another sentence that is nearly as near tells it as the claim does.
    """
    close = told_by(claim, prose)
    if not close:
        return ()
    best = close[0][1].coverage
    told = [(sentence, at) for sentence, at in close if at.coverage >= _AS_GOOD * best]
    found = [{d.kind: d for d in compare(at, sentence, prose)} for sentence, at in told]
    return tuple(
        _placed(difference, *told[0])
        for kind, difference in found[0].items()
        if all(kind in other for other in found)
    )


def told_by(claim: str, prose: Prose) -> list[tuple[Sentence, Alignment]]:
    """The sentences that may be the ones that a claim tells, the nearest first."""
    return [each for each in nearest(read_sentence(claim), prose) if _is_told(each[1])]


def _is_told(at: Alignment) -> bool:
    """Whether a sentence holds enough of a claim; what the claim compares with may be what changed."""
    enough = len(at.pairs) >= min(_LEAST_PAIRS, len(at.claim.topic))
    return enough and (at.coverage >= LEAST_COVERAGE or _but_for_comparator(at))


def _but_for_comparator(at: Alignment) -> bool:
    said = comparison_of(at.claim)
    if said is None or comparison_of(at.premise) is None:
        return False
    apart = {word.place for word in said.words}
    rest = {word.place for word in at.claim.topic} - apart
    return bool(rest) and rest <= at.held


def compare(at: Alignment, sentence: Sentence, prose: Prose) -> Iterator[Difference]:
    """The differences of one claim and one sentence, in the order of their kinds."""
    if at.coverage < LEAST_COVERAGE:
        yield from comparator_changed(at)
        return
    source_stems = prose.stems_of.get(sentence.source_id, frozenset())
    yield from number_changed(at)
    yield from entity_substituted(at, source_stems)
    yield from negation_differs(at)
    yield from qualifier_dropped(at)
    yield from qualifier_added(at)
    yield from scope_changed(at, prose, sentence.source_id)
    yield from direction_differs(at)
    yield from cause_made(at)
    yield from certainty_raised(at)
    yield from status_changed(at)
    yield from comparator_changed(at)
    yield from specificity_lost(at)


def _placed(difference: Difference, sentence: Sentence, at: Alignment) -> Distortion:
    stated = difference.stated_span
    start = sentence.span.start
    return Distortion(
        claim=at.claim.text,
        difference=difference,
        source_id=sentence.source_id,
        sentence=sentence.span,
        sentence_text=sentence.text,
        stated_span=None
        if stated is None
        else Span(start=start + stated.start, end=start + stated.end),
        coverage=round(at.coverage, 4),
        in_field=sentence.in_field,
    )
