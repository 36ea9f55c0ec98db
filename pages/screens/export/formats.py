"""Which formats a packet holds, which traces it is of, and how each of its files will begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.errors import ProvenanceGuardError
from core.review.records import Person, ReviewedClaim
from core.workflows.packet_export import (
    EVERY_FORMAT,
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
from pages.widgets.plain import show_notice
from storage.packets import Packets

FORMATS = {
    PacketFormat.CSV: "CSV tables",
    PacketFormat.PARQUET: "Parquet tables",
    PacketFormat.OPENINFERENCE: "OpenInference annotations",
    PacketFormat.PREFERENCES: "Preference pairs",
}
LISTED_TRACES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What was chosen of traces and formats."""

    traces: frozenset[str]
    tag: str | None
    formats: frozenset[PacketFormat]


def choose_formats(claims: Sequence[ReviewedClaim], tags: Sequence[str]) -> Narrowed:
    """One line of controls: formats, a tag, and traces."""
    formats_column, tag_column, trace_column = st.columns(
        [2.7, 1.1, 2], vertical_alignment="bottom"
    )
    formats = formats_column.pills(
        "Besides JSON Lines",
        list(FORMATS),
        selection_mode="multi",
        format_func=FORMATS.__getitem__,
        default=list(FORMATS),
        key="formats",
        help="The packet's JSON Lines are always in it: another workbench reads it back from them.",
    )
    tag = tag_column.selectbox(
        "Tag", tags, index=None, placeholder="Any", disabled=not tags, key="export-tag"
    )
    known = sorted({claim.trace_id for claim in claims})
    traces = trace_column.multiselect(
        "Traces",
        known[:LISTED_TRACES],
        placeholder="All"
        if len(known) <= LISTED_TRACES
        else f"All (first {LISTED_TRACES:,} listed)",
        key="export-traces",
    )
    return Narrowed(traces=frozenset(traces), tag=tag, formats=frozenset(formats) & EVERY_FORMAT)


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
    box = st.expander(
        "Preview the files", icon=":material/preview:", key="preview", on_change="rerun"
    )
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
            show_notice("There is no preview", str(error), key="no-preview", tone="bad")
            return
        _show_files(files)


def _show_files(files: Sequence[PreviewedFile]) -> None:
    st.dataframe(
        {
            "File": [each.name for each in files],
            "Rows": ["" if each.rows is None else f"{each.rows:,}" for each in files],
            "What it holds": [each.words for each in files],
        },
        column_config={
            "File": st.column_config.TextColumn(width=150),
            "Rows": st.column_config.TextColumn(width=70),
            "What it holds": st.column_config.TextColumn(width="large"),
        },
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
