"""README is short, is found by the field's words, and names commands and files that exist.

That its Python prints what stands below it: tests/test_wheel.py.
"""

from __future__ import annotations

import re
from pathlib import Path

from typer.testing import CliRunner

from cli import app

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_read_in_one_go_and_found_by_the_words_of_the_field() -> None:
    words = ("faithfulness", "hallucination", "grounding", "rag", "attribution", "mcp")

    assert len(README.encode()) <= 7_680
    assert [word for word in words if not re.search(rf"\b{word}\b", README, re.I)] == []


def test_its_commands_and_links_exist() -> None:
    commands = re.findall(
        r"^\.venv/bin/provenanceguard ([a-z -]+?)(?: sample_data\S*)?\s+#", README, re.M
    )
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    targets = re.findall(r"^make (\w+)", README, re.M)

    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert len(commands) == 3 and len(links) > 6
    for command in commands:
        assert CliRunner().invoke(app, [*command.split(), "--help"]).exit_code == 0, command
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
