"""Rows of one test as data: ``cases.jsonl`` beside the test file, one line a row, named by its test."""

from __future__ import annotations

import json
from enum import EnumType
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import pytest


@cache
def _lines(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


def cases(test: Any) -> Any:
    """The test, run on each of its rows; a row's keys are its parameters, ``why`` is for the reader."""
    every = _lines(Path(test.__code__.co_filename).with_name("cases.jsonl"))
    rows = [row for row in every if row["test"] == test.__name__]
    names = [name for name in rows[0] if name not in ("test", "why")]
    hints = get_type_hints(test)

    def value(name: str, row: dict[str, Any]) -> Any:
        hint = hints.get(name)
        return hint(row[name]) if isinstance(hint, EnumType) else row[name]

    return pytest.mark.parametrize(names, [[value(n, row) for n in names] for row in rows])(test)
