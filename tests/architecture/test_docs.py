"""What the docs name exists: a clause that names a test which is gone would be a claim without evidence."""

from __future__ import annotations

import re
from importlib.metadata import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PERMISSIVE = re.compile(r"MIT|BSD|Apache")
NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def test_every_test_that_the_docs_name_exists() -> None:
    missing, found = [], 0
    for document in (ROOT / "docs").glob("*.md"):
        for file, name in NAMED.findall(document.read_text("utf-8")):
            found += 1
            path = ROOT / file
            text = path.read_text("utf-8") if path.is_file() else ""
            if not text or (name and not re.search(rf"^def {name}\(", text, re.MULTILINE)):
                missing.append(f"{document.name}: {file}::{name}")

    assert found > 10
    assert missing == []


def test_the_notice_names_every_package_that_is_neither_mit_nor_bsd_nor_apache() -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8").lower()
    locked = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text("utf-8"), re.M)

    others = [name for name in locked if not PERMISSIVE.search(_licence(name))]

    assert len(locked) > 90
    assert [name for name in others if name.lower() not in notice] == []


def _licence(name: str) -> str:
    """What an installed package states of its licence, shortly."""
    about = metadata(name)
    stated = about.get("License-Expression") or (about.get("License") or "").partition("\n")[0]
    classified = (text for text in about.get_all("Classifier", []) if text.startswith("License"))
    return " ".join([stated, *classified])
