"""Short answers with what is right for each (allow, block, review), beside what the verdicts say.

provenanceguard verify pairs.jsonl.gz --out verdicts.jsonl
python bench/probes.py pairs.jsonl.gz verdicts.jsonl
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path


def main() -> int:
    """Print one line for each right outcome; the exit code."""
    probes, verdicts = (_rows(Path(name)) for name in sys.argv[1:3])
    decided = {row["trace_id"]: row["decision"] for row in verdicts}
    counts = Counter((row["right"], decided[row["id"]]) for row in probes)
    for right in sorted({right for right, _ in counts}):
        told = {decision: count for (named, decision), count in counts.items() if named == right}
        total = sum(told.values())
        allowed = told.get("allow", 0)
        print(
            f"right: {right:<7} {total} answers, {allowed} allowed ({100 * allowed / total:.0f} %)"
        )
    return 0


def _rows(path: Path) -> list[dict[str, str]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.splitlines() if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
