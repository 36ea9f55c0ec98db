"""A database as a team leaves it after months: many traces, half of their claims read twice.

Everything in it is invented, and written as the product writes it: traces and verdicts by the store,
annotations with the events that tell of them, so that ``provenanceguard audit verify`` finds it whole.
"""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path

from builders import a_source, a_trace
from databases import workspace_of
from evaluations import keep_evaluated
from lexical import verify_lexically
from sqlalchemy import Engine, event
from verdicts import VERSIONS, Said, a_verification

from bench.big_review import put_annotations, staff
from core.attribution.families import load_families
from core.codec import (
    content_hash,
    repair_document,
    repair_from_document,
    verdict_document,
    verification_from_document,
)
from core.config import Config
from core.models.forest import load_forest
from core.records import Trace, VerdictLabel, Verification
from core.repair.loop import repair_answer
from core.workflows.repair import outcome_of
from core.workflows.verify import run_key
from storage.store import SqlStore

PROJECT = Path(__file__).resolve().parents[1]
FEATURES = load_forest().encoding.numeric  # a candidate is compared with the forest in use
CLAIMS = 10  # a trace
VARIANTS = 40
AT_ONCE = 200  # traces
REPAIRS = 500
EVALUATED = 2_000  # claims of the packet
NAME, NUMBER = "bench-90909", "90909"  # in the patterns; every trace puts its own in their place
MEASURED = ("weight", "potassium", "pulse", "sodium", "haemoglobin", "creatinine", "temperature",
            "glucose", "platelet count", "oxygen saturation")  # fmt: skip


def fill(store: SqlStore, *, traces: int, read: int) -> None:
    """Traces, verdicts, repairs, people, and ``read`` claims that two people have read."""
    relax(store.database.engine)
    put_answers(store, traces)
    _, others = staff(store)
    workspace_of(store).guidelines.current()
    put_annotations(store, others, read)
    put_repairs(store, min(REPAIRS, traces))
    workspace_of(store).splits.of([f"bench-{number:05d}" for number in range(traces)])
    put_evaluation(store)


def relax(engine: Engine) -> None:
    """Let this process write to SQLite without waiting for the disk: a power failure costs a rerun."""
    if engine.dialect.name == "sqlite":
        engine.dispose()
        event.listen(engine, "connect", lambda opened, _: opened.execute("PRAGMA synchronous=OFF"))


# ---------------------------------------------------------------- answers


def put_answers(store: SqlStore, traces: int) -> None:
    """The traces and their verdicts; without a project yet, so that the queue is filled in one go."""
    generator = random.Random(20260607)
    versions = dataclasses.replace(
        VERSIONS, calibrator=workspace_of(store).calibrators.current().label
    )
    patterns = [_pattern(number, generator) for number in range(VARIANTS)]
    for done in range(0, traces, AT_ONCE):
        pairs = [
            _made(patterns[number % VARIANTS], number, generator)
            for number in range(done, min(done + AT_ONCE, traces))
        ]
        store.put_traces([trace for trace, _ in pairs])
        store.put_verdicts(
            run_key(versions),
            [dataclasses.replace(verdict, versions=versions) for _, verdict in pairs],
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A trace and its verdict document, from which others are made by putting names in place."""

    trace: Trace
    document: str


def _pattern(variant: int, generator: random.Random) -> Pattern:
    """Ten measurements, some of them stated wrongly, with four sources of 2,500 characters."""
    lines = [f"The {name} at visit {NUMBER} was {n * 7 + 20}.5 units." for n, name in
             enumerate(MEASURED)]  # fmt: skip
    wrong = {n for n in range(CLAIMS) if generator.random() < 0.3}
    answer = [line.replace(".5 units", ".9 units") if n in wrong else line
              for n, line in enumerate(lines)]  # fmt: skip
    notes = "\n".join(
        f"Note {n}: routine contact {n * 7 % 90}, nothing changed." for n in range(48)
    )
    sources = [a_source("\n".join(lines) + "\n" + notes)]
    sources += [
        a_source(notes, source_id=f"search#{n}", tool_name="search_pubmed") for n in range(3)
    ]
    trace = dataclasses.replace(
        a_trace(" ".join(answer), *sources, trace_id=NAME),
        question=f"What was measured at visit {NUMBER}?",
        category=f"category-{variant % 6}",
        extra={"slices": [f"slice-{variant % 8}"]},
    )
    said = [
        Said(
            said=answer[n],
            verdict=VerdictLabel.UNSUPPORTED if n in wrong else VerdictLabel.SUPPORTED,
            source="chart",
            premise=lines[n],
            probability=0.3 if n in wrong else 0.9,
            conflation=generator.random() < 0.05,
            reasons=("Support is too low.",) if n in wrong else ("Supported by chart.",),
        )
        for n in range(CLAIMS)
    ]
    families = {"chart": "patient_record", **{f"search#{n}": "literature" for n in range(3)}}
    verification = a_verification(trace, families, said)
    return Pattern(trace=trace, document=json.dumps(verdict_document(verification)))


def _made(pattern: Pattern, number: int, generator: random.Random) -> tuple[Trace, Verification]:
    """One trace of a pattern, with its verdict and its own probabilities."""
    digits = f"{number:05d}"
    trace = pattern.trace
    made = dataclasses.replace(
        trace,
        trace_id=f"bench-{digits}",
        question=trace.question.replace(NUMBER, digits),
        answer=(trace.answer or "").replace(NUMBER, digits),
        sources=tuple(
            dataclasses.replace(source, text=source.text.replace(NUMBER, digits))
            for source in trace.sources
        ),
    )
    document = json.loads(pattern.document.replace(NUMBER, digits))
    for claim in document["claims"]:
        supported = claim["support_probability"] >= claim["threshold"]
        probability = generator.uniform(0.66, 1.0) if supported else generator.uniform(0.0, 0.64)
        claim["support_probability"] = round(probability, 4)
        claim["calibrator_input"]["numeric_features"] = {
            name: round(generator.random(), 4) for name in FEATURES
        }
    named = {**document, "content_hash": content_hash(made)}
    return made, verification_from_document(named)


# ---------------------------------------------------------------- repairs


def put_repairs(store: SqlStore, count: int) -> None:
    """Repairs of the first traces, as the lexical NLI model makes them."""
    trace = _pattern(0, random.Random(1)).trace
    repaired = repair_answer(verify_lexically(trace), verify_lexically, Config(), load_families())
    pattern = json.dumps(repair_document(outcome_of(repaired)))
    for number in range(count):
        stored = store.get_trace(f"bench-{number:05d}")
        document = json.loads(pattern.replace(NUMBER, f"{number:05d}"))
        workspace_of(store).repairs.put(stored.content_hash, repair_from_document(document))


def put_evaluation(store: SqlStore) -> None:
    """An evaluated packet of 2,000 claims beside a SQLite file, where the screens look for it."""
    beside = store.database.engine.url.database
    if store.database.engine.dialect.name == "sqlite" and beside:
        folder = Path(beside).parent / "evaluations"
        if not folder.exists():
            keep_evaluated(folder, claims=EVALUATED)
