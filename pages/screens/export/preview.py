"""The claims of a packet before it is written: looked at, and left out one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.review.records import ReviewedClaim
from pages.widgets.counting import counted
from pages.widgets.reviewed import CachedPackets
from storage.packets import Packets

SHOWN = 2_000  # rows that a browser edits without waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenPackets(CachedPackets):
    """The same packets without the claims that were left out by hand."""

    without: frozenset[int] = frozenset()

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose annotations are all in and that were not left out."""
        found = CachedPackets(store=self.store, project=self.project).reviewed()
        return tuple(claim for claim in found if claim.claim_key not in self.without)


def choose_claims(packets: Packets, claims: Sequence[ReviewedClaim]) -> Packets:
    """Show the claims, each with a tick; the packets without those whose tick was taken away."""
    if not claims:
        return packets
    shown = claims[:SHOWN]
    with st.expander(f"Look at the {counted(len(claims), 'claim')}, and leave some out"):
        if len(claims) > SHOWN:
            st.caption(
                f"The first {SHOWN:,} of {len(claims):,}: narrow the selection for the others."
            )
        edited = st.data_editor(
            {
                "In the packet": [True] * len(shown),
                "Claim": [claim.text for claim in shown],
                "Label": [_label(claim) for claim in shown],
                "How": [claim.resolution.status.value for claim in shown],
                "Annotations": [len(claim.annotations) for claim in shown],
                "Trace": [claim.trace_id for claim in shown],
            },
            disabled=["Claim", "Label", "How", "Annotations", "Trace"],
            hide_index=True,
            width="stretch",
            height="auto" if len(shown) < 10 else 380,
            key=f"packet-claims-{hash(tuple(claim.claim_key for claim in shown))}",
        )
    ticks: Sequence[bool] = list(edited["In the packet"])  # type: ignore[call-overload]
    without = frozenset(
        claim.claim_key for claim, wanted in zip(shown, ticks, strict=True) if not wanted
    )
    if not without:
        return packets
    return ChosenPackets(store=packets.store, project=packets.project, without=without)


def _label(claim: ReviewedClaim) -> str:
    final = claim.resolution.final
    return "none yet" if final is None else final.support.value.replace("_", " ")
