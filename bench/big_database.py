"""A database as a team leaves it after months: many traces, half of their claims read twice.

Everything in it is invented, and written as the product writes it: traces and verdicts by the store,
readings with the events that tell of them, so that ``provenanceguard audit verify`` finds it whole.
"""

from __future__ import annotations

import dataclasses
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from databases import workspace_of  # noqa: E402
from sqlalchemy import Connection, Engine, event, insert, select, update
from sqlmodel import SQLModel, col

PROJECT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(PROJECT), str(PROJECT / "tests")]

from builders import a_source, a_trace  # noqa: E402
from evaluations import keep_evaluated  # noqa: E402
from lexical import verify_lexically  # noqa: E402
from verdicts import VERSIONS, Said, a_verification  # noqa: E402

from core.attribution.families import load_families  # noqa: E402
from core.codec import (  # noqa: E402
    content_hash,
    repair_document,
    verdict_document,
    verification_from_document,
)
from core.config import Config  # noqa: E402
from core.errors import NotFound  # noqa: E402
from core.records import Trace, VerdictLabel, Verification  # noqa: E402
from core.repair.loop import repair_answer  # noqa: E402
from core.review.items import QueueState  # noqa: E402
from core.review.records import Person, Project, ProjectSettings, Role  # noqa: E402
from core.workflows.repair_report import outcome_of  # noqa: E402
from core.workflows.verify import run_key  # noqa: E402
from storage.audit import BEGINNING, event_hash, row_hash  # noqa: E402
from storage.records import AuditEvent  # noqa: E402
from storage.review_tables import (  # noqa: E402
    AdjudicationRow,
    AssignmentRow,
    ClaimRow,
    QueueRow,
    VoteRow,
)
from storage.store import SqlStore  # noqa: E402
from storage.tables import AuditEvent as EventRow  # noqa: E402

Say = Callable[[str], None]
CLAIMS = 10  # a trace
PEOPLE = 20
VARIANTS = 40
AT_ONCE = 200  # traces
ROWS_AT_ONCE = 2_000
REPAIRS = 500
EVALUATED = 2_000  # claims of the packet
DIFFER, DECIDED = 20, 40  # every so many-th claim is read differently, and is decided by a third
MONDAY = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
NAME, NUMBER = "bench-90909", "90909"  # in the patterns; every trace puts its own in their place
MEASURED = ("weight", "potassium", "pulse", "sodium", "haemoglobin", "creatinine", "temperature",
            "glucose", "platelet count", "oxygen saturation")  # fmt: skip


def fill(store: SqlStore, *, traces: int, read: int, say: Say) -> None:
    """Traces, verdicts, repairs, people, and ``read`` claims that two people have read."""
    started = time.perf_counter()
    relax(store.database.engine)
    put_answers(store, traces, say)
    say("queueing the claims")
    measured, others, project = staff(store)
    workspace_of(store).guidelines.current()
    put_readings(store, project, others, read, say)
    put_repairs(store, min(REPAIRS, traces), say)
    say("placing the traces in the split")
    workspace_of(store).splits.of(names(traces))
    put_evaluation(store, say)
    say(f"built in {time.perf_counter() - started:.0f} s")


def relax(engine: Engine) -> None:
    """Let this process write to SQLite without waiting for the disk: a power failure costs a rerun."""
    if engine.dialect.name == "sqlite":
        engine.dispose()
        event.listen(engine, "connect", lambda opened, _: opened.execute("PRAGMA synchronous=OFF"))


def names(traces: int) -> list[str]:
    """The ids of that many traces."""
    return [f"bench-{number:05d}" for number in range(traces)]


# ---------------------------------------------------------------- answers


def put_answers(store: SqlStore, traces: int, say: Say) -> None:
    """The traces and their verdicts; without a project yet, so that the queue is filled in one go."""
    generator = random.Random(20260607)
    versions = dataclasses.replace(
        VERSIONS, calibrator=workspace_of(store).calibrators.current().label
    )
    patterns = [_pattern(number, generator) for number in range(VARIANTS)]
    for done in _progress(range(0, traces, AT_ONCE), traces, "traces", say):
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
            f"feature_{n:02d}": round(generator.random(), 4) for n in range(21)
        }
    named = {**document, "content_hash": content_hash(made)}
    return made, verification_from_document(named)


