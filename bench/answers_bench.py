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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.config import Config
from core.evaluation.ranking import ranking_table
from core.workflows.compare import evaluate_with
from core.workflows.evaluation_options import Options
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
        models = load_models(config, pair_reader=options.reader)
        report, _ = evaluate_with(packet, models, config, Options())
    ranking = report["ranking"]
    assert isinstance(ranking, dict)
    print("\n".join(ranking_table(" ".join(options.only), ranking)))


if __name__ == "__main__":
    main()
