"""The processor time that one move of the threshold slider takes, and the bands that are kept.

Run as ``python bench/threshold_bench.py [claims]``. Synthetic claims, four a trace; what is timed is
what the page does: sort once, bands once, then every figure of all thresholds and the claims that
flip, at each move.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.calibration.threshold import GRID  # noqa: E402
from core.evaluation.threshold_view import (  # noqa: E402
    bands_of,
    costs_at,
    flips_between,
    only,
    view_claims,
)

MOVES = 200


def main() -> None:
    """Print the times, in milliseconds."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rng = np.random.default_rng(1)
    bad = rng.uniform(size=count) < 0.4
    probability = np.round(np.clip(rng.normal(0.7 - 0.4 * bad, 0.2), 0.0, 1.0), 4)
    forced = rng.uniform(size=count) < 0.1
    trace = np.arange(count) // 4

    start = time.process_time()
    view = view_claims(probability, bad, forced, trace)
    _tell(f"sort {count:,} claims, once", time.process_time() - start)
    start = time.process_time()
    bands_of(view, GRID)
    _tell("bands of 99 thresholds, 1,000 resamples, once", time.process_time() - start)
    start = time.process_time()
    only(view, rng.uniform(size=count) < 0.3)
    _tell("cut out a slice, once", time.process_time() - start)

    spent = []
    for threshold in rng.choice(GRID, size=MOVES):
        start = time.process_time()
        costs_at(view, GRID)
        flips_between(view, 0.5, float(threshold))
        spent.append(time.process_time() - start)
    _tell(f"one move, median of {MOVES}", float(np.median(spent)))
    _tell(f"one move, slowest of {MOVES}", max(spent))


def _tell(what: str, seconds: float) -> None:
    print(f"{what:<50} {1_000 * seconds:10.2f} ms")


if __name__ == "__main__":
    main()
