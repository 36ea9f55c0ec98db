"""The paper's tables with a packet's rows beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.evaluation.kept import KeptRun
from core.evaluation.tables import TABLES, Material, Table, make_table, table_to_markdown
from core.models.forest import Forest
from pages.widgets.evaluated import Opened
from pages.widgets.figures import offer, show_numbers


def show_paper_tables(opened: Opened, run: KeptRun, packet_name: str, forest: Forest) -> None:
    """One of the paper's tables with this packet's rows beside the paper's; ``forest`` decides now."""
    number = st.selectbox(
        "Table of the paper", sorted(TABLES), key="paper-table",
        help="Tables that need fitted variants, other systems or repairs are printed by "
        "provenanceguard evaluate --table N.",
    )  # fmt: skip
    seconds = run.report.get("latency_seconds")
    material = Material(
        rows=opened.rows,
        predictions=opened.predictions,
        split=packet_name,
        card=forest.card if run.versions.calibrator == forest.name else None,
        latency_seconds=seconds if isinstance(seconds, Mapping) else {},
    )
    with st.spinner("Computing the table …"):
        table = _table(material, number, f"{run.folder}:{run.written}")
    st.text(f"Table {table.number}. {table.title}")
    show_numbers(
        table.header, table.rows, name=f"table-{number}", alt=f"Table {number}: {table.title}"
    )
    for note in table.notes:
        st.text(note)
    text, file = table_to_markdown(table), f"table-{number}.md"
    offer("Download as Markdown", text, file, type="tertiary", key="paper-markdown")


@st.cache_data(show_spinner=False, max_entries=64)
def _table(_material: Material, number: int, run: str) -> Table:
    return make_table(number, _material)
