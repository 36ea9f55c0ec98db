"""A candidate calibrator beside the active one, on the same held-out claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import trace_numbers
from core.calibration.rows import KeptRows, TrainingRow
from core.calibration.threshold import GRID
from core.evaluation.threshold_view import (
    ThresholdView,
    bands_of,
    costs_at,
    view_claims,
)
from core.ports import Calibrator
from core.records import Features, JsonObject
from core.statistics import exact_binomial_interval
from core.workflows.reviewed_material import LabelledRow, Material, Side

if TYPE_CHECKING:
    pass


FLIPS_NAMED = 2_000


def compare(
    material: Material, shipped: KeptRows | None, candidate: Calibrator, current: Calibrator
) -> JsonObject:
    """Both calibrators on the same claims: error curves, both rates at each own threshold, flips.

    On every side that has claims: validation, held out, and the shipped validation rows where they
    were used. Intervals are of the trace bootstrap, and exact ones where no or every claim is an
    error. A claim that something else than the
    probability blocks stays blocked under both.
    """
    sides: dict[str, JsonObject] = {}
    flips: list[JsonObject] = []
    for side, rows in (
        (Side.VALIDATION, material.validation),
        (Side.HELD_OUT, material.held_out),
    ):
        plain = [one.row for one in rows]
        sides[side.value] = _side(plain, candidate, current)
        flips += _flips(side, rows, candidate, current)
    if shipped is not None and shipped.validation:
        sides[Side.SHIPPED.value] = _side(shipped.validation, candidate, current)
    return {
        "current": {"name": current.name, "threshold": current.threshold},
        "candidate": {"threshold": candidate.threshold},
        "sides": sides,
        "flips": sorted(flips, key=_harm)[:FLIPS_NAMED],
        "flips_in_all": len(flips),
    }


def _side(rows: Sequence[TrainingRow], candidate: Calibrator, current: Calibrator) -> JsonObject:
    return {
        "claims": len(rows),
        "traces": len({row.trace_id for row in rows}),
        "to_block": sum(row.should_block for row in rows),
        "to_pass": sum(not row.should_block for row in rows),
        "candidate": _measured(rows, candidate),
        "current": _measured(rows, current),
    }


def _measured(rows: Sequence[TrainingRow], calibrator: Calibrator) -> JsonObject | None:
    if not rows:
        return None
    view = _view(rows, calibrator)
    thresholds = (calibrator.threshold, *GRID)
    points: list[dict[str, object]] = [
        {
            "threshold": cost.threshold,
            "good_blocked": cost.good_blocked,
            "good": cost.good,
            "bad_passed": cost.bad_passed,
            "bad": cost.bad,
            "false_block_rate": _rounded(cost.false_block_rate),
            "false_block_ci95": band["false_block_rate"],
            "false_pass_rate": _rounded(cost.false_pass_rate),
            "false_pass_ci95": band["false_pass_rate"],
        }
        for cost, band in zip(
            costs_at(view, thresholds),
            bands_of(view, thresholds),
            strict=True,
        )
    ]
    return {"at": _with_exact_ends(points[0]), "curve": points[1:]}


def _with_exact_ends(point: dict[str, object]) -> dict[str, object]:
    """Where no claim or every claim is an error, resampling sees no spread: the exact interval does."""
    found = dict(point)
    for errors, among, name in (
        ("good_blocked", "good", "false_block_ci95"),
        ("bad_passed", "bad", "false_pass_ci95"),
    ):
        count, whole = cast(int, point[errors]), cast(int, point[among])
        if whole and count in (0, whole):
            ends = exact_binomial_interval(count, whole)
            found[name] = None if ends is None else [round(end, 6) for end in ends]
    return found


def _view(rows: Sequence[TrainingRow], calibrator: Calibrator) -> ThresholdView:
    return view_claims(
        _probabilities([row.features for row in rows], calibrator),
        np.array([row.should_block for row in rows], dtype=np.bool_),
        np.array([row.forced for row in rows], dtype=np.bool_),
        trace_numbers([row.trace_id for row in rows]),
    )


def _flips(
    side: Side, rows: Sequence[LabelledRow], candidate: Calibrator, current: Calibrator
) -> list[JsonObject]:
    """The claims that the two decide differently."""
    features = [one.row.features for one in rows]
    now, then = _probabilities(features, candidate), _probabilities(features, current)
    found: list[JsonObject] = []
    for one, new, old in zip(rows, now.tolist(), then.tolist(), strict=True):
        blocks = [new < candidate.threshold, old < current.threshold]
        if one.row.forced or blocks[0] == blocks[1]:
            continue
        found.append(
            {
                "claim_id": one.claim.claim_id,
                "trace_id": one.claim.trace_id,
                "text": one.claim.text,
                "side": side.value,
                "should_block": one.row.should_block,
                "candidate_blocks": blocks[0],
                "candidate_probability": new,
                "current_probability": old,
            }
        )
    return found


def _harm(flip: JsonObject) -> tuple[bool, bool]:
    """Bad claims that now pass come first, then good ones that are now blocked."""
    bad, blocks = flip["should_block"], flip["candidate_blocks"]
    return (not (bad and not blocks), not (blocks and not bad))


def _probabilities(rows: Sequence[Features], calibrator: Calibrator) -> NDArray[np.float64]:
    return calibrator.probabilities(rows) if rows else np.zeros(0)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
