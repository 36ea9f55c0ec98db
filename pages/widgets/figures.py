"""Numbers behind a plot as a table and a file, and the few words that numbers are put into."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from mimetypes import guess_type
from typing import Any

import streamlit as st

from core.statistics import exact_binomial_interval

Cell = str | int | float | None
_SHARES = {"Share", "Raw"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.1f} %"


def between(low: float | None, high: float | None) -> str:
    """A 95 % interval of a share in words."""
    if low is None or high is None:
        return "no interval"
    return f"95 % interval {100 * low:.1f} to {100 * high:.1f} %"


def rate_interval(part: int, whole: int, ends: Sequence[float] | None) -> str:
    """The interval of a rate in words: of resampled traces, or exact where all claims are alike.

    Resampling what never happened never makes it happen: an interval of 0 to 0 would promise more
    than ``whole`` claims can. Then Clopper and Pearson's stands in its place, and says so.
    """
    exact = exact_binomial_interval(part, whole) if part in (0, whole) else None
    if exact is not None:
        return f"exact {between(*exact)}"
    return between(*ends) if ends else "no interval"


def csv_text(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """The table as CSV; text that a spreadsheet would run as a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def offer(label: str, data: Any, file_name: str, **more: Any) -> None:
    """A file to take away, for which the page is not drawn anew; ``more`` is the button's own."""
    kind = guess_type(file_name)[0] or "application/x-ndjson"
    shown = {"icon": ":material/download:", "on_click": "ignore", **more}
    shown.pop("at", st).download_button(label, data, file_name, kind, **shown)


def widths(of: Mapping[str, Any]) -> dict[str, Any]:
    """How wide columns of words are, in pixels or as Streamlit's words."""
    return {name: st.column_config.TextColumn(width=width) for name, width in of.items()}


def show_numbers(
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    name: str,
    alt: str,
    height: int | None = None,
) -> None:
    """A table that can be sorted, searched and downloaded; numbers stay numbers, shares as ``percent``
    says them (the file has them as they are)."""
    columns = {title: _column(cells) for title, cells in by_column(header, rows).items()}
    for title in columns.keys() & _SHARES:
        columns[title] = [
            100 * cell if isinstance(cell, float) else cell for cell in columns[title]
        ]
    st.dataframe(
        columns,
        hide_index=True,
        column_config={
            title: st.column_config.NumberColumn(format="%.1f %%" if title in _SHARES else "%.4f")
            for title, cells in columns.items()
            if any(isinstance(cell, float) for cell in cells)
        },
        width="stretch",
        height=height if height is not None else "auto",
        placeholder="–",
        alt=alt,
        key=f"numbers-{name}",
    )
    label, file = "Download these numbers (CSV)", f"{name}.csv"
    offer(label, csv_text(header, rows), file, type="tertiary", key=f"download-{name}")


def by_column(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> dict[str, list[Cell]]:
    """A table's cells under the titles of its columns."""
    return {title: [row[at] for row in rows] for at, title in enumerate(header)}


def choose_row(
    columns: Mapping[str, Sequence[object]], *, key: str, alt: str, hint: str = "", **more: Any
) -> int | None:
    """A table of which one row can be chosen: its place; None, with ``hint`` below, while none is.

    ``more`` is the table's own: its height, how its columns are shown.
    """
    rows = len(next(iter(columns.values())))
    event = st.dataframe(
        columns,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        width="stretch",
        alt=alt,
        key=key,
        **more,
    )
    chosen = [at for at in event["selection"]["rows"] if at < rows]
    if not chosen and hint:
        st.caption(hint)
    return chosen[0] if chosen else None


def _column(cells: list[Cell]) -> list[Cell]:
    """A column of one type: where words stand among numbers, all of it is words; none is a dash."""
    kinds = {isinstance(cell, str) for cell in cells if cell is not None}
    if kinds == {False}:
        return cells  # numbers, sorted as such; what is missing among them is shown as a dash
    return ["–" if cell is None else str(cell) for cell in cells]


def _harmless(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
