"""What a site's labels are worth: refits on n of its labels, measured on its other answers.

    python -m bench sites PACKET=PREDICTIONS... [--labels 13 50 100 200 400] [--draws 10]
    python -m bench sites shipped:0-39 shipped:40-71 ...

PREDICTIONS is what ``evaluate PACKET --keep PREDICTIONS`` kept. A packet is taken for a site; so are traces
of the shipped rows, by their numbers, and what ships is then fitted anew without them. In each draw half of
its answers are held out; from the other half whole answers are labelled, in random order, until there are n
labels, three tenths of them for the threshold. Promoted is a candidate that these labels show to be better;
worse is one that lowers neither error rate on the held-out claims and raises one. Packets that the shipped
rows are from say nothing here by their predictions.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.report import Report
from core.calibration.fit import fit_calibrator, probability_metrics, settings_of
from core.calibration.gain import gain_of, is_worse, passes
from core.calibration.rows import KeptRows, TrainingRow, read_training_rows
from core.errors import InputError
from core.evaluation.packets import read_packet
from core.evaluation.predictions import prediction_from_json
from core.models.forest import Forest, load_forest
from core.workflows.recalibrate import training_rows
from core.workflows.retraining import fit_site, moves_only_calibration

from bench.verdicts import read_lines  # isort: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A calibrator on held-out claims: shares of bad ones passed and good ones stopped, and the rest."""

    bad_passed: float
    good_stopped: float
    auroc: float
    ece: float
    brier: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """What ships and the candidate of one draw, and whether its labels show the candidate better."""

    then: Measured
    now: Measured
    promoted: bool


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("sites", nargs="+", metavar="PACKET=PREDICTIONS")
    parser.add_argument("--labels", type=int, nargs="+", default=[13, 50, 100, 200, 400])
    parser.add_argument("--draws", type=int, default=10)


def run(options: argparse.Namespace) -> Report:
    """One line a packet and number of labels: what ships, the candidate, and how often it is worse."""
    report, lines = Report(), []
    all_draws: list[Draw] = []
    for site in options.sites:
        rows, shipped, current = site_of(site)
        for labels in options.labels:
            pairs = [
                found
                for draw in range(options.draws)
                if (found := try_once(rows, labels, draw, shipped, current)) is not None
            ]
            if not pairs:
                continue
            all_draws += pairs
            name = Path(site.partition("=")[0]).name.partition(".")[0]
            promoted = [one for one in pairs if one.promoted]
            lines.append(
                (name, labels, len(pairs), _worse(pairs), len(promoted), _worse(promoted),
                 *_means(pairs), _means(promoted)[0] if promoted else "–",
                 _means(promoted)[1] if promoted else "–")
            )  # fmt: skip
    report.table(
        "Refits on a site's labels, held-out answers (what ships → candidate, means over draws)",
        (
            "site",
            "labels",
            "draws",
            "worse",
            "promoted",
            "of them worse",
            "bad passed",
            "good stopped",
            "AUROC",
            "ECE",
            "Brier",
            "bad passed, promoted",
            "good stopped, promoted",
        ),
        lines,
    )
    promoted = [one for one in all_draws if one.promoted]
    report.notes.append(
        f"Worse in {_worse(all_draws)} of {len(all_draws)} draws; promoted in {len(promoted)}, of which "
        f"{_worse(promoted)} worse."
    )
    return report


def site_of(site: str) -> tuple[list[TrainingRow], KeptRows, Forest]:
    """A site's labelled rows, and what ships there: rows and forest."""
    shipped = read_training_rows()
    packet, _, kept = site.partition("=")
    if kept:
        return labelled_rows(Path(packet), Path(kept)), shipped, load_forest()
    first, _, last = packet.removeprefix("shipped:").partition("-")
    names = {f"shipped-trace-{number}" for number in range(int(first), int(last) + 1)}
    rest = KeptRows(
        train=tuple(row for row in shipped.train if row.trace_id not in names),
        validation=shipped.validation,
    )
    settings = settings_of(load_forest().card)
    fitted = fit_calibrator(rest.train, rest.validation, settings=settings)
    return [row for row in shipped.train if row.trace_id in names], rest, fitted.forest()


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
) -> Draw | None:
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
    judged = kept.validation
    if moves_only_calibration(kept):
        judged = (*kept.train, *kept.validation)
    return Draw(
        then=measured(held_out, current),
        now=measured(held_out, candidate),
        promoted=gain_of(judged, candidate, current).shown,
    )


def measured(rows: Sequence[TrainingRow], forest: Forest) -> Measured:
    """Both error rates at the forest's threshold, ranking and calibration."""
    chance = forest.probabilities([row.features for row in rows])
    bad = np.array([row.should_block for row in rows])
    passed = passes(rows, forest)
    told = probability_metrics(chance, np.array([row.supported_by_route for row in rows]))
    return Measured(
        bad_passed=float(passed[bad].mean()) if bad.any() else 0.0,
        good_stopped=float((~passed)[~bad].mean()) if not bad.all() else 0.0,
        auroc=float(roc_auc_score(~bad, chance)) if 0 < bad.sum() < len(bad) else float("nan"),
        ece=told["validation_ece"],
        brier=told["validation_brier"],
    )


def _worse(draws: Sequence[Draw]) -> int:
    return sum(
        is_worse(
            (one.now.bad_passed, one.now.good_stopped),
            (one.then.bad_passed, one.then.good_stopped),
        )
        for one in draws
    )


def _means(draws: Sequence[Draw]) -> list[str]:
    names = ("bad_passed", "good_stopped", "auroc", "ece", "brier")
    means = [
        [np.nanmean([getattr(getattr(one, at), name) for one in draws]) for at in ("then", "now")]
        for name in names
    ]
    return [f"{then:.3f} → {now:.3f}" for then, now in means]
