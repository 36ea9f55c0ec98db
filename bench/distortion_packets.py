"""How many good and bad claims of read packets each distortion check accuses.

``python bench/distortion_packets.py PACKET... [--show KIND]`` prints one line a kind and packet.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from core.evaluation.frozen import readable  # noqa: E402
from core.evaluation.packets import PacketRow, read_packet  # noqa: E402
from core.provenance.distortions.alignment import Prose, read_prose  # noqa: E402
from core.provenance.distortions.detect import find_distortions  # noqa: E402
from core.provenance.distortions.records import NAMED_KINDS, DistortionKind  # noqa: E402
from core.records import Trace  # noqa: E402


def main() -> None:
    """Print what each kind accuses, good claims beside bad ones."""
    parser = argparse.ArgumentParser()
    parser.add_argument("packets", nargs="+", type=Path)
    parser.add_argument("--show")
    options = parser.parse_args()
    for path in options.packets:
        _packet(path, options.show)


def _packet(path: Path, show: str | None) -> None:
    rows = [row for row in read_packet(path).rows if row.scored]
    told: Counter[tuple[DistortionKind, bool]] = Counter()
    known: dict[str, Prose] = {}
    accused: Counter[bool] = Counter()
    start = time.perf_counter()
    for row in rows:
        found = find_distortions(row.claim, _prose(row, known))
        bad = row.should_block
        told.update((one.kind, bad) for one in found)
        accused[bad] += bool(found)
        for one in found:
            if show == "all" or show == one.kind.name:
                print(f"{'BAD ' if bad else 'good'} {one.kind.name} {one.coverage:.2f} {row.claim}")
                print(
                    f"      [{one.difference.said} | {one.difference.stated}] {one.sentence_text[:300]}"
                )
    seconds = time.perf_counter() - start
    good, bad = sum(not row.should_block for row in rows), sum(row.should_block for row in rows)
    print(
        f"{path.name}: {good} good, {bad} bad claims, {1000 * seconds / len(rows):.1f} ms a claim"
    )
    for kind in NAMED_KINDS:
        print(f"  {kind.value:26} good {told[kind, False]:4} ({told[kind, False] / good:.1%})"
              f"   bad {told[kind, True]:4} ({told[kind, True] / max(bad, 1):.1%})")  # fmt: skip
    print(f"  {'any':26} good {accused[False]:4}   bad {accused[True]:4}")


def _prose(row: PacketRow, known: dict[str, Prose]) -> Prose:
    if row.trace_id not in known:
        known.clear()
        sources = tuple(readable(source) for source in row.sources)
        trace = Trace(trace_id=row.trace_id, question="", answer=None, sources=sources)
        known[row.trace_id] = read_prose(trace)
    return known[row.trace_id]


if __name__ == "__main__":
    main()
