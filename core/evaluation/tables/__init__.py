"""The paper's tables on any packet: one function a table, each a `Table` for Markdown and JSON.

The paper's rows stand beside ours where the unit is the same, and say that they are the paper's.
What could not be measured here is named with its reason, never filled in.
"""

from __future__ import annotations

from core.errors import ConfigError
from core.evaluation.tables.ours import compare_block_f1
from core.evaluation.tables.paper import SHEETS
from core.evaluation.tables.records import (
    OURS,
    PAPER,
    Cell,
    Material,
    RepairRun,
    System,
    Table,
    cell_text,
)

TABLES = tuple(SHEETS)


def make_table(number: int, material: Material) -> Table:
    """One of the paper's tables; ConfigError for a number that it does not have."""
    if number not in SHEETS:
        known = ", ".join(map(str, TABLES))
        raise ConfigError(f"table: expected one of {known}, found {number}")
    sheet = SHEETS[number]
    ours, notes = sheet.ours(material)
    return Table(
        number=number,
        title=sheet.title,
        header=sheet.header,
        rows=(
            *(_whole_row(row, OURS, sheet.header) for row in ours),
            *(_whole_row(row, PAPER, sheet.header) for row in sheet.paper),
        ),
        notes=(*notes, *sheet.notes),
    )


def _whole_row(row: tuple[Cell, ...], measured: str, header: tuple[str, ...]) -> tuple[Cell, ...]:
    at = header.index("Measured")
    row = (*row[:at], measured, *row[at:])
    return (*row, *(None,) * (len(header) - len(row)))


def table_to_markdown(table: Table) -> str:
    """The table as Markdown; text from packets is escaped."""
    lines = [f"**Table {table.number}. {table.title}**", ""]
    lines.append("| " + " | ".join(table.header) + " |")
    lines.append("|" + "---|" * len(table.header))
    lines += ["| " + " | ".join(cell_text(cell) for cell in row) + " |" for row in table.rows]
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
    "RepairRun",
    "System",
    "Table",
    "compare_block_f1",
    "make_table",
    "table_to_json",
    "table_to_markdown",
]
