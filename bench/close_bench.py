"""The close reading alone on statements of authors whom no reader was taught with, beside shared words.

    python bench/close_bench.py [--reader accurate]

Of each claim the least of its sources that could show it is read by what a reader learned of
reading close (`core.judging.closest`): charts by `hf`, `ia` and `ic`, charts with literature by `kd`,
papers by `ld`, outputs of other tools by `pg` and `qi` (`training/pairs/*.md`). Half of all statements
are wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from core.config import Config  # noqa: E402
from core.evaluation.ranking_scores import auroc  # noqa: E402
from core.evidence.words import stems  # noqa: E402
from core.records import CLOSE_FEATURE  # noqa: E402
from training.development import measured_models  # noqa: E402
from training.rechecked import read_close  # noqa: E402
from training.written import packet_rows, written  # noqa: E402

AUTHORS = ("hf", "ia", "ic", "kd", "ld", "pg", "qi")


def main() -> None:
    """Print AUROC by author."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reader", help="bundled, accurate or a folder")
    models = measured_models(Config(), None, parser.parse_args().reader)
    print("| author | claims | close reading | shared words |\n|---|---:|---:|---:|")
    for author in AUTHORS:
        rows = [row for group in written([author]) for row in packet_rows(group)]
        with tempfile.TemporaryDirectory() as folder:
            packet = Path(folder) / "packet.jsonl"
            packet.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            read = read_close([packet], models)
        bad = np.array([row["label"] != "supported" for row in rows])
        said = np.array([read[str(row["claim_id"])][CLOSE_FEATURE] for row in rows])
        shared = np.array([_shared(row) for row in rows])
        print(f"| {author} | {len(rows)} | {auroc(said, bad):.3f} | {auroc(shared, bad):.3f} |")


def _shared(row: dict[str, object]) -> float:
    """The share of the claim's words that stand in its sources, calls included."""
    wanted = stems(str(row["claim"]))
    return len(wanted & stems(json.dumps(row["sources"], ensure_ascii=False))) / len(wanted)


if __name__ == "__main__":
    main()
