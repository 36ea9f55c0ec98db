"""Our verifier and three plainer ways on the same claims: speed, peak memory and AUROC in one table.

    python -m bench compared [--claims 200] [--packet FILE]

ours           the whole pipeline on frozen claims, its AUROC by a calibrator grown without this packet
cross-encoder  sentence-transformers' CrossEncoder with the same weights, fp32 as it comes: of all
               sources the highest entailment, each source cut to what fits
SummaC-ZS      the same weights through our reader: of the first 100 sentences of the evidence the
               highest entailment minus contradiction
lexical        the lexical audit: the share of a claim's units that stand in the evidence; no model

The packet is livemcp_dev of the shared data unless another is named. Each way runs in a process of its
own, one after another; loading does not count as time, but as memory. Without the packet nothing is
measured, and that is said.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.report import Report
from core.calibration.rows import KeptRows, TrainingRow, read_training_rows
from core.config import Config
from core.evaluation.packets import PacketRow, read_packet
from core.evaluation.ranking_scores import auroc, auroc_interval

ROOT = Path(__file__).resolve().parents[1]
PACKET = ROOT.parent / "shared" / "data" / "packets" / "livemcp_dev.jsonl.gz"
SEED = 20260607
Scores = Callable[[Sequence[PacketRow]], list[float]]
Figures = dict[str, Any]
RATIOS = ("claims/s", "peak MB", "AUROC")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--claims", type=int, default=200, help="drawn at random; 0: all")
    parser.add_argument("--packet", type=Path, default=PACKET)
    parser.add_argument("--one", choices=WAYS, help="only this way, in this process")


def run(options: argparse.Namespace) -> Report:
    """The table, or with ``--one`` what one of the ways measures."""
    name = options.packet.name
    if not options.packet.is_file():
        return Report(notes=[f"Not measured: the labelled packet {name} is not on this machine."])
    if options.one:
        rows = [row for row in read_packet(options.packet).rows if row.scored]
        found = measured(options.one, rows, drawn(rows, options.claims))
        return Report().table("", tuple(found), [tuple(found.values())])
    lines = []
    for way in WAYS:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [sys.executable, "-m", "bench", "compared", "--one", way, "--json", file.name]
            command += ["--claims", str(options.claims), "--packet", str(options.packet)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            lines.append((way, json.load(file)["tables"][""][0]))
    first = lines[0][1]
    return Report().table(
        f"{first['claims']} claims of {name}",
        ("way", *(title for key in RATIOS for title in (key, "ratio")), "95 %"),
        (
            (
                way,
                *(cell for key in RATIOS for cell in (one[key], one[key] / first[key])),
                one["95 %"],
            )
            for way, one in lines
        ),
    )


def drawn(rows: Sequence[PacketRow], count: int) -> list[PacketRow]:
    """Labelled claims of the packet, the same for every way, in the order of their traces."""
    if 0 < count < len(rows):
        rows = random.Random(SEED).sample(list(rows), count)
    return sorted(rows, key=lambda row: (row.trace_id, row.claim_id))


def measured(name: str, packet: Sequence[PacketRow], rows: Sequence[PacketRow]) -> Figures:
    """Claims a second, peak memory and AUROC of one way on these rows of the packet."""
    score = WAYS[name](packet)
    started = time.perf_counter()
    scores = np.array(score(rows))
    seconds = time.perf_counter() - started
    bad = np.array([row.should_block for row in rows])
    # What could not be read is blocked: it stands below everything else.
    scores = np.nan_to_num(scores, nan=-1e9)
    interval = auroc_interval(scores, bad, [row.trace_id for row in rows])
    return {
        "claims": len(rows),
        "claims/s": len(rows) / seconds,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "AUROC": auroc(scores, bad),
        "95 %": "{:.2f}-{:.2f}".format(*interval) if interval else None,
    }


def ours(packet: Sequence[PacketRow]) -> Scores:
    """The pipeline; the calibrator has seen no claim of this packet."""
    from core.calibration.crossed import forest_fitter
    from core.calibration.fit import ForestSettings
    from core.evaluation.scoring import score_rows
    from core.models.forest import DEFAULT_FOLDER
    from core.workflows.models import load_models
    from core.workflows.recalibrate import training_rows

    card = json.loads((DEFAULT_FOLDER / "calibrator.json").read_text(encoding="utf-8"))
    directions = tuple((name, sign) for name, sign in card["settings"].pop("directions"))
    settings = ForestSettings(**card["settings"], directions=directions)
    chances = forest_fitter(settings)(without(packet, read_training_rows()))
    models = load_models(Config())

    def scores(wanted: Sequence[PacketRow]) -> list[float]:
        predictions = score_rows(wanted, models, Config()).predictions
        judged = training_rows(wanted, predictions)
        by_id = {
            row.claim_id: 0.0 if row.forced else float(chance)
            for row, chance in zip(judged, chances(judged), strict=True)
        }
        return [by_id.get(row.claim_id, 0.0) for row in wanted]

    return scores


def without(packet: Sequence[PacketRow], kept: KeptRows) -> list[TrainingRow]:
    """The shipped training rows but those of this packet.

    They carry no ids: its traces are known by their order and their numbers of claims and of bad ones,
    some of them on the validation side. Raises SystemExit when they are not found whole.
    """
    train, validation = _traces(kept.train), _traces(kept.validation)
    wanted = list(_counts(_traces(packet)))
    seen: list[str] = []
    apart = []
    waiting = iter([*zip(train, _counts(train), strict=True), ("", (0, 0))])
    name, counts = next(waiting)
    for one in wanted:
        if one == counts:
            seen.append(name)
            name, counts = next(waiting)
        else:
            apart.append(one)
    if list(_counts(validation))[: len(apart)] != apart:
        raise SystemExit("the shipped training rows do not begin with this packet")
    held = {*seen, *list(validation)[: len(apart)]}
    return [row for row in (*kept.train, *kept.validation) if row.trace_id not in held]


def _traces(rows: Iterable[PacketRow] | Iterable[TrainingRow]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for row in rows:
        found.setdefault(row.trace_id, []).append(row.should_block)
    return found


def _counts(traces: dict[str, list[bool]]) -> Iterator[tuple[int, int]]:
    return ((len(bad), sum(bad)) for bad in traces.values())


def cross_encoder(packet: Sequence[PacketRow]) -> Scores:
    """sentence-transformers' CrossEncoder as it comes."""
    import torch
    from sentence_transformers import CrossEncoder

    from core.models.loading import BUNDLED_NLI_MODEL

    model = CrossEncoder(
        str(BUNDLED_NLI_MODEL), max_length=512, device="cpu",
        model_kwargs={"dtype": torch.float32},
    )  # fmt: skip
    labels = {label.lower(): int(at) for at, label in model.model.config.id2label.items()}

    def scores(wanted: Sequence[PacketRow]) -> list[float]:
        texts = [[source.text for source in row.sources if source.is_evidence] for row in wanted]
        pairs = list(
            dict.fromkeys(
                (text, row.claim) for row, own in zip(wanted, texts, strict=True) for text in own
            )
        )
        found = model.predict(pairs, batch_size=32, apply_softmax=True, show_progress_bar=False)
        entailed = dict(zip(pairs, found[:, labels["entailment"]].tolist(), strict=True))
        return [
            max((entailed[text, row.claim] for text in own), default=float("nan"))
            for row, own in zip(wanted, texts, strict=True)
        ]

    return scores


def summac(packet: Sequence[PacketRow]) -> Scores:
    """SummaC-ZS on our NLI model."""
    from core.evaluation.baselines.summac import SummacZS
    from core.evaluation.blind import blind_scores
    from core.models.loading import load_nli_model

    baseline = SummacZS(load_nli_model())
    return lambda wanted: blind_scores(wanted, baseline).tolist()


def lexical(packet: Sequence[PacketRow]) -> Scores:
    """The lexical audit."""
    from core.citations.lexical import audit_lexically

    def score(row: PacketRow) -> float:
        evidence = "\n".join(source.text for source in row.sources if source.is_evidence)
        found = audit_lexically(row.claim, evidence)
        return found.verified / len(found.units) if found.units else 0.0

    return lambda wanted: [score(row) for row in wanted]


WAYS = {"ours": ours, "cross-encoder": cross_encoder, "SummaC-ZS": summac, "lexical": lexical}
