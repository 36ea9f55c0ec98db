"""Distortion checks and the reader on pairs by an author who had not seen the rules.

``python bench/independent_pairs.py`` reads the half to work with; ``--opened`` the other one, once a
release. A row is caught when a check of its own kind accuses it, found when any check does; beside it
stand how well the pair reader's entailment and shared words alone tell the rows apart (AUROC, 0.5 is a
coin). ``--show KIND`` prints what was missed and wrongly accused, ``--no-reader`` leaves the reader out.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from sklearn.metrics import roc_auc_score  # noqa: E402

from bench.distortion_bench import kinds_found, opened_once  # noqa: E402
from core.evidence.words import stem  # noqa: E402
from core.provenance.distortions.reading import read_sentence  # noqa: E402
from core.provenance.distortions.records import DistortionKind  # noqa: E402
from training.texts import text_folder  # noqa: E402

PAIRS = ("independent_a.toml", "independent_b.toml")


@dataclass(frozen=True, slots=True)
class Row:
    """One pair with its author's label."""

    kind: str
    source: str
    claim: str
    distorted: bool


def rows(*, opened: bool) -> list[Row]:
    """The rows of one half, by kind in the order of the files."""
    found = []
    for name in PAIRS:
        text = (text_folder() / "pairs" / name).read_text(encoding="utf-8")
        for kind, listed in tomllib.loads(text).items():
            found += [Row(kind, s, c, label == "distorted") for s, c, label in listed]
    return [row for row in found if opened_once(row.source) == opened]


def shared_words(row: Row) -> float:
    """Share of the claim's stems that stand in the source."""
    claim = {stem(word.text) for word in read_sentence(row.claim).words}
    return len(claim & {stem(word.text) for word in read_sentence(row.source).words}) / len(claim)


def entailments(listed: list[Row]) -> list[float]:
    """What the shipped reader gives each claim beside its source."""
    from core.models.loading import load_pair_reader

    reads = load_pair_reader().read([(row.source, row.claim) for row in listed])
    return [0.0 if read is None else read.probabilities.entailment for read in reads]


def auroc(listed: list[Row], scores: list[float]) -> str:
    """How well a score sets faithful rows above distorted ones."""
    return f"{roc_auc_score([not row.distorted for row in listed], scores):.2f}"


def main() -> None:
    """Print one line a kind, and all rows together."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--opened", action="store_true")
    parser.add_argument("--no-reader", action="store_true")
    parser.add_argument("--show")
    options = parser.parse_args()
    every = rows(opened=options.opened)
    told = [kinds_found(row.source, row.claim) for row in every]
    words = [shared_words(row) for row in every]
    reader = [0.0] * len(every) if options.no_reader else entailments(every)
    print(
        f"{'kind':24}{'rows':>5}{'caught':>8}{'found':>7}{'precision':>11}"
        f"{'faithful accused':>18}{'reader':>8}{'words':>7}"
    )
    for kind in (*dict.fromkeys(row.kind for row in every), "all"):
        chosen = [i for i, row in enumerate(every) if kind in (row.kind, "all")]
        bad = [i for i in chosen if every[i].distorted]
        good = [i for i in chosen if not every[i].distorted]
        own = DistortionKind.__members__.get(kind)
        caught = [i for i in bad if (own in told[i] if own else told[i])]
        wrong = [i for i in good if (own in told[i] if own else told[i])]
        accused = [i for i in good if told[i]]
        total = len(caught) + len(wrong)
        listed = [every[i] for i in chosen]
        print(
            f"{kind:24}{len(chosen):5}{len(caught) / len(bad):8.2f}"
            f"{sum(bool(told[i]) for i in bad) / len(bad):7.2f}"
            f"{f'{len(caught) / total:.2f}' if total else 'none':>11}"
            f"{f'{len(accused)} of {len(good)}':>18}"
            f"{auroc(listed, [reader[i] for i in chosen]):>8}"
            f"{auroc(listed, [words[i] for i in chosen]):>7}"
        )
        if options.show == kind and not options.opened:
            for i in bad:
                if i not in caught:
                    print("   missed:", every[i].source, "|", every[i].claim, "|", *told[i])
            for i in accused:
                print("   accused:", every[i].source, "|", every[i].claim, "|", *told[i])


if __name__ == "__main__":
    main()
