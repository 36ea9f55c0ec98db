"""How well a score tells good claims from bad ones, whatever the threshold (V.1).

Both error rates are given where the other is held fixed, so that systems with other thresholds,
shared words alone and blocking everything stand in one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.bootstrap import SEED
from core.evaluation.packets import PacketRow

RATES = (0.05, 0.1, 0.2)
RESAMPLES = 500

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


def auroc(score: Array, bad: Flags) -> float | None:
    """The chance that a good claim scores above a bad one, ties half; None without both kinds."""
    good, poor = np.sort(score[~bad]), score[bad]
    if not len(good) or not len(poor):
        return None
    below = np.searchsorted(good, poor, side="left")
    within = np.searchsorted(good, poor, side="right")
    above = len(good) - within + 0.5 * (within - below)
    return float(above.sum() / (len(good) * len(poor)))


def bad_passed_at(score: Array, bad: Flags, good_blocked: float) -> float | None:
    """The lowest share of bad claims that pass with at most this share of good ones blocked."""
    good, poor = np.sort(score[~bad]), score[bad]
    if not len(good) or not len(poor):
        return None
    # Claims below the threshold are blocked; equal scores stand and fall together.
    threshold = good[min(int(good_blocked * len(good)), len(good) - 1)]
    return float((poor >= threshold).mean())


def good_blocked_at(score: Array, bad: Flags, bad_passed: float) -> float | None:
    """The lowest share of good claims that is blocked with at most this share of bad ones passed."""
    good, poor = score[~bad], np.sort(score[bad])[::-1]
    if not len(good) or not len(poor):
        return None
    highest_bad_kept_out = poor[min(int(bad_passed * len(poor)), len(poor) - 1)]
    return float((good <= highest_bad_kept_out).mean())


def auroc_interval(score: Array, bad: Flags, trace: Sequence[str]) -> list[float] | None:
    """The middle 95 % over resampled traces; None where no resample has both kinds."""
    names = sorted(set(trace))
    places = {name: np.array([t == name for t in trace]).nonzero()[0] for name in names}
    draw = np.random.default_rng(SEED)
    found = []
    for _ in range(RESAMPLES):
        chosen = np.concatenate(
            [places[names[i]] for i in draw.integers(0, len(names), len(names))]
        )
        value = auroc(score[chosen], bad[chosen])
        if value is not None:
            found.append(value)
    measured = auroc(score, bad)
    if not found or measured is None:
        return None
    low, high = np.quantile(found, [0.025, 0.975])
    return [round(min(float(low), measured), 4), round(max(float(high), measured), 4)]


def ranking_entry(score: Array, bad: Flags, trace: Sequence[str]) -> dict[str, object]:
    """One system's line: AUROC with its interval, and each error rate at the other's fixed ones."""
    return {
        "auroc": _rounded(auroc(score, bad)),
        "auroc_ci95": auroc_interval(score, bad, trace),
        **{
            f"bad_passed_at_good_blocked_{rate:g}": _rounded(bad_passed_at(score, bad, rate))
            for rate in RATES
        },
        **{
            f"good_blocked_at_bad_passed_{rate:g}": _rounded(good_blocked_at(score, bad, rate))
            for rate in RATES
        },
    }


def ranking_report(
    rows: Sequence[PacketRow], scores: Mapping[str, Array], told: str | None = None
) -> dict[str, object]:
    """Every system on the same rows; for ``told`` (the first) also by how and by kind of error.

    ``by_how`` has the good claims blocked by how they are supported, ``by_error`` the bad ones that
    pass by their label, both at the threshold where one bad claim in ten passes.
    """
    bad = np.array([row.should_block for row in rows])
    trace = [row.trace_id for row in rows]
    first = told or next(iter(scores))
    score = scores[first]
    poor = np.sort(score[bad])[::-1]
    blocked = score <= poor[min(int(0.1 * len(poor)), len(poor) - 1)] if len(poor) else bad
    how = [str(row.extra.get("how") or "not said") for row in rows]
    kind = [_error_kind(row) for row in rows]
    return {
        "claims": len(rows),
        "claims_to_block": int(bad.sum()),
        "traces": len(set(trace)),
        "systems": {name: ranking_entry(one, bad, trace) for name, one in scores.items()},
        "by_how": _shares(how, blocked, ~bad, "good_blocked"),
        "by_error": _shares(kind, ~blocked, bad, "bad_passed"),
    }


def ranking_table(name: str, report: Mapping[str, object]) -> list[str]:
    """The report as lines of a Markdown table that people read."""
    lines = [
        "",
        f"{name}: {report['claims']} claims, {report['claims_to_block']} to block, "
        f"{report['traces']} traces",
        "",
        "| system | AUROC (95 % interval) | bad passed at good blocked 5/10/20 % "
        "| good blocked at bad passed 5/10/20 % |",
        "|---|---|---|---|",
    ]
    systems = report["systems"]
    assert isinstance(systems, Mapping)
    for system, entry in systems.items():
        ends = entry["auroc_ci95"]
        interval = f" ({ends[0]:.2f}–{ends[1]:.2f})" if ends else ""
        sides = [
            " / ".join(_percent(entry[f"{side}_{rate:g}"]) for rate in RATES)
            for side in ("bad_passed_at_good_blocked", "good_blocked_at_bad_passed")
        ]
        value = "–" if entry["auroc"] is None else f"{entry['auroc']:.3f}"
        lines.append(f"| {system} | {value}{interval} | {sides[0]} | {sides[1]} |")
    for part, words in (("by_how", "good blocked"), ("by_error", "bad passed")):
        shares = report[part]
        assert isinstance(shares, Mapping)
        told = ", ".join(
            f"{kind} {_percent(one['share'])} of {one['claims']}" for kind, one in shares.items()
        )
        lines += ["", f"At 10 % of the bad passed, {words}: {told}."]
    return lines


def _error_kind(row: PacketRow) -> str:
    if row.label is not None and row.label.value != "supported":
        return row.label.value
    return "conflation" if row.should_block else "none"


def _shares(
    kinds: Sequence[str], counted: Flags, among: Flags, name: str
) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for kind in sorted({kind for kind, inside in zip(kinds, among, strict=True) if inside}):
        inside = among & np.array([one == kind for one in kinds])
        found[kind] = {
            "claims": int(inside.sum()),
            "share": _rounded(float(counted[inside].mean())),
        }
    return found


def _percent(value: object) -> str:
    return f"{100 * value:.0f} %" if isinstance(value, float) else "–"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
