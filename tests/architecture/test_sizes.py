"""Files that a reader takes in at one sitting, and functions that stand on one screen."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import core

PROJECT = Path(core.__file__).parents[1]
PRODUCT = ("cli", "core", "pages", "storage", "training", "bench")
# What a migration did once is one list of statements, and is never edited again.
FROZEN = PROJECT / "storage" / "migrations" / "versions"


def _files() -> list[Path]:
    found = [PROJECT / "app.py"]
    for folder in PRODUCT:
        found += (PROJECT / folder).rglob("*.py")
    return [path for path in found if FROZEN not in path.parents]


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_over_400_lines_and_the_usual_one_is_short() -> None:
    lines = {str(path.relative_to(PROJECT)): _lines(path) for path in _files()}

    assert {name: count for name, count in lines.items() if count > 400} == {}
    assert 60 <= statistics.median(count for count in lines.values() if count) <= 130


def test_fewer_than_one_function_in_a_hundred_is_over_50_lines() -> None:
    functions = [
        (node.end_lineno - node.lineno + 1, f"{path.relative_to(PROJECT)}: {node.name}")
        for path in _files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    long = sorted(one for one in functions if one[0] > 50)

    assert len(long) < len(functions) / 100, long
