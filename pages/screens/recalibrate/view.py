"""What the recalibrate page shows of labels, splits, candidates and their lineage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

import plotly.graph_objects as go

from core.calibration.gain import Gain
from core.calibration.rows import KeptRows
from core.records import JsonObject
from core.review.calibrators import Standing, StoredCalibrator
from core.review.records import SPLIT_WORDS, STATUS_WORDS, Split
from core.workflows.retraining import LabelledRow, Material, Need, Side
from pages.widgets.counting import counted
from pages.widgets.days import when
from pages.widgets.evaluated import calibrator_words
from pages.widgets.figures import Cell, between, percent
from pages.widgets.flips import Flip
from pages.widgets.frontend import view
from pages.widgets.palette import DECISIONS
from pages.widgets.plots import BLUE, GREEN, ORANGE

_CHAIN = view("chain")

FLIPS_SHOWN = 100
SIDE_WORDS = {
    Side.HELD_OUT: "Held-out traces",
    Side.VALIDATION: "Validation traces",
    Side.SHIPPED: "Shipped validation rows",
}
SPLIT_MEANING = {
    Split.TRAIN: "Training: grows the forest",
    Split.VALIDATION: "Validation: chooses the threshold",
    Split.HELD_OUT: "Held out: only ever measured on",
}
STANDING_WORDS = {
    Standing.WAITING: "waits for a decision",
    Standing.ACTIVE: "active",
    Standing.EARLIER: "was active",
    Standing.REJECTED: "rejected",
}
Table = tuple[Sequence[str], list[Sequence[Cell]]]


# ---------------------------------------------------------------- labels and split


def label_facts(material: Material) -> list[tuple[str, str]]:
    """How many labels there are, how they came about, and under which guideline."""
    rows = material.rows
    status = Counter(one.claim.resolution.status for one in rows)
    versions = Counter(
        annotation.guideline_version for one in rows for annotation in one.claim.annotations
    )
    return [
        (
            "Settled claims",
            f"{len(rows):,} on {len({one.claim.trace_id for one in rows}):,} traces",
        ),
        (
            "How",
            ", ".join(f"{count:,} {STATUS_WORDS[how]}" for how, count in status.most_common())
            or "–",
        ),
        (
            "Guideline",
            ", ".join(
                f"version {version}: {n:,} annotations" for version, n in sorted(versions.items())
            )
            or "–",
        ),
        *[(f"{count:,} left out", reason) for reason, count in sorted(material.left_out.items())],
    ]


def split_table(material: Material) -> Table:
    """The three sides with their traces and kinds of claims."""
    sides = (
        (Split.TRAIN, material.train),
        (Split.VALIDATION, material.validation),
        (Split.HELD_OUT, material.held_out),
    )
    return (
        ("Side", "Traces", "Claims", "To pass", "To block"),
        [_side(SPLIT_MEANING[split], rows) for split, rows in sides],
    )


def trace_table(material: Material) -> Table:
    """Each trace with its side."""
    found: dict[str, list[LabelledRow]] = {}
    for one in material.rows:
        found.setdefault(one.claim.trace_id, []).append(one)
    return (
        ("Trace", "Side", "Claims", "To pass", "To block"),
        [
            (
                trace_id,
                SPLIT_WORDS[rows[0].split],
                len(rows),
                sum(not one.row.should_block for one in rows),
                sum(one.row.should_block for one in rows),
            )
            for trace_id, rows in found.items()
        ],
    )


def _side(words: str, rows: Sequence[LabelledRow]) -> Sequence[Cell]:
    return (
        words,
        len({one.claim.trace_id for one in rows}),
        len(rows),
        sum(not one.row.should_block for one in rows),
        sum(one.row.should_block for one in rows),
    )


def need_words(missing: Sequence[Need]) -> str:
    """What is missing, one line each."""
    return "\n".join(f"• {need.words}" for need in missing)


def shipped_words(shipped: KeptRows | None) -> str:
    """What ticking the box adds."""
    if shipped is None:
        return "The rows that the shipped calibrator was fitted on are not in this installation."
    return (
        f"Add the rows that the shipped calibrator was fitted on: {len(shipped.train):,} to train, "
        f"{len(shipped.validation):,} to choose the threshold."
    )


# ---------------------------------------------------------------- candidates


def candidate_words(kept: StoredCalibrator) -> str:
    """A candidate in a list."""
    return f"{calibrator_words(kept.name)} · {when(kept.at)} · {STANDING_WORDS[kept.standing]}"


Both = Mapping[str, Any]  # one side of a comparison: claims, and what "current" and "candidate" do


def sides_of(comparison: JsonObject) -> dict[Side, Both]:
    """The sides that have claims, the most telling first."""
    sides = cast("Mapping[str, Both]", comparison.get("sides", {}))
    return {
        side: sides[side.value] for side in SIDE_WORDS if sides.get(side.value, {}).get("claims")
    }


def comparison_table(comparison: JsonObject) -> Table:
    """Both calibrators on every side, each at its own threshold: rates, intervals and counts."""
    header = ("Measured on", "Claims", "Calibrator", "Threshold", "Good claims stopped",
              "Bad claims passed")  # fmt: skip
    return header, [
        (
            SIDE_WORDS[side], both["claims"], words, f"{at['threshold']:g}",
            _rate(at["false_block_rate"], at["false_block_ci95"]),
            _rate(at["false_pass_rate"], at["false_pass_ci95"]),
        )
        for side, both in sides_of(comparison).items()
        for words, at in (("Active", both["current"]["at"]), ("Candidate", both["candidate"]["at"]))
    ]  # fmt: skip


def rate_words(comparison: JsonObject) -> str:
    """What changes on the most telling side, in one sentence."""
    side, both = next(iter(sides_of(comparison).items()), (None, {}))
    if side is None:
        return "There was no labelled claim to compare them on."
    stopped, passed = (
        " → ".join(percent(both[which]["at"][rate]) for which in ("current", "candidate"))
        for rate in ("false_block_rate", "false_pass_rate")
    )
    return (
        f"On {counted(both['claims'], 'claim')} of the {SIDE_WORDS[side].lower()}: good claims stopped "
        f"{stopped}, bad claims passed {passed}."
    )


def threshold_words(comparison: JsonObject) -> str:
    """Where the candidate's threshold comes from, as the step Fit says it beforehand."""
    threshold = cast("Mapping[str, float]", comparison["candidate"])["threshold"]
    if comparison.get("moved_only"):
        return (
            f"The calibration alone was moved: the forest and its threshold, {threshold:g}, are those "
            "in use."
        )
    return (
        f"A new forest: its threshold, {threshold:g}, was chosen on the validation traces; the held-out "
        "traces it has never seen."
    )


