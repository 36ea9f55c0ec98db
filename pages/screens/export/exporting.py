"""The steps of an export in a browser: prepare, download, sign; and a packet read back."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.errors import ProvenanceGuardError
from core.ports import Progress
from core.records import VerdictLabel
from core.review.exchange import MEANINGS, PacketSignature
from core.review.records import STATUS_WORDS, Person, Role
from core.workflows.packet_export import (
    EVERY_FORMAT,
    ExportFilters,
    ExportReport,
    Names,
    PacketFormat,
    export_packet,
    pseudonymous,
)
from core.workflows.packet_folder import (
    MANIFEST,
    announced,
    check_packet,
    hold,
    pack,
    remove_abandoned,
    unfinished,
    unpack,
    write_signatures,
)
from core.workflows.packet_import import import_packet
from pages.screens.export.signatures import own_fingerprint, signature_cards, signed_card
from pages.widgets.counting import counted
from pages.widgets.figures import offer
from pages.widgets.plain import Card, show_card, show_cards, show_notice
from pages.widgets.session import settings
from storage.keys import keep_pseudonyms, trusted_keys
from storage.packet_intake import PacketIntake
from storage.packets import Packets, PacketSignatures, SignedPacket

LABELS = {
    VerdictLabel.SUPPORTED: "supported",
    VerdictLabel.UNSUPPORTED: "unsupported",
    VerdictLabel.CONTRADICTED: "contradicted",
    VerdictLabel.NOT_ENOUGH_EVIDENCE: "not enough evidence",
}
MEANING_WORDS = {
    "review": "I have reviewed it",
    "approval": "I approve it",
    "responsibility": "I am responsible for it",
    "authorship": "I made it",
}
_PREPARED = "prepared_packet"
_PLACE = "provenanceguard-packet"


class HeldFolder(tempfile.TemporaryDirectory[str]):
    """A folder that goes with this object; if the process is killed first, the next export removes it."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix=prefix)
        self._held = hold(Path(self.name))
        weakref.finalize(self, os.close, self._held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A packet on the server's disk, for this session alone; its folder goes with the session."""

    place: tempfile.TemporaryDirectory[str]
    report: ExportReport
    filters: ExportFilters
    pseudonyms: Names | None  # who is who, where the packet names nobody
    without: frozenset[int] = frozenset()
    formats: frozenset[PacketFormat] = EVERY_FORMAT


def _progress_bar() -> tuple[DeltaGenerator, Progress]:
    bar = st.progress(0.0, "Writing the packet …")

    def report(done: int, total: int | None, what: str) -> None:
        share = done / total if total else 0.0
        bar.progress(share, f"Writing the packet: {done:,} of {total or 0:,} {what}")

    return bar, report


def prepare(
    packets: Packets,
    user: Person,
    filters: ExportFilters,
    *,
    reports: bool,
    pdf: bool,
    people: Sequence[Person] | None = None,
    without: frozenset[int] = frozenset(),
    formats: frozenset[PacketFormat] = EVERY_FORMAT,
) -> None:
    """Write the packet to a folder of this session, and remember it.

    With ``people`` it names none of them; who is who stays in the key folder.
    """
    hidden = None if people is None else pseudonymous(packets, user, people)
    st.session_state.pop(_PREPARED, None)
    remove_abandoned(Path(tempfile.gettempdir()))
    place = HeldFolder(unfinished(_PLACE))
    bar, report_progress = _progress_bar()

    try:
        report = export_packet(
            hidden or packets,
            hidden.exporter if hidden else user,
            Path(place.name) / "packet",
            at=packets.store.now(),
            filters=filters,
            reports=reports,
            pdf=pdf,
            progress=report_progress,
            formats=formats,
        )
        if hidden is not None:
            keep_pseudonyms(report.manifest_sha256, hidden.names.drawn)
    except ProvenanceGuardError as error:
        place.cleanup()
        show_notice("The packet was not written", str(error), tone="bad")
        return
    finally:
        bar.empty()
    st.session_state[_PREPARED] = Prepared(
        place=place,
        report=report,
        filters=filters,
        pseudonyms=hidden.names if hidden else None,
        without=without,
        formats=formats,
    )


def prepared() -> Prepared | None:
    """The packet that this session has prepared."""
    found: Prepared | None = st.session_state.get(_PREPARED)
    return found


def show_prepared(signatures: PacketSignatures, user: Person, packet: Prepared) -> None:
    """The packet that is ready: what is in it, its download, and its signature."""
    report = packet.report
    signed = [one for one in signatures.signatures(report.manifest_sha256) if one.stands]
    show_card(
        key="ready",
        title="The packet is ready",
        mark="✓",
        tone="good",
        text=f"{counted(report.claims, 'claim')} of {counted(report.traces, 'trace')} with "
        f"{counted(report.votes, 'annotation')}, in {counted(report.files, 'file')} that its "
        "manifest lists.",
        facts=[
            *(
                [STATUS_WORDS[status], f"{count:,}"]
                for status, count in report.by_status.items()
                if count
            ),
            ["preference pairs", f"{report.preference_pairs:,}"],
            ["digest, signed" if signed else "digest, not signed", report.manifest_sha256],
        ],
    )
    left, right = st.columns([1, 2.4], vertical_alignment="bottom")
    # The packet is made on the click: a run of the script at the same time would take it away.
    offer(
        "Download (.zip)", lambda: pack(report.folder), f"packet-{report.manifest_sha256[7:15]}.zip",
        at=left, type="primary", width="stretch", key="download-packet",
    )  # fmt: skip
    with right:
        show_cards([_signed_now(one) for one in signed], key="signed-now")
    if user.name in [one.signer for one in signed]:
        return
    with right.popover("Lock and sign", icon=":material/draw:"):
        st.text(
            f"{user.name} signs the digest of the list of all files, in UTC. The first signature also "
            "writes into that list that the packet is signed, so the digest changes once."
        )
        if Role.LEAD in user.roles:
            # Compared by voice or on paper: whoever checks the packet accepts exactly this key.
            st.text(f"Key: {own_fingerprint(user.name)}")
        if packet.pseudonyms is not None:
            st.text("The packet names no reviewer; a signature names who signs.")
        meaning = st.selectbox(
            "Meaning", MEANINGS, format_func=MEANING_WORDS.__getitem__, key="meaning"
        )
        typed = st.text_input("Type your name to sign", key="typed-name", max_chars=200)
        if st.button(
            "Sign", type="primary", key="sign", disabled=typed.strip() != user.name, width="stretch"
        ):
            _sign(signatures, user, packet, meaning)


def _signed_now(one: PacketSignature) -> Card:
    return {
        "title": f"Signed by {one.signer} as “{MEANING_WORDS[one.meaning]}”",
        "aside": f"{one.at:%Y-%m-%d %H:%M} UTC",
        "mark": "✓",
        "tone": "good",
        "text": f"Digest {one.manifest_sha256}. It covers the list of all files. The first signature "
        "wrote into that list that the packet is signed, so it differs from the digest before.",
    }


def _sign(signatures: PacketSignatures, user: Person, packet: Prepared, meaning: str) -> None:
    folder = packet.report.folder
    try:
        # The packet says that it is signed: a signature that is taken out is missed.
        manifest = announced(folder, meaning)
        digest = signatures.lock(manifest, meaning, by=user).manifest_sha256
        if packet.pseudonyms is not None:
            keep_pseudonyms(digest, packet.pseudonyms.drawn)
    except ProvenanceGuardError as error:
        show_notice("The packet was not signed", str(error), tone="bad")
        return
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")
    write_signatures(folder, signatures.signatures(digest))
    st.session_state[_PREPARED] = replace(
        packet, report=replace(packet.report, manifest_sha256=digest)
    )
    st.rerun()


def show_signed(
    signatures: PacketSignatures, user: Person, signed: tuple[SignedPacket, ...]
) -> None:
    """The packets that were ever signed, with who signed them, and the way to take it back."""
    keys = trusted_keys()
    show_cards([signed_card(one, keys) for one in signed], key="signed")
    standing = [one.manifest_sha256 for one in signed if one.locked]
    if not standing:
        return
    with st.popover("Unlock a packet", icon=":material/lock_open:"):
        which = st.selectbox("Packet", standing, key="unlock-which")
        reason = st.text_input("Reason", key="unlock-reason", max_chars=500)
        st.caption("Unlocking takes every signature of the packet back, and is kept in the trail.")
        if st.button("Unlock", key="unlock", disabled=not reason.strip(), width="stretch"):
            try:
                signatures.unlock(which, reason, by=user)
            except ProvenanceGuardError as error:
                show_notice("Nothing was unlocked", str(error), tone="bad")
            else:
                st.rerun()


def show_packet_import(intake: PacketIntake, user: Person) -> None:
    """Read an exported packet back: traces, verdicts, every annotation; the second time nothing changes."""
    file = st.file_uploader(
        "A packet (.zip) from this or another workbench", type=["zip"], key="packet-file"
    )
    unsigned = st.checkbox(
        "Read it even if nobody trusted here has signed it; the trail will say so",
        key="packet-unsigned",
    )
    if file is None or not st.button("Read the packet", key="read-packet"):
        return
    place = ""
    try:
        with (
            st.spinner("Checking and reading the packet …"),
            HeldFolder(unfinished(_PLACE)) as place,
        ):
            # The folder is this server's and gone by the time a message names it.
            unpack(file.getvalue(), Path(place), name=file.name)
            check, keys = check_packet(Path(place)), trusted_keys()
            done = import_packet(
                intake,
                Path(place),
                user,
                max_record_bytes=settings().max_record_bytes,
                unsigned=unsigned,
            )
    except ProvenanceGuardError as error:
        words = str(error).replace(place, file.name) if place else str(error)
        show_notice("The packet was not read", words, tone="bad")
        return
    show_cards(signature_cards(check.signatures, keys), key="packet-signatures")
    put = done.reviews
    show_card(
        key="packet-read",
        title="The packet was read" if done.changed else "Nothing changed",
        mark="✓",
        tone="good",
        text=f"{counted(done.claims, 'claim')}. New: {counted(put.votes, 'annotation')} and "
        f"{counted(put.adjudications, 'decision')}; {put.votes_known:,} and "
        f"{put.adjudications_known:,} were here already.",
        facts=[["new traces", f"{done.traces_new:,}"]],
        lists=[
            {"title": f"{len(items):,} {title}", "items": list(items)[:200]}
            for title, items in (("not kept, and why", put.skipped), ("to know", done.notes))
            if items
        ],
    )
