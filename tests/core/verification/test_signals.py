"""What an agent wrote and what its tools answered are told apart to the calibrator."""

from __future__ import annotations

import json

import pytest
from builders import a_claim, a_source, a_trace
from lexical import lexical_models

from core.config import Config
from core.evidence.stated_whole import WHOLE
from core.pipeline import verify_claims
from core.records import SHOWN_FEATURE, Check, FactPlace, Judged, Outcome, Span
from core.verification.features import check_signals, nli_signals, source_check_signals

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


@pytest.mark.parametrize(("outputs", "calls"), [(0.2, 0.9), (0.9, 0.2), (0.0, 0.0), (1.0, 1.0)])
def test_what_an_agent_wrote_counts_where_a_claim_is_about_its_own_work(
    outputs: float, calls: float
) -> None:
    own, world = nli_signals(outputs, calls, 0.3), nli_signals(outputs, calls, 0.0)

    assert own["entailment_fit"] == max(outputs, calls)
    assert world["entailment_fit"] == outputs
    assert (own["entailment_own"], own["entailment_said"]) == (calls, 0.0)
    assert (world["entailment_own"], world["entailment_said"]) == (0.0, calls)


def test_a_claim_stated_whole_has_a_signal_of_its_own_and_is_counted_nowhere_else() -> None:
    place = FactPlace(source_id="chart", span=Span(start=0, end=4))
    value = Check(check="value", outcome=Outcome.SUPPORTS, reason="", facts=(place,))
    whole = Check(check=WHOLE, outcome=Outcome.SUPPORTS, reason="", facts=(place,), binding=1.0)

    assert check_signals([value, whole]) == check_signals([value])
    assert source_check_signals([value, whole], "chart")[SHOWN_FEATURE] == 1.0
    assert source_check_signals([value, whole], "other")[SHOWN_FEATURE] == 0.0
    assert source_check_signals([value], "chart")[SHOWN_FEATURE] == 0.0


def test_no_claim_is_stated_whole_that_a_check_objects_to() -> None:
    place = FactPlace(source_id="chart", span=Span(start=0, end=4))
    whole = Check(check=WHOLE, outcome=Outcome.SUPPORTS, reason="", facts=(place,), binding=1.0)
    against = Check(check="date", outcome=Outcome.CONTRADICTS, reason="", facts=(place,))

    assert source_check_signals([whole, against], "chart")[SHOWN_FEATURE] == 0.0
