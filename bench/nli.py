"""The NLI model alone on pairs by authors it did not learn from, and the distortion checks beside it.

    python -m bench nli [second_author | adg | win | independent | opened] [--nli-model FOLDER]

By kind of change: how well entailment, and shared words alone, set true claims above false ones (AUROC; 0.5
is a coin), and how many claims a distortion check accuses. "independent" is the half to work with of an
author who had not seen the checks; "opened" the other one, once a release.
"""

from __future__ import annotations

import argparse
import hashlib
import tomllib
from collections.abc import Callable, Sequence

from sklearn.metrics import roc_auc_score

from bench.report import Report, share
from core.distortions.alignment import Sentence, prose_of
from core.distortions.detect import find_distortions
from core.distortions.reading import read_sentence
from core.evidence.words import stem
from core.models.loading import load_nli_model
from core.ports import NliModel
from core.records import Span
from core.text.tokens import content_terms, overlap
from training.texts import ENTAILMENT, KINDS, authored_pairs, text_folder

LEAST = 10  # claims of a kind, for a line of its own
Row = tuple[str, str, str, bool]  # kind of change, source, claim, whether it is true


def authored(folder: str, files: str = "*.txt") -> list[Row]:
    """Claims that follow from their source and claims that do not."""
    return [
        (KINDS.get(pair.kind, ""), pair.source, pair.claim, pair.label == ENTAILMENT)
        for pair in authored_pairs(text_folder() / "pairs" / folder, files)
    ]


def independent(opened: bool) -> list[Row]:
    """One half of the independent author's pairs."""
    rows = []
    for name in ("independent_a.toml", "independent_b.toml"):
        text = (text_folder() / "pairs" / name).read_text(encoding="utf-8")
        for kind, listed in tomllib.loads(text).items():
            rows += [(kind, source, claim, label != "distorted") for source, claim, label in listed]
    return [row for row in rows if hashlib.sha256(row[1].encode()).digest()[0] % 2 == opened]


SETS: dict[str, Callable[[], list[Row]]] = {
    "second_author": lambda: authored("second_author"),
    "adg": lambda: authored("authored", "adg_*.txt"),
    "win": lambda: authored("authored", "win_*.txt"),
    "independent": lambda: independent(opened=False),
    "opened": lambda: independent(opened=True),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("set", nargs="?", choices=SETS, default="second_author")
    parser.add_argument("--nli-model", help="a folder; default: the bundled one")


def run(options: argparse.Namespace) -> Report:
    """One line a kind, and all together; a true claim without a kind counts for each of them."""
    rows = SETS[options.set]()
    asked = [(source, claim) for _, source, claim, _ in rows]
    entailed, words = entailments(load_nli_model(options.nli_model), asked), shared_words(asked)
    accused = [_accused(source, claim) for _, source, claim, _ in rows]
    lines = []
    for kind in ("", *dict.fromkeys(row[0] for row in rows if row[0])):
        chosen = [i for i, row in enumerate(rows) if not kind or row[0] in ("", kind)]
        true = [rows[i][3] for i in chosen]
        if true.count(False) < LEAST or True not in true:
            continue
        lines.append((
            kind or "all",
            true.count(False),
            float(roc_auc_score(true, [entailed[i] for i in chosen])),
            float(roc_auc_score(true, [words[i] for i in chosen])),
            share(sum(accused[i] for i in chosen if not rows[i][3]), true.count(False)),
            share(sum(accused[i] for i in chosen if rows[i][3]), true.count(True)),
        ))  # fmt: skip
    columns = ("kind", "false", "NLI model", "shared words", "false accused", "true accused")
    return Report().table(options.set, columns, lines)


def entailments(nli: NliModel, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The probability of entailment of each pair of premise and claim; 0 where a claim has no room."""
    return [0.0 if one is None else one.probabilities.entailment for one in nli.read(pairs)]


def shared_words(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """The share of each claim's content words that its premise has."""
    return [overlap(content_terms(claim), content_terms(premise)) for premise, claim in pairs]


def _accused(source: str, claim: str) -> bool:
    """Whether a distortion check accuses the claim beside this one sentence."""
    stems = frozenset(stem(word.text) for word in read_sentence(source).words)
    span = Span(start=0, end=len(source))
    prose = prose_of([Sentence(source_id="s", span=span, text=source, stems=stems)])
    return bool(find_distortions(claim, prose))
