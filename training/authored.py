"""Groups written one by one: a source, what follows from it, what it contradicts, what it leaves open.

``pairs/authored/*.txt`` (`training.texts`) holds them, a group after the other::

    S: the source on one line, line breaks as \\n
    + a claim that follows from it
    - KIND | a claim that it contradicts
    ~ KIND | a claim that it neither says nor excludes

KIND is a letter (``KINDS``). No program wrote a row, and none of the independent pairs is among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL
from training.texts import text_folder

FOLDER = text_folder() / "pairs" / "authored"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredPair:
    """One claim beside its source; ``kind`` is empty for a claim that follows."""

    source: str
    claim: str
    label: str
    kind: str


def authored_pairs(
    folder: Path = FOLDER, files: str = "*.txt", without: Sequence[str] = ()
) -> list[AuthoredPair]:
    """Every pair of the folder's files that are named so, in the order of names and lines; none of
    files whose names begin as one of `without`.

    Raises ValueError naming file and line for a line of another form.
    """
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
