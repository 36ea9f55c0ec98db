"""Native records (Appendix A) and the way back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.capture.native_record import export_native, read_trace
from core.codec import canonical_json, content_hash, trace_document, trace_from_document
from core.codec.traces import APART
from core.errors import BadRecord
from core.records import SourceStatus, Trace

TEXT = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30
)
VALUE = st.one_of(st.none(), st.booleans(), st.integers(), TEXT, st.lists(TEXT, max_size=2))
OUTPUT_TEXT = st.one_of(
    TEXT,
    st.dictionaries(TEXT, VALUE, max_size=3).map(json.dumps),
    st.sampled_from(["Error: no such patient", "", '{"a": [', '[{"id": 1}, {"id": 2}]']),
)
OUTPUT = st.fixed_dictionaries(
    {"text": OUTPUT_TEXT},
    optional={
        "tool_name": st.sampled_from(["load_chart", "search"]),
        "source_id": st.sampled_from(["s1", "s2", "s3"]),
        "source_role": TEXT,
        "chunk_count": st.integers(0, 9),
        "arguments": TEXT,
        "seen_at": VALUE,
    },
)
CALL = st.one_of(
    TEXT,
    st.fixed_dictionaries(
        {"tool_name": st.sampled_from(["load_chart", "search", "s1"])},
        optional={
            "arguments": st.one_of(VALUE, st.dictionaries(TEXT, VALUE, max_size=2)),
            "source_id": st.sampled_from(["s1", "s2", "s9", 4, None]),
        },
    ),
)
RECORD = st.fixed_dictionaries(
    {"full_tool_outputs": st.lists(OUTPUT, max_size=5)},
    optional={
        "question_id": TEXT,
        "trace_id": TEXT,
        "task_id": st.one_of(st.integers(), TEXT),
        "trial": st.integers(0, 3),
        "user_question": TEXT,
        "category": st.one_of(st.none(), TEXT),
        "route": TEXT,
        "tool_calls": st.lists(CALL, max_size=4),
        "original_evidence_chunk_count": st.integers(),
        "assistant_answer": st.one_of(st.none(), TEXT),
        "final_reply_to_user": st.one_of(st.none(), TEXT),
        "elapsed_s": st.floats(0, 100),
        "run_by": VALUE,
    },
)


@given(RECORD)
def test_a_native_record_comes_back_as_it_was_read(record):
    trace = read_trace(record, None)

    assert export_native(trace) == record


@given(RECORD)
def test_a_trace_survives_its_document_and_an_export(record):
    trace = read_trace(record, None)

    again = trace_from_document(json.loads(canonical_json(trace_document(trace))))

    assert again == trace
    assert content_hash(again) == content_hash(trace)
    assert read_trace(export_native(trace), None) == trace


def asked(**arguments: object) -> dict[str, object]:
    return {"tool_name": "chart", "arguments": arguments}


def reads(*calls: object, sources: tuple[str, ...] = ("s1", "s2")) -> Trace:
    outputs = [
        {"tool_name": "chart", "source_id": each, "text": f"Weight {at} kg."}
        for at, each in enumerate(sources)
    ]
    return read_trace({"question_id": "t", "full_tool_outputs": outputs, "tool_calls": calls}, None)


@pytest.mark.parametrize(
    ("calls", "joined", "told"),
    [
        ([asked(of=1), asked(of=2)], ['{"of":1}', '{"of":2}'], False),
        ([asked(of=2) | {"source_id": "s2"}, asked(of=1) | {"source_id": "s1"}],
         ['{"of":1}', '{"of":2}'], False),
        ([{"name": "chart", "arguments": "weight"}, "chart"], ["weight", None], False),
        ([asked(of=1)], [None, None], True),  # one call of two outputs: which one it gave is not said
        ([asked(of=1) | {"source_id": "s1"}, asked(of=2)], ['{"of":1}', None], True),
        ([asked(of=1) | {"source_id": "s1"}] * 2, ['{"of":1}', None], False),
        ([asked(of=n) | {"source_id": "s1"} for n in (1, 2)], [None, None], True),
        ([asked(of=1) | {"source_id": "s9"}, asked(of=2) | {"source_id": ["s2"]}],
         [None, None], True),
        ([{"tool_name": "other", "arguments": {"of": 1}, "source_id": "s1"}], [None, None], True),
        (["chart", "chart"], [None, None], False),
    ],
)  # fmt: skip
def test_an_output_is_read_with_what_its_call_asked_where_the_record_says_which(
    calls: list[object], joined: list[str | None], told: bool
) -> None:
    trace = reads(*calls)

    assert [source.arguments for source in trace.sources] == joined
    assert (APART in trace.notices) is told


def test_chunks_of_one_source_are_not_told_apart_by_their_order():
    assert reads(asked(of=1), asked(of=2), sources=("s1", "s1")).sources[0].arguments is None


def test_arguments_of_the_record_change_neither_the_trace_that_was_stored_nor_its_name():
    trace = reads(asked(of=1), asked(of=2))
    sources = [replace(each, arguments=None, call_place=None) for each in trace.sources]
    before = replace(trace, sources=tuple(sources))  # as it was read when nothing joined them

    assert trace.sources[0].arguments
    assert trace_document(trace) == trace_document(before)
    assert content_hash(trace) == content_hash(before)
    assert trace_from_document(trace_document(before)) == trace


def test_what_a_call_was_asked_is_no_evidence_in_whatever_order_the_outputs_stand():
    calls = [
        {"tool_name": "search", "arguments": {"q": "iron"}},
        {"tool_name": "fetch", "arguments": {"title": "Oral iron on alternate days in women"}},
    ]
    found = "Oral iron on alternate days in women\nIt was absorbed better."
    outputs = [
        {"tool_name": "fetch", "text": f"{found}\nFull text follows here."},
        {"tool_name": "search", "text": found},
    ]

    for order in (outputs, outputs[::-1]):
        trace = read_trace({"tool_calls": calls, "full_tool_outputs": order}, None)
        # The search had said it before the agent passed it on.
        assert [source.text for source in trace.sources] == [each["text"] for each in order]


@given(RECORD)
def test_every_mapped_range_lies_in_the_text_and_in_the_raw_output(record):
    for source in read_trace(record, None).sources:
        size = len((source.raw or "").encode())
        for place in source.raw_map:
            assert 0 <= place.text.start < place.text.end <= len(source.text)
            assert 0 <= place.raw_start <= place.raw_end <= size


def test_the_paper_trace_is_read_as_the_paper_says():
    record = {
        "question_id": "lit-007",
        "user_question": "Summarise the evidence.",
        "category": "literature_review",
        "route": "pubmed_research",
        "tool_calls": ["search_pubmed_key_words"],
        "full_tool_outputs": [
            {
                "tool_name": "search_pubmed_key_words",
                "source_id": "tool_output::search_pubmed_key_words",
                "source_role": "complete_tool_output",
                "chunk_count": 12,
                "text": "[1] An abstract.",
            }
        ],
        "original_evidence_chunk_count": 12,
        "assistant_answer": "A draft.",
        "final_reply_to_user": "The reply.",
        "elapsed_s": 19.97,
    }

    trace = read_trace(record, None)

    assert (trace.trace_id, trace.answer, trace.elapsed_seconds) == ("lit-007", "The reply.", 19.97)
    assert trace.sources[0].source_id == "tool_output::search_pubmed_key_words"
    assert trace.sources[0].chunk_count == 12
    assert trace.extra["original_evidence_chunk_count"] == 12


def test_two_outputs_of_one_source_are_two_chunks_of_it():
    trace = read_trace(
        {
            "full_tool_outputs": [
                {"tool_name": "chart", "source_id": "s1", "text": '{"drug": "metformin"}'},
                {"tool_name": "search", "source_id": "s2", "text": "An abstract."},
                {"tool_name": "chart", "source_id": "s1", "text": "Ward B — août."},
            ]
        },
        None,
    )

    chart = trace.source("s1")

    assert chart.text == "drug: metformin\n\nWard B — août."
    assert [source.source_id for source in trace.sources] == ["s1", "s2"]
    raw = chart.raw.encode()
    assert [raw[p.raw_start : p.raw_end].decode() for p in chart.raw_map] == [
        '"metformin"',
        "Ward B — août.",
    ]


def test_a_failed_chunk_lends_no_text_to_its_source():
    trace = read_trace(
        {
            "full_tool_outputs": [
                {"source_id": "s1", "text": "Error executing tool chart: aspirin not found"},
                {"source_id": "s1", "text": "Takes metformin."},
            ]
        },
        None,
    )

    assert trace.sources[0].text == "Takes metformin."
    assert trace.sources[0].status is SourceStatus.OK


def test_an_output_without_a_source_id_is_named_by_its_tool():
    trace = read_trace({"full_tool_outputs": [{"tool_name": "chart", "text": "x"}]}, None)

    assert trace.sources[0].source_id == "chart"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"full_tool_outputs": [{"text": "a"}, {"text": "b"}, {"tool_name": "t", "text": None}]},
         "full_tool_outputs[2].text: expected text, found null"),
        ({"full_tool_outputs": ["x"]}, "full_tool_outputs[0]: expected an object, found text"),
        ({"full_tool_outputs": {"a": 1}}, "full_tool_outputs: expected a list, found an object"),
        ({"user_question": 5}, "user_question: expected text, found a number"),
        ({"final_reply_to_user": ["a"]}, "final_reply_to_user: expected text, found a list"),
        ({"tool_calls": [None]}, "tool_calls[0]: expected a tool name, found null"),
        ({"elapsed_s": "fast"}, "elapsed_s: expected a number, found text"),
        ({"question_id": True}, "question_id: expected text or a whole number, found true"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_named_with_its_path(change, message):
    with pytest.raises(BadRecord) as caught:
        read_trace(change, None)

    assert str(caught.value) == message


def test_a_trace_without_an_answer_has_none():
    assert read_trace({"full_tool_outputs": [], "assistant_answer": "  "}, None).answer is None


def test_a_task_and_its_trial_make_the_id_and_nothing_makes_the_hash():
    assert read_trace({"task_id": 4, "trial": 0}, None).trace_id == "4::0"
    assert read_trace({"user_question": "Why?"}, None).trace_id.startswith("sha256:")


def test_a_record_without_any_field_of_a_trace_is_no_trace():
    with pytest.raises(BadRecord, match="none of the fields of a trace"):
        read_trace({"foo": "bar"}, None)


def test_a_script_in_a_tool_output_stays_text():
    text = "<script>alert('x')</script>"

    trace = read_trace({"full_tool_outputs": [{"tool_name": "page", "text": text}]}, None)

    assert trace.sources[0].text == text
