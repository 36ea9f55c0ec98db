"""decide: from what was measured of a claim to what is judged (III.5, III.6), by any calibrator.

The pipeline decides what it has just read, and rescoring what was kept, by the same functions: so
that a verdict decided again is the one that the pipeline would have given.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from core.attribution.attribute import attribute
from core.attribution.families import Families
from core.config import Config
from core.ports import Calibrator
from core.records import (
    SHOWN_FEATURE,
    VETOES_FEATURE,
    Against,
    Claim,
    ClaimVerdict,
    ContradictedShare,
    Decision,
    Features,
    Judged,
    LiteralCheck,
    Measurements,
    Relation,
    SetAside,
    ShownShare,
    Together,
    Unjudged,
    WholePoint,
)
from core.stages.calibration import decide_support, held_by_veto
from core.stages.decision import decide_claim

LEAST_CLAIMS = 8  # of an answer that may pass as a whole
MOST_WEAKEST = 8  # a quarter of the longest labelled answers
FLOOR = 0.2  # below it a claim passes with no answer
SUREST_WRONG = 0.01  # as low as a probability counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """The calibrated probabilities of one claim: of the routed source, and of the others in order."""

    routed: float
    others: tuple[float, ...]


def calibrate(measured: Sequence[Measurements], calibrator: Calibrator) -> list[Chances]:
    """The chances of each claim; the calibrator is asked once for all of them."""
    rows: list[Features] = []
    for one in measured:
        rows += [one.features, *(other.features for other in one.others)]
    found = iter(map(float, calibrator.probabilities(rows))) if rows else iter(())
    return [_chances(one, found) for one in measured]


def _chances(measured: Measurements, found: Iterator[float]) -> Chances:
    routed = next(found)
    return Chances(routed=routed, others=tuple(next(found) for _ in measured.others))


def judge(
    claim: Claim,
    measured: Measurements,
    chances: Chances,
    threshold: float,
    *,
    families: Mapping[str, str],
    catalogue: Families,
    config: Config,
    review_from: float | None = None,
    threshold_kind: str | None = None,
) -> Judged:
    """The claim with its support and attribution; ``families`` are those of the trace's sources.

    From ``review_from`` up to the threshold a claim needs a person; ``threshold_kind`` is the kind
    of source that the threshold is for, where it is not for all.
    """
    vetoed = any(check.veto for check in measured.checks)
    routed = held_by_veto(chances.routed, threshold) if vetoed else chances.routed
    support = decide_support(routed, threshold, review_from, threshold_kind)
    candidates = [
        (other.source_id, chance)
        for other, chance in zip(measured.others, chances.others, strict=True)
    ]
    if lacks_nothing(measured.literals):
        candidates.append((measured.route.source_id, chances.routed))
    supporters = frozenset(
        source_id for source_id, chance in candidates if says_it(chance, support.threshold, config)
    )
    attribution = attribute(
        claim, measured.route, families=families, supporters=supporters, catalogue=catalogue
    )
    kept = {field.name: getattr(measured, field.name) for field in fields(Measurements)}
    return Judged(**kept, support=support, attribution=attribution)


def decide(
    claims: Sequence[Claim],
    measured: Sequence[Measurements],
    calibrator: Calibrator,
    *,
    families: Mapping[str, str],
    catalogue: Families,
    config: Config,
) -> list[Judged]:
    """The claims of one trace, judged by ``calibrator`` from what was measured of them."""
    return [
        judge(
            claim,
            one,
            chances,
            threshold_of(calibrator, one.route.family),
            families=families,
            catalogue=catalogue,
            config=config,
            review_from=review_from_of(calibrator),
            threshold_kind=threshold_kind_of(calibrator, one.route.family),
        )
        for claim, one, chances in zip(
            claims, measured, calibrate(measured, calibrator), strict=True
        )
    ]


def weakest_together(probabilities: Sequence[float]) -> float | None:
    """What an answer's weakest claims have together, in [0, 1]: the geometric mean of the lowest quarter.

    Unlike the paper, which asks every claim by itself: an answer has some twenty, and where one in
    five right ones stays below any useful threshold no right answer passes. Of the ways to take the
    lowest ones together (the lowest, three, five, a fifth, a third, a product) this needs nearly
    the same threshold in answers of 8 claims as of 30, on the development packets and on draws of
    their claims. None for fewer than ``LEAST_CLAIMS``: in those one wrong claim hides too easily. Never
    more than ``MOST_WEAKEST`` count, so that a long answer's easy claims cannot outweigh a wrong one.
    """
    if len(probabilities) < LEAST_CLAIMS:
        return None
    lowest = sorted(probabilities)[: min(MOST_WEAKEST, (len(probabilities) + 2) // 4)]
    return math.exp(math.fsum(math.log(max(one, SUREST_WRONG)) for one in lowest) / len(lowest))


def holds_together(probabilities: Sequence[float], threshold: float) -> bool:
    """Whether an answer of such claims passes as a whole: no claim below ``FLOOR``, and the weakest
    together at ``threshold`` or above."""
    weakest = weakest_together(probabilities)
    return weakest is not None and min(probabilities) >= FLOOR and round(weakest, 4) >= threshold


def pass_together(
    verdicts: Sequence[ClaimVerdict], calibrator: Calibrator, config: Config
) -> tuple[ClaimVerdict, ...]:
    """The verdicts on an answer's claims, those of too little support passing with it where it holds
    as a whole: only by a calibrator that was asked to, and only where nothing else blocks."""
    point: WholePoint | None = getattr(calibrator, "whole", None)
    factual = [v.outcome for v in verdicts if not isinstance(v.outcome, SetAside)]
    judged = [outcome for outcome in factual if isinstance(outcome, Judged)]
    chances = [one.support.probability for one in judged]
    if point is None or len(judged) < len(factual) or not holds_together(chances, point.threshold):
        return tuple(verdicts)
    together = Together(weakest=round(weakest_together(chances) or 0.0, 4), asked=point)
    passing = tuple(_with_its_answer(one, together, calibrator, config) for one in verdicts)
    if any(one.decision is Decision.BLOCK for one in passing):
        return tuple(verdicts)
    return passing


def _with_its_answer(
    verdict: ClaimVerdict, together: Together, calibrator: Calibrator, config: Config
) -> ClaimVerdict:
    outcome = verdict.outcome
    if not isinstance(outcome, Judged) or outcome.support.supported:
        return verdict
    support = replace(
        outcome.support, threshold=FLOOR, review_from=None, threshold_kind=None, together=together
    )
    outcome = replace(outcome, support=support)
    share = counted_share(calibrator, outcome)
    again = decide_claim(verdict.claim, outcome, config, verdict.citations, share)
    return replace(again, extra=verdict.extra)


def review_from_of(calibrator: Calibrator) -> float | None:
    """Where a calibrator's middle begins; None for those fitted before there was one."""
    found = getattr(calibrator, "review_from", None)
    return float(found) if isinstance(found, int | float) else None


