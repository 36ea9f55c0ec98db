"""Two checkouts over the same traces, probes and packets: what differs, claim by claim.

    python -m bench diff OLD NEW [--only pairs hidden traces cases packets] [--packets-share 0.1]

OLD and NEW are folders or revisions of this repository. Nothing is printed but a count where all is
byte-identical, run identity and times apart; else every claim that differs is listed with both sides,
to be read by a person, and the exit code is 1. What a revision gave is kept (``--keep``), so that the
next comparison with it costs nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from bench.report import Report
from bench.verdicts import PROJECT, Row, evaluate, fresh, read_lines, verify, without_identity

DATA = PROJECT.parent / "shared" / "data"
KEPT = Path.home() / ".cache" / "provenanceguard-bench"
TRACES = {
    "pairs": ["probes/pairs.jsonl.gz"],
    "hidden": ["probes/hidden.jsonl.gz"],
    "traces": [
        "traces/multirecord_dev_native.jsonl.gz",
        "traces/multirecord_dev_chat.jsonl.gz",
        "traces/clinical_native.jsonl.gz",
        "traces/livemcpbench_chat.jsonl.gz",
        "traces/tau_airline_chat.jsonl.gz",
        "traces/spans/all-spans.json.gz",
    ],
    "cases": ["cases/*.json*"],
}
PACKETS = ("multirecord_dev", "clinical_dev", "livemcp_dev", "validation", "train")
SETS = (*TRACES, "packets")
_ID_OF_ROW = ("claim_id", "trace_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place in which two verdicts differ."""

    where: str
    path: str
    old: Any
    new: Any


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS, metavar="SET")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--packets-share",
        type=float,
        default=1.0,
        help="judge this share of each packet's traces, chosen by their ids",
    )
    parser.add_argument("--most", type=int, default=400, help="list at most so many differences")
    parser.add_argument(
        "--keep", type=Path, default=KEPT, help="where results of revisions are kept"
    )


def run(options: argparse.Namespace) -> Report:
    """Every difference; failed where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = list(_inputs(options, Path(folder)))
        sides = [
            _results(side, inputs, options.keep, Path(folder) / name)
            for name, side in (("old", options.old), ("new", options.new))
        ]
    report, listed = Report(), []
    for name in sides[0]:
        before, after = sides[0][name], sides[1][name]
        found = list(compare(name, before, after))
        listed += found
        places = len({each.where for each in found})
        report.notes.append(
            f"{name}: {len(before)} and {len(after)} records, {places} of them differ"
        )
    for each in listed[: options.most]:
        report.notes.append(
            f"\n{each.where}  {each.path}\n  - {_shown(each.old)}\n  + {_shown(each.new)}"
        )
    if len(listed) > options.most:
        report.notes.append(f"\n… and {len(listed) - options.most} more (--most)")
    report.failed = bool(listed)
    return report


def compare(name: str, old: list[Row], new: list[Row]) -> Iterator[Difference]:
    """Yield where two lists of records differ; records meet by their id and how often it came."""
    before, after = _by_id(old), _by_id(new)
    for key in before | after:
        where = f"{name} {key}"
        if key not in after:
            yield Difference(where=where, path="", old="a record", new=None)
        elif key not in before:
            yield Difference(where=where, path="", old=None, new="a record")
        else:
            yield from _differences(where, "", before[key], after[key])


def _differences(where: str, path: str, old: Any, new: Any) -> Iterator[Difference]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            yield from _differences(where, f"{path}.{key}", old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list) and _claims(old) and _claims(new):
        before, after = _by_id(old), _by_id(new)
        for key in before | after:
            place = f"{where} {before.get(key, after.get(key))['text']!r}"
            yield from _differences(place, path, before.get(key), after.get(key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(where, f"{path}[{index}]", one, other)
    else:
        yield Difference(where=where, path=path, old=old, new=new)


def _claims(rows: list[Any]) -> bool:
    return bool(rows) and all(
        isinstance(row, dict) and "claim_id" in row and "text" in row for row in rows
    )


def _by_id(rows: Iterable[Row]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    times: Counter[str] = Counter()
    for row in rows:
        name = next((str(row[key]) for key in _ID_OF_ROW if key in row), "?")
        times[name] += 1
        found[f"{name} ×{times[name]}" if times[name] > 1 else name] = row
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]} …"


def _inputs(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, str, list[Path]]]:
    """Yield name, command and files of everything to be judged."""
    for name in options.only:
        for pattern in TRACES.get(name, ()):
            files = sorted(options.data.glob(pattern))
            if files:
                yield (name if len(files) > 1 else files[0].name), "verify", files
    if "packets" in options.only:
        for name in PACKETS:
            rows = read_lines(options.data / "packets" / f"{name}.jsonl.gz")
            path = folder / f"{name}.jsonl"
            path.write_text(
                "".join(
                    json.dumps(row, ensure_ascii=False) + "\n"
                    for row in rows
                    if _fraction(row["trace_id"]) < options.packets_share
                ),
                "utf-8",
            )
            yield name, "evaluate", [path]


def _fraction(text: str) -> float:
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / (1 << 32)


def _results(
    side: str, inputs: list[tuple[str, str, list[Path]]], keep: Path, folder: Path
) -> dict[str, list[Row]]:
    """What a side gives for every input; of a revision it is read where it was kept."""
    checkout, revision = _checkout(side, folder)
    results = {}
    for name, command, files in inputs:
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
        kept = keep / revision / f"{name}-{digest}.jsonl" if revision else None
        if kept and kept.exists():
            results[name] = read_lines(kept)
            continue
        out = fresh(folder / "out") / "verdicts.jsonl"
        rows = (
            verify([file.resolve() for file in files], out, checkout)
            if command == "verify"
            else evaluate(files[0], out, checkout)
        )
        results[name] = [without_identity(row) for row in rows]
        if kept:
            kept.parent.mkdir(parents=True, exist_ok=True)
            part = kept.with_suffix(f".{folder.parent.name}")
            part.write_text(
                "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in results[name]), "utf-8"
            )
            part.replace(kept)
    return results


def _checkout(side: str, folder: Path) -> tuple[Path, str | None]:
    """A folder as it is, or a revision unpacked; with the revision where one names the content."""
    if Path(side).is_dir():
        place = Path(side).resolve()
        if _git(place, "status", "--porcelain"):
            return place, None
        return place, _git(place, "rev-parse", "HEAD").decode().strip()
    revision = _git(PROJECT, "rev-parse", "--verify", f"{side}^{{commit}}").decode().strip()
    place = fresh(folder / "checkout")
    with tarfile.open(fileobj=BytesIO(_git(PROJECT, "archive", revision))) as archive:
        archive.extractall(place, filter="data")
    return place, revision


def _git(place: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(place), *arguments], capture_output=True, check=True
    ).stdout
