"""What a request may hold, read without a service."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic", reason="the extra [service] is not installed")
from core.errors import BadRecord, Overdue
from core.workflows.batching import Allowed
from service.requests import VerifyAsked, asked, traces_of

CALL = {"id": "c1", "function": {"name": "get_account", "arguments": "{}"}}
MESSAGES = [
    {"role": "user", "content": "What is it?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "tier: Gold"},
    {"role": "assistant", "content": "It is Silver."},
]
CLOSING = [{"role": "user", "content": "Thanks"}, {"role": "assistant", "content": "Welcome!"}]


def test_a_conversation_is_one_run_with_everything_that_it_told_the_user() -> None:
    alone = traces_of(VerifyAsked(trace={"messages": MESSAGES}))
    traces = traces_of(VerifyAsked(trace={"messages": [*MESSAGES, *CLOSING]}))

    assert [trace.answer for trace in alone] == ["It is Silver."]
    assert [trace.answer for trace in traces] == ["It is Silver.", "Welcome!"]


def test_two_runs_are_not_one() -> None:
    records = [{"trace_id": name, "messages": MESSAGES} for name in ("a", "b")]

    with pytest.raises(BadRecord, match="expected one run, found 2"):
        traces_of(VerifyAsked(trace=records))


def test_reading_ends_when_the_time_of_the_request_is_up() -> None:
    records = [{"trace_id": name, "messages": MESSAGES} for name in ("a", "b")]

    with pytest.raises(Overdue):
        traces_of(VerifyAsked(trace=records), Allowed(0))


def test_a_record_of_a_file_is_taken_with_its_id() -> None:
    record = {
        "id": "a01",
        "question": "What is it?",
        "answer": "It is Silver.",
        "tool_outputs": [{"tool_name": "get_account", "text": "tier: Gold"}],
    }

    (trace,) = traces_of(asked(VerifyAsked, record))

    assert trace.trace_id == "a01"
    with pytest.raises(BadRecord, match="give either trace, or answer"):
        asked(VerifyAsked, {"id": "a01", "trace": record})
