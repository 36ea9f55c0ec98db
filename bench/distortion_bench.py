"""Precision and recall of each distortion check on the minimal pairs of training.texts.

``python bench/distortion_bench.py`` reads the half to work with; ``--opened`` the other one, once.
``--show KIND`` prints what was missed and what was wrongly accused in the half to work with.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from core.evidence.words import stem  # noqa: E402
from core.provenance.distortions.alignment import Prose, Sentence, prose_of  # noqa: E402
from core.provenance.distortions.detect import find_distortions  # noqa: E402
from core.provenance.distortions.reading import read_sentence  # noqa: E402
from core.provenance.distortions.records import DistortionKind  # noqa: E402
from core.records import Span  # noqa: E402
from training.texts import text_folder  # noqa: E402

PAIRS = ("distortions_a.toml", "distortions_b.toml")


def rows() -> dict[DistortionKind, list[tuple[str, str, str]]]:
    """Every kind's rows: source, claim that distorts it, claim that does not."""
    found = {}
    for name in PAIRS:
        text = (text_folder() / "pairs" / name).read_text(encoding="utf-8")
        for kind, listed in tomllib.loads(text).items():
            found[DistortionKind[kind]] = [(s, bad, good) for s, bad, good in listed]
    return found


def opened_once(source: str) -> bool:
    """Whether a row lies in the half that nobody tunes on."""
    return hashlib.sha256(source.encode()).digest()[0] % 2 == 1


def prose(source: str) -> Prose:
    """One sentence as the whole evidence."""
    stems = frozenset(stem(w.text) for w in read_sentence(source).words)
    span = Span(start=0, end=len(source))
    return prose_of([Sentence(source_id="s", span=span, text=source, stems=stems)])


def kinds_found(source: str, claim: str) -> set[DistortionKind]:
    """The kinds of distortion that a claim is accused of beside one sentence."""
    return {found.kind for found in find_distortions(claim, prose(source))}


def main() -> None:
    """Print a table; a kind's precision counts the harmless claims of its own rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--opened", action="store_true")
    parser.add_argument("--show")
    options = parser.parse_args()
    every = {
        kind: [row for row in listed if opened_once(row[0]) == options.opened]
        for kind, listed in rows().items()
    }
    harmless = [(source, good) for listed in every.values() for source, _, good in listed]
    accused = [(source, good, kinds_found(source, good)) for source, good in harmless]
    print(f"{'kind':28}{'rows':>5}{'precision':>11}{'recall':>8}{'harmless accused, all rows':>28}")
    for kind, listed in every.items():
        right = [row for row in listed if kind in kinds_found(row[0], row[1])]
        wrong = [row for row in listed if kind in kinds_found(row[0], row[2])]
        told = len(right) + len(wrong)
        everywhere = sum(kind in kinds for _, _, kinds in accused)
        precision = f"{len(right) / told:.3f}" if told else "none"
        print(
            f"{kind.value:28}{len(listed):5}{precision:>11}{len(right) / len(listed):8.3f}"
            f"{everywhere:>20} of {len(harmless)}"
        )
        if options.show and not options.opened and DistortionKind[options.show] is kind:
            for row in listed:
                if row not in right:
                    print("   missed:", row[0], "|", row[1], "|", kinds_found(row[0], row[1]))
            for source, good, kinds in accused:
                if kind in kinds:
                    print("   accused:", source, "|", good)
    wrong = sum(bool(kinds) for _, _, kinds in accused)
    print(f"harmless claims accused of anything: {wrong} of {len(harmless)}")


if __name__ == "__main__":
    main()
