"""How many good and bad claims of the development packets semantic drift accuses, without a model.

``python bench/drift_bench.py ../shared/data/packets/livemcp_dev.jsonl.gz
../shared/data/packets/clinical_dev.jsonl.gz sample_data/labelled/train.jsonl
sample_data/labelled/validation.jsonl`` takes what the reader said of each claim from the training rows that
ship with the calibrator, which were written from these packets in this order.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from core.calibration.rows import TrainingRow, read_training_rows  # noqa: E402
from core.errors import InputError  # noqa: E402
from core.evaluation.frozen import readable  # noqa: E402
from core.evaluation.packets import PacketRow, read_packet  # noqa: E402
from core.provenance.distortions.alignment import Prose, read_prose  # noqa: E402
from core.provenance.distortions.checks import CONTRADICTED_FROM, ENTAILED_BELOW  # noqa: E402
from core.provenance.distortions.detect import find_distortions, told_by  # noqa: E402
from core.records import Trace  # noqa: E402

APART = 10  # every tenth trace was kept apart, and stands at the end of the rows


def main() -> None:
    """Print one line a packet: aligned claims without a named kind, and those accused."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packets", nargs="+", type=Path)
    paths = parser.parse_args().packets
    gold = {
        path: [r for r in read_packet(path).rows if r.scored and not r.held_out] for path in paths
    }
    told = dict(zip(*joined([row for rows in gold.values() for row in rows]), strict=True))
    for path, rows in gold.items():
        counts: Counter[tuple[str, bool]] = Counter()
        prose: dict[str, Prose] = {}
        for row in rows:
            counts["all", row.should_block] += 1
            if row.trace_id not in prose:
                prose = {row.trace_id: _prose(row)}
            known = prose[row.trace_id]
            if find_distortions(row.claim, known) or not told_by(row.claim, known):
                continue
            counts["aligned, no named kind", row.should_block] += 1
            said = told[row.trace_id, row.claim_id].features.numeric
            if (
                said["contradiction_max"] >= CONTRADICTED_FROM
                and said["entailment_any"] < ENTAILED_BELOW
            ):
                counts["semantic drift", row.should_block] += 1
        print(path.name)
        for name in dict.fromkeys(name for name, _ in counts):
            print(f"  {name:24} good {counts[name, False]:4}   bad {counts[name, True]:4}")


def joined(gold: Sequence[PacketRow]) -> tuple[list[tuple[str, str]], list[TrainingRow]]:
    """Claims of packets beside their shipped rows; raises InputError where they are not the same."""
    apart = set(sorted({row.trace_id for row in gold})[::APART])
    ordered = [row for row in gold if row.trace_id not in apart]
    ordered += [row for row in gold if row.trace_id in apart]
    kept = read_training_rows()
    rows = [*kept.train, *kept.validation]
    words = [len(row.claim.split()) for row in ordered]
    if words != [row.features.numeric["claim_len"] for row in rows]:
        raise InputError("these are not the packets that the shipped rows were written from")
    return [(row.trace_id, row.claim_id) for row in ordered], rows


def _prose(row: PacketRow) -> Prose:
    sources = tuple(readable(source) for source in row.sources)
    return read_prose(Trace(trace_id=row.trace_id, question="", answer=None, sources=sources))


if __name__ == "__main__":
    main()
