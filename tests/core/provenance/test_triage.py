"""The tier and the causes by which a list of answers is filtered."""

from __future__ import annotations

from core.provenance.analyse import analyse
from core.provenance.risk import tier_of
from core.provenance.triage import (
    CAUSES,
    CONTRADICTED,
    NOT_CONFIRMED,
    NOT_JUDGED,
    WRONG_CREDIT,
    triage,
)
from core.records import Check, Decision, Outcome
from tests.verdicts import showcase, with_checks


def test_the_tier_is_the_report_s_and_the_causes_are_of_blocked_claims_alone() -> None:
    verified = showcase()

    found = triage(verified)

    assert found.tier is tier_of(analyse(verified).risk)
    assert found.causes == (CONTRADICTED, WRONG_CREDIT, NOT_CONFIRMED, NOT_JUDGED)


def test_a_distortion_of_a_blocked_claim_is_a_cause_by_its_own_name() -> None:
    line = Check(check="association as cause", outcome=Outcome.CONTRADICTS, reason="r")
    verified = showcase()
    blocked = next(n for n, v in enumerate(verified.claims, 1) if v.decision is Decision.BLOCK)
    passed = next(n for n, v in enumerate(verified.claims, 1) if v.decision is Decision.ALLOW)

    assert line.check in CAUSES
    assert line.check in triage(with_checks(verified, blocked, line)).causes
    assert line.check not in triage(with_checks(verified, passed, line)).causes
