"""Whatever repeats what the agent said, no record says it: such a claim is blocked."""

from __future__ import annotations

import json

import pytest
from builders import a_source, a_trace
from real_models import real_models

from core.capture.outputs import trace_of_run
from core.capture.turns import CapturedCall, CapturedRun
from core.config import Config
from core.evidence.own_words import is_telling
from core.pipeline import Models, verify
from core.records import ClaimVerdict, Decision, Origin, VerdictLabel

CLAIM = "Ms. Okoro takes warfarin 5 mg every evening."
CHART = "Patient: Adaeze Okoro\nMedication: metformin 500 mg twice daily\nAllergies: none recorded"


@pytest.fixture(scope="module")
def models() -> Models:
    return real_models()


def _verdicts(answer: str, calls: list[CapturedCall], models: Models) -> tuple[ClaimVerdict, ...]:
    run = CapturedRun(
        origin=Origin(format="test"),
        question="What does Ms. Okoro take?",
        answer=answer,
        calls=[CapturedCall(tool="load_chart", output=CHART, call_id="c0"), *calls],
        trace_id="echo",
    )
    return verify(trace_of_run(run), models, Config()).claims


ECHOES = {
    "a search that found nothing": ("search", {"query": CLAIM}, f'No results found for "{CLAIM}"'),
    "the query given back": ("search", {"q": CLAIM}, json.dumps({"query": CLAIM, "results": []})),
    "the query without arguments": ("search", None, json.dumps({"query": CLAIM, "results": []})),
    "nothing found, without arguments": ("search", None, f'No matching records for "{CLAIM}"'),
    "a call that did not succeed": (
        "lookup",
        None,
        json.dumps({"success": False, "message": CLAIM}),
    ),
    "a thought": ("think", {"thought": CLAIM}, "Your thought has been logged."),
    "a thought without arguments": ("sequential-thinking", None, CLAIM),
    "a note": ("take_note", {"text": CLAIM}, json.dumps({"saved": True, "text": CLAIM})),
    "an e-mail": ("send_email", {"to": "ward@example.org", "body": CLAIM}, "Message queued."),
    "an e-mail shown again": ("sendEmail", None, f"Sent to ward@example.org: {CLAIM}"),
    "a final answer": ("final_answer", {"answer": CLAIM}, CLAIM),
}


@pytest.mark.parametrize("kind", ECHOES)
def test_what_only_the_agent_said_supports_nothing(kind: str, models: Models) -> None:
    tool, arguments, output = ECHOES[kind]
    call = CapturedCall(
        tool=tool,
        output=output,
        call_id="c1",
        arguments=None if arguments is None else json.dumps(arguments),
    )

    (verdict,) = _verdicts(CLAIM, [call], models)

    assert verdict.decision is Decision.BLOCK
    assert verdict.verdict is not VerdictLabel.SUPPORTED


@pytest.mark.parametrize("kind", ECHOES)
def test_a_claim_that_a_record_holds_too_is_not_only_said(kind: str, models: Models) -> None:
    tool, arguments, output = ECHOES[kind]
    echo = CapturedCall(
        tool=tool,
        output=output,
        call_id="c1",
        arguments=None if arguments is None else json.dumps(arguments),
    )
    record = CapturedCall(
        tool="load_orders",
        output="Orders for Ms. Okoro\nwarfarin 5 mg, takes one tablet every evening, active",
        call_id="c2",
    )

    (verdict,) = _verdicts(CLAIM, [record, echo], models)

    assert not any("own words" in reason for reason in verdict.reasons)
    assert not any("failed says this" in reason for reason in verdict.reasons)


def test_what_was_written_supports_what_the_file_contains(models: Models) -> None:
    text = (
        "# Discharge plan\n\n" + "The plan covers warfarin counselling and follow-up visits. " * 12
    )
    call = CapturedCall(
        tool="write_file",
        output="Successfully wrote to /plans/okoro.md",
        call_id="c1",
        arguments=json.dumps({"path": "/plans/okoro.md", "content": text}),
    )

    verdicts = _verdicts("The file covers warfarin counselling.", [call], models)

    assert not any("own words" in reason for v in verdicts for reason in v.reasons)


@pytest.mark.parametrize(
    "name", ["search_notes", "get_clinical_notes", "read_email", "list_messages", "answer_lookup"]
)
def test_tools_that_read_what_others_wrote_are_no_echo(name: str) -> None:
    assert not is_telling(a_source("text", tool_name=name))


def test_a_trace_without_calls_has_no_own_words(models: Models) -> None:
    trace = a_trace("Ms. Okoro takes metformin 500 mg twice daily.", a_source(CHART))

    (verdict,) = verify(trace, models, Config()).claims

    assert not any("own words" in reason for reason in verdict.reasons)
