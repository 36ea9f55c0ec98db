"""The paper's tables on any packet: one function a table, each a `Table` for Markdown and JSON.

The paper's rows stand beside ours where the unit is the same, and say that they are the paper's.
What could not be measured here is named with its reason, never filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.errors import ConfigError
from core.evaluation.tables.cells import (
    compare_block_f1,
    shown_cell,
)
from core.evaluation.tables.claims import (
    decomposition,
    multi_source,
    packet_latency,
    splits,
    stress_counts,
    stress_results,
)
from core.evaluation.tables.records import (
    Cell,
    Material,
    Probes,
    RepairRun,
    System,
    Table,
)
from core.evaluation.tables.repairs import repair_full, repair_latency, repair_rebuilt
from core.evaluation.tables.reviews import adjudication, probe_results
from core.evaluation.tables.systems import baselines, uncertainty
from core.evaluation.tables.variants import (
    ablations,
    blocked_taxonomy,
    joint_systems,
    long_context,
    route_cutoffs,
    router_ablation,
)

TABLES: Mapping[int, Callable[[Material], Table]] = {
    3: splits, 4: multi_source, 5: stress_counts, 6: stress_results, 7: packet_latency,
    8: decomposition, 9: repair_rebuilt, 10: repair_latency, 11: router_ablation, 12: ablations,
    13: joint_systems, 14: long_context, 15: route_cutoffs, 16: blocked_taxonomy, 17: baselines,
    18: uncertainty, 19: repair_full, 20: probe_results, 21: adjudication,
}  # fmt: skip


def make_table(number: int, material: Material) -> Table:
    """One of the paper's tables; ConfigError for a number that it does not have."""
    if number not in TABLES:
        known = ", ".join(str(one) for one in sorted(TABLES))
        raise ConfigError(f"table: expected one of {known}, found {number}")
    return TABLES[number](material)


def table_to_markdown(table: Table) -> str:
    """The table as Markdown; text from packets is escaped."""
    lines = [f"**Table {table.number}. {table.title}**", ""]
    lines.append("| " + " | ".join(table.header) + " |")
    lines.append("|" + "---|" * len(table.header))
    lines += ["| " + " | ".join(shown_cell(cell) for cell in row) + " |" for row in table.rows]
    lines += ["", *(f"_{note}_" for note in table.notes)] if table.notes else []
    return "\n".join(lines) + "\n"


def table_to_json(table: Table) -> dict[str, object]:
    """The table as a JSON document, a row an object."""
    return {
        "table": table.number,
        "title": table.title,
        "rows": [dict(zip(table.header, row, strict=True)) for row in table.rows],
        "notes": list(table.notes),
    }


__all__ = [
    "TABLES",
    "Cell",
    "Material",
    "Probes",
    "RepairRun",
    "System",
    "Table",
    "compare_block_f1",
    "make_table",
    "table_to_json",
    "table_to_markdown",
]
