"""evaluate and sweep: a labelled packet to the metrics, tables and operating points of section V."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from core.attribution.families import Families, load_families
from core.bootstrap import RESAMPLES, SEED, trace_numbers
from core.calibration.fit import point_to_json
from core.calibration.guarantee import LabelledScores
from core.calibration.threshold import (
    Choice,
    by_block_f1,
    by_budget,
    by_false_block,
    by_false_pass,
    sweep,
)
from core.calibration.whole import passed_as_a_whole
from core.codec import read_record
from core.config import Config
from core.errors import BadRecord, InputError
from core.evaluation.packets import Packet, PacketRow, read_packet
from core.evaluation.predictions import Prediction
from core.evaluation.ranking import ranking_report
from core.evaluation.report import Report, evaluation_report
from core.evaluation.scoring import PredictionFile, score_rows
from core.evaluation.sweep import Band, sweep_bands
from core.pipeline import Models, versions
from core.ports import Progress
from core.records import Versions, WholePoint
from core.review.assignment import stands
from core.review.records import Passage

NO_SOURCE = "no source"


def labelled_scores(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction], families: Families
) -> LabelledScores:
    """The labelled claims of a packet with the family that each was routed to.

    ``predictions`` are those of ``rows``, in order. Raises InputError when no row has a label.
    """
    pairs = [(row, found) for row, found in zip(rows, predictions, strict=True) if row.scored]
    if not pairs:
        raise InputError("the packet has no claim with a label: no threshold can be shown to hold")
    numbers = {
        trace: number
        for number, trace in enumerate(dict.fromkeys(row.trace_id for row, _ in pairs))
    }
    return LabelledScores(
        # What could not be judged is forced to block, so its probability is never looked at.
        probability=np.array(
            [0.0 if found.probability is None else found.probability for _, found in pairs]
        ),
        bad=np.array([row.should_block for row, _ in pairs], dtype=np.bool_),
        forced=np.array([found.forced for _, found in pairs], dtype=np.bool_),
        trace=np.array([numbers[row.trace_id] for row, _ in pairs], dtype=np.int64),
        family=tuple(_family(row, found, families) for row, found in pairs),
    )


def _family(row: PacketRow, found: Prediction, families: Families) -> str:
    if found.routed_source_id is None:
        return NO_SOURCE
    return families.families_of(row.sources).get(found.routed_source_id, NO_SOURCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A packet with its predictions, ready for any report, table or sweep.

    ``whole`` is from where on the calibrator lets answers pass as a whole, where it is asked to.
    """

    packet: Packet
    predictions: tuple[Prediction, ...]
    threshold: float
    versions: Versions
    whole: WholePoint | None = None
    latency_seconds: Mapping[str, tuple[float, ...]]
    seconds: float

    @property
    def rows(self) -> tuple[PacketRow, ...]:
        """The packet's good rows."""
        return self.packet.rows


def score_packet(
    packet_file: Path,
    models: Models,
    config: Config,
    *,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> Evaluated:
    """Read a packet and judge its claims; ``kept`` is a file that lets a killed run go on."""
    packet = read_packet(packet_file, max_record_bytes=config.max_record_bytes)
    file = PredictionFile(kept, models, config) if kept else None
    start = time.perf_counter()
    scored = score_rows(packet.rows, models, config, kept=file, progress=progress)
    return Evaluated(
        packet=packet,
        predictions=scored.predictions,
        threshold=models.calibrator.threshold,
        versions=versions(models, config),
        whole=getattr(models.calibrator, "whole_point", None),
        latency_seconds=scored.latency_seconds,
        seconds=time.perf_counter() - start,
    )


def evaluate(evaluated: Evaluated, *, resamples: int = RESAMPLES, seed: int = SEED) -> Report:
    """The evaluation report of formats.md section 5, with what could not be read beside it."""
    report = evaluation_report(
        evaluated.rows,
        evaluated.predictions,
        threshold=evaluated.threshold,
        versions=evaluated.versions,
        seconds=evaluated.seconds,
        resamples=resamples,
        seed=seed,
    )
    report["ranking"] = _ranking(evaluated, resamples=resamples, seed=seed)
    report["whole_answers"] = _whole_answers(evaluated)
    report["passages"] = passage_counts(evaluated.rows, evaluated.predictions)
    report["packet_sha256"] = evaluated.packet.sha256
    report["problems"] = [problem.located() for problem in evaluated.packet.problems]
    return report


def passage_counts(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction]
) -> dict[str, int] | None:
    """How many of the passages that people ``marked`` lie whole ``in_premise``, the focused premise;
    those of ``another_source`` than the routed one cannot. None where nobody marked any.

    A passage that is not what the packet's text says there counts for nothing.
    """
    counts = {"marked": 0, "in_premise": 0, "another_source": 0}
    for row, found in zip(rows, predictions, strict=True):
        said = row.extra.get("adjudication")
        final = said.get("final") if isinstance(said, Mapping) else None
        marked = final.get("passages") if isinstance(final, Mapping) else None
        texts = {source.source_id: source.text for source in row.sources}
        try:
            passages = read_record(tuple[Passage, ...], marked or [])
        except BadRecord:
            continue
        for each in passages:
            if not stands(each, texts):
                continue
            text = texts[each.source_id]
            counts["marked"] += 1
            if each.source_id != found.routed_source_id:
                counts["another_source"] += 1
                continue
            counts["in_premise"] += all(
                text[at].isspace() or any(span.start <= at < span.end for span in found.premise)
                for at in range(each.start, each.end)
            )
    return counts if counts["marked"] else None


