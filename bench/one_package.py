"""Move cli, core, pages, service and storage into the package provenanceguard, with imports and paths.

    python bench/one_package.py    # in a clean checkout; then ruff check --fix, ruff format, make reference

Imports become absolute ones of ``provenanceguard``; strings that name a module, an argument of ``-m`` and
paths of files that exist follow. What is left to a person: docs/decisions/one-import-name.md. Delete this
script with the move.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "provenanceguard"
FOLDERS = ("cli", "core", "pages", "service", "storage")
ANY = "|".join(FOLDERS)
TEXTS = (".py", ".toml", ".md", ".yml", ".yaml", ".cff", "")
DEEPER = {  # files that count folders up to the project
    "core/places.py": ("parents[1]", "parents[2]"),
    "core/workflows/workers.py": ("parents[2]", "parents[3]"),
    "app.py": ('.parent / "pages"', f'.parent / "{PACKAGE}" / "pages"'),
}


def main() -> int:
    """Move and rewrite; the exit code."""
    if subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True).stdout:
        print("the checkout has changes of its own")
        return 2
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    files = [ROOT / name for name in listed.stdout.splitlines()]
    for path in files:
        if path.suffix in TEXTS and path != Path(__file__).resolve():
            _rewrite(path)
    for folder in FOLDERS:
        subprocess.run(["git", "mv", folder, f"{PACKAGE}/{folder}"], cwd=ROOT, check=True)
    return 0


def _rewrite(path: Path) -> None:
    try:
        before = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, IsADirectoryError):
        return  # no text, or a link to a folder
    text = before
    if path.suffix == ".py":
        text = re.sub(rf"^(\s*)from ({ANY})\b(?=[. ])", rf"\1from {PACKAGE}.\2", text, flags=re.M)
        text = re.sub(rf"^(\s*)import ({ANY})$", rf"\1from {PACKAGE} import \2", text, flags=re.M)
    if path.name == "pyproject.toml":
        text = _project(text)
    else:
        text = re.sub(rf"([\"'])((?:{ANY})(?:\.\w+)+)\1", _module, text)
    text = re.sub(rf"(-m[\"', ]+)({ANY})\b(?=[.\s\"'`])", rf"\1{PACKAGE}.\2", text)
    text = re.sub(rf"(?<![\w/.])((?:{ANY})(?:/[\w.-]+)+)", _file, text)
    relative = path.relative_to(ROOT).as_posix()
    if relative in DEEPER:
        text = text.replace(*DEEPER[relative])
    if text != before:
        path.write_text(text, encoding="utf-8")


def _module(match: re.Match[str]) -> str:
    """A quoted name with the package before it, where it is a module or something in one."""
    quote, name = match.groups()
    place = ROOT / name.replace(".", "/")
    modules = (place, place.with_suffix(".py"), place.parent.with_suffix(".py"))
    there = any(one.exists() for one in modules)
    return f"{quote}{PACKAGE}.{name}{quote}" if there else match[0]


def _file(match: re.Match[str]) -> str:
    name = match[1].rstrip(".")
    return f"{PACKAGE}/{match[1]}" if (ROOT / name).exists() else match[0]


def _project(text: str) -> str:
    """pyproject.toml: what is packed, typed and linted."""
    text = re.sub(r"^include = .*$", f'include = ["{PACKAGE}*"]', text, count=1, flags=re.M)
    text = text.replace('"cli:app"', f'"{PACKAGE}.cli:app"')
    for folder in ("core", "storage", "pages"):
        text = re.sub(rf"^{folder} = \[", f'"{PACKAGE}.{folder}" = [', text, flags=re.M)
    head, mark, linted = text.partition("[tool.importlinter]")
    head = re.sub(r"^files = \[.*$", lambda line: _once(line[0]), head, flags=re.M)
    head = re.sub(rf'^"((?:{ANY})/[^"]*\*[^"]*)"', rf'"{PACKAGE}/\1"', head, flags=re.M)  # globs
    roots = f'root_packages = ["{PACKAGE}", "training"]'
    linted = re.sub(r"^root_packages = .*$", roots, linted, flags=re.M)
    # `"core.stages.*"`, `"cli | pages"`: names of modules; inside a container they stand alone.
    linted = re.sub(rf'"(?:{ANY})(?:\.[\w.*]+| \| \w+)*"', _linted, linted)
    return head + mark + linted


def _linted(match: re.Match[str]) -> str:
    parts = match[0].strip('"').split(" | ")
    return '"' + " | ".join(f"{PACKAGE}.{part}" for part in parts) + '"'


def _once(line: str) -> str:
    """The list of typed folders without those that are in the package now."""
    return re.sub(rf'"(?:{ANY})", ', "", line)


if __name__ == "__main__":
    sys.exit(main())
