"""Minimal pairs of chart and answer that differ in one dangerous way, each with its true twin.

A pair has a chart and a one-sentence answer: another drug's dose, a disorder that was ruled out told as
present, a stopped order told as taken. The twin is the same answer on a chart that says so, or the true
answer on the same chart. All text is original (`training.texts`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from training.texts import text_folder
from training.written import labelled_row

FORMATS = ("fhir", "nested_json", "list", "letter", "markdown_table", "csv_table")
HALVES = ("looked_at", "kept")
DRAWN = text_folder() / "generated" / "dangerous_charts.jsonl"
BLIND = text_folder() / "pairs" / "blind_charts.jsonl"
BLIND_SECOND = BLIND.with_name("blind_charts_second.jsonl")
BLIND_HALVES = ("opened", "kept")
SECOND = "second"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A claim and the chart it is told from; ``dangerous`` is False for the true twin."""

    kind: str
    format: str
    dangerous: bool
    claim: str
    chart: str


def pairs(half: str, seed: int = 11) -> Iterator[Pair]:
    """Two draws of every kind in every format, as their generator made them with that seed.

    It is 11 for both halves, 21 for what was looked at, 12 or 22 for what was kept.
    """
    with DRAWN.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if (row.pop("half"), row.pop("seed")) == (half, seed):
                yield Pair(**row)


def blind_pairs(part: str) -> Iterator[Pair]:
    """Pairs by authors who had not seen the checks: one of ``BLIND_HALVES`` of the first author's, or
    ``SECOND``, all of the second's."""
    with (BLIND_SECOND if part == SECOND else BLIND).open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if part in (SECOND, BLIND_HALVES[row.pop("pair") % 2 == 0]):
                row.pop("pair", None)
                yield Pair(**row)


def packet_row(index: int, pair: Pair) -> dict[str, object]:
    """The pair as a row of a claim packet."""
    name = f"dangerous-{index:05}"
    source = {"source_id": "chart", "tool_name": "get_patient_chart", "text": pair.chart}
    return labelled_row(
        name,
        name,
        pair.claim,
        [source],
        good=not pair.dangerous,
        gold="chart",
        slices=[re.sub(r"\s+", "_", pair.kind), pair.format],
    )
