"""The two-head joint verifier (V.3, Table 13): which candidate speaks of a claim, and what it says.

One encoder reads every (candidate's premise, claim) pair and answers with two heads: P(this source
owns the claim), and P(entailment, neutral, contradiction). The claim takes the relation of the
source that most likely owns it. A measured alternative to the router, the reader and the forest,
not the product's verifier.

    python -m training.joint TRAIN.jsonl.gz --validation VALIDATION.jsonl.gz --out FOLDER
"""

from __future__ import annotations

import argparse
import json
import logging
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import torch

from core.attribution.families import load_families
from core.config import Config
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow, read_packet
from core.evaluation.predictions import prediction_to_json
from core.evaluation.report import evaluation_report
from core.evaluation.splits import split_by_trace
from core.judging.cases import rank_claim
from core.judging.opening import Models, embed_window, factual_claims, open_trace
from core.models.loading import BUNDLED_PAIR_READER, load_embedder
from training.joint_predictions import calibrate, predictions
from training.joint_verifier import ClaimPairs, JointVerifier

logger = logging.getLogger(__name__)

WINDOW = 64
SET_APART = 0.2  # of the training traces: what the calibrated row is fitted on, out of fold


def claim_pairs(rows: Sequence[PacketRow], models: Models, config: Config) -> Iterator[ClaimPairs]:
    """Every row with all its candidates' premises, chosen as the pipeline chooses them (III.3)."""
    wide = replace(config, read_sources=max(len(row.sources) for row in rows))
    pending = iter(rows)
    while window := list(islice(pending, WINDOW)):
        frozen = [freeze(row, models.families) for row in window]
        opened = [open_trace(trace, (claim,), models, wide) for trace, claim in frozen]
        vectors = embed_window(opened, models.embedder)
        for row, one in zip(window, opened, strict=True):
            (claim,) = factual_claims(one)
            windows = rank_claim(claim, one, vectors, wide, closely=False).windows
            premises = {source_id: found[0] for source_id, found in windows.items()}
            named = [s.source_id for s in row.sources if s.source_id in premises]
            yield ClaimPairs(
                row=row,
                claim=claim.text,
                source_ids=tuple(named),
                premises=tuple(premises[source_id].text for source_id in named),
            )


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on one packet, measure raw and calibrated rows of Table 13 on another."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("train", type=Path)
    parser.add_argument("--validation", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", default=str(BUNDLED_PAIR_READER))
    parser.add_argument("--passes", type=float, default=1.0)
    parser.add_argument("--claims", type=int, help="at most so many validation claims, by trace")
    parser.add_argument("--max-false-pass", type=float, default=0.025)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    torch.set_num_threads(options.threads)
    config = Config()
    models = Models(
        embedder=load_embedder(),
        reader=None,  # type: ignore[arg-type]  # no claim is judged here
        calibrator=None,  # type: ignore[arg-type]
        families=load_families(),
    )
    seed = 20260607
    learnt, apart = split_by_trace(
        read_packet(options.train).rows, validation_share=SET_APART, seed=seed
    )
    rows = _some(read_packet(options.validation).rows, options.claims, seed)
    pairs = {
        name: list(claim_pairs(of_split, models, config))
        for name, of_split in (("learnt", learnt), ("apart", apart), ("validation", rows))
    }
    logger.info("%s", {name: sum(len(c.premises) for c in found) for name, found in pairs.items()})
    verifier = JointVerifier(options.start)
    verifier.learn(pairs["learnt"], passes=options.passes, seed=seed)
    calibration = calibrate(pairs["apart"], verifier.read(pairs["apart"]), options.max_false_pass)
    readings = verifier.read(pairs["validation"])
    options.out.mkdir(parents=True, exist_ok=True)
    for name, support, threshold in (
        ("raw", None, 0.5),
        ("calibrated", calibration.support(readings), calibration.threshold),
    ):
        found = predictions(pairs["validation"], readings, support, threshold)
        kept = options.out / f"joint-{name}.jsonl"
        with kept.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(prediction_to_json(one)) + "\n" for one in found)
        report = evaluation_report(rows, found, threshold=threshold, resamples=1_000)
        (options.out / f"joint-{name}.json").write_text(json.dumps(report, indent=1), "utf-8")
        print(json.dumps({"system": f"joint {name}"} | {key: report[key] for key in _SHOWN}))


_SHOWN = (
    "claims",
    "threshold",
    "block",
    "false_block_rate",
    "false_pass_rate",
    "relation_accuracy",
    "source_accuracy",
    "source_relation_accuracy",
    "verdict_accuracy",
)


def _some(rows: Sequence[PacketRow], most: int | None, seed: int) -> list[PacketRow]:
    """Whole traces in seeded order, until there are ``most`` claims."""
    if most is None or most >= len(rows):
        return list(rows)
    by_trace: dict[str, list[PacketRow]] = {}
    for row in rows:
        by_trace.setdefault(row.trace_id, []).append(row)
    order = sorted(by_trace)
    random.Random(seed).shuffle(order)
    chosen: list[PacketRow] = []
    for trace_id in order:
        if len(chosen) >= most:
            break
        chosen += by_trace[trace_id]
    return chosen


if __name__ == "__main__":
    main()
