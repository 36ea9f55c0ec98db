"""The paper's tables as one list: titles, columns, the paper's own rows, and what fills ours (V)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.evaluation.tables import ours
from core.evaluation.tables.records import Cell, Material, Ours

Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One table: ``paper`` and what ``ours`` gives are rows without the column "Measured".

    A row may be shorter than the header: what is not there was not measured.
    """

    title: str
    header: tuple[str, ...]
    ours: Callable[[Material], Ours]
    paper: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()


_LATENCY = ("Stage", "Measured", "Count", "Mean s", "P50 s", "P95 s", "Max s")

SHEETS: Mapping[int, Sheet] = {
    1: Sheet(
        title="Training of the calibrator",
        header=("Item", "Measured", "Setting or result"),
        ours=ours.training,
        paper=(
            ("Training target", "binary: the claim is supported by the routed source"),
            ("Rows", "1597 training, 367 validation, 361 held-out test"),
            ("Class balance", "training: 1171 supported, 426 to block; validation: 213 and 154; "
             "held-out test: 222 and 139"),
            ("Preprocessing", "standardised numbers; one-hot NLI label, category, tool, router status"),
            ("Random forest", "trees 400, max_depth 5, min_samples_leaf 8, class_weight balanced, "
             "criterion gini, seed 20260607"),
            ("Threshold selection", "0.65: block F1, accuracy as the tie-break, over 0.01–0.99"),
            ("Validation result", "block F1 0.841, block precision 0.737, block recall 0.981, "
             "block accuracy 0.845"),
            ("Result on held-out test", "block F1 0.802, block precision 0.673, block recall 0.993, "
             "block accuracy 0.812; block F1 95% CI [0.664, 0.900]"),
        ),
    ),
    3: Sheet(
        title="Claim-level results",
        header=(
            "Split", "Measured", "Claims", "Verdict acc.", "Verdict macro F1", "Block P",
            "Block R", "Block F1", "Source acc.", "Src+rel acc.",
        ),
        ours=ours.splits,
        paper=(
            ("train", 1597, 0.799, 0.392, 0.571, 0.993, 0.725, 0.841, 0.691),
            ("validation", 367, 0.842, 0.421, 0.737, 0.981, 0.841, 0.812, 0.729),
            ("held-out test", 361, 0.812, 0.406, 0.673, 0.993, 0.802, 0.858, 0.681),
        ),
    ),
    4: Sheet(
        title="Multi-source claims",
        header=(
            "Split", "Measured", "Questions", "Claims", "Pair rows", "Block F1", "Source acc.",
            "Src+rel acc.",
        ),
        ours=ours.multi_source,
        paper=(("test", 59, 263, 2587, 0.846, 0.503, 0.229),),
        notes=("The paper scores 263 frozen claims of 59 questions; its pair rows are 254 cases.",),
    ),
    5: Sheet(
        title="Stress slices",
        header=("Slice", "Measured", "Claims"),
        ours=ours.stress_counts,
        paper=(
            ("all claim cases", 254),
            ("multiple tool outputs present", 14),
            ("exactly one annotated best source", 33),
            ("semantically close wrong candidate", 42),
            ("chart plus literature mixed", 64),
            ("literature summary versus exact citation", 14),
            ("same-topic wrong patient or chart", 118),
            ("count or resource summary", 240),
        ),
    ),
    6: Sheet(
        title="Results by stress slice",
        header=(
            "Slice", "Measured", "Claims", "Block F1", "Block F1 95% CI", "False block",
            "False pass", "Source acc.", "Src+rel acc.",
        ),
        ours=ours.stress_results,
        paper=(
            ("chart + literature mixed", 67, 0.927, None, None, None, 0.433, 0.400),
            ("literature summary vs citation", 15, 0.941, None, None, None, 0.889, 0.778),
            ("same-topic wrong chart or patient", 122, 0.813, None, None, None, 0.392, 0.127),
            ("count or resource summary", 59, 0.800, None, None, None, 0.692, 0.179),
        ),
    ),
    7: Sheet(
        title="Stage latency on packet claims, seconds",
        header=_LATENCY,
        ours=ours.packet_latency,
        paper=(
            ("decide", 263, 0.001, 0.001, 0.001, 0.001),
            ("group_total", 59, 0.189, 0.185, 0.242, 0.464),
            ("nli", 263, 0.036, 0.034, 0.049, 0.117),
            ("router", 59, 0.029, 0.027, 0.039, 0.093),
        ),
    ),
    8: Sheet(
        title="Claim decomposition against a reference",
        header=(
            "Strategy", "Measured", "Questions", "Pred. claims", "Ref. claims", "Precision",
            "Recall", "F1", "Value exact",
        ),
        ours=ours.decomposition,
        paper=(("rule-based", 59, 382, 263, 0.644, 0.935, 0.763, 0.563),),
    ),
    9: Sheet(
        title="Repair of rebuilt answers",
        header=(
            "Run", "Measured", "Answers", "Initial blocks", "Repair resolved", "Revised allow",
            "Terminal fallback",
        ),
        ours=ours.repair_rebuilt,
        paper=(("locked multi-source test", 59, 59, 59, 59, 2),),
    ),
    10: Sheet(
        title="Stage latency of answer-level repair, seconds",
        header=_LATENCY,
        ours=ours.repair_latency,
        paper=(
            ("conflation_check", 902, 0.001, 0.001, 0.001, 0.001),
            ("conflation_route", 117, 0.027, 0.025, 0.041, 0.070),
            ("decide", 117, 0.001, 0.001, 0.001, 0.001),
            ("decompose", 120, 0.001, 0.001, 0.001, 0.002),
            ("nli", 451, 0.039, 0.036, 0.063, 0.220),
            ("router", 117, 0.036, 0.026, 0.074, 0.468),
        ),
    ),
    11: Sheet(
        title="Router ablation",
        header=("Condition", "Outcome", "Measured", "Value"),
        ours=ours.router_ablation,
        paper=(
            ("router only", "top-1 source accuracy", 0.858),
            ("NLI only", "block F1", 0.750),
            ("NLI only", "block recall", 0.993),
            ("calibrated, source-aware", "block F1", 0.802),
            ("calibrated, source-aware", "block recall", 0.993),
        ),
    ),
    12: Sheet(
        title="Verifier variants",
        header=(
            "Variant", "Measured", "Verdict acc.", "Block R", "Block F1", "Source acc.",
            "Src+rel acc.", "False block", "False pass", "McNemar p",
        ),
        ours=ours.ablations,
        paper=(
            ("uncalibrated", 0.363, 0.993, 0.750, 0.858, 0.615),
            ("route-threshold", 0.346, 0.993, 0.738, 0.858, 0.592),
            ("no-source-top-k", 0.729, 0.993, 0.738, 0.858, 0.481),
            ("claim-relevant windows", 0.421, 0.942, 0.771, 0.862, 0.673),
            ("raw verdict head", 0.839, 0.928, 0.816, 0.858, 0.704),
            ("raw head + validation threshold", 0.817, 0.950, 0.800, 0.858, 0.688),
            ("raw head + high-recall threshold", 0.795, 0.993, 0.789, 0.858, 0.685),
            ("evidence-calibrated blend", 0.817, 0.957, 0.801, 0.858, 0.685),
            ("calibrated-score ensemble", 0.809, 0.957, 0.794, 0.858, 0.681),
            ("ProvenanceGuard", 0.812, 0.993, 0.802, 0.858, 0.681),
        ),
        notes=("McNemar p: same block decisions right as this verifier's, exact, two-sided.",),
    ),
    13: Sheet(
        title="Choosing the source by support",
        header=(
            "System", "Measured", "Rel. acc.", "Source acc.", "Src+rel acc.", "Block F1",
            "Verdict acc.",
        ),
        ours=ours.joint_systems,
        paper=(
            ("legacy pairwise scorer", 0.496, 0.472, 0.212, 0.869, 0.249),
            ("Long DeBERTa raw", 0.750, 0.707, 0.478, 0.868, 0.665),
            ("Long DeBERTa calibrated", 0.750, 0.688, 0.478, 0.874, 0.657),
            ("ModernBERT raw", 0.771, 0.669, 0.478, 0.873, 0.650),
            ("ModernBERT calibrated", 0.750, 0.656, 0.459, 0.875, 0.661),
            ("ModernCE raw", 0.681, 0.675, 0.420, 0.814, 0.626),
            ("ModernCE calibrated", 0.670, 0.586, 0.382, 0.850, 0.598),
        ),
        notes=("The paper's rows are pairwise units of its own benchmark.",),
    ),
    14: Sheet(
        title="Longer context",
        header=("Model", "Measured", "Max tokens", "Pair rows", "Status", "Src+rel acc."),
        ours=lambda _: ([("NLI model with 2,048 tokens", None, None, "unavailable")], []),
        paper=(("ModernBERT-base raw", 2048, 2587, "complete", 0.090),),
        notes=("Our encoder has 512 positions; no longer-context weights are on this machine.",),
    ),
    15: Sheet(
        title="A hard cutoff on the route score",
        header=("Cutoff", "Measured", "Kept", "Rejected", "Source acc. kept"),
        ours=ours.route_cutoffs,
        paper=(
            (0.1, 314, 47, 0.847),
            (0.2, 191, 170, 0.787),
            (0.3, 89, 272, 0.684),
            (0.4, 39, 322, 0.533),
            (0.5, 9, 352, 0.400),
            (0.6, 2, 359, 0.000),
            (0.7, 1, 360, 0.000),
            (0.8, 0, 361),
        ),
        notes=("Source accuracy is undefined where no source-eligible claim is kept.",),
    ),
    16: Sheet(
        title="Why claims were blocked",
        header=("Split", "Measured", "Blocked", *ours.TAXA),
        ours=ours.blocked_taxonomy,
        paper=(
            ("train", 741, 592, 149, 0, 0, None, None, None, None, 0),
            ("validation", 205, 167, 38, 0, 0, None, None, None, None, 0),
            ("held-out test", 205, 176, 29, 0, 0, None, None, None, None, 0),
        ),
        notes=(
            "Wrong route: the routed source is not a right one and nothing more serious holds.",
        ),
    ),
    17: Sheet(
        title="Comparison with source-blind baselines",
        header=(
            "System", "Measured", "Claims", "Block P", "Block R", "Block F1", "Verdict acc.",
            "Verdict macro F1", "False block", "False pass",
        ),
        ours=ours.baselines,
        paper=(
            ("ProvenanceGuard", 361, 0.673, 0.993, 0.802, 0.812, 0.406),
            ("MiniCheck", 361, 0.655, 0.971, 0.783, 0.792, 0.396),
            ("RAGAS Faithfulness", 361, 0.660, 0.892, 0.758, 0.781, 0.390),
            ("AlignScore", 361, 0.510, 0.942, 0.662, 0.629, 0.313),
            ("SummaC-ZS", 361, 0.433, 0.439, 0.436, 0.562, 0.270),
        ),
        notes=("Baselines name no source, so they are not scored on sources.",),
    ),
    18: Sheet(
        title="Uncertainty",
        header=("Quantity", "Measured", "Value", "95% CI", "This verifier minus it", "p"),
        ours=ours.uncertainty,
        paper=(
            ("ProvenanceGuard: block F1", 0.802, "[0.664, 0.900]"),
            ("MiniCheck: block F1", 0.783, "[0.645, 0.882]", None, 0.26),
            ("RAGAS Faithfulness: block F1", 0.758, "[0.618, 0.861]"),
            ("AlignScore: block F1", 0.662, "[0.498, 0.778]"),
            ("SummaC-ZS: block F1", 0.436, "[0.287, 0.555]"),
            ("ProvenanceGuard: source accuracy", 0.858, "[0.731, 0.963]"),
            ("conflation probes resolved", 1.0, "[0.93, 1.00]"),
        ),
    ),
    19: Sheet(
        title="Repair of captured answers",
        header=(
            "Measured", "Rows", "Pre allow", "Pre block", "Repair resolved", "Terminal fallback",
            "Revised allow",
        ),
        ours=ours.repair_full,
        paper=((281, 108, 173, 173, 144, 173),),
    ),
    20: Sheet(
        title="Targeted source conflation",
        header=(
            "Probes", "Measured", "Rows", "Flagged", "Recall", "Recall 95% CI", "Twins",
            "Twins flagged", "Precision",
        ),
        ours=ours.probe_results,
        paper=(("explicit swaps", 50, 50, 1.0, "[0.93, 1.00]"),),
    ),
    21: Sheet(
        title="Adjudication status",
        header=("Item", "Measured", "Count"),
        ours=ours.adjudication,
        paper=(
            ("held-out claims in the packet", 361),
            ("model-assisted agreement rows", 350),
            ("priority-adjudicated disagreements", 11),
            ("human expert reviewed labels", 361),
        ),
    ),
}  # fmt: skip
