"""Tables 17 and 18: other systems on the same claims, and how sure the figures are."""

from __future__ import annotations

from core.evaluation.tables.cells import (
    block_all_system,
    claims_of,
    compare_block_f1,
    difference_cell,
    interval_cell,
    labelled_name,
    own_system,
    probe_interval,
    value_cell,
)
from core.evaluation.tables.records import (
    OURS,
    PAPER,
    Cell,
    Material,
    Table,
)

PAPER_BASELINES: tuple[tuple[Cell, ...], ...] = (
    ("ProvenanceGuard", PAPER, 361, 0.673, 0.993, 0.802, 0.812, 0.406, None, None),
    ("MiniCheck", PAPER, 361, 0.655, 0.971, 0.783, 0.792, 0.396, None, None),
    ("RAGAS Faithfulness", PAPER, 361, 0.660, 0.892, 0.758, 0.781, 0.390, None, None),
    ("AlignScore", PAPER, 361, 0.510, 0.942, 0.662, 0.629, 0.313, None, None),
    ("SummaC-ZS", PAPER, 361, 0.433, 0.439, 0.436, 0.562, 0.270, None, None),
)


def baselines(material: Material) -> Table:
    """Table 17: source-blind support baselines on the same claims, compared on blocking alone."""
    names = ("block_precision", "block_recall", "block_f1", "verdict_accuracy", "verdict_macro_f1",
             "false_block_rate", "false_pass_rate")  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    notes = []
    for system in (own_system(material), block_all_system(material), *material.baselines):
        if system.predictions is None:
            rows.append((f"{system.name} (unavailable)", OURS, *(None,) * 8))
            notes.append(f"{system.name}: unavailable, {system.reason}.")
            continue
        metrics = material.measured(system.predictions)
        values = [value_cell(metrics[name]) for name in names]
        rows.append((labelled_name(system), OURS, claims_of(material), *values))
    return Table(
        number=17,
        title="Comparison with source-blind baselines",
        header=(
            "System", "Measured", "Claims", "Block P", "Block R", "Block F1", "Verdict acc.",
            "Verdict macro F1", "False block", "False pass",
        ),
        rows=(*rows, *PAPER_BASELINES),
        notes=(*notes, "Baselines name no source, so they are not scored on sources."),
    )  # fmt: skip


def uncertainty(material: Material) -> Table:
    """Table 18: intervals, and paired differences in block F1 between this verifier and others."""
    own = material.measured()
    rows: list[tuple[Cell, ...]] = [
        (
            f"this verifier: {label}",
            OURS,
            value_cell(own[name]),
            interval_cell(own[name].interval),
            None,
            None,
        )
        for label, name in (
            ("block F1", "block_f1"),
            ("source accuracy", "source_accuracy"),
            ("source and relation", "source_relation_accuracy"),
            ("false-block rate", "false_block_rate"),
            ("false-pass rate", "false_pass_rate"),
            ("answer false-block rate", "answer_false_block_rate"),
            ("answer false-pass rate", "answer_false_pass_rate"),
        )
    ]
    for system in material.baselines:
        if system.predictions is None:
            continue
        theirs = material.measured(system.predictions)["block_f1"]
        compared = compare_block_f1(material, system.predictions)
        rows.append(
            (
                f"{labelled_name(system)}: block F1", OURS, value_cell(theirs),
                interval_cell(theirs.interval),
                difference_cell(compared), None if compared is None else compared.p_two_sided,
            )
        )  # fmt: skip
    if material.probes is not None:
        rows.append(probe_interval(material.probes))
    paper: tuple[tuple[Cell, ...], ...] = (
        ("ProvenanceGuard: block F1", PAPER, 0.802, "[0.664, 0.900]", None, None),
        ("MiniCheck: block F1", PAPER, 0.783, "[0.645, 0.882]", None, 0.26),
        ("RAGAS Faithfulness: block F1", PAPER, 0.758, "[0.618, 0.861]", None, None),
        ("AlignScore: block F1", PAPER, 0.662, "[0.498, 0.778]", None, None),
        ("SummaC-ZS: block F1", PAPER, 0.436, "[0.287, 0.555]", None, None),
        ("ProvenanceGuard: source accuracy", PAPER, 0.858, "[0.731, 0.963]", None, None),
        ("conflation probes resolved", PAPER, 1.0, "[0.93, 1.00]", None, None),
    )
    return Table(
        number=18,
        title="Uncertainty",
        header=("Quantity", "Measured", "Value", "95% CI", "This verifier minus it", "p"),
        rows=(*rows, *paper),
        notes=(
            f"{material.resamples} trace-level bootstrap resamples, seed {material.seed}; probes "
            "have exact binomial intervals; p is two-sided, paired.",
        ),
    )
