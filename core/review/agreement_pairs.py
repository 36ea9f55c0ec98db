"""Two labels of one claim: the pairs that agreement is measured on, as columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.review.agreement_records import (
    Label,
)
from core.review.records import (
    ReviewedClaim,
)

Codes = NDArray[np.int64]
Value = TypeVar("Value", bound=Hashable)


class Pair(NamedTuple):
    """Two labels of one claim; a plain tuple, since a page makes a hundred thousand of them."""

    claim_key: int
    trace_id: str
    raters: tuple[str, str]
    labels: tuple[Label, Label]


Found = tuple["Pair | str", ...]  # of one claim: its pairs, or why a pair cannot be compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Pairs as columns of one length; ``left`` and ``right`` are places in ``names``."""

    claims: Codes
    traces: Codes
    raters: Codes
    left: Codes
    right: Codes
    names: tuple[Label, ...]

    def at(self, places: Sequence[int]) -> Pairs:
        """Some of the pairs, in the order of ``places``."""
        return replace(
            self,
            claims=self.claims[places],
            traces=self.traces[places],
            raters=self.raters[places],
            left=self.left[places],
            right=self.right[places],
        )


# What was said of each claim when it was last compared. Records never change: after one more annotation
# nearly all claims are the same objects, and only the others are compared again.
_LAST: dict[tuple[Hashable, ...], dict[int, tuple[ReviewedClaim, Found]]] = {}
_LAST_AT_MOST = 4


def compared(
    claims: Iterable[ReviewedClaim],
    what: tuple[Hashable, ...],
    compare: Callable[[ReviewedClaim], Found],
) -> list[Found]:
    """What ``compare`` says of each claim; ``what`` names the comparison, and is remembered."""
    before, now = _LAST.pop(what, {}), {}
    found = []
    for claim in claims:
        known = before.get(claim.claim_key)
        if known is None or known[0] is not claim:
            known = (claim, compare(claim))
        now[claim.claim_key] = known
        found.append(known[1])
    while len(_LAST) >= _LAST_AT_MOST:
        _LAST.pop(next(iter(_LAST)), None)
    _LAST[what] = now
    return found


def columns(found: Iterable[Pair | str]) -> tuple[Pairs, Counter[str]]:
    """The pairs as columns, and how many there are of each reason for none."""
    pairs: list[Pair] = []
    left_out: Counter[str] = Counter()
    for each in found:
        if isinstance(each, str):
            left_out[each] += 1
        else:
            pairs.append(each)
    claims, traces, raters, labels = zip(*pairs, strict=True) if pairs else ((), (), (), ())
    both, names = _coded([label for two in labels for label in two])
    columns = Pairs(
        claims=np.array(claims, dtype=np.int64),
        traces=_coded(traces)[0],
        raters=_coded(raters)[0],
        left=both[::2],
        right=both[1::2],
        names=names,
    )
    return columns, left_out


def _coded(values: Sequence[Value]) -> tuple[Codes, tuple[Value, ...]]:
    """Each value's place among the different ones, by first appearance; and those."""
    places = {value: at for at, value in enumerate(dict.fromkeys(values))}
    return np.fromiter(map(places.__getitem__, values), np.int64, len(values)), (*places,)
