"""Any file at all: good records load, every bad one is named with its file and line."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.capture.files import FileRecord, parse_record, read_records, write_json
from core.capture.reading import detect_format, read_traces
from core.config import Config
from core.errors import InputError, UnknownFormat, UnreadableFile
from core.records import Trace


def native(number: int, **changes: object) -> dict[str, object]:
    return {
        "question_id": f"q-{number}",
        "user_question": "Is she on metformin?",
        "full_tool_outputs": [
            {"tool_name": "load_chart", "source_id": "s1", "text": "metformin 500 mg"}
        ],
        "assistant_answer": "She takes metformin.",
        **changes,
    }


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def load(path: Path, config: Config | None = None) -> tuple[list[Trace], list[InputError]]:
    items = list(read_traces([path], config=config))
    return (
        [item for item in items if isinstance(item, Trace)],
        [item for item in items if isinstance(item, InputError)],
    )


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n  \n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)],
    ids=["nothing", "empty lines", "byte order mark", "packed nothing"],
)
def test_an_empty_file_says_so(tmp_path, content):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(content)

    traces, errors = load(path)

    assert traces == []
    assert [str(error) for error in errors] == ["traces.jsonl: the file is empty"]


def test_a_missing_file_says_so(tmp_path):
    _, errors = load(tmp_path / "nowhere.jsonl")

    assert str(errors[0]) == "nowhere.jsonl: cannot be read: No such file or directory"


def test_invalid_json_on_line_3_is_named_and_the_others_load(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(lines(native(1), native(2)) + b'{"question_id": oops}\n' + lines(native(4)))

    traces, errors = load(path)

    assert [trace.trace_id for trace in traces] == ["q-1", "q-2", "q-4"]
    assert [trace.origin.line for trace in traces] == [1, 2, 4]
    assert (errors[0].file, errors[0].line) == ("traces.jsonl", 3)
    assert "not valid JSON" in str(errors[0])


def test_a_bad_first_line_spoils_no_other(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b'{"question_id": "q-0", "user_qu\n' + lines(native(1), native(2)))

    traces, errors = load(path)

    assert [trace.trace_id for trace in traces] == ["q-1", "q-2"]
    assert [error.line for error in errors] == [1]


@pytest.mark.parametrize("part", [0.2, 0.5, 0.9])
def test_a_truncated_gzip_gives_the_records_before_the_cut(tmp_path, part):
    path = tmp_path / "traces.jsonl.gz"
    records = [native(n, assistant_answer=f"{n * 7919} " * 200) for n in range(200)]
    packed = gzip.compress(lines(*records))
    path.write_bytes(packed[: int(len(packed) * part)])

    traces, errors = load(path)

    assert 0 < len(traces) < 200
    assert [trace.trace_id for trace in traces] == [f"q-{n}" for n in range(len(traces))]
    assert isinstance(errors[-1], UnreadableFile)
    assert "breaks off" in str(errors[-1])


def test_gzip_members_one_behind_the_other_are_all_read(tmp_path):
    path = tmp_path / "traces.jsonl.gz"
    path.write_bytes(gzip.compress(lines(native(1))) + gzip.compress(lines(native(2))))

    assert len(load(path)[0]) == 2


def test_a_record_over_the_limit_is_skipped_without_being_held(tmp_path):
    path = tmp_path / "traces.jsonl"
    with path.open("wb") as file:
        file.write(lines(native(1)) + b'{"question_id": "big", "x": "')
        for _ in range(200):
            file.write(b"A" * 1024 * 1024)
        file.write(b'"}\n' + lines(native(3)))
    tracemalloc.start()

    traces, errors = load(path, Config(max_record_bytes=4 * 1024 * 1024))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [trace.trace_id for trace in traces] == ["q-1", "q-3"]
    assert errors[0].line == 2
    assert "209,715,231 bytes" in str(errors[0])
    assert peak < 32 * 1024 * 1024


def test_a_gzip_bomb_stays_small_in_memory(tmp_path):
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb") as file:
        file.write(lines(native(1)) + b'{"x": "')
        for _ in range(100):
            file.write(b"0" * 1024 * 1024)
        file.write(b'"}\n')
    tracemalloc.start()

    traces, errors = load(path, Config(max_record_bytes=1024 * 1024))

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [trace.trace_id for trace in traces] == ["q-1"]
    assert "skipped" in str(errors[0])
    assert peak < 16 * 1024 * 1024


def test_nul_bytes_between_records_are_reported_and_in_text_replaced(tmp_path):
    path = tmp_path / "traces.jsonl"
    text = "dose\\u0000 5 mg"
    body = (
        lines(native(1))
        + b"\x00" * 64
        + b"\n"
        + lines(native(3, assistant_answer="A")).replace(b'"A"', f'"{text}"'.encode())
    )
    path.write_bytes(body)

    traces, errors = load(path)

    assert traces[1].answer == "dose\ufffd 5 mg"
    assert any("U+FFFD" in notice for notice in traces[1].notices)
    assert str(errors[0]) == "traces.jsonl:2: 64 NUL bytes and nothing else"


def test_lone_surrogates_are_replaced_and_noted_so_that_the_trace_can_be_written(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(lines(native(1)).replace(b"metformin 500", b"metformin \\ud800 500"))

    (trace,), errors = load(path)

    assert trace.sources[0].text == "metformin \ufffd 500 mg"
    assert errors == []
    assert "lone surrogates" in trace.notices[0]
    trace.sources[0].text.encode("utf-8")


@pytest.mark.parametrize("bad", [b"\xe9", b"\xff\xfe", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\xaf"])
@pytest.mark.parametrize("shape", ["lines", "list", "log"])
def test_a_byte_that_is_not_utf_8_costs_its_record_and_is_found_again(tmp_path, shape, bad):
    records = [lines(native(number)).strip() for number in range(4)]
    records[0] = records[0].replace(b"chart", b"ch" + bad)
    records[2] = records[2].replace(b"takes", b"t" + bad)
    if shape == "log":
        records[0] = b"Caf" + bad + b' 12:00 {"jsonrpc": "2.0", "id": 1, "result": {}}'
    text = b"[" + b",".join(records) + b"]" if shape == "list" else b"\n".join(records)
    path = tmp_path / "traces.jsonl"
    path.write_bytes(text)

    read = list(read_records(path, 1 << 20))

    whole = [record.value for record in read if isinstance(record, FileRecord)]
    assert whole == [native(1), native(3)]
    errors = [error for error in read if isinstance(error, InputError)]
    for error, number in zip(errors, (0, 2), strict=True):
        assert (error.file, error.line) == (path.name, 1 if shape == "list" else number + 1)
        place = f"byte 0x{bad[0]:02X} at offset {records[number].index(bad)} of the record"
        assert error.message == f"not UTF-8: {place}"


def test_in_a_document_of_many_lines_the_line_of_the_bad_byte_is_named(tmp_path):
    path = tmp_path / "trace.json"
    text = json.dumps(native(1), indent=1).encode().replace(b"metformin 500", b"metformin \xb5 500")
    path.write_bytes(text)

    (error,) = load(path)[1]

    at = text.index(b"\xb5")
    assert error.line == text[:at].count(b"\n") + 1
    assert f"offset {at} " in error.message


@pytest.mark.parametrize("ascii", [True, False])
def test_characters_that_were_lost_before_are_kept_and_noted(tmp_path, ascii):
    path = tmp_path / "traces.jsonl"
    record = json.dumps(native(1, assistant_answer="5 \ufffdg"), ensure_ascii=ascii)
    path.write_text(record, encoding="utf-8")

    (trace,), errors = load(path)

    assert trace.answer == "5 \ufffdg" and errors == []
    assert any("characters were lost" in notice for notice in trace.notices)


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_byte_order_marks_and_windows_line_endings_change_nothing(tmp_path, ending):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines(native(1), native(2)).replace(b"\n", ending))

    traces, errors = load(path)

    assert [trace.trace_id for trace in traces] == ["q-1", "q-2"]
    assert errors == []


def test_utf_16_is_named(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(json.dumps(native(1)).encode("utf-16"))

    assert "UTF-16" in str(load(path)[1][0])


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_a_list_and_json_lines_give_the_same_traces(tmp_path, indent, packed):
    records = [native(n, note='brackets ]} and "quotes\\" in text') for n in range(40)]
    content = json.dumps(records, indent=indent).encode()
    path = tmp_path / ("traces.json.gz" if packed else "traces.json")
    path.write_bytes(gzip.compress(content) if packed else content)
    other = tmp_path / "traces.jsonl"
    other.write_bytes(lines(*records))

    traces, errors = load(path)

    assert errors == []
    as_lines = load(other)[0]
    assert [(t.trace_id, t.answer, t.extra) for t in traces] == [
        (t.trace_id, t.answer, t.extra) for t in as_lines
    ]


def test_one_bad_item_of_a_list_spoils_no_other(tmp_path):
    path = tmp_path / "traces.json"
    path.write_text(f"[\n{json.dumps(native(1))},\n{{bad: 1}},\n{json.dumps(native(3))}\n]")

    traces, errors = load(path)

    assert [trace.trace_id for trace in traces] == ["q-1", "q-3"]
    assert errors[0].line == 3


def test_a_list_that_breaks_off_gives_what_came_before(tmp_path):
    path = tmp_path / "traces.json"
    path.write_text(json.dumps([native(1), native(2), native(3)])[:-60])

    traces, errors = load(path)

    assert [trace.trace_id for trace in traces] == ["q-1", "q-2"]
    assert "breaks off" in str(errors[0])


def test_one_object_over_many_lines_is_one_record(tmp_path):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(native(1), indent=2))

    traces, errors = load(path)

    assert (len(traces), errors) == (1, [])


@pytest.mark.parametrize("depth", [300, 100_000])
def test_a_nesting_bomb_is_one_bad_record(tmp_path, depth):
    path = tmp_path / "traces.jsonl"
    bomb = b'{"question_id": "b", "x": ' + b"[" * depth + b"]" * depth + b"}\n"
    path.write_bytes(lines(native(1)) + bomb + lines(native(3)))

    traces, errors = load(path)

    assert [trace.trace_id for trace in traces] == ["q-1", "q-3"]
    assert "nested" in str(errors[0])


def test_an_unknown_format_names_what_was_found(tmp_path):
    path = tmp_path / "things.jsonl"
    path.write_bytes(lines({"colour": "blue", "size": 4}))

    with pytest.raises(UnknownFormat) as caught:
        detect_format(path)

    assert "colour, size" in str(caught.value)
    assert "native" in str(caught.value)


def test_ten_thousand_outputs_in_one_trace_load(tmp_path):
    path = tmp_path / "traces.jsonl"
    outputs = [
        {"tool_name": "search", "source_id": f"s{n}", "text": f'{{"row": {n}}}'}
        for n in range(10_000)
    ]
    path.write_bytes(lines(native(1, full_tool_outputs=outputs)))

    (trace,), errors = load(path)

    assert len(trace.sources) == 10_000
    assert trace.sources[-1].text == "row: 9999"
    assert errors == []


@pytest.mark.stress
def test_memory_does_not_grow_with_the_number_of_records(tmp_path):
    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        with path.open("wb") as file:
            for number in range(count):
                file.write(lines(native(number, assistant_answer="word " * 400)))
        tracemalloc.start()
        assert sum(1 for _ in read_traces([path])) == count
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small, large = peak(400), peak(4_000)

    assert large < small + 2_000_000


def test_two_records_of_one_id_stay_apart(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(lines(native(1), native(1, assistant_answer="No."), native(1)))

    traces, _ = load(path)

    assert [trace.trace_id for trace in traces] == ["q-1", "q-1~2", "q-1~3"]
    assert "number 2" in traces[1].notices[-1]


@given(st.binary(max_size=300))
def test_any_bytes_at_all_give_records_or_errors(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "file.jsonl"
    path.write_bytes(content)

    for item in read_records(path, 200):
        assert isinstance(item, FileRecord | InputError)


def test_numbers_are_written_again_as_they_were():
    text = '{"a": 1.10, "b": [1e5, -0.0, 12345678901234567890], "c": null, "d": true}'

    value, notes = parse_record(text.encode())

    assert write_json(value) == text
    assert notes == ()


GIGABYTE = 1_000_000_000
IMPORTING = """
import json, resource, sys
from pathlib import Path
from core.config import Config
from core.workflows.ingest import ingest
from storage.store import open_store

