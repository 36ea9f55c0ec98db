"""The threshold view: both error rates with bands, a slider under them, and the claims that flip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.calibration.threshold import GRID
from core.evaluation.outcomes import Workload
from core.evaluation.sweep import Band
from core.evaluation.threshold_view import Cost, Flips, ThresholdView, costs_at
from pages.widgets.evaluated import Opened
from pages.widgets.figures import Cell, percent, rate_interval
from pages.widgets.flips import Flip
from pages.widgets.frontend import nothing, view

_THRESHOLDS = view("thresholds")

FLIPS_SHOWN = 50
PASSED, STOPPED = "bad claims passed", "good claims stopped"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """Both error rates at every threshold with their bands, of one set of predictions.

    ``at`` is the threshold that the set is in use with.
    """

    name: str
    costs: tuple[Cost, ...]
    bands: tuple[Band, ...]
    at: float


def grid_with(*more: float) -> tuple[float, ...]:
    """The thresholds that can be chosen: the sweep's, and those in use."""
    return tuple(sorted({*GRID, *more}))


def nearest(thresholds: Sequence[float], wanted: float) -> int:
    """The place of the threshold nearest to ``wanted``; the lower one of two equally near."""
    return min(range(len(thresholds)), key=lambda at: (abs(thresholds[at] - wanted), at))


def curve_of(
    name: str, view: ThresholdView, bands: tuple[Band, ...], thresholds: Sequence[float], at: float
) -> Curve:
    """The curve of one view of claims."""
    return Curve(name=name, costs=costs_at(view, thresholds), bands=bands, at=at)


def show_thresholds(data: Mapping[str, object], *, key: str) -> int | None:
    """Show the view; the place of the threshold that the slider just came to rest on, if any."""
    moved: object = _THRESHOLDS(key=key, data=data, on_moved_change=nothing).moved
    return int(moved) if isinstance(moved, int | float) else None


def lay_out_thresholds(
    curve: Curve,
    view: ThresholdView,
    thresholds: Sequence[float],
    workload: Workload,
    *,
    chosen: int,
    generation: int,
    kept: str,
    overlay: Curve | None = None,
) -> dict[str, object]:
    """Everything that the slider can show, counted beforehand; ``generation`` moves the slider.

    ``kept`` says what the threshold in use is shown to keep.
    """
    current = nearest(thresholds, curve.at)
    good, bad = curve.costs[0].good, curve.costs[0].bad
    series = [
        _series(curve, f"{PASSED} (n = {bad:,}), band: 95 %", "pass", other=False),
        _series(curve, f"{STOPPED} (n = {good:,}), band: 95 %", "block", other=False),
    ]
    if overlay is not None:
        series += [
            _series(overlay, f"{PASSED}, {overlay.name}", "pass", other=True),
            _series(overlay, f"{STOPPED}, {overlay.name}", "block", other=True),
        ]
    return {
        "generation": generation,
        "chosen": chosen,
        "current": current,
        "thresholds": list(thresholds),
        "words": [f"{threshold:g}" for threshold in thresholds],
        "place": [_place(at, current) for at in range(len(thresholds))],
        "title": f"What each threshold costs, n = {len(view):,} labelled claims",
        "alt": "Share of bad claims passed and of good claims stopped at every threshold",
        "series": series,
        "figures": _figures(curve, workload, overlay),
        "note": kept,
        "basis": _basis(view),
    }


def _series(curve: Curve, name: str, kind: str, *, other: bool) -> dict[str, object]:
    rate = "false_pass_rate" if kind == "pass" else "false_block_rate"
    ends = [None if other else band[rate] for band in curve.bands]
    return {
        "name": name,
        "kind": kind,
        "other": other,
        "values": [_percent(getattr(cost, rate)) for cost in curve.costs],
        "low": [_percent(pair[0]) if pair else None for pair in ends],
        "high": [_percent(pair[1]) if pair else None for pair in ends],
    }


