"""How well a score tells good claims from bad ones, whatever the threshold (V.1).

Both error rates are given where the other is held fixed, so that systems with other thresholds,
shared words alone and blocking everything stand in one table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.bootstrap import SEED
from core.evaluation.packets import PacketRow
from core.evaluation.ranking_kinds import (
    auroc_words,
    by_kind,
    error_kind,
    finer_kind,
    how_supported,
    kind_table,
)
from core.evaluation.ranking_scores import (
    RESAMPLES,
    Array,
    Flags,
    auroc,
    auroc_interval,
    bad_found_in_first,
    bad_passed_at,
    good_blocked_at,
    reading_entry,
    rounded,
    share_words,
)

RATES = (0.05, 0.1, 0.2)
READ_FIRST = 0.2  # of the claims, the least supported ones
AT_BAD_PASSED = 0.1  # where the kinds are compared
KIND_PARTS = (
    ("by_how", "good, by how they are supported", "blocked at 10 % of the bad passed"),
    ("by_error", "bad, by label", "passed at 10 % of the bad passed"),
    ("by_kind", "bad, by kind of error", "passed at 10 % of the bad passed"),
)


def ranking_entry(
    score: Array, bad: Flags, trace: Sequence[str], order: Array, *, resamples: int, seed: int
) -> dict[str, object]:
    """One system's line: AUROC with its interval, each error rate at the other's fixed ones, and what
    is found by reading in an ``order``, the lowest first."""
    return {
        "auroc": rounded(auroc(score, bad)),
        "auroc_ci95": auroc_interval(score, bad, trace, resamples=resamples, seed=seed),
        f"bad_found_in_first_{READ_FIRST:g}": rounded(bad_found_in_first(order, bad, READ_FIRST)),
        "reading": reading_entry(order, bad),
        **{
            f"bad_passed_at_good_blocked_{rate:g}": rounded(bad_passed_at(score, bad, rate))
            for rate in RATES
        },
        **{
            f"good_blocked_at_bad_passed_{rate:g}": rounded(good_blocked_at(score, bad, rate))
            for rate in RATES
        },
    }


def ranking_report(
    rows: Sequence[PacketRow],
    scores: Mapping[str, Array],
    told: str | None = None,
    *,
    order: Array | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, object]:
    """Every system on the same rows; for ``told`` (the first) also by how and by kind of error.

    The interval of a whole system is over ``resamples`` draws of traces. ``order`` is that in which
    people read what ``told`` stopped, by default its scores.

    ``by_how`` has the good claims blocked by how they are supported, ``by_error`` the bad ones that
    pass by their label, both at the threshold where one bad claim in ten passes.
    """
    bad = np.array([row.should_block for row in rows])
    trace = [row.trace_id for row in rows]
    first = told or next(iter(scores))
    score = scores[first]
    poor = np.sort(score[bad])[::-1]
    blocked = (
        score <= poor[min(int(AT_BAD_PASSED * len(poor)), len(poor) - 1)] if len(poor) else bad
    )
    kinds = [finer_kind(row) for row in rows]
    labels = [error_kind(row) for row in rows]
    report: dict[str, object] = {
        "claims": len(rows),
        "claims_to_block": int(bad.sum()),
        "traces": len(set(trace)),
        "systems": {
            name: ranking_entry(
                one,
                bad,
                trace,
                order if order is not None and name == first else one,
                resamples=resamples,
                seed=seed,
            )
            for name, one in scores.items()
        },
        "by_how": by_kind(
            [how_supported(row) for row in rows], bad, trace, scores, blocked, of_bad=False
        ),
        "by_error": by_kind(labels, bad, trace, scores, ~blocked, of_bad=True),
    }
    if kinds != labels:
        report["by_kind"] = by_kind(kinds, bad, trace, scores, ~blocked, of_bad=True)
    return report


def ranking_table(name: str, report: Mapping[str, object]) -> list[str]:
    """The report as lines of a Markdown table that people read."""
    lines = [
        "",
        f"{name}: {report['claims']} claims, {report['claims_to_block']} to block, "
        f"{report['traces']} traces",
        "",
        "| system | AUROC (95 % interval) | bad passed at good stopped 5/10/20 % "
        "| good stopped at bad passed 5/10/20 % |",
        "|---|---|---|---|",
    ]
    systems = report["systems"]
    assert isinstance(systems, Mapping)
    for system, entry in systems.items():
        sides = [
            " / ".join(share_words(entry[f"{side}_{rate:g}"]) for rate in RATES)
            for side in ("bad_passed_at_good_blocked", "good_blocked_at_bad_passed")
        ]
        lines.append(f"| {system} | {auroc_words(entry)} | {sides[0]} | {sides[1]} |")
    for part, title, wrong in KIND_PARTS:
        kinds = report.get(part)
        if isinstance(kinds, Mapping):
            lines += kind_table(title, wrong, kinds)
    return lines
