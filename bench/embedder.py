"""Whether the embedder ranks in bf16 as in fp32, measured on labelled claims and kept beside the weights.

    python -m bench embedder PACKET … [--claims 60]

Every claim ranks the chunks of its sources in both precisions; they agree when the source of the nearest
chunk is the same. The claims are drawn with a seed. Writes core/models/weights/embedder_precision.json.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path

import numpy as np

from bench.report import Report
from core.config import Config
from core.evaluation.packets import PacketRow, read_packet
from core.models.loading import EMBEDDER_PRECISION, load_embedder, packaged_minilm
from core.models.weight_files import folder_digest
from core.text.chunks import chunks, units

MOST_CHUNKS = 60  # a claim's; a record of thousands would outweigh all the others


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("packets", type=Path, nargs="+")
    parser.add_argument("--claims", type=int, default=200, help="drawn from each packet")
    parser.add_argument("--seed", type=int, default=20260607)


def run(options: argparse.Namespace) -> Report:
    """Measure, and keep what is found."""
    rows: list[PacketRow] = []
    for path in options.packets:
        some = [row for row in read_packet(path).rows if len(row.sources) > 1]
        rows += random.Random(options.seed).sample(some, min(options.claims, len(some)))
    cut = [_chunks(row) for row in rows]
    cosines, seconds = {}, {}
    for precision in ("fp32", "bf16"):
        embedder = load_embedder(precision=precision)
        began = time.process_time()
        vectors = [
            embedder.embed([row.claim, *(text for _, text in texts)])
            for row, texts in zip(rows, cut, strict=True)
        ]
        seconds[precision] = time.process_time() - began
        cosines[precision] = [np.round(each[1:] @ each[0], 4) for each in vectors]
    both = list(zip(cosines["fp32"], cosines["bf16"], cut, strict=True))
    same = [texts[int(a.argmax())][0] == texts[int(b.argmax())][0] for a, b, texts in both]
    found = {
        "model_sha256": folder_digest(packaged_minilm()),
        "claims": len(rows),
        "packets": [path.name.split(".")[0] for path in options.packets],
        "ranking_agreement": {"bf16": round(sum(same) / len(same), 4)},
        "largest_difference_of_a_cosine": {
            "bf16": round(max(float(np.abs(a - b).max()) for a, b, _ in both), 4)
        },
    }
    EMBEDDER_PRECISION.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    report = Report(notes=[json.dumps(found, indent=1)])
    return report.table("", ("precision", "seconds of the processor"), seconds.items())


def _chunks(row: PacketRow) -> list[tuple[str, str]]:
    """Source id and text of the first chunks of every source, in turn."""
    size = Config().chunk_characters
    per_source = [
        [(s.source_id, span.cut(s.text)) for span in chunks(s.text, units(s.text), size)]
        for s in row.sources
    ]
    most = max(1, MOST_CHUNKS // len(per_source))
    return [chunk for of_source in per_source for chunk in of_source[:most]]
