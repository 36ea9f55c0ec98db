"""The guided tour: a few steps on the sample traces, from the first verdict to a recalibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from core.review.items import Progress
from core.review.records import Person, Role
from storage.records import Overview

LABELS_FOR_A_FIRST_FIT = 12  # enough to see the whole way; the page says how sure the figures are


@dataclass(frozen=True, slots=True, kw_only=True)
class TourStep:
    """One step: what to do, whether it was done, and where to do it."""

    words: str
    done: bool
    page: str
    label: str
    query: Mapping[str, str] = field(default_factory=dict)


def tour_steps(
    overview: Overview,
    progress: Progress,
    calibrators: int,
    person: Person,
    *,
    blind: bool,
    opened: bool,
    weighed: bool,
) -> tuple[TourStep, ...]:
    """The steps with what is done; ``calibrators`` counts the forests that were fitted here.

    ``opened``: this person has seen a verdict; ``weighed``: what thresholds cost, in this tab. Whoever
    reads ``blind`` reads before looking at verdicts, and is led to no page of a lead's; whoever reads
    no claims is not asked to.
    """
    verified = overview.traces > overview.waiting
    read = progress.mine_done
    load = TourStep(
        words="Load the sample traces and verify them",
        done=verified,
        page="pages/traces.py",
        label="Traces",
    )
    reading = TourStep(
        words=f"Read {LABELS_FOR_A_FIRST_FIT} claims yourself ({min(read, LABELS_FOR_A_FIRST_FIT)} "
        f"read): decide first, then see the verifier's view",
        done=read >= LABELS_FOR_A_FIRST_FIT,
        page="pages/review.py",
        label="Review",
    )
    readings = (reading,) if Role.REVIEWER in person.roles else ()
    if blind:
        return (load, *readings)
    return (
        load,
        TourStep(
            words="Open an answer that does not pass, and see why",
            done=verified and opened,
            page="pages/traces.py",
            label="Answers",
            query={},
        ),
        *readings,
        TourStep(
            words="See what another threshold would block and pass",
            done=weighed or calibrators > 0,
            page="pages/thresholds.py",
            label="Thresholds",
        ),
        TourStep(
            words="Fit a calibrator on your labels, and compare it with the active one",
            done=calibrators > 0,
            page="pages/recalibrate.py",
            label="Recalibrate",
        ),
    )


def show_tour(steps: tuple[TourStep, ...]) -> None:
    """Show the steps, each with its link; the next one is marked."""
    done = sum(step.done for step in steps)
    upcoming = next((step for step in steps if not step.done), None)
    with st.expander(f"Guided tour: {done} of {len(steps)} steps done", expanded=done < len(steps)):
        for number, step in enumerate(steps, 1):
            mark = "✓" if step.done else "→" if step is upcoming else "○"
            with st.container(horizontal=True, vertical_alignment="center", key=f"tour-{number}"):
                st.text(f"{mark} {number}. {step.words}", width="stretch")
                st.page_link(
                    step.page,
                    label=step.label,
                    width="content",
                    query_params=dict(step.query) or None,
                )
