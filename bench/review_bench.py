"""How long the database keeps a reviewer waiting, with 10,000 traces and 100,000 claims in it.

    python bench/review_bench.py [--db FILE_OR_URL] [--traces 10000] [--read 50000] [--votes 40]

Builds the database where ``--db`` names an empty one, pretends that ``--read`` claims have been read
by 20 people, then measures each step of one more reviewer, and the steps that read everything.
"""

from __future__ import annotations

import argparse
import dataclasses
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from sqlalchemy import text

from core.documents import content_hash
from core.errors import NotFound
from core.records import JsonObject, Source, Trace, VerdictLabel, Versions
from core.review.records import Judgement, Person, Project, ProjectSettings, Role
from core.workflows.verify import run_key
from storage.guidelines import Guidelines
from storage.labels import Labels
from storage.people import People
from storage.projects import Projects
from storage.reviews import open_desk
from storage.store import SqlStore, open_store

Done = TypeVar("Done")
Times = dict[str, list[tuple[float, float]]]

CLAIMS = 10
PEOPLE = 20
VERSIONS = Versions(
    pipeline="1",
    config_sha256="0" * 64,
    embedder="embedder",
    pair_reader="reader",
    precision="float32",
    calibrator="forest",
)
NUMERIC = {f"feature_{n:02d}": round(n / 21, 4) for n in range(21)}
SOURCE = " ".join(f"Measurement {n} was {n * 7 % 90} units on day {n}." for n in range(60))


def build(store: SqlStore, traces: int) -> None:
    """Fill the store, 200 traces at a time."""
    generator = random.Random(20260607)
    for start in range(0, traces, 200):
        some = [a_trace(n) for n in range(start, min(start + 200, traces))]
        store.put_traces(some)
        store.put_verdicts(
            run_key(VERSIONS),
            [(content_hash(trace), a_verdict(trace, generator)) for trace in some],
        )


def a_trace(number: int) -> Trace:
    """A trace with ten claims and four sources."""
    return Trace(
        trace_id=f"bench-{number:05d}",
        question="What was measured?",
        answer=" ".join(f"Measurement {n} was {n * 7 % 90} units." for n in range(CLAIMS)),
        category="chart",
        sources=tuple(
            Source(source_id=f"tool#{n}", tool_name=f"tool_{n}", text=SOURCE) for n in range(4)
        ),
    )


def a_verdict(trace: Trace, generator: random.Random) -> JsonObject:
    """A verdict document with what the review needs of it."""
    return {
        "trace_id": trace.trace_id,
        "decision": "block",
        "claims": [_claim(trace, n, generator) for n in range(CLAIMS)],
        "versions": {
            name: getattr(VERSIONS, name)
            for name in (
                "pipeline",
                "config_sha256",
                "embedder",
                "pair_reader",
                "precision",
                "calibrator",
            )
        },
    }


def _claim(trace: Trace, number: int, generator: random.Random) -> JsonObject:
    probability = round(generator.random(), 4)
    return {
        "claim_id": f"{trace.trace_id}::c{number + 1:02d}",
        "text": f"Measurement {number} was {number * 7 % 90} units.",
        "span": [0, 10],
        "claim_type": "factual",
        "routed_source": {"source_id": "tool#1", "family": "lab", "routing_margin": 0.2},
        "calibrator_input": {
            "categorical_features": {"category": "chart", "pred_tool": "tool_1"},
            "numeric_features": NUMERIC,
        },
        "support_probability": probability,
        "threshold": 0.65,
        "verdict": "supported" if probability >= 0.65 else "unsupported",
        "attribution": {"status": "conflation" if generator.random() < 0.05 else "match"},
        "decision": "allow" if probability >= 0.65 else "block",
        "reasons": ["A reason."],
    }


def staff(store: SqlStore) -> tuple[Person, list[Person], Project]:
    """The reviewer who is measured, 20 others, and a project of two readings a claim."""
    people, projects = People(store=store), Projects(store=store)
    lead, project = people.local(), projects.default()
    if project.settings.reads_per_claim != 2:
        project = projects.change(
            project,
            ProjectSettings(reads_per_claim=2, dwell_milliseconds=0),
            by=lead,
            reason="for a measurement",
        )
    names = ["Measured", *(f"Reviewer {n:02d}" for n in range(PEOPLE))]
    for name in names:
        try:
            people.by_name(name)
        except NotFound:
            people.add(name, {Role.REVIEWER, Role.ADJUDICATOR}, by=lead)
    everybody = {person.name: person for person in people.everybody()}
    return everybody[names[0]], [everybody[name] for name in names[1:]], project


