"""What reviewers decided, as a packet that explains and proves itself: choose, download, sign."""

from __future__ import annotations

import streamlit as st

from core.review.records import STATUS_WORDS, ReviewStatus, Role
from core.workflows.packet_export import ExportFilters, select_claims
from core.workflows.printing import find_browser
from pages.screens.export.exporting import (
    LABELS,
    prepare,
    prepared,
    show_packet_import,
    show_prepared,
    show_signed,
)
from pages.screens.export.formats import FORMATS, LISTED_TRACES, show_preview
from pages.screens.export.labels import show_label_import
from pages.screens.export.preview import ChosenPackets, choose_claims
from pages.widgets.counting import counted
from pages.widgets.days import whole_days
from pages.widgets.forms import show_saved
from pages.widgets.navigation import link_review
from pages.widgets.plain import show_card, show_notice
from pages.widgets.reviewed import packets_for
from pages.widgets.routing import begin_page, or_stop
from pages.widgets.session import open_workspace

user = begin_page(__file__, "Export")
st.title("Export", anchor=False)

with or_stop("Exports are for leads and auditors"):
    packets, workspace = packets_for(user), open_workspace(user)
    slices = [each.name for each in packets.store.slices()]
    everything = select_claims(packets, user, ExportFilters(statuses=frozenset(ReviewStatus)))

signatures = workspace.packet_signatures
if not everything.claims:
    show_notice(
        "No claim is ready to export",
        "; ".join(f"{count:,}: {reason}" for reason, count in everything.left_out.items())
        or "Claims can be exported as soon as reviewers have read them on the page Review.",
    )
    link_review(user)
else:
    # ------------------------------------------------------------ which claims
    status_column, label_column = st.columns(2)
    day_column, slice_column, tag_column, trace_column = st.columns(
        [1.3, 1, 1, 2], vertical_alignment="bottom"
    )
    statuses = status_column.pills(
        "How the label came about",
        list(STATUS_WORDS),
        selection_mode="multi",
        format_func=STATUS_WORDS.__getitem__,
        default=[each for each in STATUS_WORDS if each is not ReviewStatus.UNRESOLVED],
        key="statuses",
    )
    labels = label_column.pills(
        "Label", list(LABELS), selection_mode="multi", format_func=LABELS.__getitem__, key="labels"
    )
    days = day_column.date_input("Decided from, to (UTC)", value=[], key="days")
    slice_name = slice_column.selectbox(
        "Slice", slices, index=None, placeholder="Any", disabled=not slices, key="export-slice"
    )
    tags = workspace.triage.tags()
    tag = tag_column.selectbox(
        "Tag", tags, index=None, placeholder="Any", disabled=not tags, key="export-tag"
    )
    known = sorted({claim.trace_id for claim in everything.claims})
    some = f" (first {LISTED_TRACES:,} listed)" if len(known) > LISTED_TRACES else ""
    wanted = trace_column.multiselect(
        "Traces", known[:LISTED_TRACES], placeholder=f"All{some}", key="export-traces"
    )

    # ------------------------------------------------------------ in which files
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        formats = frozenset(
            st.pills(
                "Besides JSON Lines",
                list(FORMATS),
                selection_mode="multi",
                format_func=FORMATS.__getitem__,
                default=list(FORMATS),
                key="formats",
                width="content",
                help="The packet's JSON Lines are always in it: another workbench reads it back from "
                "them.",
            )
        )
        reports = st.toggle("A page to read for each trace", value=True, key="reports")
        pdf = st.toggle(
            "Also as PDF",
            disabled=not reports or find_browser() is None,
            help="Printed by this machine's browser, about a second a trace."
            if find_browser()
            else "No browser that can print is on this machine: open a page and print it.",
            key="pdf",
        )
        named = st.toggle(
            "Pseudonyms",
            help="Name no reviewer in the packet. Who is who stays in this machine's key folder.",
            key="pseudonyms",
        )
    hidden = workspace.people.everybody() if named else None
    since, until = whole_days(days)
    filters = ExportFilters(
        statuses=frozenset(statuses),
        labels=frozenset(labels),
        slice=slice_name,
        since=since,
        until=until,
        traces=frozenset(wanted),
        tag=tag,
    )
    chosen = select_claims(packets, user, filters)
    packets = choose_claims(packets, chosen.claims)
    without = packets.without if isinstance(packets, ChosenPackets) else frozenset[int]()
    if without:
        chosen = select_claims(packets, user, filters)
    traces = len({claim.content_hash for claim in chosen.claims})
    show_card(
        key="selection",
        title=f"{counted(len(chosen.claims), 'claim')} of {counted(traces, 'trace')}",
        text="Each with its label, every annotation and decision, its sources, and the trail.",
        facts=[[f"left out: {reason}", f"{count:,}"] for reason, count in chosen.left_out.items()],
    )

    show_preview(packets, user, chosen, filters, formats, hidden)

    # ------------------------------------------------------------ prepare, download, sign
    packet = prepared()
    ready = (
        packet is not None
        and (packet.filters, packet.without, packet.formats) == (filters, without, formats)
        and (packet.pseudonyms is not None) == named
    )
    if st.button(
        "Prepare again" if ready else "Prepare the packet",
        type="secondary" if ready else "primary",
        icon=":material/inventory_2:",
        disabled=not chosen.claims,
        key="prepare",
    ):
        prepare(
            packets, user, filters, reports=reports, pdf=pdf, people=hidden, without=without,
            formats=formats,
        )  # fmt: skip
        st.rerun() if prepared() else st.stop()
    if packet is not None and ready:
        show_prepared(signatures, user, packet)

signed = signatures.signed()
if signed:
    st.subheader("Signed packets", anchor=False)
    show_signed(signatures, user, signed)
if Role.LEAD in user.roles:
    with st.expander("Read a packet"):
        show_packet_import(workspace.packet_intake(), user)
    with st.expander("Bring in labels that exist already"):
        show_label_import(workspace.label_intake(), user)
show_saved()
