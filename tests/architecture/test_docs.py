"""What the docs name exists: a clause that names a test which is gone would be a claim without evidence."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from cli import app

ROOT = Path(__file__).resolve().parents[2]
PERMISSIVE = re.compile(r"MIT|BSD|Apache")
WRITTEN = re.compile(r"(?:^ *|`|\S=\S+ )(?:\S*/)?provenanceguard ([a-z][^`\n&|…]*)", re.M)
NOTICE = ROOT / "NOTICE"
DATA = re.compile(
    r"^(?!tests/|docs/|pyproject|\.|bench/load).*\.(safetensors|npz|xz|gz|jsonl|json|toml|css|js|svg|j2|lua)$"
)
OURS = r"\b(?:bench|cli|core|docs|pages|sample_data|service|storage|training)\b"
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_every_test_that_the_docs_name_exists() -> None:
    missing, found = [], 0
    for document in (ROOT / "docs").rglob("*.md"):
        for file, name in NAMED.findall(document.read_text("utf-8")):
            found += 1
            path = ROOT / file
            text = path.read_text("utf-8") if path.is_file() else ""
            if not text or (name and not re.search(rf"^def {name}\(", text, re.MULTILINE)):
                missing.append(f"{document.name}: {file}::{name}")

    assert found > 10
    assert missing == []


def test_every_place_of_the_documents_items_is_in_the_code() -> None:
    """docs/explanation/seeds.md: item, place, state; what differs says why."""
    rows = [
        [cell.strip() for cell in line.strip("|\n ").split(" | ")]
        for line in (ROOT / "docs/explanation/seeds.md").read_text(encoding="utf-8").splitlines()
        if re.match(r"\| .* \| (?:`[^`]+`|–) \| ", line)
    ]
    assert len(rows) > 200
    for item, place, state in rows:
        file, _, name = place.strip("`–").partition(":")
        if file:
            assert (ROOT / file).exists(), (item, place)
            assert name in (ROOT / file).read_text(encoding="utf-8") if name else True, (
                item,
                place,
            )
        assert re.match(r"works$|differs: \S|not built", state), (item, state)


def test_the_notice_names_every_package_that_is_neither_mit_nor_bsd_nor_apache() -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8").lower()
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text("utf-8"), re.M)

    others = [name for name in locked if not PERMISSIVE.search(_licence(name))]

    assert len(locked) > 90
    assert [name for name in others if name.lower() not in notice] == []


def test_every_file_of_data_that_ships_lies_under_a_path_of_the_notice() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no checkout: what ships is in the wheel's own list")
    data = [file for file in listed.stdout.splitlines() if DATA.search(file)]
    paths = re.findall(
        r"^  ((?:core|pages|sample_data|training|bench)/\S*)", NOTICE.read_text(), re.M
    )

    assert len(data) > 40
    assert [file for file in data if not file.startswith(tuple(paths))] == []
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_models_in_packages_are_the_files_whose_digests_the_notice_tells() -> None:
    told = re.findall(
        r"(\S+/model(?:\.safetensors)?) is (?:[^:]*?)sha256\s+(\w{64})", NOTICE.read_text()
    )

    assert len(told) == 2
    for file, digest in told:
        package, _, rest = file.partition("/")
        found = files(package) / rest
        assert hashlib.sha256(found.read_bytes()).hexdigest() == digest, file


def _licence(name: str) -> str:
    """What an installed package states of its licence, shortly."""
    about = metadata(name)
    stated = about.get("License-Expression") or (about.get("License") or "").partition("\n")[0]
    classified = (text for text in about.get_all("Classifier", []) if text.startswith("License"))
    return " ".join([stated, *classified])


def test_the_reference_pages_are_what_the_code_makes_of_them() -> None:
    check = [sys.executable, "bench/reference.py", "--check"]

    made = subprocess.run(
        check, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )

    assert made.returncode == 0, made.stdout + made.stderr


def test_every_environment_variable_of_the_product_is_in_the_reference() -> None:
    page = (ROOT / "docs/reference/configuration.md").read_text("utf-8")
    read = {
        name
        for folder in ("core", "cli", "storage", "service", "pages", "provenanceguard")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"[\"'](PROVENANCEGUARD_[A-Z_]+)[\"']", path.read_text("utf-8"))
    }

    assert len(read) >= 4
    assert [name for name in sorted(read) if name not in page] == []


def test_every_link_between_the_documents_leads_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    lost = [
        f"{document.relative_to(ROOT)}: {link}"
        for document in documents
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", document.read_text("utf-8"))
        if not (document.parent / link).exists()
    ]

    assert len(documents) > 15
    assert lost == []


def test_every_program_and_file_that_the_documents_name_is_there_or_was_measured_once() -> None:
    """A path may be short of its ending (a set in two files), or begin under tests/."""
    once = (ROOT / "docs/decisions/measured-once.md").read_text("utf-8")
    told = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "decisions"]
    found, lost = 0, []
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *told]:
        text = document.read_text("utf-8").replace("NAME", "*")
        modules = [
            name.replace(".", "/") + (f"/{suite}" if name == "bench" and suite else "")
            for name, suite in re.findall(rf"python -m ({OURS}[\w.]*)(?: ([a-z_]+))?", text)
        ]
        paths = re.findall(rf"(?<![\w/.:@-])({OURS}/[\w./*-]*[\w*])", text)
        for name in {*modules, *paths}:
            found += 1
            there = any(next(ROOT.glob(f"{at}{name}*"), None) for at in ("", "tests/"))
            if not there and f"{Path(name).stem}" not in once:
                lost.append(f"{document.relative_to(ROOT)}: {name}")

    assert found > 100
    assert lost == []


def test_every_command_in_the_documents_has_the_options_that_are_written_there() -> None:
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    documents += (ROOT / "docs").rglob("*.md")
    found, wrong = 0, []
    for document in documents:
        for line in WRITTEN.findall(document.read_text("utf-8")):
            found += 1
            words = shlex.split(line.rstrip(" \\"), comments=True)
            if problem := _problem(words[: words.index("--")] if "--" in words else words):
                wrong.append(f"{document.name}: {line}: {problem}")

    assert found > 40
    assert wrong == []


def _problem(words: list[str]) -> str | None:
    """What a command line names that is not there: a command, or an option of it."""
    command: Any = get_command(app)
    for word in words:
        if not word.startswith("-") and hasattr(command, "commands"):
            if word not in command.commands:
                return word
            command = command.commands[word]
        elif word.startswith("--"):
            known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0] not in {*known, "--help", "--version"}:
                return word
    return None
