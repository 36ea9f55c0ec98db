"""Saving what was chosen and what it costs as a file, and opening such a file again."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

import streamlit as st

from core.calibration.guarantee import OperatingPoints, points_report
from core.errors import ProvenanceGuardError
from core.evaluation.kept import KeptPacket, KeptRun
from core.evaluation.outcomes import Outcomes, Weights, Workload, daily_cost
from core.evaluation.snapshot import (
    MAX_BYTES,
    Snapshot,
    changed_figures,
    read_snapshot,
    snapshot_lines,
    snapshot_text,
)
from core.records import JsonObject
from pages.widgets.figures import show_numbers
from pages.widgets.plain import show_notice

SAME = "The figures are those that this page shows now."


def make_snapshot(
    packet: KeptPacket,
    run: KeptRun,
    slice_name: str,
    here: Outcomes,
    in_use: float,
    workload: Workload,
    weights: Weights,
    points: OperatingPoints,
) -> Snapshot:
    """Settings and figures of the point that is chosen; no claim and nobody's name."""
    settings = {
        "packet_name": packet.name,
        "packet_sha256": packet.sha256,
        "run": run.run,
        "calibrator": run.versions.calibrator,
        "slice": slice_name,
        "threshold": here.threshold,
        "review_from": here.review_from,
        "threshold_in_use": in_use,
        **asdict(workload),
        "weights": asdict(weights),
        "risk": points.pooled.risk,
    }
    figures = {
        "claims": here.claims,
        "good_claims": asdict(here.good),
        "bad_claims": asdict(here.bad),
        "answers_with_no_bad_claim": asdict(here.good_answers),
        "answers_with_a_bad_claim": asdict(here.bad_answers),
        "hours_of_review_a_day": round(workload.hours(here.shares[1]), 4),
        "cost_a_day": round(daily_cost(here, workload, weights), 4),
        "guarantee": points_report(points),
    }
    return Snapshot(settings=cast(JsonObject, settings), figures=cast(JsonObject, figures))


def show_snapshots(now: Snapshot, *, slice_key: str) -> None:
    """A button that saves what is shown, and a place to drop a saved file."""
    st.download_button(
        "Save a snapshot (settings, figures, digest)",
        data=snapshot_text(now),
        file_name=f"thresholds-{now.digest[:8]}.json",
        mime="application/json",
        icon=":material/photo_camera:",
        key="save-snapshot",
    )
    st.caption(
        "It holds no claim and nobody's name. `provenanceguard snapshot FILE` opens it in a terminal."
    )
    given = st.file_uploader(
        "Open a snapshot", type=["json"], key="open-snapshot", max_upload_size=1
    )
    if given is None:
        return
    try:
        found = read_snapshot(given.getvalue()[: MAX_BYTES + 1], file=given.name)
    except ProvenanceGuardError as error:
        show_notice("This is no snapshot", str(error), tone="bad")
        return
    st.text(compared_words(now, found))
    show_numbers(
        ("Setting or figure", "In the snapshot"),
        snapshot_lines(found),
        name="snapshot",
        alt="What the snapshot holds",
    )
    if any(now.settings[name] != found.settings[name] for name in ("packet_sha256", "run")):
        st.text("It was made on another packet or by another run: choose those above to go there.")
        return
    st.button("Go to these settings", key="use-snapshot", on_click=_go, args=(found, slice_key))


def compared_words(now: Snapshot, found: Snapshot) -> str:
    """Whether the page, where it stands on the same settings, gives the snapshot's figures."""
    differing = [name for name in now.settings if now.settings[name] != found.settings.get(name)]
    if differing:
        words = ", ".join(name.replace("_", " ") for name in differing)
        return f"The digest holds. What is set on this page differs in: {words}."
    if changed := changed_figures(now, found):
        return f"The digest holds, but this page gives other figures: {', '.join(changed)}."
    return f"The digest holds. {SAME}"


def _go(found: Snapshot, slice_key: str) -> None:
    """Put the page, which shows the same run, where the snapshot stands."""
    settings = found.settings
    threshold = float(cast(float, settings["threshold"]))
    st.session_state[slice_key] = str(settings["slice"])
    st.session_state["snapshot-opened"] = True
    st.session_state["threshold"] = threshold
    st.session_state["generation"] = st.session_state.get("generation", 0) + 1
    # A snapshot that somebody else wrote may hold what a field of this page cannot.
    st.session_state["review-from"] = _within(settings["review_from"], 0.0, 1.0)
    st.session_state["claims-a-day"] = int(_within(settings["claims_a_day"], 1, 10_000_000))
    st.session_state["minutes-a-claim"] = _within(settings["minutes_a_claim"], 0.1, 240.0)
    st.session_state["risk"] = _within(100 * cast(float, settings["risk"]), 0.5, 50.0)
    weights = cast(JsonObject, settings["weights"])
    for key, name in (
        ("weight-bad", "bad_passed"),
        ("weight-good", "good_blocked"),
        ("weight-hour", "hour_of_review"),
    ):
        st.session_state[key] = _within(weights.get(name), 0.0, 1e6)


def _within(value: object, low: float, high: float) -> float:
    found = float(value) if isinstance(value, int | float) and value == value else low
    return min(max(found, low), high)
