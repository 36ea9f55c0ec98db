"""What a check holds against a claim is said of a blocked claim, and blocks none."""

from __future__ import annotations

from core.config import Config
from core.records import Check, Judged, Outcome
from core.stages.decision import decide_claim
from tests.verdicts import showcase, with_checks

CHECK = Check(
    check="certainty raised",
    outcome=Outcome.CONTRADICTS,
    reason="Certainty raised: the source says “may”; the answer leaves it out",
)


def test_a_distortion_is_a_reason_of_a_blocked_claim_and_blocks_no_other() -> None:
    verified = showcase()

    for number, before in enumerate(verified.claims, start=1):
        if not isinstance(before.outcome, Judged):
            continue
        outcome = with_checks(verified, number, CHECK).claims[number - 1].outcome
        plain = decide_claim(before.claim, before.outcome, Config())
        told = decide_claim(before.claim, outcome, Config())
        assert told.decision == plain.decision
        assert told.verdict == plain.verdict
        supported = before.outcome.support.supported
        assert (CHECK.reason in told.reasons) == (not supported)
