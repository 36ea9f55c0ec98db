"""Valid files with something dropped, doubled, cut or retyped: no crash, and no call lost silently."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.capture.files import FileRecord, parse_record
from core.capture.reading import read_records_of, read_traces
from core.codec import canonical_json, trace_document
from core.errors import InputError
from core.records import Trace

EXAMPLES = 150


def native() -> list[object]:
    return [
        {
            "question_id": "q-1",
            "user_question": "Dose?",
            "tool_calls": ["chart", "search"],
            "full_tool_outputs": [
                {
                    "tool_name": "chart",
                    "source_id": "s1",
                    "chunk_count": 2,
                    "text": '{"mark": "m1"}',
                },
                {"tool_name": "search", "source_id": "s2", "text": "an abstract with m2"},
                {"tool_name": "chart", "source_id": "s1", "text": "more of the chart, m3"},
            ],
            "final_reply_to_user": "500 mg.",
            "elapsed_s": 1.5,
        }
    ]


def chat() -> list[object]:
    def made(call_id: str, name: str) -> dict[str, object]:
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}

    result = {"content": [{"type": "text", "text": "m3"}], "isError": False}
    return [
        {
            "task_id": "t1",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Dose?"}]},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [made("a", "x"), made("b", "y")],
                },
                {"role": "tool", "tool_call_id": "b", "content": '{"mark": "m1"}'},
                {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "m2"}]},
                {"role": "assistant", "tool_calls": [made("a", "z")]},
                {"role": "tool", "tool_call_id": "a", "content": json.dumps(result)},
                {"role": "assistant", "content": "500 mg."},
            ],
        }
    ]


def mcp() -> list[object]:
    def asks(identity: object, tool: str) -> dict[str, object]:
        params = {"name": tool, "arguments": {"n": 1}}
        return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}

    def gives(identity: object, text: str) -> dict[str, object]:
        result = {"content": [{"type": "text", "text": text}], "isError": False}
        return {"jsonrpc": "2.0", "id": identity, "result": result}

    return [
        {"server": "ehr", "message": asks(1, "chart")},
        {"server": "lit", "message": asks(1, "search")},
        {"server": "lit", "message": gives(1, "m1")},
        {"server": "ehr", "message": gives(1, "m2")},
        {"server": "ehr", "message": asks("2", "labs")},
        {"server": "ehr", "message": gives("2", '{"mark": "m3"}')},
    ]


VALID = {"native": native, "chat": chat, "mcp": mcp}
RETYPED = [None, True, -2, 0, 1e400, "", "x", [], {}, [None], {"a": {"b": [1]}}]
OTHER = st.sampled_from(RETYPED)


def places(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path] if path else []
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        found.extend(places(item, (*path, key)))
    return found


def mutate(value: list[object], data: st.DataObject) -> list[object]:
    where = data.draw(st.sampled_from(places(value)))
    kind = data.draw(st.sampled_from(["drop", "double", "put", "cut"]))
    if kind != "cut":
        return changed(value, where, kind, data.draw(OTHER))
    old: object = value
    for key in where:
        old = old[key]
    if not isinstance(old, str):
        return changed(value, where, "put", data.draw(OTHER))
    return changed(value, where, "put", old[: data.draw(st.integers(0, len(old)))])


def changed(
    value: list[object], where: tuple[object, ...], kind: str, other: object
) -> list[object]:
    """A copy of the value with one place dropped, doubled, or holding something else."""
    value = copy.deepcopy(value)
    holder = value
    for key in where[:-1]:
        holder = holder[key]
    key = where[-1]
    if kind == "drop":
        del holder[key]
    elif kind == "put":
        holder[key] = other
    elif isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[f"{key}_2"] = copy.deepcopy(holder[key])
    return value


def load(path: Path, name: str) -> list[Trace | InputError]:
    items = list(read_traces([path], format=name))
    for item in items:
        assert isinstance(item, Trace | InputError)
        if isinstance(item, Trace):
            canonical_json(trace_document(item)).encode("utf-8")
    return items


@pytest.mark.parametrize("name", sorted(VALID))
@given(data=st.data())
def test_a_changed_file_gives_traces_or_errors_and_loses_no_output_silently(tmp_path, name, data):
    records = VALID[name]()
    for _ in range(data.draw(st.integers(1, 2))):
        if places(records):
            records = mutate(records, data)
    path = tmp_path / "file.jsonl"
    content = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(content)

    items = load(path, name)

    if any(isinstance(item, InputError) for item in items) or not records:
        return
    kept = " ".join(
        f"{source.text} {source.raw} {source.note}"
        for item in items
        if isinstance(item, Trace)
        for source in item.sources
    )
    notices = " ".join(
        notice for item in items if isinstance(item, Trace) for notice in item.notices
    )
    outputs = _outputs_of(records, name)
    for mark in ("m1", "m2", "m3"):
        assert mark not in outputs or mark in kept or "after the answer" in notices


HERE = Path(__file__).parent
FIXTURES = sorted((HERE / "fixtures").rglob("*.json*"))
VENDORS = sorted((HERE / "vendors").glob("*.jsonl"))
# Only in tool outputs, and in the messages that hand them to the model.
CHART = "twice daily\\"


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
@given(data=st.data())
def test_a_changed_export_of_any_format_loses_no_output_silently(tmp_path, fixture, data):
    check_export(tmp_path, fixture, mutate(records_of(fixture), data))


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda path: path.stem)
def test_changed_records_of_a_vendor_give_traces_or_errors(vendor):
    chance = random.Random(EXAMPLES)
    kept = records_of(vendor)
    refused = 0
    for _ in range(EXAMPLES):
        records: list[object] = [chance.choice(kept)]
        for _ in range(chance.randint(1, 3)):
            where = chance.choice(places(records) or [None])
            if where is None:
                break
            kind, other = chance.choice(["drop", "double", "put", "cut"]), chance.choice(RETYPED)
            if kind == "cut":
                old: object = records
                for key in where:
                    old = old[key]
                cut = isinstance(old, str)
                kind, other = "put", old[: chance.randint(0, len(old))] if cut else other
            records = changed(records, where, kind, other)
        read = [parse_record(json.dumps(record).encode())[0] for record in records]
        try:
            items = list(read_records_of([FileRecord(one, 1) for one in read]))
        except InputError:
            refused += 1
            continue
        for item in items:
            if isinstance(item, Trace):
                canonical_json(trace_document(item)).encode("utf-8")

    assert refused < EXAMPLES / 2


@pytest.mark.stress
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_single_change_of_an_export_loses_an_output_silently(tmp_path, fixture):
    records = records_of(fixture)

    for where in places(records):
        value: object = records
        for key in where:
            value = value[key]
        cuts = {0, 1, len(value) // 2, len(value) - 1} if isinstance(value, str) else set()
        changes = [("drop", None), ("double", None)]
        changes += [("put", other) for other in RETYPED]
        changes += [("put", value[: max(0, length)]) for length in cuts]
        for kind, other in changes:
            check_export(tmp_path, fixture, changed(records, where, kind, other))


def records_of(fixture: Path) -> list[object]:
    text = fixture.read_text()
    if fixture.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return [json.loads(text)]


def check_export(tmp_path: Path, fixture: Path, records: list[object]) -> None:
    path = tmp_path / "file.jsonl"
    content = "".join(json.dumps(record) + "\n" for record in records)
    path.write_text(content)

    items = load(path, fixture.parent.name)

    told = any(
        isinstance(item, InputError) or item.notices or any(s.note for s in item.sources)
        for item in items
    )
    kept = any(
        "twice daily" in f"{source.text} {source.raw}"
        for item in items
        if isinstance(item, Trace)
        for source in item.sources
    )
    first = records[0] if records else None
    for sample in _list(first.get("samples")) if isinstance(first, dict) else []:
        if isinstance(sample, dict):
            sample.pop(
                "attachments", None
            )  # a pool of texts, whether anything refers to them or not
    assert told or kept or CHART not in json.dumps(records)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _outputs_of(records: list[object], name: str) -> str:
    """The text of what is still recognisably a tool output of the format."""
    found: list[object] = []
    for record in records:
        if not isinstance(record, dict):
            continue
        if name == "native":
            outputs = record.get("full_tool_outputs")
            found += [o.get("text") for o in _list(outputs) if isinstance(o, dict)]
        elif name == "chat":
            messages = record.get("messages")
            found += [
                m.get("content")
                for m in _list(messages)
                if isinstance(m, dict) and m.get("role") == "tool"
            ]
        else:
            message = record.get("message")
            result = message.get("result") if isinstance(message, dict) else None
            if isinstance(result, dict) and message.get("jsonrpc") == "2.0" and "isError" in result:
                found.append(result)
    return json.dumps(found)


@pytest.mark.parametrize("name", sorted(VALID))
@given(data=st.data())
def test_a_file_cut_or_damaged_anywhere_gives_traces_or_errors(tmp_path, name, data):
    content = "".join(json.dumps(record) + "\n" for record in VALID[name]()).encode()
    at = data.draw(st.integers(0, len(content)))
    damage = data.draw(st.binary(max_size=4))
    path = tmp_path / "file.jsonl"
    path.write_bytes(content[:at] + damage + content[at + data.draw(st.integers(0, 40)) :])

    for format in (name, "auto"):
        load(path, format)
