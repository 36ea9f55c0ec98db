"""What a measurement found: Markdown tables and notes, and the same as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Cell = str | int | float | None


@dataclass(slots=True)
class Report:
    """Tables by title, in order, with notes below; ``failed`` becomes the exit code 1."""

    tables: dict[str, tuple[Sequence[str], list[Sequence[Cell]]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failed: bool = False

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> Report:
        """Add a table; the report comes back."""
        self.tables[title] = (columns, list(rows))
        return self

    def lines(self) -> Iterator[str]:
        """The lines of Markdown."""
        for title, (columns, rows) in self.tables.items():
            yield from ("", f"**{title}**", "") if title else ("",)
            yield f"| {' | '.join(columns)} |"
            yield (
                "|"
                + "|".join("---" if place == 0 else "---:" for place in range(len(columns)))
                + "|"
            )
            yield from (f"| {' | '.join(map(_shown, row))} |" for row in rows)
        yield from ("", *self.notes) if self.notes else ()

    def json(self) -> str:
        """Every table as a list of records by column."""
        tables = {
            title: [dict(zip(columns, row, strict=True)) for row in rows]
            for title, (columns, rows) in self.tables.items()
        }
        return json.dumps({"tables": tables, "notes": self.notes}, ensure_ascii=False, indent=1)

    def write(self, path: Path | None) -> int:
        """Print it, keep it as JSON where a path is given; the exit code comes back."""
        print("\n".join(self.lines()), flush=True)
        if path:
            path.write_text(self.json() + "\n", encoding="utf-8")
        return int(self.failed)


def share(part: int, whole: int) -> str:
    """ "12 of 48 (25%)"."""
    return f"{part} of {whole} ({part / whole:.0%})" if whole else "–"


def _shown(cell: Cell) -> str:
    if cell is None:
        return "–"
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
