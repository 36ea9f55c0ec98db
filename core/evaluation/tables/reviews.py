"""Tables 20 and 21: conflation probes, and how labels were adjudicated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from core.evaluation.packets import PacketRow
from core.evaluation.tables.cells import probe_row
from core.evaluation.tables.records import (
    OURS,
    PAPER,
    Cell,
    Material,
    Table,
)


def probe_results(material: Material) -> Table:
    """Table 20: conflation probes and their correctly attributed twins, with exact intervals."""
    rows: list[tuple[Cell, ...]] = []
    if material.probes is not None:
        for kind in ("all", *sorted(set(material.probes.kinds))):
            rows.append(probe_row(material.probes, kind))
    return Table(
        number=20,
        title="Targeted source conflation",
        header=(
            "Probes", "Measured", "Rows", "Flagged", "Recall", "Recall 95% CI", "Twins",
            "Twins flagged", "Precision",
        ),
        rows=(*rows, ("explicit swaps", PAPER, 50, 50, 1.0, "[0.93, 1.00]", None, None, None)),
        notes=(
            "The paper has no correctly attributed twins: a detector that flags everything would "
            "also find 50 of 50.",
            "A multi-error probe has a wrong value besides: it counts as flagged when it is blocked.",
            *(() if material.probes else ("No probes were given.",)),
        ),
    )  # fmt: skip


def adjudication(material: Material) -> Table:
    """Table 21: how the packet's labels came about."""
    statuses = Counter(_status(row) for row in material.rows)
    rows: list[tuple[Cell, ...]] = [
        ("claims in the packet", OURS, len(material.rows)),
        ("labelled claims", OURS, sum(row.scored for row in material.rows)),
        *(
            (f"adjudication: {name}", OURS, count)
            for name, count in sorted(statuses.items())
            if name
        ),
        ("held-out claims in the packet", PAPER, 361),
        ("model-assisted agreement rows", PAPER, 350),
        ("priority-adjudicated disagreements", PAPER, 11),
        ("human expert reviewed labels", PAPER, 361),
    ]
    notes = ("The packet says nothing of who labelled it.",) if not any(statuses) else ()
    return Table(
        number=21,
        title="Adjudication status",
        header=("Item", "Measured", "Count"),
        rows=tuple(rows),
        notes=notes,
    )


def _status(row: PacketRow) -> str:
    found = row.extra.get("adjudication")
    return str(found.get("status", "")) if isinstance(found, Mapping) else ""
