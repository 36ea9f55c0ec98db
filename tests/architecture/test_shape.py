"""The shape that the documentation draws is the shape on disk."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import core

ROOT = Path(core.__file__).parent
TABLE_ROW = re.compile(r"^    (?:III\.\d|App\.)\s+(\S+)\s", re.MULTILINE)


def nodes(word: str, *folders: str) -> Iterator[tuple[Path, Any]]:
    """Each node of the files in these folders whose text has that word, a regular expression."""
    for path in sorted(path for each in folders for path in (ROOT.parent / each).rglob("*.py")):
        if re.search(rf"\b(?:{word})\b", text := path.read_text(encoding="utf-8")):
            yield from ((path, node) for node in ast.walk(ast.parse(text)))


def test_the_stage_table_names_every_stage_file_and_no_other() -> None:
    named = set(TABLE_ROW.findall(core.__doc__ or ""))

    files = (ROOT / "verification").glob("*.py")
    on_disk = {f"verification/{path.stem}" for path in files if path.stem != "__init__"}

    assert {name for name in named if name.startswith("verification/")} == on_disk
    assert all((ROOT / f"{name}.py").is_file() for name in named)


def test_only_the_pipeline_turns_a_stage_error_into_a_verdict() -> None:
    catching = []
    for path, node in nodes(r"\w*StageError\w*|BaseException|except(?=\s*:)", "core"):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            if "StageError" in caught or caught in ("everything", "BaseException"):
                catching.append((path.name, caught))

    assert catching == [("pipeline.py", "StageError")]


def test_no_code_of_ours_unpickles_or_evaluates_what_it_reads() -> None:
    forbidden = {"eval", "exec", "pickle", "joblib", "dill", "shelve", "marshal"}
    found = []
    for path, node in nodes("|".join(forbidden), "core", "cli", "storage", "pages", "service"):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [(path.name, node.func.id)] if node.func.id in forbidden else []
        if isinstance(node, ast.Import):
            found += [(path.name, a.name) for a in node.names if a.name in forbidden]
        if isinstance(node, ast.ImportFrom) and node.module in forbidden:
            found.append((path.name, node.module))

    # The one exception opens an installed package's word list: only under its recorded digest, and
    # with an unpickler that refuses every class (tests/core/evidence/chart/test_vocabulary.py).
    assert found == [("vocabulary.py", "pickle")]


def test_nothing_imports_the_front_doors() -> None:
    found = []
    for path, node in nodes("cli|app", "core", "storage", "pages", "service"):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        found += [(path.name, n) for n in names if n.split(".")[0] in ("cli", "app")]

    assert found == []


def test_no_repository_is_made_outside_storage() -> None:
    """Front doors and workflows are given a workspace; they put no repository together."""
    repositories = {
        node.name
        for path in (ROOT.parent / "storage").glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(field, ast.AnnAssign)
            and ast.unparse(field.target) == "store"
            and ast.unparse(field.annotation) == "SqlStore"
            for field in node.body
        )
    } - {"Workspace"}
    called = f"(?:{'|'.join(repositories)})(?=\\()"
    made = [
        f"{path}: {node.func.id}"
        for path, node in nodes(called, "cli", "pages", "core", "service")
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in repositories
        and any(keyword.arg == "store" for keyword in node.keywords)
    ]

    assert repositories >= {
        "Calibrators",
        "Labels",
        "Packets",
        "People",
        "Projects",
        "ReviewSession",
    }
    assert made == []
