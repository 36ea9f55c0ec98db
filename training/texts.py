"""The texts that models are taught and measured with: one compressed file, unpacked where it is needed.

    python -m training.texts                 unpack (``make data``), and say where
    python -m training.texts --pack FOLDER   write the archive anew from a folder of such texts

They are original or made by generators that are gone from the code; the ``*.md`` files among them say
who wrote what, and how. The digest of the archive stands beside it: other bytes are not unpacked.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).parent / "texts-1.tar.xz"
DIGEST = ARCHIVE.with_name("texts-1.sha256")
UNPACKED = Path(__file__).resolve().parents[1] / "build" / "training-texts"
ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
SIGNS = {"+": ENTAILMENT, "-": CONTRADICTION, "~": NEUTRAL}
KINDS = {
    "N": "number or unit",
    "E": "entity substituted",
    "B": "bound to another row, person, drug, arm or date",
    "G": "negation",
    "Q": "qualifier or condition dropped",
    "A": "qualifier added",
    "C": "scope changed",
    "D": "direction reversed",
    "K": "cause not told",
    "Y": "certainty raised",
    "T": "status or time changed",
    "P": "comparator changed",
    "F": "meaning drifts",
    "V": "detail invented",
    "W": "wrong arithmetic",
}
_CLAIM = re.compile(r"(?P<sign>[-~]) (?P<kind>[A-Z]) \| (?P<text>.+)|\+ (?P<true>.+)")


@cache
def text_folder() -> Path:
    """The folder of all texts, unpacked where it is not there yet; raises ValueError for other bytes."""
    packed = ARCHIVE.read_bytes()
    digest = hashlib.sha256(packed).hexdigest()
    if digest != (recorded := DIGEST.read_text(encoding="ascii").strip()):
        raise ValueError(f"{ARCHIVE}: sha256 is {digest}, recorded {recorded}")
    folder = UNPACKED / digest[:12]
    if not folder.is_dir():
        UNPACKED.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=UNPACKED))
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(fresh, filter="data")
        try:
            fresh.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(fresh)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticPair:
    """A premise, a hypothesis and their relation."""

    premise: str
    hypothesis: str
    label: str


def synthetic_pairs(kind: str, count: int, index: int = 0) -> list[SyntheticPair]:
    """The ``index``-th ``count`` pairs of one of `KINDS`; after the last the first comes again."""
    kept = _kept(kind)
    return [kept[place % len(kept)] for place in range(index * count, (index + 1) * count)]


@cache
def _kept(kind: str) -> tuple[SyntheticPair, ...]:
    path = text_folder() / "generated" / f"{kind}.jsonl"
    with path.open(encoding="utf-8") as lines:
        return tuple(SyntheticPair(**json.loads(line)) for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredPair:
    """One claim beside its source; ``kind`` is empty for a claim that follows."""

    source: str
    claim: str
    label: str
    kind: str


def authored_pairs(
    folder: Path | None = None, files: str = "*.txt", without: Sequence[str] = ()
) -> list[AuthoredPair]:
    """Every pair of the folder's files that are named so, in the order of names and lines; none of
    files whose names begin as one of `without`. The folder is ``pairs/authored`` unless another is given.

    A file holds groups: "S: " and the source on one line, line breaks as \\n; then "+ " and what follows
    from it, "- KIND | " and what it contradicts, "~ KIND | " and what it leaves open; KIND is of `KINDS`.
    Raises ValueError naming file and line for a line of another form.
    """
    folder = folder or text_folder() / "pairs" / "authored"
    paths = sorted(p for p in folder.glob(files) if not p.name.startswith(tuple(without)))
    return [pair for path in paths for pair in _of(path)]


def _of(path: Path) -> Iterator[AuthoredPair]:
    source = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        if line.startswith("S: "):
            source = line.removeprefix("S: ").strip().replace("\\n", "\n")
            continue
        found = _CLAIM.fullmatch(line.strip())
        kind = (found["kind"] or "") if found else ""
        if found is None or not source or (kind and kind not in KINDS):
            raise ValueError(f"{path.name}:{number}: expected 'S: ', '+ ', '- K | ' or '~ K | '")
        yield AuthoredPair(
            source=source,
            claim=found["text"] or found["true"],
            label=SIGNS[found["sign"] or "+"],
            kind=kind,
        )


def pack(folder: Path) -> str:
    """Write the archive of a folder and its digest, which comes back; the same texts, the same bytes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:xz", preset=9, format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
                entry.size = path.stat().st_size
                with path.open("rb") as file:
                    archive.addfile(entry, file)
    ARCHIVE.write_bytes(written.getvalue())
    digest = hashlib.sha256(written.getvalue()).hexdigest()
    DIGEST.write_text(digest + "\n", encoding="ascii")
    return digest


def main() -> None:
    """Unpack, or pack."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pack", type=Path, metavar="FOLDER")
    if folder := parser.parse_args().pack:
        print(f"{ARCHIVE.name}: {pack(folder)}")
    else:
        print(text_folder())


if __name__ == "__main__":
    main()
