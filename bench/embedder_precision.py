"""Whether the embedder ranks in bf16 as in fp32, measured on labelled claims and kept beside the weights.

Run as ``python bench/embedder_precision.py PACKET ... --claims 200``. Every claim ranks the chunks
of its sources in both precisions; they agree when the source of the nearest chunk is the same. The
claims are drawn with a seed. The result is written to core/models/weights/embedder_precision.json.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.config import Config  # noqa: E402
from core.evaluation.packets import PacketRow, read_packet  # noqa: E402
from core.models.embedder import BertEmbedder  # noqa: E402
from core.models.loading import (  # noqa: E402
    EMBEDDER_PRECISION,
    load_embedder,
    packaged_minilm,
)
from core.models.weight_files import folder_digest  # noqa: E402
from core.text.chunks import chunks, units  # noqa: E402

MOST_CHUNKS = 60  # a claim's; a record of thousands would outweigh all the others


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packets", type=Path, nargs="+")
    parser.add_argument("--claims", type=int, default=200, help="drawn from each packet")
    parser.add_argument("--seed", type=int, default=20260607)
    given = parser.parse_args()
    rows = [row for path in given.packets for row in _drawn(path, given.claims, given.seed)]
    cut = [(row.claim, _chunks(row)) for row in rows]
    found = {}
    for precision in ("fp32", "bf16"):
        embedder = load_embedder(precision=precision)
        start = time.process_time()
        found[precision] = [_ranked(embedder, claim, texts) for claim, texts in cut]
        print(f"{precision}: {time.process_time() - start:.1f} s of the processor")
    same = [one[1] == other[1] for one, other in zip(found["fp32"], found["bf16"], strict=True)]
    off = max(
        float(np.abs(one[0] - other[0]).max())
        for one, other in zip(found["fp32"], found["bf16"], strict=True)
    )
    report = {
        "model_sha256": folder_digest(packaged_minilm()),
        "claims": len(rows),
        "packets": [path.name.split(".")[0] for path in given.packets],
        "ranking_agreement": {"bf16": round(sum(same) / len(same), 4)},
        "largest_difference_of_a_cosine": {"bf16": round(off, 4)},
    }
    EMBEDDER_PRECISION.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report, indent=1))


def _drawn(path: Path, count: int, seed: int) -> list[PacketRow]:
    rows = [row for row in read_packet(path).rows if len(row.sources) > 1]
    return random.Random(seed).sample(rows, min(count, len(rows)))


def _chunks(row: PacketRow) -> list[tuple[str, str]]:
    """(source id, text) of the first chunks of every source, in turn."""
    size = Config().chunk_characters
    per_source = [
        [(s.source_id, span.cut(s.text)) for span in chunks(s.text, units(s.text), size)]
        for s in row.sources
    ]
    most = max(1, MOST_CHUNKS // len(per_source))
    return [chunk for of_source in per_source for chunk in of_source[:most]]


def _ranked(
    embedder: BertEmbedder, claim: str, texts: list[tuple[str, str]]
) -> tuple[np.ndarray, str]:
    """The cosines of the claim with every chunk, and the source of the nearest."""
    vectors = embedder.embed([claim, *(text for _, text in texts)])
    cosines = np.round(vectors[1:] @ vectors[0], 4)
    return cosines, texts[int(cosines.argmax())][0]


if __name__ == "__main__":
    main()
