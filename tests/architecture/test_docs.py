"""What the docs name exists: a clause that names a test which is gone would be a claim without evidence."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
