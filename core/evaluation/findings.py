"""What stands behind the figures: reliability, sources confused by family, and each error by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.attribution.families import Families
from core.bootstrap import RESAMPLES, SEED, Interval, interval, resampled_sums
from core.evaluation.columns import Columns
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Prediction
from core.records import AttributionStatus

BINS = 10
NO_SOURCE = "no source"


class Mistake(StrEnum):
    """In what way the verifier was wrong about a claim, the costliest first."""

    PASSED = "passed, but should be stopped"
    BLOCKED = "stopped, but is good"
    SOURCE = "checked against a wrong source"
    CREDIT = "a wrong credit was missed"
    ALARM = "a right credit was called wrong"
    VERDICT = "another verdict than the label"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Claims of like probability: what was said, and what was true, with its interval."""

    low: float
    high: float
    claims: int
    said: float | None
    true: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimError:
    """One claim that the verifier got wrong; ``place`` is its row's place in the packet."""

    place: int
    mistakes: tuple[Mistake, ...]


def reliability_bins(
    columns: Columns, *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[Bin, ...]:
    """Equal-width bins of the support probability with trace-bootstrap intervals (Appendix B).

    ``true`` is the share whose label is supported by the routed source. An empty bin has no means.
    """
    judged = columns.where(np.isfinite(columns.probability))
    place = np.minimum((judged.probability * BINS).astype(int), BINS - 1)
    traces = int(judged.trace.max()) + 1 if len(judged) else 1
    shape = (traces, BINS)
    cell = judged.trace * BINS + place
    size = traces * BINS
    counted = np.bincount(cell, minlength=size).reshape(shape).astype(np.float64)
    said = np.bincount(cell, weights=judged.probability, minlength=size).reshape(shape)
    right = np.bincount(cell, weights=judged.supported_by_route, minlength=size).reshape(shape)
    drawn = None
    if resamples and len(judged):
        sums = resampled_sums(np.hstack([counted, right]), resamples=resamples, seed=seed)
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = sums[:, BINS:] / sums[:, :BINS]
    claims, said_all, right_all = counted.sum(axis=0), said.sum(axis=0), right.sum(axis=0)
    return tuple(
        Bin(
            low=at / BINS,
            high=(at + 1) / BINS,
            claims=int(claims[at]),
            said=float(said_all[at] / claims[at]) if claims[at] else None,
            true=float(right_all[at] / claims[at]) if claims[at] else None,
            interval=interval(drawn[:, at]) if drawn is not None and claims[at] else None,
        )
        for at in range(BINS)
    )


def confused_families(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction], families: Families
) -> Mapping[tuple[str, str], int]:
    """(family of a right source, family of the routed one) → claims, where a right source is known.

    A claim routed to one of its right sources counts for that source's family; otherwise for the
    family of its first right source. An unrouted claim falls on ``no source``.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for row, found in zip(rows, predictions, strict=True):
        if not (row.scored and row.source_eligible):
            continue
        family = families.families_of(row.sources)
        routed = found.routed_source_id
        gold = routed if routed in row.gold_source_ids else row.gold_source_ids[0]
        said = NO_SOURCE if routed is None else family.get(routed, NO_SOURCE)
        # A gold id may name a source that the packet does not carry.
        counts[family.get(str(gold), NO_SOURCE), said] += 1
    return counts


def list_errors(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction]
) -> tuple[ClaimError, ...]:
    """Every labelled claim that the verifier got wrong, costliest mistake first, else in order."""
    found = [
        ClaimError(place=place, mistakes=mistakes)
        for place, (row, said) in enumerate(zip(rows, predictions, strict=True))
        if row.scored and (mistakes := _mistakes(row, said))
    ]
    order = list(Mistake)
    return tuple(sorted(found, key=lambda error: order.index(error.mistakes[0])))


def _mistakes(row: PacketRow, said: Prediction) -> tuple[Mistake, ...]:
    wrong = said.routed_source_id not in row.gold_source_ids
    called = said.attribution is AttributionStatus.CONFLATION
    conflated = row.gold_attribution is AttributionStatus.CONFLATION
    found = {
        Mistake.PASSED: row.should_block and not said.blocked,
        Mistake.BLOCKED: said.blocked and not row.should_block,
        Mistake.SOURCE: row.source_eligible and wrong,
        Mistake.CREDIT: conflated and not called,
        Mistake.ALARM: row.gold_attribution is not None and called and not conflated,
        Mistake.VERDICT: said.verdict is not row.label,
    }
    return tuple(mistake for mistake, made in found.items() if made)
