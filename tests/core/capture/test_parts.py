"""Parts of a file, read each by itself, are the file: whatever is in it and wherever it was cut."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.capture.files import FilePart
from core.capture.parts import lines_in, parts_of, traces_of_part
from core.capture.reading import Names, read_traces
from core.config import Config
from core.errors import InputError, UnknownFormat
from core.records import Trace

CONFIG = Config()
IDS = st.sampled_from(["a", "b", "a~2", "ä"])
LINES = st.lists(st.one_of(IDS, st.sampled_from(["", "{broken", " "])), max_size=12)


def _line(one: str, number: int) -> str:
    if one in ("", "{broken", " "):
        return one
    answer = f"Weight {number} kg. " * (number % 4 + 1)
    return json.dumps({"question_id": one, "full_tool_outputs": [], "assistant_answer": answer})


def _joined(parts: list[FilePart]) -> list[Trace | str]:
    """What the parts say, one after the other, with the numbers that one reader of all would give."""
    found: list[Trace | str] = []
    names, line, before = Names(), 1, None
    for part in parts:
        if part.path != before:
            names, line, before = Names(), 1, part.path
        part = FilePart(
            path=part.path, start=part.start, end=part.end, rows=part.rows, first_line=line
        )
        ids = [one.trace_id for one in traces_of_part(part, {}, CONFIG) if isinstance(one, Trace)]
        numbers = dict(enumerate(names.number(each) for each in ids))
        found += map(_said, traces_of_part(part, numbers, CONFIG))
        line += lines_in(part)
    return found


def _said(item: Trace | InputError) -> Trace | str:
    return item if isinstance(item, Trace) else item.located()


@given(lines=LINES, part_bytes=st.integers(1, 400), last_newline=st.booleans())
def test_lines_cut_anywhere_are_read_as_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    part_bytes: int,
    last_newline: bool,
) -> None:
    # One good line first, and a second: what the file is must be told from its beginning.
    texts = [_line("first", 0), _line("second", 1)]
    texts += [_line(one, number) for number, one in enumerate(lines)]
    file = tmp_path_factory.mktemp("parts") / "t.jsonl"
    file.write_text("\n".join(texts) + ("\n" if last_newline else ""), encoding="utf-8")

    parts = parts_of([file], CONFIG, part_bytes)

    assert b"".join(file.read_bytes()[one.start : one.end] for one in parts) == file.read_bytes()
    assert _joined(parts) == list(map(_said, read_traces([file])))


def test_rows_of_parquet_are_read_as_lines_are(tmp_path: Path) -> None:
    texts = [_line(one, number) for number, one in enumerate(["a", "b", "{broken", "a", "c", "b"])]
    file = tmp_path / "t.parquet"
    table = pyarrow.table({"trace": [*texts, None], "more": list(range(7))})
    pyarrow.parquet.write_table(table, file, row_group_size=2)

    parts = parts_of([file], CONFIG)

    whole = list(map(_said, read_traces([file])))
    assert [one.trace_id if isinstance(one, Trace) else one for one in whole] == [
        "a", "b",
        "t.parquet:3: not valid JSON: Expecting property name enclosed in double quotes at column 2",
        "a~2", "c", "b~2", "t.parquet:7: trace: expected a JSON text, found NoneType",
    ]  # fmt: skip
    assert len(parts) == 4
    assert _joined(parts) == whole


def test_what_cannot_be_read_in_parts_is_refused_with_a_way_out(tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi"}]}) + "\n")
    document = tmp_path / "list.json"
    document.write_text(
        json.dumps([json.loads(_line("a", 1)), json.loads(_line("b", 2))], indent=1)
    )
    bare = tmp_path / "bare.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["x"]}), bare)

    for file in (chat, document):
        with pytest.raises(UnknownFormat, match="convert --to native"):
            parts_of([file], CONFIG)
    with pytest.raises(InputError, match="Parquet without a column 'trace'"):
        parts_of([bare], CONFIG)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1 and nothing of the kind")
    (error,) = read_traces([damaged])
    assert isinstance(error, InputError) and "damaged Parquet" in error.message
