"""Invented runs in any number: few different ones, many ids, so that what is measured is not the models.

``variants`` answers of ``claims`` claims differ; the others repeat them under ids of their own. With
``--cache`` the models then read each of them once, and the rest of the path does all of its work.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.records import Source, Trace

DRUGS = "metformin lisinopril atorvastatin amlodipine furosemide apixaban".split()


def records(count: int, *, variants: int = 100, claims: int = 2) -> Iterator[dict[str, Any]]:
    """Native records, one a run."""
    for number in range(count):
        yield {"question_id": f"run-{number:07d}", **_run(number % variants, claims)}


def write_records(file: Path, count: int, *, variants: int = 100, claims: int = 2) -> None:
    """The records as JSON Lines."""
    with file.open("w", encoding="utf-8") as out:
        for record in records(count, variants=variants, claims=claims):
            out.write(json.dumps(record) + "\n")


def _run(variant: int, claims: int) -> dict[str, Any]:
    chart = [
        f"{DRUGS[at % len(DRUGS)]} {100 + 5 * variant + at} mg once daily" for at in range(claims)
    ]
    # Every third dose is told wrongly.
    told = [
        line.replace(" mg", "0 mg") if (variant + at) % 3 == 0 else line
        for at, line in enumerate(chart)
    ]
    return {
        "user_question": "Which doses?",
        "full_tool_outputs": [
            {"tool_name": "load_patient_history", "text": ". ".join(chart)},
            {"tool_name": "drug_label", "text": f"The usual dose is {variant} mg a day."},
        ],
        "assistant_answer": " ".join(f"According to the chart, she takes {one}." for one in told),
    }


def a_trace(number: int) -> Trace:
    """An answer of eight claims: four doses of a chart and four of a label; ``number`` makes all new."""
    chart = [f"{drug} {100 + number + at} mg once daily" for at, drug in enumerate(DRUGS[:4])]
    label = [
        f"The usual dose of {drug} is {50 + number + at} mg" for at, drug in enumerate(DRUGS[:4])
    ]
    said = [f"According to the chart, she takes {line}." for line in chart]
    return Trace(
        trace_id=f"bench-{number}",
        question="Which doses?",
        answer=" ".join([*said, *(f"{line}." for line in label)]),
        sources=(
            Source(source_id="chart", tool_name="load_patient_history", text=". ".join(chart)),
            Source(source_id="label", tool_name="drug_label", text=". ".join(label)),
        ),
    )
