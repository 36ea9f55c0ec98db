"""What an agent wrote and what its tools answered are told apart to the calibrator."""

from __future__ import annotations

import json

from builders import a_claim, a_source, a_trace
from lexical import lexical_models

from core.config import Config
from core.pipeline import verify_claims
from core.records import Judged

SAID = "The weir at Hollin was damaged."


def _signals(came_back: str, written: str) -> dict[str, float]:
    source = a_source(came_back, arguments=json.dumps({"path": "n.md", "content": written}))
    trace = a_trace(SAID, source)
    [verification] = verify_claims([(trace, (a_claim(SAID),))], lexical_models(), Config())
    [verdict] = verification.claims
    assert isinstance(verdict.outcome, Judged)
    return dict(verdict.outcome.features.numeric)


def test_what_was_written_speaks_for_a_claim_as_a_call_alone() -> None:
    found = _signals("Wrote 2 lines.", "The weir at Hollin was damaged.\nA repair is planned.")
    assert found["entailment_calls"] > 0.9
    assert found["entailment_outputs"] < 0.1
    assert found["entailment_any"] == found["entailment_calls"]


def test_what_came_back_speaks_for_a_claim_as_an_output_alone() -> None:
    found = _signals("The weir at Hollin was damaged.", "weir Hollin report")
    assert found["entailment_outputs"] > 0.9
    assert found["entailment_calls"] < 0.1
    assert found["entailment_any"] == found["entailment_outputs"]