def _figures(curve: Curve, workload: Workload, overlay: Curve | None) -> list[dict[str, object]]:
    reviews = [_reviews(cost, workload) for cost in curve.costs]
    hours = [each * workload.minutes_a_claim / 60 for each in reviews]
    other = _at_its_own(overlay)
    return [
        {
            "id": "false_block",
            "kind": "block",
            "name": "Good claims stopped",
            "values": [percent(cost.false_block_rate) for cost in curve.costs],
            "more": [
                _counted(cost.good_blocked, cost.good, band["false_block_rate"])
                for cost, band in zip(curve.costs, curve.bands, strict=True)
            ],
            "other": other and f"{percent(other.false_block_rate)} {_where(overlay)}",
        },
        {
            "id": "false_pass",
            "kind": "pass",
            "name": "Bad claims passed",
            "values": [percent(cost.false_pass_rate) for cost in curve.costs],
            "more": [
                _counted(cost.bad_passed, cost.bad, band["false_pass_rate"])
                for cost, band in zip(curve.costs, curve.bands, strict=True)
            ],
            "other": other and f"{percent(other.false_pass_rate)} {_where(overlay)}",
        },
        _answers(
            curve,
            other,
            overlay,
            "answers_held",
            "block",
            "Good answers stopped",
            lambda cost: (cost.good_answers_held, cost.good_answers),
        ),  # fmt: skip
        _answers(
            curve,
            other,
            overlay,
            "answers_passed",
            "pass",
            "Bad answers passed",
            lambda cost: (cost.bad_answers_passed, cost.bad_answers),
        ),  # fmt: skip
        {
            "id": "reviews",
            "kind": None,
            "name": "Claims to review a day",
            "values": [f"{each:,.0f}" for each in reviews],
            "more": [
                f"{percent(cost.blocked_share)} of {workload.claims_a_day:,} claims"
                for cost in curve.costs
            ],
            "other": other and f"{_reviews(other, workload):,.0f} {_where(overlay)}",
        },
        {
            "id": "hours",
            "kind": None,
            "name": "Reviewer hours a day",
            "values": [f"{each:,.1f} h" for each in hours],
            "more": [f"at {workload.minutes_a_claim:g} minutes a claim"] * len(hours),
            "other": other
            and f"{_reviews(other, workload) * workload.minutes_a_claim / 60:,.1f} h "
            f"{_where(overlay)}",
        },
    ]


def _at_its_own(overlay: Curve | None) -> Cost | None:
    """The other set's cost at the threshold that it is in use with."""
    if overlay is None:
        return None
    thresholds = [cost.threshold for cost in overlay.costs]
    return overlay.costs[nearest(thresholds, overlay.at)]


def _where(overlay: Curve | None) -> str:
    if overlay is None:
        return ""
    at = f" at {overlay.at:g}"  # a run's name says so already
    return f"with {overlay.name.removesuffix(at)}{at}"


def _reviews(cost: Cost, workload: Workload) -> float:
    return (cost.blocked_share or 0.0) * workload.claims_a_day


def _counted(part: int, whole: int, ends: list[float] | None) -> str:
    if not whole:
        return "there is none in this packet"
    return f"{part:,} of {whole:,}; {rate_interval(part, whole, ends)}"


def _answers(
    curve: Curve,
    other: Cost | None,
    overlay: Curve | None,
    name: str,
    kind: str,
    title: str,
    counted: Callable[[Cost], tuple[int, int]],
) -> dict[str, object]:
    """A figure of whole answers; ``counted`` has how many of how many."""

    def share(cost: Cost) -> str:
        part, whole = counted(cost)
        return percent(part / whole if whole else None)

    counts = [counted(cost) for cost in curve.costs]
    return {
        "id": name,
        "kind": kind,
        "name": title,
        "values": [share(cost) for cost in curve.costs],
        "more": [
            f"{part:,} of {whole:,} whole answers" if whole else "there is none in this packet"
            for part, whole in counts
        ],
        "other": other and f"{share(other)} {_where(overlay)}",
    }


