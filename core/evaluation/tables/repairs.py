"""Tables 9, 10 and 19: what repairing answers gave."""

from __future__ import annotations

from core.evaluation.tables.cells import (
    latency_table,
)
from core.evaluation.tables.records import (
    OURS,
    PAPER,
    Cell,
    Material,
    Table,
)


def repair_rebuilt(material: Material) -> Table:
    """Table 9: repair of answers rebuilt from the packet's rows."""
    header = ("Run", "Measured", "Answers", "Initial blocks", "Repair resolved", "Revised allow",
              "Terminal fallback")  # fmt: skip
    found = material.repair
    ours: tuple[Cell, ...] = (material.split, OURS, *(None,) * 5)
    if found is not None:
        ours = (
            found.packet, OURS, found.answers, found.blocked_before, found.resolved,
            found.allowed_after, found.terminal_fallbacks,
        )  # fmt: skip
    return Table(
        number=9,
        title="Repair of rebuilt answers",
        header=header,
        rows=(ours, ("locked multi-source test", PAPER, 59, 59, 59, 59, 2)),
        notes=() if found else ("No repair run was given.",),
    )


def repair_latency(material: Material) -> Table:
    """Table 10: seconds a stage call took when answers were repaired."""
    seconds = material.repair.latency_seconds if material.repair else {}
    paper = (
        ("conflation_check", PAPER, 902, 0.001, 0.001, 0.001, 0.001),
        ("conflation_route", PAPER, 117, 0.027, 0.025, 0.041, 0.070),
        ("decide", PAPER, 117, 0.001, 0.001, 0.001, 0.001),
        ("decompose", PAPER, 120, 0.001, 0.001, 0.001, 0.002),
        ("nli", PAPER, 451, 0.039, 0.036, 0.063, 0.220),
        ("router", PAPER, 117, 0.036, 0.026, 0.074, 0.468),
    )
    return latency_table(10, "Stage latency of answer-level repair, seconds", seconds, paper)


def repair_full(material: Material) -> Table:
    """Table 19: repair of whole captured traces."""
    found = material.captured
    ours: tuple[Cell, ...] = (OURS, *(None,) * 6)
    if found is not None:
        ours = (
            OURS, found.answers, found.allowed_before, found.blocked_before, found.resolved,
            found.terminal_fallbacks, found.allowed_after,
        )  # fmt: skip
    return Table(
        number=19,
        title="Repair of captured answers",
        header=(
            "Measured", "Rows", "Pre allow", "Pre block", "Repair resolved", "Terminal fallback",
            "Revised allow",
        ),
        rows=(ours, (PAPER, 281, 108, 173, 173, 144, 173)),
        notes=() if found else ("Give the figures of a repair run: `provenanceguard repair … --json`.",),
    )  # fmt: skip
