"""The verifier of many callers: work that takes too long is ended, not only no longer waited for."""

from __future__ import annotations

import time

import pytest
from builders import a_source, a_trace
from lexical import lexical_models

from core.config import Config
from core.errors import Overdue
from core.workflows.batching import Allowed, BatchingVerifier

CHART = a_source("Patient: Rosa Lindqvist. Medications: metformin 500 mg twice daily. eGFR 58.")
SHORT = a_trace("She takes metformin 500 mg twice daily.", CHART)
# Minutes of work: each line is a claim of its own.
LONG = a_trace("\n".join(f"- The level of drug{n} is {n} mg." for n in range(1_200)), CHART)


def test_what_takes_too_long_or_is_given_up_ends_and_its_neighbour_is_judged() -> None:
    with BatchingVerifier(lexical_models(), Config(), latency_bound_seconds=0.2) as verifier:
        verifier.submit(SHORT).result(300)  # everything is loaded
        begun = time.process_time()
        given_up = Allowed()
        late = verifier.submit(LONG, allowed=Allowed(1.0))
        beside = verifier.submit(SHORT)
        with pytest.raises(Overdue, match="within 1 s"):
            late.result(300)
        assert len(beside.result(300).claims) == 1

        left = verifier.submit(LONG, allowed=given_up)
        given_up.end()
        with pytest.raises(Overdue):
            left.result(300)
        assert len(verifier.submit(SHORT).result(300).claims) == 1

    assert time.process_time() - begun < 40  # the whole of it takes several times as long
