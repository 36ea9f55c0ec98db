"""How long a warm verifier takes for an answer of eight claims and two sources, new and seen before.

PYTHONPATH=. python bench/service_bench.py [--answers 20]
"""

from __future__ import annotations

import argparse
import statistics
import time

from core.config import Config
from core.records import Source, Trace
from core.workflows.batching import BatchingVerifier
from core.workflows.models import load_models

DRUGS = "metformin lisinopril atorvastatin amlodipine".split()


def main() -> None:
    """Print the median and the slowest of each kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=20)
    count = parser.parse_args().answers
    with BatchingVerifier(load_models(Config()), Config()) as verifier:
        first = verifier.submit(_trace(0)).result()
        print(f"{len(first.claims)} claims, {len(_trace(0).sources)} sources, {count} answers")
        new = [_seconds(verifier, _trace(number)) for number in range(1, count + 1)]
        seen = [_seconds(verifier, _trace(number)) for number in range(1, count + 1)]
    for name, seconds in (("new", new), ("seen before", seen)):
        median, slowest = statistics.median(seconds) * 1000, max(seconds) * 1000
        print(f"{name:<12} median {median:6.0f} ms   slowest {slowest:6.0f} ms")


def _seconds(verifier: BatchingVerifier, trace: Trace) -> float:
    started = time.perf_counter()
    verifier.submit(trace).result()
    return time.perf_counter() - started


def _trace(number: int) -> Trace:
    """Four doses of a chart and four of a label; ``number`` makes all of them new."""
    chart = [f"{drug} {100 + number + at} mg once daily" for at, drug in enumerate(DRUGS)]
    label = [f"The usual dose of {drug} is {50 + number + at} mg" for at, drug in enumerate(DRUGS)]
    said = [f"According to the chart, she takes {line}." for line in chart]
    said += [f"{line}." for line in label]
    return Trace(
        trace_id=f"bench-{number}",
        question="Which doses?",
        answer=" ".join(said),
        sources=(
            Source(source_id="chart", tool_name="load_patient_history", text=". ".join(chart)),
            Source(source_id="label", tool_name="drug_label", text=". ".join(label)),
        ),
    )


if __name__ == "__main__":
    main()
