"""III.5 and Appendix B: the calibrator's input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import a_claim, a_premise, a_source

from core.config import Config
from core.records import Entailment, NliScore, Probabilities, RankedSource, Route
from core.text.tokens import content_terms
from core.verification.features import CATEGORICAL, NUMERIC, build_features
from core.verification.reading import check_literals, judge_relation

PAPER = Path(__file__).parents[2] / "golden" / "paper"


def test_appendix_bs_routing_and_nli_values_give_appendix_bs_features() -> None:
    example = json.loads((PAPER / "appendix_b.json").read_text(encoding="utf-8"))
    claim = a_claim(example["claim"])
    premise, source = a_premise(example["premise"]), a_source(example["premise"])
    entailment: Entailment = judge_relation(
        NliScore(
            probabilities=Probabilities(**example["probabilities"]),
            tokens=(),
            premise_truncated=False,
        )
    )
    literals = check_literals(claim, premise, source, (), entailment, Config())
    route = Route(
        family="patient_record",
        ranking=(RankedSource(source_id=example["route"]["source_id"], score=0.224),),
        **example["route"],
    )

    found = build_features(
        claim,
        route,
        entailment,
        literals,
        category=example["category"],
        evidence_terms=content_terms(example["premise"]),
        absent_everywhere=frozenset(),
        chunks_n=example["chunks_n"],
        signals={},
        config=Config(),
    )

    assert dict(found.categorical) == example["categorical_features"]
    rounded = {name: round(value, 3) for name, value in found.numeric.items()}
    assert rounded == pytest.approx(example["numeric_features"], abs=5e-4)


def test_the_feature_names_are_appendix_bs_and_in_its_order() -> None:
    example = json.loads((PAPER / "appendix_b.json").read_text(encoding="utf-8"))

    assert tuple(example["categorical_features"]) == CATEGORICAL
    assert tuple(example["numeric_features"]) == NUMERIC


def test_the_squared_feature_is_the_square_of_the_product() -> None:
    assert round((0.927 * 0.224) ** 2, 3) == 0.043
    assert round(0.927 * 0.224**2, 3) == 0.047