# ---------------------------------------------------------------- people and what they said


def staff(store: SqlStore) -> tuple[Person, list[Person], Project]:
    """The reviewer who is measured, 20 others, and a project of two readings a claim."""
    people, projects = workspace_of(store).people, workspace_of(store).projects
    lead, project = people.local(), projects.default()
    if project.settings.reads_per_claim != 2:
        project = projects.change(
            project,
            ProjectSettings(reads_per_claim=2, dwell_milliseconds=0),
            by=lead,
            reason="for a measurement",
        )
    wanted = ["Measured", *(f"Reviewer {n:02d}" for n in range(PEOPLE))]
    for name in wanted:
        try:
            people.by_name(name)
        except NotFound:
            people.add(name, {Role.REVIEWER, Role.ADJUDICATOR}, by=lead)
    everybody = {person.name: person for person in people.everybody()}
    return everybody[wanted[0]], [everybody[name] for name in wanted[1:]], project


def put_readings(
    store: SqlStore, project: Project, others: Sequence[Person], claims: int, say: Say
) -> None:
    """Let that many claims be read twice; where the two differ, a third has decided every second."""
    with store.database.writing() as connection:
        keys = connection.execute(
            select(col(ClaimRow.claim_key)).order_by(col(ClaimRow.claim_key)).limit(claims)
        ).scalars()
        key_list = list(keys)
        for start in _progress(
            range(0, len(key_list), ROWS_AT_ONCE), len(key_list), "read claims", say
        ):
            some = key_list[start : start + ROWS_AT_ONCE]
            connection.execute(insert(AssignmentRow), list(_assignments(project, others, some)))
            connection.execute(insert(VoteRow), list(_votes(project, others, some)))
            if decisions := list(_decisions(project, others, some)):
                connection.execute(insert(AdjudicationRow), decisions)
            _stand(connection, some)
            _tell(connection, others, some)


def _reader(others: Sequence[Person], claim_key: int, slot: int) -> Person:
    return others[(claim_key + slot) % len(others)]


def _at(claim_key: int, slot: int) -> datetime:
    """Spread over half a year."""
    return MONDAY + timedelta(hours=claim_key % 4_000, minutes=slot)


def _slots(claim_key: int) -> tuple[int, ...]:
    return (1, 2, 3) if claim_key % DECIDED == 0 else (1, 2)


def _assignments(
    project: Project, others: Sequence[Person], keys: Sequence[int]
) -> Iterator[dict[str, object]]:
    for key in keys:
        for slot in _slots(key):
            yield {
                "project_id": project.project_id,
                "claim_key": key,
                "slot": slot,
                "person_id": _reader(others, key, slot).person_id,
                "state": "done",
                "reason": "uncertain",
                "created_at": _at(key, slot),
                "lease_until": _at(key, slot),
            }


def _votes(
    project: Project, others: Sequence[Person], keys: Sequence[int]
) -> Iterator[dict[str, object]]:
    for key in keys:
        for slot in (1, 2):
            supported = (key % 3 != 0) != (slot == 2 and key % DIFFER == 0)
            yield {
                "project_id": project.project_id,
                "claim_key": key,
                "person_id": _reader(others, key, slot).person_id,
                "slot": slot,
                "support": "supported" if supported else "unsupported",
                "source_id": "chart" if supported else None,
                "conflation": False,
                "rationale": "",
                "saw_model_output": False,
                "changed_after_reveal": False,
                "exposures": "[]",
                "seconds": 5.0 + key % 40,
                "queue_reason": "uncertain",
                "guideline_version": 1,
                "run_key": "sha256:" + "1" * 64,
                "threshold": 0.65,
                "nonce": f"n{key}-{slot}",
                "at": _at(key, slot),
            }


def _decisions(
    project: Project, others: Sequence[Person], keys: Sequence[int]
) -> Iterator[dict[str, object]]:
    for key in keys:
        if key % DECIDED == 0:
            yield {
                "project_id": project.project_id,
                "claim_key": key,
                "person_id": _reader(others, key, 3).person_id,
                "support": "supported",
                "source_id": "chart",
                "conflation": False,
                "cause": "ambiguous_claim",
                "guideline_needs_fix": False,
                "rationale": "The visit note decides.",
                "shown_order": "[]",
                "guideline_version": 1,
                "nonce": f"n{key}-3",
                "at": _at(key, 3),
            }