store = open_store(sys.argv[2])
report = ingest([Path(sys.argv[1])], store, Config())
store.close()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"new": report.new, "skipped": report.skipped_count, "peak_bytes": peak}))
"""


@pytest.mark.stress
def test_a_gigabyte_of_json_lines_is_imported_in_under_500_megabytes_of_memory(tmp_path):
    path = tmp_path / "traces.jsonl"
    words = "takes metformin 500 mg twice daily; eGFR 58, stable since 2024-03-11. ".split()
    text = " ".join(random.Random(7).choices(words, k=60_000))
    rows = [{"id": row, "name": f"row {row}", "said": text[row : row + 90]} for row in range(200)]
    count = 0
    with path.open("w") as file:
        while file.tell() < GIGABYTE:
            outputs = [
                {"tool_name": "load_chart", "text": f"case {count}: {text}"},
                {"tool_name": "search", "text": json.dumps([{"case": count}, *rows])},
            ]
            record = {"question_id": f"q{count}", "full_tool_outputs": outputs}
            record |= {"user_question": "Which dose?", "final_reply_to_user": "500 mg."}
            file.write(json.dumps(record) + "\n")
            count += 1

    result = subprocess.run(
        [sys.executable, "-c", IMPORTING, str(path), str(tmp_path / "db.sqlite")],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[4],
    )

    found = json.loads(result.stdout or "{}")
    assert (found.get("new"), found.get("skipped")) == (count, 0), result.stderr
    assert found["peak_bytes"] < 500_000_000
