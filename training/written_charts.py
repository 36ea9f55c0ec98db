"""Charts written one by one, each with true and dangerously wrong statements, as claim packets.

    python -m training.written_charts --out charts.jsonl [--only ha hb …]

A file of ``training/pairs/charts`` is one author's (``CHARTS.md``): a chart a line, as a tool returns
it, with its claims. Half of these are wrong in a way that could hurt somebody.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "pairs" / "charts"


def written_charts(only: Sequence[str] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (id, chart) of every file, or of those that are named; raises ValueError by file and line."""
    for path in sorted(FOLDER.glob("*.jsonl.gz")):
        author = path.name.split(".")[0]
        if only is not None and author not in only:
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                chart = json.loads(line)
                texts = [claim["claim"] for claim in chart["claims"]]
                if not chart["chart"].strip() or len(set(texts)) != len(texts):
                    raise ValueError(f"{path.name}:{number}: an empty chart, or a claim twice")
                yield f"{author}-{number:03}", chart


def packet_rows(name: str, chart: dict[str, Any]) -> Iterator[dict[str, object]]:
    """Yield the chart's claims as rows of a claim packet (formats.md, section 2)."""
    source = {"source_id": "chart", "tool_name": "get_patient_chart", "text": chart["chart"]}
    for number, claim in enumerate(chart["claims"], 1):
        yield {
            "claim_id": f"{name}::{number:02}",
            "trace_id": name,
            "claim": claim["claim"],
            "stated_attribution": None,
            "category": "clinical",
            "sources": [source],
            "label": "supported" if claim["good"] else "contradicted",
            "relation": "entailment" if claim["good"] else "contradiction",
            "gold_source_ids": ["chart"],
            "gold_attribution": None,
            "slices": [re.sub(r"\W+", "_", claim["kind"].lower()), name.split("-")[0]],
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the packet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", help="of these authors alone")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    rows = [row for name, chart in written_charts(given.only) for row in packet_rows(name, chart)]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    given.out.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
