"""No more functions than today are too branched or take too many arguments."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import core

PROJECT = Path(core.__file__).parents[1]
RUFF = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"][
    "lint"
]
LISTED = {name: set(codes) for name, codes in RUFF["per-file-ignores"].items() if "*" not in name}
AT_MOST = 62  # files on the list; it only becomes shorter


def test_every_file_on_the_list_of_exceptions_needs_its_place_there() -> None:
    """An exception that nothing needs any more would let the next one in unseen."""
    rules = [
        "--select=C901,PLR0913",
        f"--config=lint.mccabe.max-complexity={RUFF['mccabe']['max-complexity']}",
        f"--config=lint.pylint.max-args={RUFF['pylint']['max-args']}",
    ]
    done = subprocess.run(
        [Path(sys.executable).with_name("ruff"), "check", "--isolated", "--output-format=json"]
        + [*rules, "--exclude=.venv", "--exit-zero", "."],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    over: dict[str, set[str]] = {}
    for each in json.loads(done.stdout):
        name = Path(each["filename"]).relative_to(PROJECT).as_posix()
        over.setdefault(name, set()).add(each["code"])

    unneeded = {name: codes - over.get(name, set()) for name, codes in LISTED.items()}

    assert {name: codes for name, codes in unneeded.items() if codes} == {}
    assert len(LISTED) <= AT_MOST