def _place(at: int, current: int) -> str:
    if at == current:
        return "the threshold in use"
    return "stricter than the one in use" if at > current else "more lenient than the one in use"


def _basis(view: ThresholdView) -> str:
    forced = view.forced
    words = "1 claim is" if forced == 1 else f"{forced:,} claims are"
    return (
        "Only the calibrator's threshold moves. "
        f"{words} stopped by another check (a missing value, another person's record, a "
        "contradiction, a wrong credit, too few grounded words, or not judged) and stay stopped "
        "at every threshold. Stopped: blocked or needs a person; one claim stops its answer. Bands: "
        "1,000 resamples of whole traces."
    )


def _percent(rate: float | None) -> float | None:
    return None if rate is None else round(100 * rate, 3)


def curve_table(curve: Curve) -> tuple[Sequence[str], list[Sequence[Cell]]]:
    """The curves as numbers: header and rows, a row a threshold."""
    header = (
        "Threshold", "Good stopped", "Good", "Good stopped, share", "95 % low", "95 % high",
        "Bad passed", "Bad", "Bad passed, share", "95 % low (pass)", "95 % high (pass)",
        "Good answers stopped", "Good answers", "Bad answers passed", "Bad answers",
    )  # fmt: skip
    rows: list[Sequence[Cell]] = []
    for cost, band in zip(curve.costs, curve.bands, strict=True):
        blocks, passes = band["false_block_rate"], band["false_pass_rate"]
        rows.append(
            (
                cost.threshold, cost.good_blocked, cost.good, _four(cost.false_block_rate),
                *(blocks or (None, None)), cost.bad_passed, cost.bad, _four(cost.false_pass_rate),
                *(passes or (None, None)), cost.good_answers_held, cost.good_answers,
                cost.bad_answers_passed, cost.bad_answers,
            )
        )  # fmt: skip
    return header, rows


def _four(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 4)


# ---------------------------------------------------------------- the claims that flip


def flip_words(flips: Flips, opened: Opened) -> str:
    """How many claims change, and how many of them for the better."""
    count = len(flips.claim)
    if not count:
        return "No claim flips: the decisions are those of the threshold in use."
    bad = sum(opened.rows[place].should_block for place in flips.claim)
    good = count - bad
    now = "stopped" if flips.now_blocked else "passed"
    verb = "flips" if count == 1 else "flip"
    noun = "claim" if count == 1 else "claims"
    return f"{count:,} {noun} {verb} to {now}: {bad:,} bad, {good:,} good. Newest flip first."


def shown_flips(flips: Flips, opened: Opened, link: Mapping[str, str]) -> list[Flip]:
    """The first of the claims that flip; ``link`` names packet and run to the page of errors."""
    return [_flip(place, flips, opened, link) for place in flips.claim[:FLIPS_SHOWN].tolist()]


def flip_table(flips: Flips, opened: Opened) -> tuple[Sequence[str], list[Sequence[Cell]]]:
    """Every claim that flips: header and rows, newest flip first."""
    rows: list[Sequence[Cell]] = []
    for place in flips.claim.tolist():
        row, found = opened.rows[place], opened.predictions[place]
        kind = "bad" if row.should_block else "good"
        now = "stopped" if flips.now_blocked else "passed"
        rows.append((kind, now, row.claim, found.probability, row.trace_id, row.claim_id))
    return ("Claim is", "Now", "Claim", "Support", "Trace", "Claim id"), rows


def _flip(place: int, flips: Flips, opened: Opened, link: Mapping[str, str]) -> Flip:
    row, found = opened.rows[place], opened.predictions[place]
    return Flip(
        claim_id=row.claim_id,
        trace_id=row.trace_id,
        text=row.claim,
        support="" if found.probability is None else f"{found.probability:.4f}",
        should_block=row.should_block,
        now_blocked=flips.now_blocked,
        query={**link, "claim": row.claim_id},
    )
