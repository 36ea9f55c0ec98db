"""The import contracts hold, and each of those below is broken by an import that it forbids."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "pages"
SCREEN = re.compile(r"pages\.screens\.(\w+)")
PACKAGES = ("cli", "core", "pages", "storage", "training")
PLANTED = {
    "no screen imports another": (
        "pages/screens/review/__init__.py",
        "from pages.screens import adjudicate",
    ),
    "inside pages: a routed page → its screen → what screens share": (
        "pages/widgets/plain.py",
        "from pages.screens import review",
    ),
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of what the contracts speak of."""
    for file in (file for name in PACKAGES for file in (ROOT / name).rglob("*.py")):
        place = tmp_path / file.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def broken(sources: Path) -> set[str]:
    """The names of the contracts that do not hold there."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"]
    result = subprocess.run(
        command, cwd=sources, capture_output=True, text=True, check=False, timeout=120
    )
    assert "Contracts:" in result.stdout, result.stdout + result.stderr
    endings = (line.rpartition(" BROKEN") for line in result.stdout.splitlines())
    return {name for name, ending, _ in endings if ending}


def test_every_contract_holds(sources: Path) -> None:
    assert broken(sources) == set()


@pytest.mark.parametrize("contract", PLANTED)
def test_a_planted_import_breaks_the_contract(contract: str, sources: Path) -> None:
    file, line = PLANTED[contract]
    with (sources / file).open("a", encoding="utf-8") as opened:
        opened.write(f"\n{line}\n")

    assert contract in broken(sources)


def test_a_routed_page_shows_its_own_screen_only() -> None:
    pages = {file.stem: file.read_text(encoding="utf-8") for file in PAGES.glob("[!_]*.py")}
    screens = {folder.name for folder in (PAGES / "screens").glob("[!_]*/")}

    foreign = {
        (name, screen)
        for name, text in pages.items()
        for screen in SCREEN.findall(text)
        if screen != name
    }

    assert set(pages) == screens
    assert foreign == set()
