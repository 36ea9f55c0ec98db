"""Labelled stores for tests of recalibration: measurements that answers state rightly or wrongly."""

from __future__ import annotations

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


def a_measured_trace(number: int) -> Trace:
    """Four measurements, of which the answer states two wrongly; which ones, the number says."""
    right = [(at + number) % 2 == 0 for at in range(len(FACTS))]
    answer = " ".join(
        f"The {name} at visit {number} was {good if ok else bad}."
        for ok, (name, good, bad) in zip(right, FACTS, strict=True)
    )
    chart = "\n".join(f"The {name} at visit {number} was {good}." for name, good, _ in FACTS)
    return a_trace(
        answer,
        a_source(chart),
        a_source("Invented abstract about sodium.", source_id="lit", tool_name="search_pubmed"),
        trace_id=f"visit-{number:03d}",
    )


def models_of(calibrators: ActiveCalibrator) -> Models:
    """Lexical readers with the active calibrator."""
    return replace(lexical_models(), calibrator=active_forest(calibrators))


def a_labelled_office(workspace: Workspace, traces: int) -> Office:
    """A store whose claims one reviewer has read, each as the chart says."""
    store = workspace.store
    store.put_traces([a_measured_trace(number) for number in range(traces)])
    verify_pending(store, models_of(workspace.calibrators), Config())
    office = an_office(store, traces=0, shipped=workspace.files.shipped)
    desk = office.desk("Ada")
    while item := desk.next_item():
        said = store.get_verdict(item.trace_id).verification
        claim = next(each.claim for each in said.claims if each.claim.claim_id == item.claim_id)
        number = int(item.trace_id.rsplit("-", 1)[1])
        at = next(n for n, fact in enumerate(FACTS) if fact[0] in claim.text)
        office.decide("Ada", item, SUPPORTED if (at + number) % 2 == 0 else UNSUPPORTED)
    return office