def _whole_answers(evaluated: Evaluated) -> Report | None:
    """How many answers of 8 or more claims pass as a whole, right ones and such with a claim to block;
    None where the calibrator has no point for that or nothing is labelled."""
    if evaluated.whole is None or not any(row.scored for row in evaluated.rows):
        return None
    labels = labelled_scores(evaluated.rows, evaluated.predictions, load_families())
    return dict(asdict(passed_as_a_whole(labels, evaluated.whole.threshold)))


def _ranking(evaluated: Evaluated, *, resamples: int, seed: int) -> Report:
    """The verifier beside what counting shared words alone and blocking everything give; what reading
    finds is of the queue's order."""
    pairs = [
        (row, found)
        for row, found in zip(evaluated.rows, evaluated.predictions, strict=True)
        if row.scored
    ]
    if not pairs:
        return {}
    words = [
        0.0 if found.features is None else found.features.numeric["all_term_overlap"]
        for _, found in pairs
    ]
    return ranking_report(
        [row for row, _ in pairs],
        {
            "verifier": np.array([found.ranked_by for _, found in pairs]),
            "shared words alone": np.array(words),
            "block everything": np.zeros(len(pairs)),
        },
        order=np.array([found.read_at for _, found in pairs]),
        resamples=resamples,
        seed=seed,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many claims come in a day, and how many of them people can read."""

    claims_a_day: float
    reviews_a_day: float


def sweep_packet(
    evaluated: Evaluated,
    *,
    max_false_pass: float = 0.025,
    max_false_block: float = 0.2,
    budget: Budget | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Report:
    """Both error rates at every threshold with bootstrap bands, and what each rule would choose."""
    pairs = _scored_pairs(evaluated.rows, evaluated.predictions)
    probability = np.array([_probability(found) for _, found in pairs])
    bad = np.array([row.should_block for row, _ in pairs])
    forced = np.array([found.forced for _, found in pairs])
    points = sweep(probability, bad, forced)
    bands = sweep_bands(
        probability,
        bad,
        forced,
        trace_numbers([row.trace_id for row, _ in pairs]),
        tuple(point.threshold for point in points),
        resamples=resamples,
        seed=seed,
    )
    chosen = {
        "block_f1": by_block_f1(points),
        "false_pass": by_false_pass(points, max_false_pass),
        "false_block": by_false_block(points, max_false_block),
    }
    if budget is not None:
        chosen["budget"] = by_budget(
            points, claims_a_day=budget.claims_a_day, reviews_a_day=budget.reviews_a_day
        )
    return {
        "claims": len(pairs),
        "claims_to_block": int(bad.sum()),
        "forced_blocks": int(forced.sum()),
        "threshold": evaluated.threshold,
        "points": [
            {**point_to_json(point), **_band(band)}
            for point, band in zip(points, bands, strict=True)
        ],
        "choices": {name: _choice(choice) for name, choice in chosen.items()},
        "bootstrap": {"resamples": resamples, "seed": seed, "unit": "trace", "level": 0.95},
        "packet_sha256": evaluated.packet.sha256,
    }


def _scored_pairs(
    rows: Sequence[PacketRow], predictions: Sequence[Prediction]
) -> list[tuple[PacketRow, Prediction]]:
    pairs = [(row, found) for row, found in zip(rows, predictions, strict=True) if row.scored]
    if not pairs:
        raise InputError("the packet has no claim with a label: there is nothing to sweep")
    return pairs


def _probability(found: Prediction) -> float:
    """An unjudged claim is forced to block, so its probability is never looked at."""
    return 0.0 if found.probability is None else found.probability


def _choice(choice: Choice) -> Report:
    return {"rule": choice.rule, "met": choice.met, **point_to_json(choice.point)}


def _band(band: Band) -> Report:
    return {f"{name}_ci95": ends for name, ends in band.items()}