def pretend(store: SqlStore, project: Project, others: list[Person], claims: int) -> None:
    """Let ``claims`` have been read twice, one in twenty differently (without their events)."""
    Guidelines(store=store).current()
    first, count = others[0].person_id, len(others)
    at = "2026-01-05 09:00:00.000000"
    half = "'supported'", "CASE WHEN claim_key % 20 = 0 THEN 'unsupported' ELSE 'supported' END"
    false = "false" if store.database.engine.dialect.name == "postgresql" else "0"
    with store.database.writing() as connection:
        for slot in (1, 2):
            person = f"{first} + (claim_key + {slot}) % {count}"
            connection.execute(
                text(
                    "INSERT INTO assignment (project_id, claim_key, slot, person_id, state, reason,"
                    f" created_at, lease_until) SELECT {project.project_id}, claim_key, {slot},"
                    f" {person}, 'done', 'uncertain', '{at}', '{at}' FROM claim"
                    f" WHERE claim_key <= {claims}"
                )
            )
            connection.execute(
                text(
                    "INSERT INTO vote (project_id, claim_key, person_id, slot, support, source_id,"
                    " rationale, saw_model_output, changed_after_reveal, exposures, seconds,"
                    " queue_reason, guideline_version, run_key, nonce, at)"
                    f" SELECT {project.project_id}, claim_key, {person}, {slot}, {half[slot - 1]},"
                    f" 'tool#1', '', {false}, {false}, '[]', 9.5, 'uncertain', 1, 'run',"
                    f" 'n' || claim_key || '-{slot}', '{at}' FROM claim"
                    f" WHERE claim_key <= {claims}"
                )
            )
        connection.execute(
            text(
                "UPDATE queue SET missing = 0, state = CASE WHEN claim_key % 20 = 0"
                f" THEN 'tied' ELSE 'settled' END WHERE claim_key <= {claims}"
            )
        )
        connection.execute(text("ANALYZE"))


def timed(times: Times, name: str, work: Callable[[], Done]) -> Done:
    """Do it, and note how long it took, by the clock and on the processor."""
    start, busy = time.perf_counter(), time.process_time()
    done = work()
    times.setdefault(name, []).append((time.perf_counter() - start, time.process_time() - busy))
    return done


def measure(
    store: SqlStore, project: Project, who: Person, votes: int
) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Each step of a reviewer, ``votes`` times, then the steps that read everything."""
    times: Times = {}
    desk = open_desk(store, project, who)
    judgement = Judgement(support=VerdictLabel.SUPPORTED, source_id="tool#1")
    for number in range(votes):
        item = timed(times, "next_item (new)", desk.next_item)
        timed(times, "next_item (in hand)", desk.next_item)
        nonce = timed(times, "show", lambda item=item: desk.show(item.assignment_id))
        timed(
            times,
            "vote",
            lambda item=item, nonce=nonce: desk.vote(item.assignment_id, nonce, judgement),
        )
        if number % 4 == 0:
            timed(times, "reveal", lambda item=item: desk.reveal(item.assignment_id))
            timed(times, "progress", desk.progress)
    for _ in range(3):
        tie = timed(times, "next_tie", desk.next_tie)
        if tie is not None:
            desk.decline(tie.assignment_id, "measured")
    labels = Labels(store=store)
    for _ in range(2):
        timed(times, "labels.reviewed", lambda: labels.reviewed(project.project_id))
    timed(times, "labels.rows_with_features", lambda: labels.rows_with_features(project.project_id))
    lead = People(store=store).local()
    for share in (0.3, 0.2):
        project = Projects(store=store).default()
        wanted = dataclasses.replace(project.settings, audit_share=share)
        timed(
            times,
            "settings that move all claims",
            lambda project=project, wanted=wanted: Projects(store=store).change(
                project, wanted, by=lead, reason="measured"
            ),
        )
    yield from times.items()


def main() -> None:
    """Build, measure, and print a line a step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", default=None)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--read", type=int, default=50_000)
    parser.add_argument("--votes", type=int, default=40)
    options = parser.parse_args()
    store = open_store(options.db or str(Path(tempfile.mkdtemp()) / "bench.db"))
    who, others, project = staff(store)
    if not store.overview().traces:
        start = time.perf_counter()
        build(store, options.traces)
        print(f"built in {time.perf_counter() - start:.0f} s", flush=True)
        pretend(store, project, others, options.read)
    print(f"{store.name}: {open_desk(store, project, who).progress()}", flush=True)
    for name, taken in measure(store, project, who, options.votes):
        clock, busy = zip(*taken, strict=True)
        print(
            f"{name:30} median {statistics.median(clock) * 1000:8.1f} ms   "
            f"longest {max(clock) * 1000:8.1f} ms   "
            f"processor {statistics.median(busy) * 1000:8.1f} ms   n {len(taken)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