def threshold_of(calibrator: Calibrator, family: str) -> float:
    """What decides for a claim that is routed to a kind of source: its own threshold, else the one."""
    kinds: Mapping[str, float] = getattr(calibrator, "kinds", {})
    return float(kinds.get(family, calibrator.threshold))


def threshold_kind_of(calibrator: Calibrator, family: str) -> str | None:
    """The kind of source, where the calibrator decides it by a threshold of its own."""
    return family if family in getattr(calibrator, "kinds", {}) else None


def against(features: Features) -> Against:
    """What speaks against a claim, by what the stages measured of it."""
    told = features.numeric
    if told.get("checks_contradicts", 0.0) >= 1.0:
        return Against.SHOWN if told.get(VETOES_FEATURE, 0.0) >= 1.0 else Against.HELD
    read = features.categorical.get("verifier_label") == Relation.CONTRADICTION.value
    return Against.READ if read else Against.NOTHING


def counted_share(
    calibrator: Calibrator, outcome: Judged | Unjudged | SetAside
) -> ContradictedShare | ShownShare | None:
    """What labels say of claims like this one: how often they were supported where a source's entry
    states all of it, else how often they were contradicted; None where nobody counted."""
    if not isinstance(outcome, Judged):
        return None
    shown: ShownShare | None = getattr(calibrator, "shown", None)
    if shown is not None and outcome.features.numeric.get(SHOWN_FEATURE, 0.0) >= 1.0:
        return shown
    shares: Mapping[Against, ContradictedShare] = getattr(calibrator, "contradicted", {})
    return shares.get(against(outcome.features))


def measurements_of(judged: Judged) -> Measurements:
    """What was measured of a judged claim, without what was decided from it."""
    return Measurements(
        **{field.name: getattr(judged, field.name) for field in fields(Measurements)}
    )


def lacks_nothing(literals: LiteralCheck) -> bool:
    """Whether no value that settles is missing, and nobody else is meant."""
    return not literals.missing and not literals.identity_mismatches


def holds_all(literals: LiteralCheck) -> bool:
    """Whether another source than the routed one writes every literal: only then may it speak."""
    return lacks_nothing(literals) and not literals.unwritten


def says_it(probability: float, threshold: float, config: Config) -> bool:
    """Whether a source that holds all the claim's literals says it (III.6).

    By the gate's measure, or by the lower one of attribution. What the reader took the pair for is
    not asked: a source that is rightly credited, and read as neutral, would leave the credit to
    another that says the same.
    """
    return probability >= min(threshold, config.attribution_support_probability)
