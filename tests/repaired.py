"""A blocked answer and its stored repair, for tests of pages."""

from __future__ import annotations

from builders import a_source, a_trace
from databases import workspace_of
from lexical import verify_lexically
from verdicts import fill

from core.attribution.families import load_families
from core.codec import content_hash
from core.config import Config
from core.records import Trace
from core.repair.loop import repair_answer
from core.workflows.repair import outcome_of
from storage.store import SqlStore


def blocked(trace_id: str = "rep-1", extra: str = "") -> Trace:
    """An answer with a wrong credit, an invention and a claim that stands."""
    return a_trace(
        "According to the chart, empagliflozin reduced a mortality endpoint. "
        f"The moon is made of cheese. {extra}Resting heart rate was 62 bpm.",
        a_source("Resting heart rate was 62 bpm.", "chart", "load_patient_history"),
        a_source(
            "Empagliflozin reduced a mortality endpoint in adults.",
            "pubmed",
            "search_pubmed_key_words",
        ),
        trace_id=trace_id,
    )


def repaired(store: SqlStore, trace: Trace) -> int:
    """The id of the stored repair of a stored, verified trace."""
    verification = verify_lexically(trace)
    fill(store, verification)
    repair = outcome_of(repair_answer(verification, verify_lexically, Config(), load_families()))
    return workspace_of(store).repairs.put(content_hash(trace), repair)
