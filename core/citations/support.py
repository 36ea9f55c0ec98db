"""Whether the cited record says what it is cited for, or another record of the run does.

A citation is compared, not measured: the words of what is cited are weighed by how few records of
the run have them, and the cited record is held against the best other one. A paraphrase shares few
words with its source, and still far fewer with any other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.citations.records_of import RunRecord, run_terms

SENTENCE_WEIGHT, AROUND_WEIGHT = 1.0, 0.5
# Set on the even traces of clinical_native, measured on the odd ones (bench/citation_bench.py).
RIVAL_LEAD = 0.12
RIVAL_RATIO = 0.75
RIVAL_SHARE = 0.25
SAYS_SHARE = 0.30
CATALOGUE_WEIGHT = 0.5  # schemas name everything a tool could do; they say that of tools alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How much of what is cited the cited records and the best other record have, from 0 to 1."""

    cited: float
    rival: float
    best_cited: RunRecord | None
    best_rival: RunRecord | None
    informative: int

    @property
    def said_elsewhere(self) -> bool:
        """Whether another record says it clearly better than the cited one."""
        lead = self.rival - self.cited
        return (
            lead >= RIVAL_LEAD and self.cited <= RIVAL_RATIO * self.rival and self.informative >= 3
        )

    @property
    def says_it(self) -> bool:
        """Whether the cited record has enough of it."""
        return self.cited >= SAYS_SHARE and not self.said_elsewhere


class Weights:
    """How much each term tells the records of one run apart."""

    def __init__(self, records: Sequence[RunRecord]) -> None:
        self.records = tuple(records)
        counts = Counter(term for record in records for term in record.terms)
        total = len(records)
        self._weights = {
            term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in counts.items()
        }

    def weigh(self, sentence: str, around: str) -> dict[str, float]:
        """The terms of a citation's scope that some record has, each with its weight."""
        near, far = run_terms(sentence), run_terms(around)
        found: dict[str, float] = {}
        for term in sorted(near | far):
            weight = self._weights.get(term, 0.0)
            if weight > 0:
                found[term] = weight * (SENTENCE_WEIGHT if term in near else AROUND_WEIGHT)
        return found

    def _held(self, terms: dict[str, float], record: RunRecord, own: bool) -> float:
        """The weight of ``terms`` in the best passage of a record.

        A long output has any word somewhere; what it says stands together. What was asked counts
        for the cited record alone: an agent asks for, and writes, whatever it goes on to say.
        """
        asked = record.asked if own else frozenset()
        shared = {term for term in terms if term in record.terms or term in asked}
        if not shared:
            return 0.0
        return max(
            sum(terms[term] for term in shared if term in passage or term in asked)
            for passage in record.passages
        )

    def support(
        self,
        terms: dict[str, float],
        cited: Sequence[RunRecord],
        rivals: Sequence[RunRecord],
    ) -> Support:
        """The cited records against their rivals; parts of one publication count as one."""
        whole = sum(terms.values())
        named = {id(record) for record in cited}
        ids = frozenset(one for record in cited for one in record.ids)
        best: dict[bool, tuple[float, RunRecord | None]] = {True: (0.0, None), False: (0.0, None)}
        for record in (*cited, *rivals):
            own = id(record) in named or bool(ids & record.ids)
            share = self._held(terms, record, own) / whole if whole else 0.0
            if record.lists_tools:
                share *= CATALOGUE_WEIGHT
            if share > best[own][0] or best[own][1] is None:
                best[own] = (share, record)
        return Support(
            cited=round(best[True][0], 4),
            rival=round(best[False][0], 4),
            best_cited=best[True][1],
            best_rival=best[False][1],
            informative=len(terms),
        )
