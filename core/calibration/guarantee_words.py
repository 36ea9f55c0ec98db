"""Guaranteed operating points in words, as a table's rows and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.calibration.guarantee import GuaranteedPoint, OperatingPoints
from core.models.forest import BY_KIND

# What a bound does not cover, wherever bounds are shown.
COVERS = (
    "A bound holds for claims like these that the calibrator was not fitted on; each on its own, "
    "not all of them at once. The gate has one threshold, and every claim passes by itself, unless "
    "`verify --threshold-by-kind`, `--whole-answers` or a policy asks for more."
)
HEADER = ("Kind of source", "Threshold", "Upper bound", "Bad labels", "Good blocked", "Note")


# What a card calls a source that is of none of the kinds.
_CALLED = {"other": "a source of no known kind"}


def kinds_words(card: Mapping[str, object], *, threshold: float) -> str:
    """What decides unless more is asked for, then the thresholds by kind of source of a calibrator."""
    decides = f"In force: one threshold, {threshold:.2f}, for every claim by itself."
    kinds = card.get(BY_KIND)
    if not isinstance(kinds, Mapping) or not kinds:
        return (
            f"{decides} The calibrator in force has no threshold of a kind of source: too few labels "
            "of each."
        )
    told = [
        f"{_CALLED.get(name, name.replace('_', ' '))} {one['threshold']:.2f} ({one['bad_labels']} bad "
        f"claims of {one['bad_answers']} answers, upper bound {100 * one['upper_bound']:.1f} %)"
        for name, one in kinds.items()
    ]
    risk = next(iter(kinds.values()))["risk"]
    return (
        f"{decides} Only where it is asked for (verify --threshold-by-kind, a policy), these kinds of "
        f"source have their own, at which at most {100 * risk:g} % of the bad claims pass: "
        f"{'; '.join(told)}. Every other kind keeps {threshold:.2f}. They rest on the labels that the "
        "calibrator was fitted with, not on those shown here."
    )


def point_words(point: GuaranteedPoint) -> str:
    """The point in one sentence, with what it rests on; or plainly that the labels are too few."""
    rests = f"{point.bad:,} bad claims of {point.bad_traces:,} answers"
    limit = f"at most {100 * point.risk:g} % of the bad claims pass"
    if point.threshold is not None and point.upper is not None:
        return (
            f"From {point.threshold:.2f}: {limit}, with {100 * point.confidence:g} % confidence "
            f"(upper bound {100 * point.upper:.1f} %). It rests on {rests}."
        )
    if not point.enough:
        return (
            f"Too few labels: {rests}; at least {point.needed} bad ones are needed to show that "
            f"{limit}."
        )
    return f"No threshold can be shown to keep this limit ({limit}); tried on {rests}."


def points_report(points: OperatingPoints) -> dict[str, object]:
    """The points as JSON: pooled, each family's own, and what decides for each family."""
    return {
        "risk": points.pooled.risk,
        "confidence": points.pooled.confidence,
        "pooled": _entry(points.pooled),
        "families": {
            name: {**_entry(point), "uses": "its own" if points.of(name)[1] else "the pooled one"}
            for name, point in points.families.items()
        },
    }


def points_table(points: OperatingPoints) -> list[Sequence[str]]:
    """A row a kind of source, the pooled one first: threshold, bound, labels, and in words."""
    rows: list[Sequence[str]] = [("all sources", *_cells(points.pooled, own=True))]
    for name, point in points.families.items():
        rows.append((name.replace("_", " "), *_cells(point, own=points.of(name)[1])))
    return rows


def guarantee_lines(points: OperatingPoints) -> list[str]:
    """The points as lines of a Markdown table that people read."""
    pooled = points.pooled
    return [
        "",
        f"Thresholds that keep the bad-pass rate at most {100 * pooled.risk:g} %, each with "
        f"{100 * pooled.confidence:g} % confidence:",
        "",
        f"| {' | '.join(name.lower() for name in HEADER)} |",
        "|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in points_table(points)),
        "",
        COVERS,
    ]


def _cells(point: GuaranteedPoint, *, own: bool) -> tuple[str, ...]:
    threshold = "–" if point.threshold is None else f"{point.threshold:.2f}"
    upper = "–" if point.upper is None else f"{100 * point.upper:.1f} %"
    good = point.labels - point.bad
    lost = f"{100 * point.good_blocked / good:.0f} % of {good:,}" if good else "–"
    if point.threshold is None:
        lost = "–"
    words = "" if own and point.threshold is not None else "uses that of all sources"
    if not point.enough:
        words = f"too few labels: {point.needed} bad ones needed" + (f"; {words}" if words else "")
    elif point.threshold is None:
        words = "no threshold can be shown to keep this limit" + ("" if own else f"; {words}")
    return threshold, upper, f"{point.bad:,} in {point.bad_traces:,} answers", lost, words


def _entry(point: GuaranteedPoint) -> dict[str, object]:
    return {
        "threshold": point.threshold,
        "upper_bound": None if point.upper is None else round(point.upper, 4),
        "labels": point.labels,
        "bad_labels": point.bad,
        "bad_traces": point.bad_traces,
        "bad_labels_needed": point.needed,
        "bad_passed": point.bad_passed,
        "good_blocked": point.good_blocked,
        "words": point_words(point),
    }
