"""What a site's labels are worth: refits on n of its labels, measured on its other answers.

    python -m bench sites PACKET=PREDICTIONS... [--labels 13 50 100 200 400] [--draws 10]

PREDICTIONS is what ``evaluate PACKET --keep PREDICTIONS`` kept. A packet is taken for a site. In each draw
half of its answers are held out; from the other half whole answers are labelled, in random order, until
there are n labels, three tenths of them for the threshold. Worse is a candidate that lowers neither error
rate on the held-out claims and raises one. The packets that the shipped rows are from say nothing here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.report import Report
from core.calibration.fit import probability_metrics
from core.calibration.rows import KeptRows, TrainingRow, read_training_rows
from core.errors import InputError
from core.evaluation.packets import read_packet
from core.evaluation.predictions import prediction_from_json
from core.models.forest import Forest, load_forest
from core.workflows.recalibrate import training_rows
from core.workflows.retraining import fit_site

from bench.verdicts import read_lines  # isort: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A calibrator on held-out claims: shares of bad ones passed and good ones stopped, and the rest."""

    bad_passed: float
    good_stopped: float
    auroc: float
    ece: float
    brier: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("sites", nargs="+", metavar="PACKET=PREDICTIONS")
    parser.add_argument("--labels", type=int, nargs="+", default=[13, 50, 100, 200, 400])
    parser.add_argument("--draws", type=int, default=10)


def run(options: argparse.Namespace) -> Report:
    """One line a packet and number of labels: what ships, the candidate, and how often it is worse."""
    report, lines = Report(), []
    shipped, current = read_training_rows(), load_forest()
    worse_of_all = draws_of_all = 0
    for site in options.sites:
        packet, _, kept = site.partition("=")
        rows = labelled_rows(Path(packet), Path(kept))
        for labels in options.labels:
            pairs = [
                found
                for draw in range(options.draws)
                if (found := try_once(rows, labels, draw, shipped, current)) is not None
            ]
            if not pairs:
                continue
            worse = sum(is_worse(now, then) for then, now in pairs)
            worse_of_all, draws_of_all = worse_of_all + worse, draws_of_all + len(pairs)
            lines.append(
                (Path(packet).name.partition(".")[0], labels, len(pairs), worse, *_means(pairs))
            )
    report.table(
        "Refits on a site's labels, held-out answers (what ships → candidate, means over draws)",
        ("site", "labels", "draws", "worse", "bad passed", "good stopped", "AUROC", "ECE", "Brier"),
        lines,
    )
    report.notes.append(f"Worse in {worse_of_all} of {draws_of_all} draws.")
    return report


def labelled_rows(packet: Path, kept: Path) -> list[TrainingRow]:
    """The packet's labelled claims with the features that were kept of them."""
    predictions = {
        found.claim_id: found
        for found in (prediction_from_json(row["prediction"]) for row in read_lines(kept))
    }
    rows = [row for row in read_packet(packet).rows if row.claim_id in predictions]
    return training_rows(rows, [predictions[row.claim_id] for row in rows])


def try_once(
    rows: Sequence[TrainingRow], labels: int, draw: int, shipped: KeptRows, current: Forest
) -> tuple[Measured, Measured] | None:
    """What ships and the candidate on the held-out half; None where there are too few labels."""
    traces = sorted({row.trace_id for row in rows})
    np.random.default_rng(draw).shuffle(traces)
    half = len(traces) // 2
    by_trace = {name: [row for row in rows if row.trace_id == name] for name in traces}
    held_out = [row for name in traces[half:] for row in by_trace[name]]
    site: dict[str, list[TrainingRow]] = {"train": [], "validation": []}
    for place, name in enumerate(traces[:half]):
        left = labels - sum(map(len, site.values()))
        site["validation" if place % 10 in (2, 5, 8) else "train"] += by_trace[name][:left]
    if sum(map(len, site.values())) < labels:
        return None
    kept = KeptRows(train=tuple(site["train"]), validation=tuple(site["validation"]))
    try:
        candidate = fit_site(kept, shipped, current, {}).forest()
    except InputError:
        return None
    return measured(held_out, current), measured(held_out, candidate)


def measured(rows: Sequence[TrainingRow], forest: Forest) -> Measured:
    """Both error rates at the forest's threshold, ranking and calibration."""
    chance = forest.probabilities([row.features for row in rows])
    bad = np.array([row.should_block for row in rows])
    passes = (chance >= forest.threshold) & ~np.array([row.forced for row in rows])
    told = probability_metrics(chance, np.array([row.supported_by_route for row in rows]))
    return Measured(
        bad_passed=float(passes[bad].mean()) if bad.any() else 0.0,
        good_stopped=float((~passes)[~bad].mean()) if not bad.all() else 0.0,
        auroc=float(roc_auc_score(~bad, chance)) if 0 < bad.sum() < len(bad) else float("nan"),
        ece=told["validation_ece"],
        brier=told["validation_brier"],
    )


def is_worse(now: Measured, then: Measured) -> bool:
    """Whether the candidate lowers neither error rate and raises one."""
    change = (now.bad_passed - then.bad_passed, now.good_stopped - then.good_stopped)
    return min(change) >= 0.0 and max(change) > 0.0


def _means(pairs: Sequence[tuple[Measured, Measured]]) -> list[str]:
    names = ("bad_passed", "good_stopped", "auroc", "ece", "brier")
    means = [
        [np.nanmean([getattr(one[at], name) for one in pairs]) for at in (0, 1)] for name in names
    ]
    return [f"{then:.3f} → {now:.3f}" for then, now in means]
