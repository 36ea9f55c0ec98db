"""Two NLI models heard together: the mean of what they say.

A small NLI model that has read much of what agents write and a large one that has read less err on
different claims: ranked by the mean, right and wrong claims of real answers are told apart better
than by either (the model card of the accurate NLI model has the figures).
"""

from __future__ import annotations

from collections.abc import Sequence

from core.ports import NliModel, taught_close
from core.records import NliScore, Probabilities


class MeanNliModel:
    """The mean of two readers' probabilities, with the attention of the second; fills
    `core.ports.NliModel`."""

    def __init__(self, *, name: str, first: NliModel, second: NliModel) -> None:
        self.name, self.precision = name, second.precision
        self.max_tokens = min(first.max_tokens, second.max_tokens)
        self._nli_models = (first, second)
        self.taught_close = any(taught_close(nli) for nli in self._nli_models)

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        """Return one NLI score a pair, in order; None where either NLI model has no room for the claim."""
        first, second = (nli.read(pairs) for nli in self._nli_models)
        return _means(first, second)

    def read_close(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        """The same of close premises, by the NLI model that was taught on such alone, where one was."""
        taught = [one for one in self._nli_models if taught_close(one)]
        found = [nli.read_close(pairs) for nli in taught]
        return _means(*found) if len(found) == 2 else found[0] if found else self.read(pairs)


def _means(
    first: Sequence[NliScore | None], second: Sequence[NliScore | None]
) -> list[NliScore | None]:
    return [
        None if one is None or other is None else _mean(one, other)
        for one, other in zip(first, second, strict=True)
    ]


def _mean(one: NliScore, other: NliScore) -> NliScore:
    a, b = one.probabilities, other.probabilities
    return NliScore(
        probabilities=Probabilities(
            entailment=round((a.entailment + b.entailment) / 2, 4),
            neutral=round((a.neutral + b.neutral) / 2, 4),
            contradiction=round((a.contradiction + b.contradiction) / 2, 4),
        ),
        tokens=other.tokens,
        premise_truncated=one.premise_truncated or other.premise_truncated,
        premise_tokens=other.premise_tokens,
    )
