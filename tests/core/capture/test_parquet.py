"""Traces in Parquet: one JSON text a row."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow
import pyarrow.parquet

from core.capture.reading import read_traces
from core.errors import InputError
from core.records import Trace


def _said(file: Path) -> list[str]:
    return [x.trace_id if isinstance(x, Trace) else str(x) for x in read_traces([file])]


def test_each_row_is_read_as_a_line_would_be(tmp_path: Path) -> None:
    texts = [
        one if one.startswith("{") else json.dumps({"question_id": one, "tool_calls": [],
        "full_tool_outputs": [], "user_question": "Q?", "final_reply_to_user": "A."})
        for one in ("a", "b", "{broken", "a", "c", "b")
    ]  # fmt: skip
    file = tmp_path / "t.parquet"
    table = pyarrow.table({"trace": [*texts, None], "more": list(range(7))})
    pyarrow.parquet.write_table(table, file, row_group_size=2)

    assert _said(file) == [
        "a", "b",
        "t.parquet:3: not valid JSON: Expecting property name enclosed in double quotes at column 2",
        "a~2", "c", "b~2", "t.parquet:7: trace: expected a JSON text, found NoneType",
    ]  # fmt: skip


def test_a_file_without_the_column_or_damaged_says_so(tmp_path: Path) -> None:
    bare, damaged = tmp_path / "bare.parquet", tmp_path / "damaged.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["x"]}), bare)
    damaged.write_bytes(b"PAR1 and nothing of the kind")

    for file, why in ((bare, "Parquet without a column 'trace'"), (damaged, "damaged Parquet")):
        (error,) = read_traces([file])
        assert isinstance(error, InputError) and why in error.message
