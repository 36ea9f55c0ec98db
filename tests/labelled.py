"""Labelled stores for tests of recalibration: measurements that answers state rightly or wrongly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from builders import a_source, a_trace
from lexical import lexical_models
from reviewing import SUPPORTED, UNSUPPORTED, Office, an_office

from core.config import Config
from core.pipeline import Models
from core.records import Trace
from core.workflows.models import ActiveCalibrator, active_forest
from core.workflows.verify import verify_pending
from storage.workspace import Workspace

FACTS = (
    ("weight", "71.4 kg", "82.0 kg"),
    ("potassium", "4.6 mmol/L", "5.9 mmol/L"),
    ("pulse", "64 bpm", "91 bpm"),
    ("haemoglobin", "13.1 g/dL", "8.2 g/dL"),
)

# What the chart says, the same in other words, and what it does not say. What ships confirms neither of
# the last two, but what shares more words with the chart stands higher: a refit can learn where to cut.
REWORDED = (
    ("Appetite good, eats well.", "She ate with a good appetite.", "Nobody asked what she ate."),
    (
        "Wound closed and dry.",
        "The surgical wound closed by then.",
        "The surgeon advised an operation.",
    ),
    ("Sleeps through the night.", "Sleep lasted all night.", "She asked for sleeping tablets."),
    ("Mood bright.", "Her mood was bright at breakfast.", "She wept over her breakfast."),
)


def a_measured_trace(number: int) -> Trace:
    """Four measurements, of which the answer states two wrongly; which ones, the number says."""
    said = f"The {{}} at visit {number} was {{}}.".format
    return _trace(
        number, [(said(name, good), said(name, good), said(name, bad)) for name, good, bad in FACTS]
    )


def a_reworded_trace(number: int) -> Trace:
    """Two statements in other words than the chart's, and two that it does not make."""
    return _trace(number, REWORDED)


def _trace(number: int, facts: Sequence[tuple[str, str, str]]) -> Trace:
    """Half of the facts are stated rightly; which ones, the number says."""
    answer = " ".join(
        good if (at + number) % 2 == 0 else bad for at, (_, good, bad) in enumerate(facts)
    )
    chart = "\n".join(line for line, _, _ in facts)
    return a_trace(
        answer,
        a_source(chart),
        a_source("Invented abstract about sodium.", source_id="lit", tool_name="search_pubmed"),
        trace_id=f"visit-{number:03d}",
    )


def models_of(calibrators: ActiveCalibrator) -> Models:
    """Lexical readers with the active calibrator."""
    return replace(lexical_models(), calibrator=active_forest(calibrators))


def a_labelled_office(
    workspace: Workspace, traces: int, made: Callable[[int], Trace] = a_measured_trace
) -> Office:
    """A store whose claims one reviewer has read, each as the chart says."""
    store = workspace.store
    store.put_traces([made(number) for number in range(traces)])
    verify_pending(store, models_of(workspace.calibrators), Config())
    office = an_office(store, traces=0, shipped=workspace.files.shipped)
    desk = office.desk("Ada")
    while item := desk.next_item():
        said = store.get_verdict(item.trace_id).verification
        claim = next(each.claim for each in said.claims if each.claim.claim_id == item.claim_id)
        right = any(good.rstrip(".") in claim.text for _, good, _ in (*FACTS, *REWORDED))
        office.decide("Ada", item, SUPPORTED if right else UNSUPPORTED)
    return office
