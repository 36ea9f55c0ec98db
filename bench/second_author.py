"""The pair reader on claims by an author who had seen none of those that it learned from.

``python bench/second_author.py [--reader FOLDER] [--files adg]`` prints, for the false claims of each
kind beside all true ones, how well entailment and shared words alone tell them apart (AUROC; 0.5 is a
coin). ``--files`` reads instead the files of ``pairs/authored`` whose names begin so: ``adg``
and ``win`` were written after the training of the reader that ships with 0.4.0.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from sklearn.metrics import roc_auc_score  # noqa: E402

from core.models.loading import load_pair_reader  # noqa: E402
from core.text.tokens import content_terms, overlap  # noqa: E402
from training.authored import FOLDER as AUTHORED  # noqa: E402
from training.authored import KINDS, authored_pairs  # noqa: E402
from training.synthetic import ENTAILMENT  # noqa: E402
from training.texts import text_folder  # noqa: E402

FOLDER = text_folder() / "pairs" / "second_author"
LEAST = 10  # claims of a kind, for a line of its own


def main() -> None:
    """Print one line a kind, and all false claims together."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--reader", help="a folder; default: the bundled reader")
    parser.add_argument("--files", help="how the names of authored files begin")
    options = parser.parse_args()
    reader = load_pair_reader(options.reader) if options.reader else load_pair_reader()
    pairs = (
        authored_pairs(AUTHORED, f"{options.files}_*.txt")
        if options.files
        else authored_pairs(FOLDER)
    )
    read = reader.read([(pair.source, pair.claim) for pair in pairs])
    says = [0.0 if one is None else one.probabilities.entailment for one in read]
    words = [overlap(content_terms(p.claim), content_terms(p.source)) for p in pairs]
    print(f"{'false claims':52}{'number':>7}{'reader':>8}{'words':>7}")
    for kind in ("", *KINDS):
        chosen = [
            i for i, p in enumerate(pairs) if p.label == ENTAILMENT or not kind or p.kind == kind
        ]
        true = [pairs[i].label == ENTAILMENT for i in chosen]
        if true.count(False) < LEAST:
            continue
        told = roc_auc_score(true, [says[i] for i in chosen])
        shared = roc_auc_score(true, [words[i] for i in chosen])
        name = KINDS[kind] if kind else "all"
        print(f"{name:52}{true.count(False):7}{told:8.3f}{shared:7.3f}")


if __name__ == "__main__":
    main()