def _stand(connection: Connection, keys: Sequence[int]) -> None:
    """Bring the queue up to what was said."""
    tied = [key for key in keys if key % DIFFER == 0 and key % DECIDED]
    done = sorted(set(keys) - set(tied))
    for some, state in ((done, QueueState.SETTLED), (tied, QueueState.DISAGREEMENT)):
        for start in range(0, len(some), 500):  # a statement holds a limited number of values
            connection.execute(
                update(QueueRow)
                .where(col(QueueRow.claim_key).in_(some[start : start + 500]))
                .values(missing=0, state=state.value)
            )


def _tell(connection: Connection, others: Sequence[Person], keys: Sequence[int]) -> None:
    """Append the events of those readings to the trail, two a reading, as the product words them."""
    said = {person.person_id: person.name for person in others}
    last = connection.execute(
        select(col(EventRow.sequence), col(EventRow.hash))
        .order_by(col(EventRow.sequence).desc())
        .limit(1)
    ).one()
    sequence, previous = last.sequence, last.hash or BEGINNING
    rows = []
    for table, key, action in (
        (VoteRow, "vote_id", "vote.cast"),
        (AdjudicationRow, "adjudication_id", "claim.adjudicated"),
    ):
        for row in _written(connection, table, key, keys):
            for what, detail in (
                ("claim.assigned", {"project": row["project_id"], "from": None, "to": "open"}),
                (
                    action,
                    {
                        "project": row["project_id"],
                        "rows": [[table.__tablename__, row[key], row_hash(row)]],
                    },
                ),
            ):
                sequence += 1
                link = AuditEvent(
                    sequence=sequence,
                    at=row["at"],
                    actor=said[row["person_id"]],
                    action=what,
                    entity=f"claim {row['claim_key']}",
                    detail=json.dumps(detail, sort_keys=True),
                    previous_hash=previous,
                    hash="",
                )
                previous = event_hash(link)
                rows.append({**dataclasses.asdict(link), "hash": previous})
    connection.execute(insert(EventRow), rows)


def _written(
    connection: Connection, table: type[SQLModel], key: str, keys: Sequence[int]
) -> Iterator[dict[str, object]]:
    """The rows about these claims as the database gives them back: their hashes are of that."""
    target = table.__table__  # type: ignore[attr-defined]
    found = connection.execute(
        select(target)
        .where(target.c.claim_key >= keys[0], target.c.claim_key <= keys[-1])
        .order_by(target.c[key])
    )
    return (dict(row._mapping) for row in found)


# ---------------------------------------------------------------- repairs


def put_repairs(store: SqlStore, count: int, say: Say) -> None:
    """Repairs of the first traces, as the lexical reader makes them."""
    trace = _pattern(0, random.Random(1)).trace
    repaired = repair_answer(verify_lexically(trace), verify_lexically, Config(), load_families())
    pattern = json.dumps(repair_document(outcome_of(repaired)))
    for number in _progress(range(count), count, "repairs", say):
        stored = store.get_trace(f"bench-{number:05d}")
        workspace_of(store).repairs.put(
            stored.content_hash, json.loads(pattern.replace(NUMBER, f"{number:05d}"))
        )


def put_evaluation(store: SqlStore, say: Say) -> None:
    """An evaluated packet of 2,000 claims beside a SQLite file, where the screens look for it."""
    beside = store.database.engine.url.database
    if store.database.engine.dialect.name == "sqlite" and beside:
        folder = Path(beside).parent / "evaluations"
        if not folder.exists():
            say("keeping an evaluated packet")
            keep_evaluated(folder, claims=EVALUATED)


def _progress(steps: range, total: int, what: str, say: Say) -> Iterator[int]:
    """The steps, saying every few seconds how far they are and how long it may still take."""
    began = told = time.perf_counter()
    for step in steps:
        yield step
        now, done = time.perf_counter(), min(step + steps.step, total)
        if now - told > 5 or done == total:
            told = now
            left = (now - began) / done * (total - done)
            say(f"  {done:,} of {total:,} {what}, about {left:.0f} s left")
