"""Every importer under coverage-guided fuzzing: bytes come in, records or reported records come out.

    python tests/fuzzing/importers.py CORPUS -max_total_time=600

libFuzzer's options follow the folder where it keeps what reached new code. One file holds a byte
that chooses the target, then the file to read. Anything that is not of the project's own tree of
input errors ends the run with a traceback and the file that made it.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

try:
    import atheris
except ImportError:
    sys.exit("coverage-guided fuzzing needs atheris: pip install -r requirements-dev.lock")

with atheris.instrument_imports(include=["core", "json"]):
    from core.capture.files import read_records
    from core.capture.reading import FORMATS, read_traces
    from core.citations.envelope import read_envelope
    from core.citations.evidence_map import read_evidence
    from core.citations.lattice import verify_lattice
    from core.codec import canonical_json, trace_document, verification_from_document
    from core.errors import InputError
    from core.evaluation.packets import read_packet
    from core.records import Trace
    from core.review.packet_reader import is_reviewed, review_from_json
    from core.workflows.packet_folder import read_manifest, read_signatures

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "core" / "capture" / "formats" / "fixtures"
LONGEST = 1 << 16
EXTREMES: tuple[object, ...] = (
    None, True, -1, 0, 10**400, 10**25, -(10**18), 1e308, "", "x", "9" * 400, "1e400", [], {}, [None],
    "0001-01-01T00:00:00+23:59", "\ud800", "\x00", {"type": "text"}, [[]], "2026-13-45", "[7]",
)  # fmt: skip


def _traces(name: str) -> Callable[[Path], None]:
    def target(file: Path) -> None:
        for item in read_traces([file], name):
            if isinstance(item, Trace):
                canonical_json(trace_document(item)).encode("utf-8")

    return target


def _packet(file: Path) -> None:
    read_packet(file, max_record_bytes=LONGEST)


def _verdicts(file: Path) -> None:
    for record in read_records(file, LONGEST):
        if not isinstance(record, InputError) and isinstance(record.value, dict):
            try:
                verification_from_document(record.value)
            except InputError:
                continue


def _reviews(file: Path) -> None:
    for record in read_records(file, LONGEST):
        if not isinstance(record, InputError) and is_reviewed(record.value):
            try:
                review_from_json(record.value)  # type: ignore[arg-type]
            except InputError:
                continue


def _manifest(file: Path) -> None:
    for name, read in (("manifest.json", read_manifest), ("signatures.json", read_signatures)):
        folder = file.parent / "packet"
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(file.read_bytes())
        read(folder)


def _envelope(file: Path) -> None:
    read_envelope(file.read_bytes())


def _lattice(file: Path) -> None:
    raw = file.read_bytes()
    try:
        evidence = read_evidence(json.loads(raw))
    except (ValueError, RecursionError):  # what the command line says before it reads evidence
        evidence = ()
    verify_lattice(raw, evidence, form="auto", question=None)


TARGETS: tuple[Callable[[Path], None], ...] = (
    *(_traces(name) for name in ("auto", *FORMATS)),
    _packet,
    _verdicts,
    _reviews,
    _manifest,
    _envelope,
    _lattice,
)
PLACE = Path(tempfile.mkdtemp(prefix="fuzz-")) / "file.jsonl"


def one_input(data: bytes) -> None:
    """Read one file by one importer; only a reported input error may come out."""
    if not data:
        return
    PLACE.write_bytes(data[1:])
    try:
        TARGETS[data[0] % len(TARGETS)](PLACE)
    except InputError:
        return


def mutated(data: bytes, longest: int, seed: int) -> bytes:
    """Half of the time a change of one JSON value, else libFuzzer's own change of bytes."""
    chance = random.Random(seed)
    if chance.random() < 0.5:
        changed = _json_changed(data[1:], chance)
        if changed is not None and len(changed) < longest:
            target = chance.randrange(len(TARGETS)) if chance.random() < 0.1 else data[0]
            return bytes([target]) + changed
    made: bytes = atheris.Mutate(data, longest)
    return made


def _json_changed(data: bytes, chance: random.Random) -> bytes | None:
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return None
    if chance.random() < 0.1:
        lines.insert(at, b"2026-03-02 10:00:00 INFO started")
        return b"\n".join(lines)
    holder, key = {"": value}, ""
    for _ in range(chance.randrange(1, 12)):
        inner = holder[key]  # type: ignore[index]
        if isinstance(inner, dict) and inner:
            holder, key = inner, chance.choice(list(inner))
        elif isinstance(inner, list) and inner:
            holder, key = inner, chance.randrange(len(inner))  # type: ignore[assignment]
        else:
            break
    if chance.random() < 0.2 and isinstance(holder, dict) and key in holder and key:
        del holder[key]
    else:
        holder[key] = chance.choice(EXTREMES)  # type: ignore[index,assignment]
    try:
        lines[at] = json.dumps(value).encode()
    except (ValueError, RecursionError):
        return None
    return b"\n".join(lines)


def seed_corpus(folder: Path) -> None:
    """Put the fixtures of every format there, one a target, unless the folder holds something."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        return
    samples = sorted(FIXTURES.rglob("*.json*")) + sorted((ROOT / "sample_data").glob("*.jsonl"))
    for number, sample in enumerate(samples):
        raw = sample.read_bytes()
        if len(raw) > LONGEST:
            raw = b"\n".join(line for line in raw.split(b"\n")[:3] if len(line) < LONGEST // 3)
        for target in range(len(TARGETS)):
            (folder / f"seed-{number:03d}-{target:02d}").write_bytes(bytes([target]) + raw)


def main() -> None:
    """Seed the folder that is named first, then fuzz."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    seed_corpus(Path(sys.argv[1]))
    os.chdir(PLACE.parent)
    atheris.Setup(
        [sys.argv[0], str(Path(ROOT, sys.argv[1]).resolve()), f"-max_len={LONGEST}",
         "-timeout=60", *sys.argv[2:]],
        one_input,
        custom_mutator=mutated,
    )  # fmt: skip
    atheris.Fuzz()


if __name__ == "__main__":
    main()
