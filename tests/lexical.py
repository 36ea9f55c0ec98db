"""Models that count words instead of reading: fast, deterministic, and for tests alone.

They stand in for the trained models by argument, so that the whole pipeline runs without weights:
a claim is entailed when one line of the premise holds its words, contradicted when only one of the
two is negated.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.attribution.families import load_families
from core.config import Config
from core.pipeline import Models, verify
from core.records import Features, NliScore, Probabilities, TokenScore, Trace, Verification
from core.text.tokens import content_terms, normalised_term, overlap, word_spans

NEGATIONS = frozenset("no not never without denies denied neither".split())


@dataclass(frozen=True)
class LexicalEmbedder:
    """Hashed bags of content words."""

    name: str = "lexical-embedder"
    max_tokens: int = 256

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        rows = np.zeros((len(texts), 512))
        for row, text in zip(rows, texts, strict=True):
            for term in sorted(content_terms(text)):
                row[zlib.crc32(term.encode()) % 511] += 1.0
            row[511] += 0.01
        return np.round(rows / np.linalg.norm(rows, axis=1, keepdims=True), 6)


@dataclass(frozen=True)
class LexicalNliModel:
    """Entailment by the share of the claim's words that the best line of the premise holds."""

    name: str = "lexical-reader"
    precision: str = "exact"
    max_tokens: int = 512

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        return [self._read(premise, claim) for premise, claim in pairs]

    def _read(self, premise: str, claim: str) -> NliScore:
        wanted = content_terms(claim) - NEGATIONS
        line = max(
            premise.splitlines() or [""], key=lambda one: overlap(wanted, content_terms(one))
        )
        share = overlap(wanted, content_terms(line))
        held = content_terms(premise)
        negated = [bool(set(text.lower().split()) & NEGATIONS) for text in (line, claim)]
        if share >= 0.5 and negated[0] != negated[1]:
            found = Probabilities(entailment=0.04, neutral=0.06, contradiction=0.9)
        elif share >= 0.7:
            found = Probabilities(entailment=0.94, neutral=0.04, contradiction=0.02)
        else:
            found = Probabilities(entailment=0.05, neutral=0.92, contradiction=0.03)
        tokens = tuple(
            TokenScore(
                span=span, score=1.0 if normalised_term(span.cut(claim).lower()) in held else 0.1
            )
            for span in word_spans(claim)
        )
        return NliScore(probabilities=found, tokens=tokens, premise_truncated=False)


@dataclass(frozen=True)
class LexicalCalibrator:
    """Supported when the reading entails and no protected value is missing."""

    name: str = "lexical-calibrator"
    threshold: float = 0.5

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        return np.array(
            [
                0.95 if row.numeric["entailment"] and not row.numeric["protected_missing"] else 0.05
                for row in rows
            ]
        )


def lexical_models() -> Models:
    """The three stand-ins with the packaged families."""
    return Models(
        embedder=LexicalEmbedder(),
        nli=LexicalNliModel(),
        calibrator=LexicalCalibrator(),
        families=load_families(),
    )


def verify_lexically(trace: Trace) -> Verification:
    """The pipeline's verdict with the stand-ins."""
    return verify(trace, lexical_models(), Config())
