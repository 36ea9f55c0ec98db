"""The import contracts of pyproject.toml hold nothing back, and each catches a violation when planted."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import core

PROJECT = Path(core.__file__).resolve().parent.parent
CONTRACTS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
ROOTS = ("cli", "core", "provenanceguard", "storage", "pages", "service", "training")


def _broken(folder: Path) -> str:
    """What import-linter says of the tree in that folder."""
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"], cwd=folder, env={"PYTHONPATH": str(folder)}, capture_output=True,
        text=True,
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stdout + done.stderr


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code and its contracts."""
    folder = tmp_path_factory.mktemp("tree")
    shutil.copy(PROJECT / "pyproject.toml", folder)
    for root in ROOTS:
        shutil.copytree(
            PROJECT / root,
            folder / root,
            ignore=lambda place, names: [
                name
                for name in names
                if name == "__pycache__" or ("." in name and not name.endswith(".py"))
            ],
        )
    return folder


PLANTED = {
    ("provenanceguard.results", "storage.store"): "Python interface",
    ("core.pipeline", "provenanceguard.results"): "Python interface",
    ("storage.calibrators", "core.models.forest"): "storage stores",
    ("storage.annotations", "core.workflows.queue_worker"): "storage stores",
    ("storage.traces", "core.text.tokens"): "storage stores",
    ("storage.claims", "core.capture.reading"): "storage stores",
    ("storage.store", "cli.output"): "cli and pages",
    ("core.workflows.queue_worker", "storage.store"): "cli and pages",
    ("core.codec.verdicts", "core.review.records"): "inside core",
    ("core.review.assignment", "sqlmodel"): "neither the browser nor SQL",
    ("core.verification.premise", "core.verification.features"): "inside verification",
    ("core.text.tokens", "training"): "shipped weights",
    ("service.verbs", "cli.output"): "the service stands beside pages",
    ("service.verbs", "pages.widgets.plain"): "know nothing of each other",
    ("service.requests", "torch"): "learning",
    ("pages.home", "torch"): "learning libraries",
    ("pages.widgets.plain", "pages.screens.review.bar"): "inside pages",
    ("pages.screens.review.bar", "pages.screens.adjudicate.bar"): "no screen imports another",
}


@pytest.fixture(scope="module")
def violations(tree: Path) -> dict[str, str]:
    """What the linter says of each broken contract once every import of PLANTED is in the copy."""
    for module, imported in PLANTED:
        with (tree / (module.replace(".", "/") + ".py")).open("a", encoding="utf-8") as file:
            file.write(f"\nimport {imported}\n")
    said = _broken(tree).partition("Broken contracts")[2]
    sections = re.split(r"^(.+)\n-+$", said, flags=re.MULTILINE)[1:]
    return dict(zip(sections[::2], sections[1::2], strict=True))


def test_no_contract_names_an_exception() -> None:
    assert [each["name"] for each in CONTRACTS if each.get("ignore_imports")] == []


def test_the_code_as_it_is_breaks_no_contract(tree: Path) -> None:
    assert _broken(tree) == ""


@pytest.mark.parametrize(("planted", "contract"), PLANTED.items(), ids=str)
def test_a_planted_import_is_caught(
    planted: tuple[str, str], contract: str, violations: dict[str, str]
) -> None:
    module, imported = planted

    said = [text for name, text in violations.items() if contract in name]

    assert any(re.search(rf"{module} -> {imported}\b", text) for text in said), violations


def test_a_routed_page_shows_its_own_screen_only() -> None:
    pages = {
        file.stem: file.read_text(encoding="utf-8")
        for file in (PROJECT / "pages").glob("*.py")
        if file.stem != "__init__"
    }
    screens = {file.parent.name for file in (PROJECT / "pages/screens").glob("*/__init__.py")}

    foreign = {
        (name, screen)
        for name, text in pages.items()
        for screen in re.findall(r"pages\.screens\.(\w+)", text)
        if screen != name
    }

    assert set(pages) == screens
    assert foreign == set()
