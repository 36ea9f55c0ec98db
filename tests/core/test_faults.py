"""A bug in one claim, pair or trace: it alone needs review and says so, whatever shares its batch."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from builders import a_source, a_trace
from lexical import LexicalCalibrator, LexicalEmbedder, LexicalNliModel, lexical_models
from numpy.typing import NDArray

from core.codec import verdict_document
from core.config import Config
from core.errors import Overdue
from core.pipeline import Models, verify, verify_all, versions
from core.records import ClaimVerdict, Features, NliScore, Trace, VerdictLabel, Verification
from core.records.state import State, answer_state, state_of

SECRET = "metformin"
GOOD = "The patient takes lisinopril 10 mg daily. The blood pressure was 128/82 mmHg."
BAD = f"The patient takes {SECRET} 500 mg twice daily with the evening meal."
CHART = f"{GOOD} {BAD}"


@dataclass(frozen=True)
class BrokenEmbedder(LexicalEmbedder):
    """It fails on a text, which its message quotes."""

    on: str = BAD

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        for text in texts:
            if self.on == text:
                raise IndexError(text)
        return super().embed(texts)


@dataclass(frozen=True)
class BrokenNliModel(LexicalNliModel):
    """It fails on every pair of a claim."""

    error: type[Exception] = ValueError

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[NliScore | None]:
        for pair in pairs:
            if SECRET in pair[1]:
                raise self.error(pair[0])
        return super().read(pairs)


@dataclass(frozen=True)
class BrokenCalibrator(LexicalCalibrator):
    """It fails on a claim of that length."""

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        if any(row.numeric["claim_len"] == len(BAD.split()) for row in rows):
            raise ZeroDivisionError(SECRET)
        return super().probabilities(rows)


def traces() -> list[Trace]:
    chart = a_source(CHART)
    return [
        a_trace(GOOD, chart, trace_id="before"),
        a_trace(f"{GOOD} {BAD}", chart, trace_id="faulty"),
        a_trace(GOOD, chart, trace_id="after"),
    ]


def without_time(verification: Verification) -> dict[str, object]:
    return {k: v for k, v in verdict_document(verification).items() if k != "latency_seconds"}


def is_faulty(verdict: ClaimVerdict) -> bool:
    said = " ".join(verdict.reasons)
    return verdict.verdict is VerdictLabel.UNJUDGED and "could not be checked" in said


@pytest.mark.parametrize(
    "broken",
    [
        {"embedder": BrokenEmbedder()},
        {"nli": BrokenNliModel()},
        {"calibrator": BrokenCalibrator()},
    ],
    ids=lambda broken: next(iter(broken)),
)
def test_a_bug_in_one_claim_leaves_all_others_as_they_are(
    broken: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    expected = list(verify_all(traces(), lexical_models(), Config()))
    models: Models = replace(lexical_models(), **broken)  # type: ignore[arg-type]

    with caplog.at_level(logging.ERROR):
        before, faulty, after = verify_all(traces(), models, Config())

    assert without_time(before) == without_time(expected[0])
    assert without_time(after) == without_time(expected[2])
    assert [claim for claim in faulty.claims if is_faulty(claim)] == [faulty.claims[-1]]
    assert faulty.claims[:-1] == expected[1].claims[:-1]
    assert state_of(faulty.claims[-1]) is answer_state(faulty) is State.NEEDS_REVIEW
    assert "Error in test_faults.py" in caplog.text and SECRET not in caplog.text
    assert SECRET not in " ".join(faulty.claims[-1].reasons)
    # Its run is another one, so that verifying asks again, as after a judge that gave no reply.
    assert before.versions == versions(models, Config()) != faulty.versions


def test_a_trace_whose_evidence_cannot_be_read_needs_review_as_a_whole() -> None:
    chart = a_source(CHART)
    unreadable = a_trace(GOOD, replace(chart, arguments={"depth": object()}), trace_id="faulty")

    before, faulty, after = verify_all(
        [traces()[0], unreadable, traces()[2]], lexical_models(), Config()
    )

    assert [claim.claim.said for claim in faulty.claims if is_faulty(claim)] == [GOOD]
    assert answer_state(faulty) is State.NEEDS_REVIEW
    assert not any(map(is_faulty, (*before.claims, *after.claims)))


def test_what_is_no_bug_of_a_claim_ends_the_run() -> None:
    models = replace(lexical_models(), nli=BrokenNliModel(error=Overdue))

    with pytest.raises(Overdue):
        verify(traces()[1], models, Config())
