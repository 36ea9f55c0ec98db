"""Tables 11 to 16: parts left out, other routers and premises, what was blocked and why (V.3)."""

from __future__ import annotations

from collections import Counter

from core.evaluation.ablations import PLAIN, route_scores
from core.evaluation.packets import PacketRow
from core.evaluation.predictions import Cause, Prediction
from core.evaluation.tables.cells import (
    claims_of,
    mcnemar_cell,
    plain_predictions,
    value_cell,
)
from core.evaluation.tables.records import (
    OURS,
    PAPER,
    Cell,
    Material,
    System,
    Table,
)


def router_ablation(material: Material) -> Table:
    """Table 11: routing alone, NLI alone, and both under the calibrator."""
    ours, plain = material.measured(), material.measured(plain_predictions(material, "nli-only"))
    routing = [
        (f"router only: {system.name}", "top-1 source accuracy", OURS,
         value_cell(material.measured(system.predictions)["source_accuracy"]))
        for system in material.routers
        if system.predictions is not None
    ]  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            "router only: this run's",
            "top-1 source accuracy",
            OURS,
            value_cell(ours["source_accuracy"]),
        ),
        *routing,
        *(
            ("router only: this run's", f"recall@{k}", OURS, value_cell(ours[f"recall_at_{k}"]))
            for k in (3, 5)
        ),
        ("NLI only", "block F1", OURS, value_cell(plain["block_f1"])),
        ("NLI only", "block recall", OURS, value_cell(plain["block_recall"])),
        ("calibrated, source-aware", "block F1", OURS, value_cell(ours["block_f1"])),
        ("calibrated, source-aware", "block recall", OURS, value_cell(ours["block_recall"])),
        ("router only", "top-1 source accuracy", PAPER, 0.858),
        ("NLI only", "block F1", PAPER, 0.750),
        ("NLI only", "block recall", PAPER, 0.993),
        ("calibrated, source-aware", "block F1", PAPER, 0.802),
        ("calibrated, source-aware", "block recall", PAPER, 0.993),
    ]
    most = max((len(row.sources) for row in material.rows), default=0)
    return Table(
        number=11,
        title="Router ablation",
        header=("Condition", "Outcome", "Measured", "Value"),
        rows=tuple(rows),
        notes=(
            f"Claims here have up to {most} candidate sources; recall@k says something only where "
            "there are more than k.",
        ),
    )


PAPER_VARIANTS: tuple[tuple[Cell, ...], ...] = (
    ("uncalibrated", PAPER, 0.363, 0.993, 0.750, 0.858, 0.615, None, None, None),
    ("route-threshold", PAPER, 0.346, 0.993, 0.738, 0.858, 0.592, None, None, None),
    ("no-source-top-k", PAPER, 0.729, 0.993, 0.738, 0.858, 0.481, None, None, None),
    ("claim-relevant windows", PAPER, 0.421, 0.942, 0.771, 0.862, 0.673, None, None, None),
    ("raw verdict head", PAPER, 0.839, 0.928, 0.816, 0.858, 0.704, None, None, None),
    ("raw head + validation threshold", PAPER, 0.817, 0.950, 0.800, 0.858, 0.688, None, None, None),
    (
        "raw head + high-recall threshold",
        PAPER,
        0.795,
        0.993,
        0.789,
        0.858,
        0.685,
        None,
        None,
        None,
    ),
    ("evidence-calibrated blend", PAPER, 0.817, 0.957, 0.801, 0.858, 0.685, None, None, None),
    ("calibrated-score ensemble", PAPER, 0.809, 0.957, 0.794, 0.858, 0.681, None, None, None),
    ("ProvenanceGuard", PAPER, 0.812, 0.993, 0.802, 0.858, 0.681, None, None, None),
)


def ablations(material: Material) -> Table:
    """Table 12: development variants, with McNemar's test of block decisions against the product."""
    systems = [
        *(
            System(name=name, note=PLAIN[name][0], predictions=plain_predictions(material, name))
            for name in PLAIN
        ),
        *material.variants,
        System(name="this verifier", note="As shipped.", predictions=material.predictions),
    ]
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for system in systems:
        if system.predictions is None:
            rows.append((system.name, OURS, *(None,) * 8))
            notes.append(f"{system.name}: unavailable, {system.reason}.")
            continue
        metrics = material.measured(system.predictions)
        rows.append(
            (
                system.name, OURS,
                *(
                    value_cell(metrics[name])
                    for name in (
                        "verdict_accuracy", "block_recall", "block_f1", "source_accuracy",
                        "source_relation_accuracy", "false_block_rate", "false_pass_rate",
                    )
                ),
                mcnemar_cell(material, system.predictions),
            )
        )  # fmt: skip
    return Table(
        number=12,
        title="Verifier variants",
        header=(
            "Variant", "Measured", "Verdict acc.", "Block R", "Block F1", "Source acc.",
            "Src+rel acc.", "False block", "False pass", "McNemar p",
        ),
        rows=(*rows, *PAPER_VARIANTS),
        notes=(*notes, "McNemar p: same block decisions right as this verifier's, exact, two-sided."),
    )  # fmt: skip


