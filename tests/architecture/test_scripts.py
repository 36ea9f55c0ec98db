"""Scripts that no test runs (benchmarks, fuzzing) import what is there."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("cli", "core", "pages", "provenanceguard", "service", "storage", "training")
SCRIPTS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("bench", "tests/fuzzing")
    for path in (ROOT / folder).rglob("*.py")
)


def _imported(path: Path) -> Iterator[tuple[str, str]]:
    """Module and name of every import of ours, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            yield from ((str(node.module), alias.name) for alias in node.names)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_imports_names_that_exist(script: str) -> None:
    missing = []
    for module, name in _imported(ROOT / script):
        found = importlib.import_module(module)
        if not hasattr(found, name) and importlib.util.find_spec(f"{module}.{name}") is None:
            missing.append(f"{module}.{name}")

    assert missing == []