def effect_words(chosen: StoredCalibrator) -> str:
    """What would change with a candidate, the judgement first, a line each."""
    comparison = chosen.comparison
    waits = chosen.standing is Standing.WAITING
    lines = (
        gain_words(gain_of_fit(comparison)) if waits else "",
        threshold_words(comparison),
        rate_words(comparison),
        flip_words(flips_of(comparison)),
        stored_words(comparison),
    )
    return "\n".join(filter(None, lines))


def gain_of_fit(comparison: JsonObject) -> Gain:
    """What the labels show of the candidate as one; nothing for fits from before that was counted."""
    found = cast("Mapping[str, float]", comparison.get("gain", {}))
    return Gain(
        value=found.get("value", 0.0), low=found.get("low", 0.0), claims=int(found.get("claims", 0))
    )


def gain_words(gain: Gain) -> str:
    """Whether the labels show that the candidate is better, and what to do where they do not."""
    if gain.shown:
        return (
            f"{gain.claims:,} labelled claims show that it is better: more good claims pass, beyond the "
            f"bad ones that do, by {100 * gain.value:.0f} points (at least {100 * gain.low:.0f})."
        )
    return (
        f"{gain.claims:,} labelled claims do not show that it is better than what decides now. Keep what "
        "decides, and label more claims."
    )


def stored_words(comparison: JsonObject) -> str:
    """What the candidate would make of the stored answers; empty for fits from before that was counted."""
    stored = cast("Mapping[str, Mapping[str, int] | int]", comparison.get("stored", {}))
    if not stored:
        return ""
    answers, claims = (
        ", ".join(
            f"{look.word.lower()} {before[name]:,} → {after[name]:,}"
            for name, look in DECISIONS.items()
            if name in before
        )
        for before, after in (
            (
                cast("Mapping[str, int]", stored[f"{what}before"]),
                cast("Mapping[str, int]", stored[f"{what}after"]),
            )
            for what in ("", "claims_")
        )
    )
    left = cast(int, stored["left_out"])
    if not stored["answers"]:
        return (
            f"What it would make of the {left:,} stored answers is not known: they were read by an "
            "earlier version. Verify them again first."
            if left
            else ""
        )
    return f"Of {stored['answers']:,} stored answers: {answers}. Of their claims: {claims}." + (
        f" {left:,} answers need the models again and are not counted." if left else ""
    )


