"""Chat transcripts with tool calls, in the shapes that people export."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from core.capture.conversations import AnswersSeen, is_earlier_answer, traces_or_error
from core.capture.reading import detect_format, read_traces
from core.codec import trace_document, trace_from_document
from core.codec.verdicts import verdict_document, verification_from_document
from core.errors import BadRecord, InputError
from core.records import Origin, SourceStatus, Trace
from tests.verdicts import a_verification


def read_trace(value: object, origin: Origin) -> Trace:
    *_, last = traces_or_error(value, origin, (), AnswersSeen())
    if isinstance(last, InputError):
        raise last
    return last


SHARED = Path(__file__).parents[5] / "shared/data/traces"
ORIGIN = Origin(format="chat")


def call(call_id: str, name: str, **arguments: object) -> dict[str, object]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def asks(text: str) -> dict[str, object]:
    return {"role": "user", "content": text}


def calls(*made: dict[str, object], content: str | None = None) -> dict[str, object]:
    return {"role": "assistant", "content": content, "tool_calls": list(made)}


def returns(call_id: str, content: object, **more: object) -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def says(text: str) -> dict[str, object]:
    return {"role": "assistant", "content": text}


def read(*messages: dict[str, object], **record: object) -> Trace:
    return read_trace({"messages": list(messages), **record}, ORIGIN)


def test_each_call_is_a_source_with_its_tool_arguments_and_output():
    trace = read(
        asks("What does Ines take?"),
        calls(call("c1", "load_chart", mrn="MRN-1"), call("c2", "search", q="metformin")),
        returns("c2", "An abstract."),
        returns("c1", '{"drug": "metformin"}'),
        says("Ines takes metformin."),
        task_id=3,
        trial=1,
        reward=0.5,
    )

    assert trace.trace_id == "3::1"
    assert trace.question == "What does Ines take?"
    assert trace.answer == "Ines takes metformin."
    assert [(s.source_id, s.text) for s in trace.sources] == [
        ("load_chart#c1", "drug: metformin"),
        ("search#c2", "An abstract."),
    ]
    assert json.loads(trace.sources[0].arguments) == {"mrn": "MRN-1"}
    assert trace.extra["reward"] == 0.5


def test_the_last_text_without_tool_calls_is_the_answer_even_if_others_follow():
    trace = read(
        asks("Book it."),
        calls(call("c1", "book"), content="I will book."),
        returns("c1", "Booked."),
        says("It is booked."),
        asks("Thanks, a person please."),
        calls(call("c2", "transfer")),
        returns("c2", "Transferred."),
    )

    assert trace.answer == "It is booked."
    assert [source.source_id for source in trace.sources] == ["book#c1"]
    assert trace.notices[0] == "1 tool calls after the answer are no evidence for it"
    assert trace.earlier == ("I will book.",)


def test_an_explicit_response_is_the_answer_and_every_output_is_evidence():
    trace = read(
        asks("Book it."),
        says("One moment."),
        calls(call("c1", "book")),
        returns("c1", "Booked."),
        response="It is booked.",
    )

    assert trace.answer == "It is booked."
    assert len(trace.sources) == 1


def test_a_transcript_without_an_answer_has_none():
    trace = read(asks("Book it."), calls(call("c1", "book")), returns("c1", "Booked."))

    assert trace.answer is None
    assert len(trace.sources) == 1


def test_an_id_used_twice_gives_each_call_its_own_output():
    trace = read(
        asks("Flights?"),
        calls(call("c1", "direct")),
        returns("c1", "none direct"),
        calls(call("c1", "one_stop")),
        returns("c1", "two with one stop"),
        says("Two."),
    )

    assert [(s.source_id, s.text) for s in trace.sources] == [
        ("direct#c1", "none direct"),
        ("one_stop#c1", "two with one stop"),
    ]


def test_no_call_and_no_output_is_lost_when_they_do_not_match():
    trace = read(
        asks("?"),
        calls(call("c1", "chart"), call("c2", "labs")),
        returns("c9", "whose is this?"),
        returns("c2", "HbA1c 7.1 %"),
        returns("c2", "HbA1c 7.2 %"),
        says("7.1 %."),
    )

    assert [(s.source_id, s.status.value, s.text) for s in trace.sources] == [
        ("chart#c1", "not_captured", ""),
        ("labs#c2", "ok", "HbA1c 7.1 %"),
        ("unknown tool#c9", "ok", "whose is this?"),
        ("labs#c2~2", "ok", "HbA1c 7.2 %"),
    ]


def test_a_gateway_call_is_named_by_the_server_and_tool_in_its_arguments():
    trace = read(
        asks("?"),
        calls(call("c1", "execute-tool", server_name="wiki", tool_name="page", params={"t": "x"})),
        returns("c1", "A page."),
        says("Yes."),
    )

    assert trace.sources[0].source_id == "wiki/page#c1"
    assert trace.sources[0].arguments == '{"t": "x"}'
    assert trace.tool_calls == ("page",)


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("Tool call timed out.", SourceStatus.ERROR),
        ("Error executing tool chart: no such patient", SourceStatus.ERROR),
        ("meta=None content=[TextContent(type='text', text='x', annotations=None)] isError=True",
         SourceStatus.ERROR),
        ('{"error": "No presentation is loaded"}', SourceStatus.ERROR),
        ('{"error": null, "rows": 3}', SourceStatus.OK),
        ("Error rates fell from 4 % to 2 % in the trial.", SourceStatus.OK),
        ("Failed to meet its primary endpoint, the trial was stopped.", SourceStatus.OK),
        ("", SourceStatus.EMPTY),
        (" \n", SourceStatus.EMPTY),
        (None, SourceStatus.EMPTY),
        ("Notes of the ward\n[output truncated]", SourceStatus.TRUNCATED),
        ('{"rows": [{"drug": "metformin", "dose": 5', SourceStatus.TRUNCATED),
        ("<error>Content truncated. Call again with a start_index of 5000.</error>",
         SourceStatus.TRUNCATED),
        ("[]", SourceStatus.OK),
    ],
)  # fmt: skip
def test_what_an_output_is_worth(output, status):
    trace = read(asks("?"), calls(call("c1", "t")), returns("c1", output), says("Yes."))

    assert trace.sources[0].status is status
    assert status is SourceStatus.OK or not trace.sources[0].is_evidence or trace.sources[0].note


def test_a_long_talk_shows_its_first_and_its_last_question():
    trace = read(
        asks("Hello"), says("Hi"), asks("My id is 7"), says("Ok"), asks("Cancel"), says("Done.")
    )

    assert trace.question == "Hello\n\n[…]\n\nCancel"


def test_what_was_said_to_the_user_before_the_answer_is_kept_beside_a_call_too():
    talk = (asks("Hello"), says("Hi"), asks("Cancel"), calls(call("c1", "book"), content="I see."))

    trace = read(*talk, returns("c1", "Done."), says("Ok."), asks("Sure?"), says("Done."))
    answered = read(*talk, returns("c1", "Done."), says("Ok."), says("Done."), response="Done.")

    assert (trace.earlier, trace.answer) == (("Hi", "I see.", "Ok."), "Done.")
    assert answered.earlier == trace.earlier
    assert trace_from_document(trace_document(trace)) == trace
    told = verdict_document(a_verification(trace, {"book#c1": "other"}, []))
    assert verification_from_document(told).trace.earlier == trace.earlier


def test_a_single_answer_is_hashed_as_before_there_were_turns():
    document = trace_document(read(asks("Hello"), says("Hi")))

    assert "earlier" not in document


def test_annotations_of_the_answer_become_citations_of_the_source_they_name():
    answer = "The label warns of lactic acidosis."
    trace = read(
        asks("?"),
        calls(call("c1", "fetch", url="https://example.org/label")),
        returns("c1", "WARNING: lactic acidosis"),
        {
            "role": "assistant",
            "content": answer,
            "annotations": [
                {
                    "type": "url_citation",
                    "url_citation": {
                        "start_index": 0,
                        "end_index": 9,
                        "url": "https://example.org/label",
                        "title": "Label",
                    },
                }
            ],
        },
    )

    (citation,) = trace.citations
    assert citation.span.cut(answer) == "The label"
    assert citation.source_id == "fetch#c1"


def spoken() -> list[dict[str, object]]:
    return [
        {"role": "user", "content": "Dose?"},
        {"role": "tool_call", "content": "{'name': 'chart', 'arguments': '{\"mrn\": 4}'}"},
        {"role": "tool_response", "content": "500 mg"},
        {"role": "assistant", "content": "500 mg."},
    ]


def tagged() -> list[dict[str, object]]:
    made = '<tool_call>\n{"name": "chart", "arguments": {"mrn": 4}}\n</tool_call>'
    return [
        {"from": "human", "value": "Dose?"},
        {"from": "gpt", "value": made},
        {"from": "tool", "value": "<tool_response>\n500 mg\n</tool_response>"},
        {"from": "gpt", "value": "500 mg."},
    ]


def legacy() -> list[dict[str, object]]:
    return [
        {"role": "user", "content": [{"type": "text", "text": "Dose?"}]},
        {
            "role": "assistant",
            "function_call": {"name": "chart", "arguments": '{"mrn": 4}'},
            "content": None,
        },
        {"role": "function", "name": "chart", "content": "500 mg"},
        {"role": "assistant", "content": [{"type": "text", "text": "500 mg."}]},
    ]


@pytest.mark.parametrize("messages", [spoken(), tagged(), legacy()])
@pytest.mark.parametrize("shape", ["list", "text", "conversations", "bare", "lines"])
def test_the_shapes_of_other_exports_mean_the_same(tmp_path, messages, shape):
    path = tmp_path / "traces.jsonl"
    records: list[object] = {
        "list": [{"messages": messages}],
        "text": [{"messages": json.dumps(messages)}],
        "conversations": [{"conversations": messages}],
        "bare": [messages],
        "lines": messages,
    }[shape]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))

    assert detect_format(path).format == "chat"
    (trace,) = read_traces([path])

    assert isinstance(trace, Trace)
    assert (trace.question, trace.answer) == ("Dose?", "500 mg.")
    assert [(s.tool_name, s.text.strip()) for s in trace.sources] == [("chart", "500 mg")]
    assert json.loads(trace.sources[0].arguments) == {"mrn": 4}


def test_a_logged_request_and_its_response_are_one_transcript():
    trace = read_trace(
        {
            "request": {
                "messages": [asks("Dose?"), calls(call("c1", "chart")), returns("c1", "5 mg")]
            },
            "response": {"choices": [{"message": says("5 mg.")}]},
        },
        ORIGIN,
    )

    assert (trace.answer, trace.sources[0].text) == ("5 mg.", "5 mg")


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([asks("?"), "hello"], "messages[1]: expected an object, found text"),
        ([asks("?"), {"role": "narrator", "content": "x"}], "messages[1].role: unknown role 'narrator'"),
        ([{"role": "user", "content": 5}], "messages[0].content: expected text or parts, found a number"),
        ([{"role": "assistant", "tool_calls": "x"}], "messages[0].tool_calls: expected a list, found text"),
        ([{"role": "assistant", "tool_calls": [7]}],
         "messages[0].tool_calls[0]: expected an object, found a number"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_named_with_its_path(messages, message):
    with pytest.raises(BadRecord) as caught:
        read_trace({"messages": messages}, ORIGIN)

    assert str(caught.value) == message


def test_the_same_transcript_without_an_id_is_named_by_its_content():
    messages = [asks("?"), says("Yes.")]

    one = read_trace({"messages": messages}, Origin(format="chat", file="a.jsonl", line=1))
    other = read_trace({"messages": messages}, Origin(format="chat", file="b.jsonl", line=9))

    assert one.trace_id == other.trace_id
    assert one.trace_id.startswith("sha256:")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared real traces are not here")
@pytest.mark.parametrize(("name", "count"), [("livemcpbench", 45), ("tau_airline", 60)])
def test_real_runs_all_load_and_no_wrapper_is_left_in_their_evidence(name, count):
    items = list(read_traces([SHARED / f"{name}_chat.jsonl.gz"]))

    assert not any(isinstance(item, InputError) for item in items)
    assert sum(not is_earlier_answer(item.trace_id) for item in items) == count
    for trace in items:
        assert trace.answer
        for source in trace.sources:
            assert "TextContent(" not in source.text
            assert source.tool_name not in ("execute-tool", "unknown tool")
            raw = (source.raw or "").encode()
            for place in source.raw_map:
                assert place.raw_end <= len(raw)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared real traces are not here")
def test_every_call_of_the_real_runs_is_a_source_or_comes_after_the_answer():
    path = SHARED / "tau_airline_chat.jsonl.gz"
    made = [
        sum(len(message.get("tool_calls") or ()) for message in json.loads(line)["messages"])
        for line in gzip.decompress(path.read_bytes()).decode().splitlines()
    ]

    read = [trace for trace in read_traces([path]) if isinstance(trace, Trace)]
    whole = [trace for trace in read if not is_earlier_answer(trace.trace_id)]
    for trace, count in zip(whole, made, strict=True):
        late = sum(
            int(notice.split()[0]) for notice in trace.notices if "after the answer" in notice
        )
        assert len(trace.sources) + late == count


def test_steps_of_action_and_observation_are_calls_with_their_outputs():
    trace = read_trace(
        {
            "task_id": "s1",
            "question": "Dose?",
            "trajectory": [
                {
                    "thought": "look",
                    "action": "chart",
                    "action_input": {"mrn": 4},
                    "observation": "500 mg",
                },
                {"action": {"name": "labs", "arguments": {}}, "observation": {"hba1c": 7.1}},
            ],
            "response": "500 mg.",
        },
        ORIGIN,
    )

    assert [(s.source_id, s.text) for s in trace.sources] == [
        ("chart#1", "500 mg"),
        ("labs#2", "hba1c: 7.1"),
    ]
    assert trace.answer == "500 mg."


def test_a_number_that_may_stand_for_several_things_is_said_to_be_doubtful():
    calls = [{"id": "a", "function": {"name": "search", "arguments": "{}"}}]
    messages = [
        {"role": "user", "content": "Which dose?"},
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "[1] A trial.\n[2] A guideline."},
        {"role": "assistant", "content": "The dose is 500 mg [1]."},
    ]

    trace = read_trace({"task_id": "t", "messages": messages}, ORIGIN)

    assert [citation.source_id for citation in trace.citations] == [None]
    assert "they may count what search#a lists" in trace.notices[-1]
