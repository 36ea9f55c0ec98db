"""Baselines against their published algorithms written out, on an NLI model whose scores are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ComponentUnavailable
from core.evaluation.baselines import BlindClaim, pack
from core.evaluation.baselines.checkpoints import load_published
from core.evaluation.baselines.pooled import AlignScoreStyle, MiniCheckStyle, RagasStyle
from core.evaluation.baselines.summac import (
    SummacZS,
)
from core.records import NliScore, Probabilities


class WordNliModel:
    """Entails what the premise holds word for word; the share of the claim's words it holds."""

    name = "words"
    precision = "exact"
    max_tokens = 512

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        self.pairs += pairs
        return [self._one(premise, claim) for premise, claim in pairs]

    def _one(self, premise: str, claim: str) -> NliScore | None:
        if claim.startswith("UNREADABLE"):
            return None
        words = claim.lower().replace(".", " ").split()
        held = set(premise.lower().replace(".", " ").split())
        share = sum(word in held for word in words) / len(words)
        denied = 0.5 * (1 - share) if "not" in held else 0.0
        p = Probabilities(
            entailment=share, neutral=round(1 - share - denied, 4), contradiction=denied
        )
        return NliScore(probabilities=p, tokens=(), premise_truncated=False)


CLAIM = BlindClaim(
    claim="Metformin was stopped. The dose was low.",
    evidence=("Metformin was stopped in May. It was not tolerated.", "The dose was high."),
)


def test_summac_zs_is_the_mean_over_claim_sentences_of_the_best_evidence_sentence() -> None:
    (score,) = SummacZS(WordNliModel()).scores([CLAIM])

    # First sentence: entailed whole by the first evidence sentence. Second: 3 of 4 words.
    assert score == pytest.approx((1.0 + 0.75) / 2)


def test_a_contradicting_sentence_lowers_its_own_score_only() -> None:
    denied = BlindClaim(claim="Metformin was stopped.", evidence=("Metformin was not given.",))

    (score,) = SummacZS(WordNliModel()).scores([denied])

    assert score == pytest.approx(2 / 3 - 0.5 * (1 / 3))


def test_minicheck_takes_the_best_chunk_and_alignscore_averages_claim_sentences() -> None:
    nli = WordNliModel()

    assert MiniCheckStyle(nli).scores([CLAIM])[0] == pytest.approx(6 / 7)
    assert AlignScoreStyle(nli).scores([CLAIM])[0] == pytest.approx((1.0 + 0.75) / 2)


def test_ragas_counts_statements_whose_context_entails_them() -> None:
    half = BlindClaim(claim="Metformin was stopped. Kangaroos play chess.", evidence=CLAIM.evidence)

    assert RagasStyle(WordNliModel()).scores([half])[0] == pytest.approx(0.5)


@pytest.mark.parametrize("kind", [SummacZS, MiniCheckStyle, AlignScoreStyle, RagasStyle])
def test_no_readable_evidence_is_not_a_score(kind) -> None:
    baseline = kind(WordNliModel())

    found = baseline.scores(
        [
            BlindClaim(claim="Anything.", evidence=()),
            BlindClaim(claim="UNREADABLE claim", evidence=("Some text.",)),
            CLAIM,
        ]
    )

    assert np.isnan(found[:2]).all() and np.isfinite(found[2])
    assert len(baseline.scores([])) == 0


@pytest.mark.parametrize("kind", [SummacZS, MiniCheckStyle, AlignScoreStyle, RagasStyle])
def test_the_order_and_grouping_of_sources_does_not_matter_to_a_source_blind_score(kind) -> None:
    turned = BlindClaim(claim=CLAIM.claim, evidence=CLAIM.evidence[::-1])
    apart = BlindClaim(
        claim=CLAIM.claim,
        evidence=("Metformin was stopped in May.", "It was not tolerated.", "The dose was high."),
    )
    baseline = kind(WordNliModel())

    scores = baseline.scores([CLAIM, turned, apart])

    assert scores[1] == pytest.approx(scores[0]) and scores[2] == pytest.approx(scores[0])


@given(
    st.lists(st.lists(st.sampled_from(["a", "bb", "c"]), max_size=30), max_size=12),
    st.integers(1, 9),
)
def test_packing_keeps_every_word_in_order_and_no_chunk_is_too_long(parts, words: int) -> None:
    texts = [" ".join(part) for part in parts]

    chunks = pack(texts, words)

    assert " ".join(chunks).split() == " ".join(texts).split()
    assert all(0 < len(chunk.split()) <= words for chunk in chunks)


def test_a_distinct_pair_is_read_once_a_batch() -> None:
    nli = WordNliModel()

    MiniCheckStyle(nli).scores([CLAIM] * 10)

    assert len(nli.pairs) == len(set(nli.pairs)) == 1


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("MiniCheck", marks=pytest.mark.stress),  # imports transformers: 16 s
        "AlignScore",
        "RAGAS Faithfulness",
        "SummaC-ZS",
        "x",
    ],
)
def test_a_published_checkpoint_that_cannot_be_loaded_is_unavailable_and_says_why(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(ComponentUnavailable) as error:
        load_published(name, str(tmp_path / "no such folder"))

    assert str(error.value)
