"""Two pair readers heard together: the mean of what they say.

A small reader that has read much of what agents write and a large one that has read less err on
different claims: ranked by the mean, right and wrong claims of real answers are told apart better
than by either (the model card of the accurate reader has the figures).
"""

from __future__ import annotations

from collections.abc import Sequence

from core.ports import PairReader, taught_close
from core.records import PairReading, Probabilities


class MeanPairReader:
    """The mean of two readers' probabilities, with the attention of the second; fills
    `core.ports.PairReader`."""

    def __init__(self, *, name: str, first: PairReader, second: PairReader) -> None:
        self.name, self.precision = name, second.precision
        self.max_tokens = min(first.max_tokens, second.max_tokens)
        self._readers = (first, second)
        self.taught_close = any(taught_close(reader) for reader in self._readers)

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """Return one reading a pair, in order; None where either reader has no room for the claim."""
        first, second = (reader.read(pairs) for reader in self._readers)
        return _means(first, second)

    def read_close(self, pairs: Sequence[tuple[str, str]]) -> list[PairReading | None]:
        """The same of close premises, by the reader that was taught on such alone, where one was."""
        taught = [one for one in self._readers if taught_close(one)]
        found = [reader.read_close(pairs) for reader in taught]
        return _means(*found) if len(found) == 2 else found[0] if found else self.read(pairs)


def _means(
    first: Sequence[PairReading | None], second: Sequence[PairReading | None]
) -> list[PairReading | None]:
    return [
        None if one is None or other is None else _mean(one, other)
        for one, other in zip(first, second, strict=True)
    ]


def _mean(one: PairReading, other: PairReading) -> PairReading:
    a, b = one.probabilities, other.probabilities
    return PairReading(
        probabilities=Probabilities(
            entailment=round((a.entailment + b.entailment) / 2, 4),
            neutral=round((a.neutral + b.neutral) / 2, 4),
            contradiction=round((a.contradiction + b.contradiction) / 2, 4),
        ),
        tokens=other.tokens,
        premise_truncated=one.premise_truncated or other.premise_truncated,
        premise_tokens=other.premise_tokens,
    )
