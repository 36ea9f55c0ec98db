"""Claims a second on claims with five abstracts each: embedding, indexing and reading as they are used.

Run as ``python bench/literature_bench.py PACKET [claims] [slice] [plain]``; the packet is labelled
claims (.jsonl or .jsonl.gz), and the slice names those with abstracts. "plain" embeds in fp32 and
remembers nothing, for comparison. Seconds of the processor stand beside those of the clock, since
another program on the machine takes from the latter alone.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import Config  # noqa: E402
from core.evaluation.packets import read_packet  # noqa: E402
from core.evaluation.scoring import score_rows  # noqa: E402
from core.models.latest import Latest  # noqa: E402
from core.models.loading import load_embedder  # noqa: E402
from core.workflows.models import load_models  # noqa: E402


def main() -> None:
    """Print claims a second and where the time went."""
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    named = sys.argv[3] if len(sys.argv) > 3 else "literature"
    packet = read_packet(Path(sys.argv[1]))
    rows = [row for row in packet.rows if row.category == named or named in row.slices][:count]
    config = Config()
    models = load_models(config)
    if "plain" in sys.argv:
        forgetful = load_embedder(precision="fp32")
        forgetful._kept = Latest(0, 0)
        models = replace(models, embedder=forgetful)
    models.embedder.embed(["A first text."])
    sources = [source.text for row in rows for source in row.sources]
    print(f"{len(rows)} claims, {len(sources)} sources, {len(set(sources))} of them distinct")
    clock, processor = time.perf_counter(), time.process_time()
    scored = score_rows(rows, models, config)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{len(rows) / clock:8.2f} claims a second, {clock:.1f} s")
    print(f"{len(rows) / processor:8.2f} claims a second of one core, {processor:.1f} s")
    for stage, seconds in scored.latency_seconds.items():
        print(f"  {stage:<12} {sum(seconds):8.2f} s")


if __name__ == "__main__":
    main()
