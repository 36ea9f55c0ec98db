"""How soon the review queue's order finds the errors of labelled packets.

    python -m bench reading_order PACKET=PREDICTIONS...

PREDICTIONS is what ``evaluate PACKET --keep PREDICTIONS`` kept. One person reads everything, no claim is
drawn for the audit; beside it the claims as the gate ranks them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.report import Report
from bench.verdicts import read_lines
from core.evaluation.packets import read_packet
from core.evaluation.predictions import Prediction, prediction_from_json
from core.evaluation.ranking_scores import bad_found_in_first
from core.review.sampling import DOUBTFUL

SHARES = (0.05, 0.1, 0.2, 0.4)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("packets", nargs="+", metavar="PACKET=PREDICTIONS")


def run(options: argparse.Namespace) -> Report:
    """One line a packet and order: the share of the errors in the first part of the claims."""
    lines: list[Sequence[str | int]] = []
    for given in options.packets:
        packet, _, kept = given.partition("=")
        found = {
            one.claim_id: one
            for one in (prediction_from_json(row["prediction"]) for row in read_lines(Path(kept)))
        }
        rows = [row for row in read_packet(Path(packet)).rows if row.claim_id in found]
        said = [found[row.claim_id] for row in rows]
        bad = np.array([row.should_block for row in rows])
        orders = {
            "queue": turns(said, [row.trace_id for row in rows]),
            "support": np.array([one.ranked_by for one in said]),
        }
        for name, score in orders.items():
            shares = [bad_found_in_first(score, bad, share) or 0.0 for share in SHARES]
            told = [f"{share:.0%}" for share in shares]
            lines.append(
                (Path(packet).name.partition(".")[0], len(rows), int(bad.sum()), name, *told)
            )
    columns = ("packet", "claims", "errors", "order", *(f"first {share:.0%}" for share in SHARES))
    return Report().table("Errors found by who reads the first part of the claims", columns, lines)


def turns(said: Sequence[Prediction], traces: Sequence[str]) -> NDArray[np.float64]:
    """At which turn each claim is read: by rank, what is doubtful in the answer in hand before the rest."""
    ranks = [one.read_at for one in said]
    left = sorted(range(len(said)), key=ranks.__getitem__)
    turn = np.zeros(len(said))
    in_hand = ""
    for at in range(len(said)):
        beside = [one for one in left if traces[one] == in_hand and ranks[one] <= DOUBTFUL]
        now = min(beside, default=left[0])
        left.remove(now)
        turn[now], in_hand = at, traces[now]
    return turn