def curves_figure(comparison: JsonObject, side: Side) -> go.Figure:
    """Both error rates of both calibrators at every threshold, with the points where each stands."""
    figure, both = go.Figure(), sides_of(comparison)[side]
    for which, name, dash in (("current", "active", "dot"), ("candidate", "candidate", "solid")):
        for rate, words, color in (
            ("false_block_rate", "good claims stopped", BLUE),
            ("false_pass_rate", "bad claims passed", ORANGE),
        ):
            points = [p for p in both[which]["curve"] if p[rate] is not None]
            figure.add_scatter(
                x=[p["threshold"] for p in points],
                y=[100 * p[rate] for p in points],
                mode="lines",
                name=f"{words}, {name}",
                line={"color": color, "dash": dash, "width": 2},
                hovertemplate="threshold %{x:.2f}: %{y:.1f} %<extra>" + f"{words}, {name}</extra>",
            )
        line = {"color": GREEN, "dash": dash, "width": 1}
        figure.add_vline(x=both[which]["at"]["threshold"], line=line)
    figure.update_layout(
        title=f"Error rates at every threshold, n = {both['claims']:,} claims; upright lines: thresholds "
        "in use",
        xaxis={"title": "support threshold", "range": [0, 1]},
        yaxis={"title": "share of claims (%)", "range": [-2, 102]},
        legend={"orientation": "h", "y": -0.25},
        height=380,
        margin={"t": 50, "b": 10},
    )
    return figure


def flips_of(comparison: JsonObject) -> list[Flip]:
    """The claims that the two decide differently, worst first."""
    return [
        Flip(
            claim_id=str(flip["claim_id"]),
            trace_id=str(flip["trace_id"]),
            text=str(flip["text"]),
            support=f"{flip['current_probability']:.2f} → {flip['candidate_probability']:.2f}",
            should_block=bool(flip["should_block"]),
            now_blocked=bool(flip["candidate_blocks"]),
            query={"trace": str(flip["trace_id"]), "claim": str(flip["claim_id"])},
        )
        for flip in cast(Sequence[Mapping[str, object]], comparison.get("flips", []))
    ]


def flip_words(flips: Sequence[Flip]) -> str:
    """How many claims change, and how many of them for the better."""
    if not flips:
        return "No labelled claim is decided differently."
    better = sum(flip.better for flip in flips)
    noun = "claim is" if len(flips) == 1 else "claims are"
    return (
        f"{len(flips):,} labelled {noun} decided differently: {better:,} for the better, "
        f"{len(flips) - better:,} for the worse."
    )


# ---------------------------------------------------------------- lineage


def show_chain(lineage: JsonObject, *, key: str) -> None:
    """guideline → annotations → forest → threshold, each with what it rests on."""
    _CHAIN(key=key, data={"label": "What this calibrator rests on", "links": chain(lineage)})


def chain(lineage: JsonObject) -> list[dict[str, object]]:
    """The links of a lineage, in words."""
    guideline = cast(Sequence[Mapping[str, object]], lineage.get("guideline", []))
    annotations = cast(Mapping[str, object], lineage.get("votes", {}))
    split = cast(Mapping[str, Mapping[str, int]], lineage.get("split", {}))
    shipped = cast("Mapping[str, int] | None", lineage.get("shipped_rows"))
    forest = cast(Mapping[str, Mapping[str, object]], lineage.get("forest", {}))
    threshold = cast(Mapping[str, object], lineage.get("threshold", {}))
    calibrator = cast(Mapping[str, object], lineage.get("calibrator", {}))
    people = cast(Mapping[str, int], annotations.get("by_reviewer", {}))
    settings = forest.get("settings", {})
    return [
        {
            "title": "Guideline",
            "main": ", ".join(f"version {each['version']}" for each in guideline) or "none",
            "more": [f"{each['claims']} claims" for each in guideline[:3]],
        },
        {
            "title": "Annotations",
            "main": f"{annotations.get('votes', 0)} annotations on {annotations.get('claims', 0)} claims",
            "more": [
                f"{len(people)} {'person' if len(people) == 1 else 'people'}, "
                f"{annotations.get('adjudications', 0)} adjudications"
            ],
        },
        {
            "title": "Split",
            "main": f"{split.get('train', {}).get('traces', 0)} traces to train",
            "more": [
                f"{split.get('validation', {}).get('traces', 0)} to choose, "
                f"{split.get('held_out', {}).get('traces', 0)} held out",
                "with the shipped rows" if shipped else "without the shipped rows",
            ],
        },
        {
            "title": "Forest",
            "main": str(calibrator.get("name", "–")),
            "more": [f"{settings.get('trees')} trees, seed {settings.get('seed')}"],
        },
        {
            "title": "Threshold",
            "main": f"{threshold.get('value', '–')}",
            "more": [
                "as before: the calibration alone was moved"
                if threshold.get("kept")
                else f"chosen on {split.get('validation', {}).get('claims', 0)} labelled claims"
                + (f" and {shipped['validation']:,} shipped rows" if shipped else ""),
                str(threshold.get("rule", "")),
                *([] if threshold.get("met", True) else ["No threshold met this limit."]),
            ],
        },
    ]


def _rate(value: float | None, ends: Sequence[float] | None) -> str:
    if value is None:
        return "nothing to count"
    return f"{percent(value)} ({between(*(ends or (None, None)))})"
