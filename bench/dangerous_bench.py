"""Dangerous chart answers and their true twins, judged by the whole product at the shipped threshold.

    python bench/dangerous_bench.py [--reader accurate]
    python bench/dangerous_bench.py --blind opened | kept | second

The first pairs are original templates by who wrote the checks (`training/dangerous.py`): a development
set. The others are by two authors who had not seen them (`pairs/BLIND_CHARTS.md`); "kept" and
"second" are held out. The checks alone, without any model: `python bench/evidence_bench.py dangerous`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.config import Config  # noqa: E402
from core.evaluation.packets import row_from_json  # noqa: E402
from core.evaluation.scoring import score_rows  # noqa: E402
from core.workflows.models import load_models  # noqa: E402
from training.dangerous import (  # noqa: E402
    BLIND_HALVES,
    HALVES,
    SECOND,
    blind_pairs,
    packet_row,
    pairs,
)


def main() -> None:
    """Print how many of the dangerous pass and of their twins are allowed: by half, by format, by kind."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--blind", choices=(*BLIND_HALVES, SECOND), help="those of other authors")
    parser.add_argument("--reader")
    options = parser.parse_args()
    config = Config()
    models = load_models(config, pair_reader=options.reader)
    if options.blind:
        drawn = [(options.blind, pair) for pair in blind_pairs(options.blind)]
    else:
        drawn = [(h, pair) for h in HALVES for pair in pairs(h)]
    rows = [row_from_json(packet_row(number, pair)) for number, (_, pair) in enumerate(drawn)]
    told = {one.claim_id: one for one in score_rows(rows, models, config).predictions}
    passed: Counter[tuple[str, bool]] = Counter()
    total: Counter[tuple[str, bool]] = Counter()
    for (half, pair), row in zip(drawn, rows, strict=True):
        for key in (half, pair.format, pair.kind, "all"):
            total[key, pair.dangerous] += 1
            passed[key, pair.dangerous] += not told[row.claim_id].blocked
    kinds, forms = (
        sorted({getattr(pair, each) for _, pair in drawn}) for each in ("kind", "format")
    )
    halves = dict.fromkeys(half for half, _ in drawn)
    print("| | dangerous passed | true twins allowed |\n|---|---|---|")
    for key in (*halves, *forms, *kinds, "all"):
        wrong, right = (f"{passed[key, so]} of {total[key, so]}" for so in (True, False))
        print(f"| {key.replace('_', ' ')} | {wrong} | {right} |")


if __name__ == "__main__":
    main()
