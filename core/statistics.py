"""Exact intervals, paired tests and agreement coefficients, each from its definition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from scipy.special import bdtr, betaincinv


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """An agreement coefficient with the raw agreement beside it; ``value`` None says why not."""

    value: float | None
    raw: float
    items: int
    reason: str | None = None


def beta_interval(right: float, wrong: float, *, level: float = 0.95) -> tuple[float, float]:
    """The middle ``level`` of Beta(right, wrong); a side of no weight is certain."""
    if right <= 0.0 or wrong <= 0.0:
        return (float(right > 0.0), float(right > 0.0))
    tail = (1.0 - level) / 2.0
    return float(betaincinv(right, wrong, tail)), float(betaincinv(right, wrong, 1.0 - tail))


def exact_binomial_interval(
    successes: int, trials: int, *, level: float = 0.95
) -> tuple[float, float] | None:
    """Clopper and Pearson's interval for a proportion; None when there were no trials."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if not trials:
        return None
    tail = (1.0 - level) / 2.0
    failures = trials - successes
    low = betaincinv(successes, failures + 1, tail) if successes else 0.0
    high = betaincinv(successes + 1, failures, 1.0 - tail) if failures else 1.0
    return float(low), float(high)


def mcnemar(first_right: Sequence[bool], second_right: Sequence[bool]) -> float:
    """Exact two-sided p-value that two systems are right equally often on the same claims."""
    only_first = sum(a and not b for a, b in zip(first_right, second_right, strict=True))
    only_second = sum(b and not a for a, b in zip(first_right, second_right, strict=True))
    discordant = only_first + only_second
    if not discordant:
        return 1.0
    return min(1.0, 2.0 * float(bdtr(min(only_first, only_second), discordant, 0.5)))


def cohen_kappa(
    first: Sequence[Hashable], second: Sequence[Hashable], times: Sequence[int] | None = None
) -> Agreement:
    """Two raters' agreement beyond what their own label shares would give by chance.

    ``times``: how many items were labelled so, where items that are alike are given once.
    """
    if len(first) != len(second):
        raise ValueError(f"raters judged {len(first)} and {len(second)} items")
    if not first:
        return Agreement(value=None, raw=math.nan, items=0, reason="no item was judged by both")
    alike = _alike(list(zip(first, second, strict=True)), times)
    items = alike.total()
    raw = sum(n for (a, b), n in alike.items() if a == b) / items
    left, right = Counter[Hashable](), Counter[Hashable]()
    for (a, b), n in alike.items():
        left[a] += n
        right[b] += n
    chance = sum(left[label] * right[label] for label in left) / items**2
    return _beyond_chance(raw, chance, items)


def fleiss_kappa(
    ratings: Sequence[Sequence[Hashable]], times: Sequence[int] | None = None
) -> Agreement:
    """Agreement of a fixed number of raters an item, chance from the pooled label shares.

    ``times``: how many items were rated so, where items that are alike are given once.
    """
    if not ratings:
        return Agreement(value=None, raw=math.nan, items=0, reason="no item was judged")
    raters = len(ratings[0])
    if raters < 2 or any(len(item) != raters for item in ratings):
        raise ValueError("every item needs the same number of ratings, two or more")
    alike = _alike(ratings, times)
    items = alike.total()
    raw = sum(_pairs_agreeing(Counter(item), raters) * n for item, n in alike.items()) / items
    pooled = Counter[Hashable]()
    for item, n in alike.items():
        for label in item:
            pooled[label] += n
    total = raters * items
    chance = sum((count / total) ** 2 for count in pooled.values())
    return _beyond_chance(raw, chance, items)


def gwet_ac1(
    ratings: Sequence[Sequence[Hashable]],
    labels: Sequence[Hashable] | None = None,
    times: Sequence[int] | None = None,
) -> Agreement:
    """Gwet's AC1, which stays meaningful when one label dominates; two or more ratings an item.

    ``labels`` are those that raters could choose from; without it, those that they chose.
    ``times``: how many items were rated so, where items that are alike are given once.
    """
    alike = _alike(ratings, times)
    judged = sum(n for item, n in alike.items() if len(item) >= 2)
    if not judged:
        return Agreement(value=None, raw=math.nan, items=0, reason="no item was judged twice")
    names = set(labels) if labels is not None else {x for item in ratings for x in item}
    raw = sum(
        _pairs_agreeing(Counter(item), len(item)) * n for item, n in alike.items() if len(item) >= 2
    )
    raw /= judged
    if len(names) < 2:
        return Agreement(value=None, raw=raw, items=judged, reason="only one label was ever used")
    rated = sum(n for item, n in alike.items() if item)
    # One pass over the ratings: sources' names make as many labels as there are claims.
    weights: dict[Hashable, float] = dict.fromkeys(names, 0.0)
    for kind, n in alike.items():
        for name, count in Counter(kind).items():
            if name in weights:
                weights[name] += n * count / len(kind)
    shares = {name: weight / rated for name, weight in weights.items()}
    chance = sum(share * (1.0 - share) for share in shares.values()) / (len(names) - 1)
    return _beyond_chance(raw, chance, judged)


def _alike(
    ratings: Sequence[Sequence[Hashable]], times: Sequence[int] | None
) -> Counter[tuple[Hashable, ...]]:
    """How often each kind of item occurs: few differ from all others."""
    if times is None:
        return Counter(map(tuple, ratings))
    found = Counter[tuple[Hashable, ...]]()
    for item, n in zip(ratings, times, strict=True):
        found[tuple(item)] += n
    return found


def _pairs_agreeing(count: Counter[Hashable], raters: int) -> float:
    return sum(n * (n - 1) for n in count.values()) / (raters * (raters - 1))


def _beyond_chance(raw: float, chance: float, items: int) -> Agreement:
    if chance >= 1.0 - 1e-12:
        reason = "only one label was used, so agreement by chance is certain"
        return Agreement(value=None, raw=raw, items=items, reason=reason)
    return Agreement(value=(raw - chance) / (1.0 - chance), raw=raw, items=items)
