"""The two-head joint verifier: what it is trained on, what it decides, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest

from core.attribution.families import load_families
from core.config import Config
from core.evaluation.packets import PacketRow
from core.models.loading import BUNDLED_PAIR_READER, load_embedder
from core.pipeline import Models
from core.records import Decision, Relation, Source, VerdictLabel
from training.joint import claim_pairs
from training.joint_predictions import calibrate, predictions
from training.joint_verifier import ClaimPairs, JointReading, JointVerifier

DRUGS = ("metformin", "lisinopril", "warfarin", "apixaban", "sertraline", "amlodipine")


def row(index: int) -> PacketRow:
    """A claim about one drug, with a source on it and a source on another drug."""
    drug, other = DRUGS[index % len(DRUGS)], DRUGS[(index + 1) % len(DRUGS)]
    dose = 5 * (index % 7 + 1)
    holds = index % 2 == 0
    label = VerdictLabel.SUPPORTED if holds else VerdictLabel.CONTRADICTED
    return PacketRow(
        claim_id=f"c{index}",
        trace_id=f"t{index}",
        claim=f"The patient takes {drug} {dose} mg daily.",
        sources=(
            Source(
                source_id="other",
                tool_name="search",
                text=f"{other.title()} is taken in the evening.",
            ),
            Source(
                source_id="chart",
                tool_name="load_chart",
                text=f"Medication: {drug} {dose if holds else dose + 40} mg daily.",
            ),
        ),
        label=label,
        relation=Relation.ENTAILMENT if holds else Relation.CONTRADICTION,
        gold_source_ids=("chart",),
    )


@pytest.fixture(scope="module")
def pairs() -> list[ClaimPairs]:
    models = Models(
        embedder=load_embedder(),
        reader=None,  # type: ignore[arg-type]
        calibrator=None,  # type: ignore[arg-type]
        families=load_families(),
    )
    return list(claim_pairs([row(i) for i in range(24)], models, Config()))


def test_every_candidate_of_a_claim_is_read_and_not_only_the_first(
    pairs: list[ClaimPairs],
) -> None:
    assert [one.source_ids for one in pairs] == [("other", "chart")] * 24
    assert all(
        premise in source.text
        for one in pairs
        for premise, source in zip(one.premises, one.row.sources, strict=True)
    )


def test_both_heads_learn_the_claims_that_they_are_shown(pairs: list[ClaimPairs]) -> None:
    verifier = JointVerifier(str(BUNDLED_PAIR_READER))
    before = [said.owns[1] for said in verifier.read(pairs)]

    verifier.learn(pairs, passes=12, learning_rate=2e-4, tokens_per_batch=512)

    readings = verifier.read(pairs)
    assert [said.best for said in readings] == [1] * 24
    assert np.mean([said.owns[1] for said in readings]) > np.mean(before) + 0.2


def test_reading_does_not_depend_on_the_batch(pairs: list[ClaimPairs]) -> None:
    verifier = JointVerifier(str(BUNDLED_PAIR_READER))

    alone = [verifier.read([one])[0] for one in pairs[:4]]
    together = verifier.read(pairs[:4], batch_pairs=3)

    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.relations, other.relations, atol=0.02)  # bf16
        np.testing.assert_allclose(one.owns, other.owns, atol=0.02)


def test_the_claim_takes_the_relation_of_the_source_that_owns_it(pairs: list[ClaimPairs]) -> None:
    said = JointReading(
        owns=np.array([0.2, 0.9]),
        relations=np.array([[0.9, 0.05, 0.05], [0.1, 0.2, 0.7]]),
    )

    (found,) = predictions(pairs[:1], [said])

    assert found.routed_source_id == "chart"
    assert found.relation is Relation.CONTRADICTION
    assert found.decision is Decision.BLOCK
    assert found.verdict is VerdictLabel.CONTRADICTED
    assert [ranked.source_id for ranked in found.ranking] == ["chart", "other"]


def test_the_calibrated_row_keeps_to_the_false_pass_rate_it_was_given(
    pairs: list[ClaimPairs],
) -> None:
    rng = np.random.default_rng(0)
    readings = []
    for one in pairs:
        entailed = 0.7 * (one.row.label is VerdictLabel.SUPPORTED) + 0.3 * rng.random()
        readings.append(
            JointReading(
                owns=np.array([0.1, 0.8]),
                relations=np.array([[0.1, 0.8, 0.1], [entailed, 1 - entailed, 0.0]]),
            )
        )

    fitted = calibrate(pairs, readings, max_false_pass=0.025)

    found = predictions(pairs, readings, fitted.support(readings), fitted.threshold)
    passed_bad = sum(
        not said.blocked and one.row.should_block for one, said in zip(pairs, found, strict=True)
    )
    assert passed_bad == 0
    assert any(not said.blocked for said in found)