def joint_systems(material: Material) -> Table:
    """Table 13: ways to choose the source, each with the decision that follows."""
    names = ("relation_accuracy", "source_accuracy", "source_relation_accuracy", "block_f1",
             "verdict_accuracy")  # fmt: skip
    systems = [
        System(name="this verifier", note="", predictions=material.predictions),
        *material.routers,
    ]
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for system in systems:
        if system.predictions is None:
            rows.append((system.name, OURS, *(None,) * 5))
            notes.append(f"{system.name}: unavailable, {system.reason}.")
        else:
            metrics = material.measured(system.predictions)
            rows.append((system.name, OURS, *(value_cell(metrics[name]) for name in names)))
    rows += [
        ("legacy pairwise scorer", PAPER, 0.496, 0.472, 0.212, 0.869, 0.249),
        ("Long DeBERTa raw", PAPER, 0.750, 0.707, 0.478, 0.868, 0.665),
        ("Long DeBERTa calibrated", PAPER, 0.750, 0.688, 0.478, 0.874, 0.657),
        ("ModernBERT raw", PAPER, 0.771, 0.669, 0.478, 0.873, 0.650),
        ("ModernBERT calibrated", PAPER, 0.750, 0.656, 0.459, 0.875, 0.661),
        ("ModernCE raw", PAPER, 0.681, 0.675, 0.420, 0.814, 0.626),
        ("ModernCE calibrated", PAPER, 0.670, 0.586, 0.382, 0.850, 0.598),
    ]
    return Table(
        number=13,
        title="Choosing the source by support",
        header=(
            "System", "Measured", "Rel. acc.", "Source acc.", "Src+rel acc.", "Block F1",
            "Verdict acc.",
        ),
        rows=tuple(rows),
        notes=(*notes, "The paper's rows are pairwise units of its own benchmark."),
    )  # fmt: skip


def long_context(material: Material) -> Table:
    """Table 14: the paper's 2,048-token diagnostic, which has no counterpart here."""
    return Table(
        number=14,
        title="Longer context",
        header=("Model", "Measured", "Max tokens", "Pair rows", "Status", "Src+rel acc."),
        rows=(
            ("pair reader with 2,048 tokens", OURS, None, None, "unavailable", None),
            ("ModernBERT-base raw", PAPER, 2048, 2587, "complete", 0.090),
        ),
        notes=("Our encoder has 512 positions; no longer-context weights are on this machine.",),
    )


CUTOFFS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)

PAPER_CUTOFFS: tuple[tuple[Cell, ...], ...] = (
    (0.1, PAPER, 314, 47, 0.847),
    (0.2, PAPER, 191, 170, 0.787),
    (0.3, PAPER, 89, 272, 0.684),
    (0.4, PAPER, 39, 322, 0.533),
    (0.5, PAPER, 9, 352, 0.400),
    (0.6, PAPER, 2, 359, 0.000),
    (0.7, PAPER, 1, 360, 0.000),
    (0.8, PAPER, 0, 361, None),
)


def route_cutoffs(material: Material) -> Table:
    """Table 15: what a hard cutoff on the route score would keep."""
    scores = route_scores(material.rows, material.predictions)
    unrouted = claims_of(material) - len(scores)
    rows: list[tuple[Cell, ...]] = []
    for cutoff in CUTOFFS:
        kept = [(eligible, right) for score, eligible, right in scores if score >= cutoff]
        eligible = [right for is_eligible, right in kept if is_eligible]
        accuracy = round(sum(eligible) / len(eligible), 6) if eligible else None
        rejected = len(scores) - len(kept) + unrouted
        rows.append((cutoff, OURS, len(kept), rejected, accuracy))
    return Table(
        number=15,
        title="A hard cutoff on the route score",
        header=("Cutoff", "Measured", "Kept", "Rejected", "Source acc. kept"),
        rows=(*rows, *PAPER_CUTOFFS),
        notes=("Source accuracy is undefined where no source-eligible claim is kept.",),
    )


def blocked_taxonomy(material: Material) -> Table:
    """Table 16: why claims were blocked, one cause a claim, most serious first."""
    pairs = [
        (row, found)
        for row, found in zip(material.rows, material.predictions, strict=True)
        if row.scored and found.blocked
    ]
    causes = Counter(_taxon(row, found) for row, found in pairs)
    ours: tuple[Cell, ...] = (
        material.split, OURS, len(pairs), *(causes[name] for name in _TAXA)
    )  # fmt: skip
    return Table(
        number=16,
        title="Why claims were blocked",
        header=("Split", "Measured", "Blocked", *_TAXA),
        rows=(
            ours,
            ("train", PAPER, 741, 592, 149, 0, 0, None, None, None, None, 0),
            ("validation", PAPER, 205, 167, 38, 0, 0, None, None, None, None, 0),
            ("held-out test", PAPER, 205, 176, 29, 0, 0, None, None, None, None, 0),
        ),
        notes=(
            "Wrong route: the routed source is not a right one and nothing more serious holds.",
        ),
    )


_TAXA = (
    "NLI / not enough evidence", "Wrong route", "Contradiction", "No source", "Missing value",
    "Wrong record", "Conflation", "Too few tokens", "Other",
)  # fmt: skip


def _taxon(row: PacketRow, found: Prediction) -> str:
    named = {
        Cause.IDENTITY: "Wrong record",
        Cause.CONTRADICTION: "Contradiction",
        Cause.CONFLATION: "Conflation",
        Cause.VALUE: "Missing value",
        Cause.TOKENS: "Too few tokens",
    }
    if found.cause in named:
        return named[found.cause]
    if found.routed_source_id is None:
        return "No source"
    if row.source_eligible and found.routed_source_id not in row.gold_source_ids:
        return "Wrong route"
    return "NLI / not enough evidence" if found.cause is Cause.SUPPORT else "Other"
