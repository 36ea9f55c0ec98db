"""What the workbench consists of: a CycloneDX 1.6 document and a list of licences, from the locks.

    python bench/sbom.py build      # build/sbom.json, build/licences.csv

Everything that is installed to run (scope "required") or to test (scope "optional"), and the weights
that ship. The same locks and the same files give the same bytes.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
import uuid
from importlib.metadata import PackageMetadata, PackageNotFoundError, metadata, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = {"requirements.lock": "required", "requirements-dev.lock": "optional"}
APART = "torch"  # installed on its own line, see bench/lock.py
WEIGHTS = ("core/models/weights", "core/attribution", "core/decomposition")
PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
NO_LICENCE = "not stated"
Component = dict[str, object]


def main() -> int:
    """Write both files into the folder that is named."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    folder.mkdir(parents=True, exist_ok=True)
    packages = [each for lock, scope in LOCKS.items() for each in _packages(lock, scope)]
    packages.append(_package(APART, version(APART), "required", []))
    packages.sort(key=lambda each: str(each["name"]))
    components = [*packages, *_weights()]
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "provenanceguard-workbench",
                                   "version": version("provenanceguard-workbench"),
                                   "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": components,
    }  # fmt: skip
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    body["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"
    (folder / "sbom.json").write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
    with (folder / "licences.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "version", "scope", "licence"])
        rows.writerows(
            [each["name"], each["version"], each["scope"], _licence(str(each["name"]))]
            for each in packages
        )
    print(
        f"{len(packages)} packages, {len(components) - len(packages)} files of weights in {folder}"
    )
    return 0


def _packages(lock: str, scope: str) -> list[Component]:
    text = (ROOT / lock).read_text("utf-8")
    pins = list(PIN.finditer(text))
    ends = [*(each.start() for each in pins[1:]), len(text)]
    return [
        _package(pin[1], pin[2], scope, HASH.findall(text[pin.end() : end]))
        for pin, end in zip(pins, ends, strict=True)
    ]


def _package(name: str, number: str, scope: str, digests: list[str]) -> Component:
    purl = f"pkg:pypi/{name}@{number}"
    component: Component = {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": number,
        "scope": scope,
        "purl": purl,
        "licenses": [{"license": {"name": _licence(name)}}],
    }
    # One digest for each file of that version: whichever is installed is one of them.
    component["properties"] = [{"name": "file:sha256", "value": each} for each in digests]
    return component


def _weights() -> list[Component]:
    files = sorted(
        path
        for place in WEIGHTS
        for path in (ROOT / place).rglob("*")
        if path.is_file()
        and path.suffix in (".safetensors", ".npz")
        or path.name.endswith("weights.json")
    )
    return [
        {
            "type": "machine-learning-model",
            "name": path.relative_to(ROOT).as_posix(),
            "hashes": [
                {"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}
            ],
        }
        for path in files
    ]


def _licence(name: str) -> str:
    try:
        told: PackageMetadata = metadata(name)
    except PackageNotFoundError:
        return NO_LICENCE
    expression = told.get("License-Expression")
    if expression:
        return str(expression)
    classified = [
        str(each).rpartition(" :: ")[2]
        for each in told.get_all("Classifier") or ()
        if str(each).startswith("License :: ") and not str(each).endswith("OSI Approved")
    ]
    stated = str(told.get("License") or "").strip().splitlines()
    return "; ".join(classified) or (stated[0][:100] if stated else NO_LICENCE)


if __name__ == "__main__":
    sys.exit(main())
