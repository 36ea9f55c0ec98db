"""Three methods that read pooled evidence in chunks: MiniCheck, AlignScore and RAGAS Faithfulness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.evaluation.baselines import BlindClaim, pack, read_all, sentences
from core.ports import NliModel
from core.records import Probabilities, Relation
from core.text.tokens import content_terms, overlap

# Words a chunk; the methods count tokens (400, 350), of which English has about 1.3 a word.
MINICHECK_WORDS = 300
ALIGNSCORE_WORDS = 270
RAGAS_WORDS = 300


class MiniCheckStyle:
    """P(entailment) of the whole claim, best of any chunk of the pooled evidence (Tang et al. 2024)."""

    name = "MiniCheck-style"
    origin = "algorithm"
    natural_threshold = 0.5

    def __init__(self, nli: NliModel) -> None:
        self.nli = nli

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """In [0, 1]; NaN without evidence that could be read."""
        wanted = [
            [(chunk, claim.claim) for chunk in pack(_pooled(claim), MINICHECK_WORDS)]
            for claim in claims
        ]
        return np.array([_best(nli_scores) for nli_scores in read_all(self.nli, wanted)])


class AlignScoreStyle:
    """Mean over claim sentences of the best chunk's alignment (Zha et al. 2023)."""

    name = "AlignScore-style"
    origin = "algorithm"
    natural_threshold = 0.5

    def __init__(self, nli: NliModel) -> None:
        self.nli = nli

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """In [0, 1]; NaN without evidence that could be read."""
        parts = [sentences(claim.claim) for claim in claims]
        chunks = [pack(_pooled(claim), ALIGNSCORE_WORDS) for claim in claims]
        wanted = [
            [(chunk, part) for part in own for chunk in texts]
            for own, texts in zip(parts, chunks, strict=True)
        ]
        found = []
        for nli_scores, own, texts in zip(read_all(self.nli, wanted), parts, chunks, strict=True):
            width = len(texts)
            rows = [nli_scores[row * width : (row + 1) * width] for row in range(len(own))]
            found.append(float(np.mean([_best(row) for row in rows])))
        return np.array(found)


class RagasStyle:
    """Share of the claim's statements that the retrieved context entails (Es et al. 2024).

    The published metric asks a language model for each verdict; here the NLI model gives it, over
    the chunk of the pooled evidence that shares most words with the statement.
    """

    name = "RAGAS-style"
    origin = "algorithm"
    natural_threshold = 0.5

    def __init__(self, nli: NliModel) -> None:
        self.nli = nli

    def scores(self, claims: Sequence[BlindClaim]) -> NDArray[np.float64]:
        """In [0, 1], a share of statements; NaN without evidence that could be read."""
        wanted = [
            [
                (context, part)
                for part in sentences(claim.claim)
                if (context := _context(claim, part))
            ]
            for claim in claims
        ]
        return np.array([_share_entailed(nli_scores) for nli_scores in read_all(self.nli, wanted)])


def _pooled(claim: BlindClaim) -> list[str]:
    return [sentence for text in claim.evidence for sentence in sentences(text)]


def _context(claim: BlindClaim, statement: str) -> str:
    """The pooled sentences that share most terms with the statement, in order, as one context."""
    terms = content_terms(statement)
    pooled = [text for text in _pooled(claim) if text.strip()]
    ranked = sorted(
        range(len(pooled)), key=lambda place: -overlap(terms, content_terms(pooled[place]))
    )
    kept: list[int] = []
    words = 0
    for place in ranked:
        words += len(pooled[place].split())
        if kept and words > RAGAS_WORDS:
            break
        kept.append(place)
    return " ".join(pooled[place] for place in sorted(kept))


def _best(nli_scores: Sequence[Probabilities | None]) -> float:
    return max((one.entailment for one in nli_scores if one is not None), default=float("nan"))


def _share_entailed(nli_scores: Sequence[Probabilities | None]) -> float:
    verdicts = [one.relation is Relation.ENTAILMENT for one in nli_scores if one is not None]
    return float(np.mean(verdicts)) if verdicts else float("nan")
