"""What `pip install .` installs: README's Python runs from it, with nothing of the checkout in reach."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")
SUPPORT = re.compile(r"\b\d\.\d\d\b")  # another processor rounds another way in the last digit
PARTS = ("cli", "core", "pages", "provenanceguard", "service", "storage")
PIP = (sys.executable, "-m", "pip", "--quiet", "--no-input")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of a copy (a build folder of before must not end in it) and unpacked."""
    copy, target = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("target")
    for part in PARTS:
        shutil.copytree(ROOT / part, copy / part, copy_function=os.link)
    for file in ("app.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, copy)
    alone = ("--no-deps", "--no-index")
    built = (*PIP, "wheel", str(copy), *alone, "--no-build-isolation", "-w", str(copy / "wheel"))
    subprocess.run(built, check=True)
    (wheel,) = (copy / "wheel").glob("*.whl")
    subprocess.run((*PIP, "install", str(wheel), *alone, "--target", str(target)), check=True)
    return target


@pytest.mark.stress
def test_readmes_python_prints_what_stands_below_it(installed: Path, tmp_path: Path) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    program = tmp_path / "readme.py"
    program.write_text(code + "\nimport core; print(pg.__file__, core.__file__)", encoding="utf-8")
    # -S: no .pth file of the environment leads back to the checkout; its packages are in reach by path.
    packages = Path(numpy.__file__).parents[1]
    environment = {"PYTHONPATH": f"{installed}{os.pathsep}{packages}", "OMP_NUM_THREADS": "1"}

    done = subprocess.run(
        [sys.executable, "-S", str(program)],
        cwd=tmp_path,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    printed, places = done.stdout.rstrip("\n").rsplit("\n", 1)
    assert all(place.startswith(str(installed)) for place in places.split())
    assert SUPPORT.sub("#", printed) == SUPPORT.sub("#", shown.rstrip("\n"))
    measured, stated = SUPPORT.findall(printed), SUPPORT.findall(shown)
    assert [float(one) for one in stated] == pytest.approx([*map(float, measured)], abs=0.02)
