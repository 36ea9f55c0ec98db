"""What follows from a judge's replies: what is proved decides, and nothing else moves a verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.codec import verdict_document, verification_from_document
from core.config import Config
from core.judge.asking import ask, read_by_judge
from core.judge.replay import Replay, reply_line
from core.judge.request import RequestLimits, new_requests
from core.records import (
    Check,
    Decision,
    Outcome,
    State,
    VerdictLabel,
    Verification,
    state_of,
)
from core.records.judge import JudgeFor, JudgeText, Proved, Unproved
from tests.builders import a_claim, a_source, a_trace
from tests.verdicts import Said, a_verification, with_checks

TEXT = "test: HbA1c\nvalue: 7.4\nunit: %\ncollected: 2025-09-12"
GOOD, BAD = "The HbA1c was 7.4 %.", "The HbA1c was 8.4 %."


def offline(said: str, probability: float = 0.3) -> Verification:
    trace = a_trace(said, a_source(TEXT, "labs#1"))
    unsure = VerdictLabel.NOT_ENOUGH_EVIDENCE if probability < 0.5 else VerdictLabel.SUPPORTED
    said_so = Said(
        said=said, verdict=unsure, source="labs#1", premise="value: 7.4", probability=probability
    )
    return a_verification(trace, {"labs#1": "chart"}, [said_so])


def reading(verdict: str, quote: str = TEXT, **more: object) -> dict[str, object]:
    evidence = [{"source_id": "S1", "quote": quote}]
    return {"n": 1, "verdict": verdict, "evidence": evidence, "why": "It says so.", **more}


def read(verification: Verification, tmp_path: Path, text: str | None) -> Verification:
    """The verification after a judge whose one kept reply is ``text``; None for none."""
    claims = [verdict.claim for verdict in verification.claims]
    (request,) = new_requests(verification.trace, claims, b"another run")
    kept = tmp_path / "replies.jsonl"
    kept.write_text("" if text is None else reply_line(request, JudgeText(text=text, model="m")))
    (found,) = read_by_judge([verification], Replay(kept, "m@here"), JudgeFor.ALL, Config())
    return found


def test_a_proved_support_passes_and_a_proved_contradiction_blocks(tmp_path: Path) -> None:
    passed = read(offline(GOOD), tmp_path, json.dumps({"claims": [reading("supported")]}))
    conflict = {"claim_part": "8.4", "source_part": "7.4"}
    against = json.dumps({"claims": [reading("contradicted", conflict=conflict)]})
    blocked = read(offline(BAD), tmp_path, against)

    assert (passed.answer.decision, passed.claims[0].verdict) == (
        Decision.ALLOW,
        VerdictLabel.SUPPORTED,
    )
    assert (blocked.answer.decision, blocked.claims[0].verdict) == (
        Decision.BLOCK,
        VerdictLabel.CONTRADICTED,
    )
    assert [state_of(one.claims[0]) for one in (passed, blocked)] == [State.ALLOW, State.BLOCK]
    for one in (passed, blocked):
        document = verdict_document(one)
        assert verdict_document(verification_from_document(document)) == document


def test_a_shown_contradiction_of_ours_or_a_wrong_credit_needs_a_person(tmp_path: Path) -> None:
    supported = json.dumps({"claims": [reading("supported")]})
    check = Check(
        check="value", outcome=Outcome.CONTRADICTS, reason="It is 9.", veto=True, claim_span=None
    )
    disputed = read(with_checks(offline(GOOD), 1, check), tmp_path, supported)
    credit = {"source_id": "S1", "stated_is_right": False}
    credited = json.dumps({"claims": [reading("supported", attribution=credit)]})
    wrong = read(offline(GOOD), tmp_path, credited)

    for one in (disputed, wrong):
        assert state_of(one.claims[0]) is State.NEEDS_REVIEW
        assert one.answer.decision is Decision.BLOCK
        assert one.claims[0].verdict is not VerdictLabel.CONTRADICTED
        assert one.claims[0].reasons[0].startswith("Needs a person")


@pytest.mark.parametrize(
    "text",
    [
        None, "I cannot help with that.", '{"claims": []}', '{"claims": [{"n": 1}]}', "{" * 100_000,
        json.dumps({"claims": [reading("supported", "value: 8.4")]}),
        json.dumps({"claims": [reading("supported")]}),  # of the wrong value: unproved
        json.dumps({"claims": [reading("not_shown")]}),
        json.dumps({"claims": [reading("supported"), reading("supported")]}),
    ],
)  # fmt: skip
def test_whatever_is_not_proved_leaves_the_offline_verdict(
    text: str | None, tmp_path: Path
) -> None:
    before = offline(BAD)
    after = read(before, tmp_path, text)

    assert after.answer.decision is before.answer.decision is Decision.BLOCK
    (was,), (now,) = before.claims, after.claims
    assert now.outcome.judge is not None  # type: ignore[union-attr]
    assert (now.verdict, now.decision) == (was.verdict, was.decision)
    assert now.reasons[: len(was.reasons)] == was.reasons
    assert replace(now.outcome, judge=None) == was.outcome  # type: ignore[type-var]
    document = verdict_document(after)
    assert verdict_document(verification_from_document(document)) == document


def test_what_a_judge_calls_contradicted_and_does_not_prove_needs_a_person(tmp_path: Path) -> None:
    before = offline(GOOD, 0.95)
    assert state_of(before.claims[0]) is State.ALLOW
    conflict = {"claim_part": "8.4", "source_part": "7.4"}
    text = json.dumps({"claims": [reading("contradicted", conflict=conflict)]})
    after = read(before, tmp_path, text)

    assert state_of(after.claims[0]) is State.NEEDS_REVIEW
    assert after.claims[0].verdict is VerdictLabel.NOT_ENOUGH_EVIDENCE
    assert after.answer.decision is Decision.BLOCK
    assert after.claims[0].reasons[0].startswith("Needs a person: m@here reads it as contradicted")
    document = verdict_document(after)
    assert verdict_document(verification_from_document(document)) == document


@pytest.mark.parametrize(
    ("listed", "tokens", "proof"),
    [
        ("list of allergies", 300, Unproved),
        ("list of allergies", 20_000, Proved),
        ("allergies: none", 300, Proved),
    ],
)
def test_what_speaks_of_all_needs_more_than_a_part_of_a_source(
    tmp_path: Path, listed: str, tokens: int, proof: type
) -> None:
    visits = "\n\n".join(f"visit {n}: weight stable, plan unchanged. " * 8 for n in range(40))
    claim = a_claim("No allergies are recorded for Mr Lind.")
    trace = a_trace(claim.text, a_source(f"Mr Lind, {listed}\n\n{visits}\n\nrash from amoxicillin"))
    limits = RequestLimits(source_tokens=tokens)
    (request,) = new_requests(trace, [claim], b"another run", limits=limits)
    text = json.dumps({"claims": [reading("supported", f"Mr Lind, {listed}")]})
    kept = tmp_path / "replies.jsonl"
    kept.write_text(reply_line(request, JudgeText(text=text, model="m")))

    found = ask(trace, [claim], Replay(kept, "m@here"), b"this run", limits)

    assert isinstance(found[claim.claim_id].proof, proof)
