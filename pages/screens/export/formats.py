"""The formats of a packet, and how each of its files will begin."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.records import Person
from core.workflows.packet_export import (
    ExportFilters,
    PacketFormat,
    PacketStore,
    PreviewedFile,
    Selection,
    preview_packet,
    pseudonymous,
    select_claims,
)
from pages.widgets.counting import counted
from pages.widgets.figures import widths
from pages.widgets.plain import show_notice
from storage.packets import Packets

FORMATS = {
    PacketFormat.CSV: "CSV tables",
    PacketFormat.PARQUET: "Parquet tables",
    PacketFormat.OPENINFERENCE: "OpenInference annotations",
    PacketFormat.PREFERENCES: "Preference pairs",
}
LISTED_TRACES = 2_000


def show_preview(
    packets: Packets,
    user: Person,
    chosen: Selection,
    filters: ExportFilters,
    formats: frozenset[PacketFormat],
    people: Sequence[Person] | None,
) -> None:
    """What will be in the packet, worked out when somebody looks; with ``people`` it names none."""
    if not chosen.claims:
        return
    box = st.expander("Preview the files", key="preview", on_change="rerun")
    if not getattr(box, "open", True):
        return
    with box:
        try:
            store: PacketStore = packets
            if people is not None:
                store = hidden = pseudonymous(packets, user, people)
                user, chosen = hidden.exporter, select_claims(hidden, hidden.exporter, filters)
            files = preview_packet(
                store, user, chosen, at=packets.store.now(), filters=filters, formats=formats
            )
        except ProvenanceGuardError as error:
            show_notice("There is no preview", str(error), tone="bad")
            return
        _show_files(files)


def _show_files(files: Sequence[PreviewedFile]) -> None:
    st.dataframe(
        {
            "File": [each.name for each in files],
            "Rows": ["" if each.rows is None else f"{each.rows:,}" for each in files],
            "What it holds": [each.words for each in files],
        },
        column_config=widths({"File": 150, "Rows": 70, "What it holds": "large"}),
        hide_index=True,
        width="stretch",
        height="content",
        alt=f"{counted(len(files), 'file')} of the packet, with what each holds",
        key="preview-files",
    )
    readable = [each for each in files if each.head]
    by_name = {each.name: each for each in readable}
    name = st.selectbox("How it begins", list(by_name), key="preview-file")
    if name is None:
        return
    shown = by_name[name]
    # Text as it stands in the file: nothing in it is read as markup.
    st.code(shown.head, language=None, wrap_lines=True, height=260)
    st.caption(
        "Of the packet's first trace"
        + (", cut here; the file goes on." if shown.cut else ", whole.")
        + " A packet that names nobody draws its pseudonyms anew."
    )
