"""Each captured format, from files with the traps of that format in them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.capture.reading import FORMATS, detect_format, read_traces
from core.errors import InputError
from core.records import Trace

FIXTURES = Path(__file__).parent / "fixtures"
QUESTION = "What dose of metformin does Ines Okafor take, and is that dose usual?"
ANSWER = "Ines Okafor takes metformin 500 mg twice daily."
TRAPS = sorted(path for path in FIXTURES.rglob("*.json*"))


def load(*names: str) -> list[Trace | InputError]:
    return list(read_traces([FIXTURES / name for name in names]))


def only(*names: str) -> Trace:
    (trace,) = load(*names)
    assert isinstance(trace, Trace)
    return trace


def worth(trace: Trace) -> dict[str, str]:
    return {source.source_id: source.status.value for source in trace.sources}


@pytest.mark.parametrize("path", TRAPS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_format_of_a_file_is_found_by_what_is_in_it(path):
    assert detect_format(path) == path.parent.name


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"native", "chat", "mcp"}))
def test_each_format_has_at_least_three_files(name):
    assert len([path for path in TRAPS if path.parent.name == name]) >= 3


@pytest.mark.parametrize(
    "name",
    [
        "anthropic/session.jsonl", "inspect_ai/attachments.json", "langfuse/observations.json",
        "langsmith/langchain_runs.jsonl", "openinference/otlp.json", "otel/attributes.json",
        "otel/events_before_1_37.json", "responses/chained.jsonl",
    ],
)  # fmt: skip
def test_question_answer_and_chart_are_the_same_in_every_format(name):
    trace = only(name)

    charts = [source for source in trace.sources if source.tool_name == "load_chart"]
    assert (trace.question, trace.answer) == (QUESTION, ANSWER)
    assert len(charts) == 1
    assert "medications.dose: 500 mg" in charts[0].text
    assert charts[0].is_evidence
    assert json.loads(charts[0].arguments) == {"mrn": "MRN-44120"}


def split(name: str, folder: Path) -> Iterator[Path]:
    """The spans of an OTLP file, one file each, the last first."""
    document = json.loads((FIXTURES / name).read_text())
    scope = document["resourceSpans"][0]["scopeSpans"][0]
    for number, span in enumerate(reversed(scope["spans"])):
        path = folder / f"part{number}.json"
        path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}))
        yield path


@pytest.mark.parametrize("name", ["otel/attributes.json", "openinference/otlp.json"])
def test_a_trace_in_many_files_is_the_trace_of_one_file(tmp_path, name):
    whole = only(name)

    (joined,) = read_traces(list(split(name, tmp_path)))

    assert isinstance(joined, Trace)
    assert (joined.trace_id, joined.question, joined.answer) == (
        whole.trace_id,
        whole.question,
        whole.answer,
    )
    assert joined.sources == whole.sources


def test_spans_without_content_take_it_from_the_mcp_log_of_their_trace(tmp_path):
    parent = f"00-{'a' * 32}-20f067aa0ba902b8-01"
    log = tmp_path / "log.jsonl"
    ask = {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "load_chart", "arguments": {}, "_meta": {"traceparent": parent}},
    }
    give = {"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "500 mg"}]}}
    log.write_text(json.dumps(ask) + "\n" + json.dumps(give) + "\n")

    (trace,) = read_traces([log, FIXTURES / "otel/no_content.json"])

    assert isinstance(trace, Trace)
    assert worth(trace) == {"load_chart#call_1": "ok", "load_labs#call_2": "error"}
    assert trace.sources[0].text == "500 mg"


def test_an_eval_archive_gives_its_samples(tmp_path):
    path = tmp_path / "log.eval"
    samples = json.loads((FIXTURES / "inspect_ai/attachments.json").read_text())["samples"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/dose-1_epoch_1.json", json.dumps(samples[0]))
        archive.writestr("samples/dose-2_epoch_1.json", "{")

    trace, error = read_traces([path])

    assert isinstance(trace, Trace)
    assert trace.answer == ANSWER
    assert "samples/dose-2_epoch_1.json: not valid JSON" in str(error)


@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_damaged_eval_archive_is_an_error(tmp_path, part):
    whole = (FIXTURES / "inspect_ai/zstandard.eval").read_bytes()
    cut = tmp_path / "cut.eval"
    cut.write_bytes(whole[: int(len(whole) * part)])
    bent = tmp_path / "bent.eval"
    at = whole.index(b"samples/dose-1") + 80
    bent.write_bytes(whole[:at] + bytes(20) + whole[at + 20 :])

    for path in (cut, bent):
        (error,) = read_traces([path])
        assert isinstance(error, InputError)


def test_attachments_cannot_unfold_without_end(tmp_path):
    digest = "0123456789abcdef"
    content = [{"type": "text", "text": f"attachment://{digest}"}] * 200
    sample = {
        "id": 1,
        "epoch": 1,
        "input": "?",
        "messages": [{"role": "user", "content": content}],
        "attachments": {digest: "x" * 1_000_000},
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(sample))

    (error,) = read_traces([path])

    assert isinstance(error, InputError)
    assert "attachments unfold to more" in str(error)
