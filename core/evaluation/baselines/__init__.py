"""Source-blind support baselines (IV.6): pooled evidence in, one support score a claim out.

They never see which source a text came from, so they are compared on blocking alone. Those called
"algorithm" run a published method on our own NLI model; those called "checkpoint" run the
published weights, and are unavailable, never imitated, where those cannot be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.ports import NliModel
from core.records import Probabilities
from core.text.sentences import sentence_spans

CLAIMS_AT_ONCE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindClaim:
    """A claim and its evidence texts, without ids: all that a source-blind method may see."""

    claim: str
    evidence: tuple[str, ...]


class Baseline(Protocol):
    """A support score a claim; a claim is blocked when it is below the threshold."""

    name: str
    origin: str  # "algorithm" or "checkpoint"
    natural_threshold: float

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """Shape (len(claims),), higher is better supported; NaN where nothing could be read."""
        ...


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order; the whole text when it has none."""
    return [span.cut(text) for span in sentence_spans(text)] or [text]


def pack(parts: Sequence[str], words: int) -> list[str]:
    """Neighbouring parts joined to chunks of at most ``words`` words; a longer part is cut."""
    chunks: list[list[str]] = [[]]
    for part in parts:
        tokens = part.split()
        for start in range(0, len(tokens), words):
            piece = tokens[start : start + words]
            if chunks[-1] and len(chunks[-1]) + len(piece) > words:
                chunks.append([])
            chunks[-1].extend(piece)
    return [" ".join(chunk) for chunk in chunks if chunk]


def read_all(
    nli: NliModel, wanted: Sequence[Sequence[tuple[str, str]]]
) -> Iterator[list[Probabilities | None]]:
    """NLI scores of each claim's (premise, claim) pairs, every distinct pair of a batch read once."""
    for start in range(0, len(wanted), CLAIMS_AT_ONCE):
        batch = wanted[start : start + CLAIMS_AT_ONCE]
        distinct = list(dict.fromkeys(pair for pairs in batch for pair in pairs))
        found = dict(zip(distinct, nli.read(distinct), strict=True)) if distinct else {}
        for pairs in batch:
            nli_scores = [found[pair] for pair in pairs]
            yield [None if one is None else one.probabilities for one in nli_scores]
