"""What a check holds against a claim leaves it to a person, however well it is supported."""

from __future__ import annotations

from core.config import Config
from core.records import Check, Decision, Judged, Outcome, VerdictLabel, needs_review
from core.verification.decision import decide_claim
from tests.verdicts import showcase, with_checks

CHECK = Check(
    check="certainty raised",
    outcome=Outcome.CONTRADICTS,
    reason="Certainty raised: the source says “may”; the answer leaves it out",
)


def test_no_claim_is_called_supported_over_a_check_that_speaks_against_it() -> None:
    verified = showcase()

    for number, before in enumerate(verified.claims, start=1):
        if not isinstance(before.outcome, Judged):
            continue
        outcome = with_checks(verified, number, CHECK).claims[number - 1].outcome
        plain = decide_claim(before.claim, before.outcome, Config())
        told = decide_claim(before.claim, outcome, Config())
        assert told.decision is Decision.BLOCK
        assert told.verdict is not VerdictLabel.SUPPORTED
        assert any(CHECK.reason in reason for reason in told.reasons)
        if plain.decision is Decision.ALLOW:
            assert needs_review(told)
