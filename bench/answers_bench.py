"""Answers written and labelled by authors who had not seen the rules, judged as any packet is.

    python bench/answers_bench.py [--only da db …] [--reader accurate]

Only folders that the shipped reader was not taught with are a fair measure (`training/answers/README.md`
says which); without ``--only`` these are taken.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.attribution.families import load_families
from core.calibration.whole import passed_as_a_whole
from core.config import Config
from core.evaluation.ranking import ranking_table
from core.workflows.evaluate import Evaluated, evaluate, labelled_scores, score_packet
from core.workflows.models import load_models
from training.answers import FOLDER, answers, packet_rows

HELD_OUT = ("ra", "rc", "rd")


def main() -> None:
    """Print the ranking table of those answers' claims."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--only", nargs="+", default=HELD_OUT)
    parser.add_argument("--reader")
    options = parser.parse_args()
    rows = [
        json.dumps(row) + "\n"
        for answer in answers(options.folder)
        if answer["trace_id"].split("-")[0] in options.only
        for row in packet_rows(answer)
    ]
    config = Config()
    with tempfile.TemporaryDirectory() as place:
        packet = Path(place) / "answers.jsonl"
        packet.write_text("".join(rows), encoding="utf-8")
        evaluated = score_packet(packet, load_models(config, pair_reader=options.reader), config)
    ranking = evaluate(evaluated)["ranking"]
    assert isinstance(ranking, dict)
    print("\n".join(ranking_table(" ".join(options.only), ranking)))
    print("\n".join(whole_answers(evaluated)))


def whole_answers(evaluated: Evaluated) -> Iterator[str]:
    """Yield a line for the answers with none, one and more wrong claims: how many pass, claim by claim
    and as a whole."""
    labels = labelled_scores(evaluated.rows, evaluated.predictions, load_families())
    wrong = np.bincount(labels.trace, weights=labels.bad)
    passes = ~labels.forced & (labels.probability >= evaluated.threshold)
    alone = np.bincount(labels.trace, weights=~passes) == 0
    for name, kind in (("no wrong claim", wrong == 0), ("one", wrong == 1), ("more", wrong > 1)):
        words = f"answers with {name}: {alone[kind].sum()} of {kind.sum()} claim by claim"
        if evaluated.whole is not None and kind.any():
            some = labels.where(kind[labels.trace])
            whole = passed_as_a_whole(some, evaluated.whole.threshold)
            words += (
                f", as a whole {whole.good_passed + whole.bad_passed} of {whole.good + whole.bad}"
            )
        yield words


if __name__ == "__main__":
    main()
