"""Answers and charts by authors who had not seen the rules, judged by the whole product as it ships.

    python -m bench texts answers [--only da db …] [--nli-model accurate]
    python -m bench texts blind --only kept second          # dangerous chart answers and their true twins
    python -m bench texts dangerous                         # the same by who wrote the checks
    python -m bench texts written --only hf ia ic           # charts, papers and outputs of other tools

Only authors that nothing was taught with are a fair measure; of the answers these are taken unless others
are named (the archive of training texts says which).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from bench.report import Report, share
from core.attribution.families import load_families
from core.calibration.whole import passed_as_a_whole
from core.config import Config
from core.evaluation.ranking import ranking_table
from core.workflows.evaluate import Evaluated, evaluate, labelled_scores, score_packet
from core.workflows.models import load_models
from training.packets import blind_rows, dangerous_rows, rows_of

SETS = {
    "answers": lambda only: rows_of("answers", only or ("ra", "rc", "rd")),
    "written": lambda only: rows_of("written", only),
    "dangerous": dangerous_rows,
    "blind": lambda only: blind_rows(only or ("kept", "second")),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("set", choices=SETS)
    parser.add_argument("--only", nargs="+", metavar="AUTHOR_OR_PART")
    parser.add_argument("--nli-model")


def run(options: argparse.Namespace) -> Report:
    """How the claims are ranked, what passes by slice, and how many answers pass."""
    with tempfile.TemporaryDirectory() as place:
        packet = Path(place) / "packet.jsonl"
        write_rows(SETS[options.set](options.only), packet)
        models = load_models(Config(), nli_model=options.nli_model)
        evaluated = score_packet(packet, models, Config())
    ranking = evaluate(evaluated)["ranking"]
    assert isinstance(ranking, dict)
    report = Report(notes=list(ranking_table(options.set, ranking)))
    total, passed = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    for row, prediction in zip(evaluated.rows, evaluated.predictions, strict=True):
        for key in ("all", *row.slices):
            total[key, row.should_block] += 1
            passed[key, row.should_block] += not prediction.blocked
    report.table("claims", ("slice", "bad passed", "good passed"), (
        (key, *(share(passed[key, bad], total[key, bad]) for bad in (True, False)))
        for key in dict.fromkeys(key for key, _ in total)
    ))  # fmt: skip
    return report.table(
        "answers", ("wrong claims", "pass claim by claim", "as a whole"), answers_passed(evaluated)
    )


def write_rows(rows: Iterable[dict[str, object]], path: Path) -> None:
    """Write rows as a claim packet."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def answers_passed(evaluated: Evaluated) -> Iterator[tuple[str, str, str | None]]:
    """How many answers with none, one and more wrong claims pass."""
    labels = labelled_scores(evaluated.rows, evaluated.predictions, load_families())
    wrong = np.bincount(labels.trace, weights=labels.bad)
    passes = ~labels.forced & (labels.probability >= evaluated.threshold)
    alone = np.bincount(labels.trace, weights=~passes) == 0
    for name, kind in (("none", wrong == 0), ("one", wrong == 1), ("more", wrong > 1)):
        whole = None
        if evaluated.whole is not None and kind.any():
            found = passed_as_a_whole(labels.where(kind[labels.trace]), evaluated.whole.threshold)
            whole = share(found.good_passed + found.bad_passed, found.good + found.bad)
        yield name, share(int(alone[kind].sum()), int(kind.sum())), whole
