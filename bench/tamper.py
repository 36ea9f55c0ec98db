"""Somebody who knows the source and writes only the database file: what does ``audit verify`` notice?

Every table of a database that holds something in each of them: every column changed, a row deleted, a
row added. Triggers are dropped before and made again after, row hashes and the trail's links are
computed anew to fit; only the key is not there. ``--write`` puts the table into the threat model.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from databases import a_store, in_one_file
from forests import a_calibrator
from lexical import verify_lexically
from reviewing import (
    SUPPORTED,
    UNSUPPORTED,
    Office,
    a_reviewed_trace,
    an_office,
    labels_in,
)
from sqlalchemy import select
from sqlmodel import SQLModel
from verdicts import SHOWN, with_checks

from bench.report import Report
from core.attribution.families import load_families
from core.config import Config
from core.records import VerdictLabel, Verification
from core.repair.loop import repair_answer
from core.review.items import Draft
from core.review.pre_labels import LabelledClaim, pre_label_of
from core.review.records import Cause, Split
from core.workflows.ingest import IngestReport
from core.workflows.repair import outcome_of
from storage.audit import BEGINNING, event_hash, row_hash, sha256_of
from storage.checking import check_database
from storage.engine import open_database
from storage.records import AuditEvent
from storage.repairs import Choice
from storage.seals import UNCOVERED
from storage.splits import Splits
from storage.store import unverified
from storage.triage import MarkKind

THREATS = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "threat-model.md"
BEGIN, END = "<!-- python -m bench tamper --write -->", "<!-- end of the table -->"
ALTER, DELETE, INSERT = "alter", "delete", "insert"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was noticed of one table: of each column changed, of a row deleted, of a row added."""

    table: str
    altered: dict[str, bool]
    deleted: bool
    inserted: bool

    @property
    def unnoticed(self) -> tuple[str, ...]:
        """What nobody would notice, in words; a column by its name."""
        whole = [
            word
            for word, seen in (("a row deleted", self.deleted), ("a row added", self.inserted))
            if not seen
        ]
        return (*(name for name, seen in self.altered.items() if not seen), *whole)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--write", action="store_true", help="put the table into the threat model")


def run(options: argparse.Namespace) -> Report:
    """The table; failed where something unnoticed has no reason."""
    with tempfile.TemporaryDirectory(prefix="pg-tamper-") as made, keys_in(Path(made) / "keys"):
        file = build(Path(made))
        every = [found(file, table) for table in tables(file)]
    report = table_of(every)
    if options.write:
        text = THREATS.read_text(encoding="utf-8")
        head, _, rest = text.partition(BEGIN)
        lines = "\n".join(report.lines()).strip()
        THREATS.write_text(
            f"{head}{BEGIN}\n\n{lines}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8"
        )
    return report


def table_of(every: Sequence[Found]) -> Report:
    """One row a table: how much of it is noticed, what is not, and why."""
    rows = [
        (
            f"`{one.table}`",
            f"{sum(one.altered.values())} of {len(one.altered)} columns",
            "noticed" if one.deleted else "no",
            "noticed" if one.inserted else "no",
            ", ".join(one.unnoticed) or "–",
            UNCOVERED.get(one.table, "") if one.unnoticed else "–",
        )
        for one in every
    ]
    report = Report(failed=any(one.unnoticed and one.table not in UNCOVERED for one in every))
    columns = ("table", "changed", "row deleted", "row added", "not noticed", "because")
    return report.table("", columns, rows)


def keys_in(folder: Path) -> patch.dict:  # type: ignore[valid-type]
    """Keys of its own, while this lasts."""
    return patch.dict("os.environ", {"PROVENANCEGUARD_KEYS": str(folder)})


def tables(file: Path) -> list[str]:
    """Every table of the database but SQLite's own."""
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        return [name for (name,) in rows if not name.startswith("sqlite_")]


def found(file: Path, table: str) -> Found:
    """Every way of tampering with that table, each on a copy of its own."""
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()
        names = {row[1]: row[2] for row in database.execute(f"PRAGMA table_info({table})")}
    assert rows, f"{table} is empty: nothing is shown"
    # What is in hand and what is done may differ; of what is only added, one is like another.
    some = {rows[0], rows[-1]} if table in UNCOVERED else {rows[-1]}
    altered = {
        name: all(
            noticed(file, table, f"UPDATE {table} SET {name} = ? WHERE rowid = ?",
                    (_other(row[place], names[name]), row[0]))
            for row in some
        )
        for place, name in enumerate(names, 1)
    }  # fmt: skip
    deleted = all(
        noticed(file, table, f"DELETE FROM {table} WHERE rowid = ?", (row[0],)) for row in some
    )
    marks = ", ".join("?" * len(names))
    new = list(map(_other, rows[-1][1:], names.values()))
    inserted = noticed(file, table, f"INSERT INTO {table} VALUES ({marks})", new)
    return Found(table=table, altered=altered, deleted=deleted, inserted=inserted)


def noticed(file: Path, table: str, statement: str, values: Sequence[object]) -> bool:
    """Whether the check finds a problem after that statement, behind the program's back."""
    with tempfile.TemporaryDirectory(prefix="pg-tamper-") as made:
        copy = Path(made) / file.name
        shutil.copy(file, copy)
        before = _hashes(copy, table)
        with closing(sqlite3.connect(copy, isolation_level=None)) as database:
            database.execute("PRAGMA ignore_check_constraints = ON")
            triggers = database.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                database.execute(f"DROP TRIGGER {name}")
            try:
                database.execute(statement, values)
            except sqlite3.IntegrityError:  # one is there already: another one, then
                database.execute(
                    statement,
                    [_far(value) for value in values[:-1]] + [values[-1]]
                    if statement.startswith("UPDATE")
                    else list(map(_far, values)),
                )
            if table != "audit_event":
                _fit_the_trail(copy, database, table, before)
            for _, sql in triggers:
                database.execute(sql)
        opened = open_database(str(copy))
        # Elsewhere than where it was made, so that anchors find it by what it is.
        problems = check_database(opened).problems
        opened.close()
        return bool(problems)


def _hashes(file: Path, table: str) -> list[str]:
    """The hash of every row and document of the table, as events tell them."""
    model = SQLModel.metadata.tables.get(table)
    if model is None:
        return []
    database = open_database(str(file))
    said: list[str] = []
    try:
        with database.reading() as connection:
            for row in connection.execute(select(model).order_by(*model.primary_key.columns)):
                said.append(row_hash(row._mapping))
                if "document" in model.columns:
                    said.append(sha256_of(row.document))
    except (TypeError, ValueError):  # such a value was never written: no hash is to be told of it
        return []
    finally:
        database.close()
    return said


def _fit_the_trail(
    file: Path, database: sqlite3.Connection, table: str, before: Sequence[str]
) -> None:
    """Every event says the new hashes in place of the old ones, and follows the one before it."""
    after = _hashes(file, table)
    moved = {
        old: new for old, new in zip(before, after, strict=False) if old != new
    } if len(before) == len(after) else {}  # fmt: skip
    if not moved:
        return
    opened = open_database(str(file))
    with opened.reading() as connection:
        model = SQLModel.metadata.tables["audit_event"]
        events = [
            AuditEvent(**row._mapping)
            for row in connection.execute(select(model).order_by(model.c.sequence))
        ]
    opened.close()
    previous = BEGINNING
    for event in events:
        detail = event.detail
        for old, new in moved.items():
            detail = detail.replace(old, new)
        event = replace(event, detail=detail, previous_hash=previous)
        previous = event_hash(event)
        database.execute(
            "UPDATE audit_event SET detail = ?, previous_hash = ?, hash = ? WHERE sequence = ?",
            (detail, event.previous_hash, previous, event.sequence),
        )


def _other(value: object, kind: str) -> object:
    """Another value of the same kind, as like it as can be; ``kind`` is how the column is declared."""
    if value is None:
        value = "2026-03-02 09:00:00.000000" if "DATE" in kind else "x" if "CHAR" in kind else 0.5
    if isinstance(value, int):
        return 1 - value if value in (0, 1) else value + 1
    if isinstance(value, float):
        return value + 0.125
    if isinstance(value, bytes):
        return value + b"\0"
    if isinstance(value, str):
        if (last := re.search(r"[0-9a-zA-Z](?=[^0-9a-zA-Z]*$)", value)) is None:
            return value + " "
        other = "2" if last.group() == "1" else "1" if last.group().isdigit() else "a"
        other = "b" if last.group() == "a" else other
        return value[: last.start()] + other + value[last.end() :]
    raise TypeError(kind)


def _far(value: object) -> object:
    """A value that nothing has."""
    if isinstance(value, int | float) and value not in (0, 1):
        return value + 1000
    return value + "x" if isinstance(value, str) else value


def build(folder: Path) -> Path:
    """A database in which every table holds something that people and programs wrote."""
    a_calibrator(folder / "shipped", threshold=0.5)
    sliced = [_sliced(a_reviewed_trace(number)) for number in range(1, 5)]
    office = an_office(
        a_store(folder / "w.db", actor="test"), verifications=sliced, reads_per_claim=2,
        shipped=folder / "shipped",
    )  # fmt: skip
    _reviewed(office)
    _set_up(office, folder)
    in_one_file(office.store)
    problems = office.store.verify_chain().problems
    office.store.close()
    assert not problems, problems
    return Path(office.store.name)


def _sliced(verification: Verification) -> Verification:
    trace = replace(verification.trace, extra={"slices": ["ward 3", "ward 5"]})
    one, two, wrong, *more = verification.claims
    claims = (one, two, replace(wrong, verdict=VerdictLabel.CONTRADICTED), *more)
    return with_checks(replace(verification, trace=trace, claims=claims), 3, SHOWN)


def _reviewed(office: Office) -> None:
    """Readings agreed, tied, decided, taken up again, given back, in hand; a round, in part read."""
    work, people, lea = office.workspace, office.people, office.people["Lea"]
    for number in range(4):
        office.read("Ada", SUPPORTED, rationale="the chart says so")
        office.read("Ben", UNSUPPORTED if number % 2 else SUPPORTED)
    dora = office.desk("Dora")
    for _ in range(2):
        tie = dora.next_disagreement()
        assert tie is not None
        nonce = dora.show(tie.assignment_id)
        office.clock.advance(seconds=9)
        dora.adjudicate(
            tie, nonce, UNSUPPORTED, cause=Cause.GUIDELINE_GAP, guideline_needs_fix=True, rule="3",
            rationale="rule 3 is silent",
        )  # fmt: skip
    work.triage.reopen(tie.claim_key, "misread", by=lea)
    ada, ben = office.desk("Ada"), office.desk("Ben")
    given = ben.next_item()
    assert given is not None
    ben.decline(given.assignment_id, "a friend's chart")
    held = ada.next_item()
    assert held is not None
    ada.save_draft(held.assignment_id, Draft(rationale="half"), ada.show(held.assignment_id))
    annotators = [people["Ben"], people["Cleo"]]
    work.rounds.begin(annotators, by=lea, count=2)
    item = work.rounds.next_item(people["Ben"])
    assert item is not None
    work.rounds.label(item, SUPPORTED, by=people["Ben"], seconds=3.0)
    work.rounds.close(by=lea)
    assert office.desk("Otto").open_verdict(*_verdict(office, "review-0003")) is None


def _verdict(office: Office, trace_id: str) -> tuple[str, str]:
    found = office.store.get_verdict(trace_id)
    return found.content_hash, found.run_key


def _set_up(office: Office, folder: Path) -> None:
    """Marks, requests, jobs, a repair, a split, a calibrator that rules, keys, words, a signature."""
    work, lea, ada = office.workspace, office.people["Lea"], office.people["Ada"]
    work.triage.mark(["review-0003"], MarkKind.TAG, "weights", by=ada)
    work.triage.assign(["review-0004"], ada, by=lea)
    work.jobs.put(unverified(office.store))
    work.jobs.put(work.triage.positions(["review-0003", "review-0004"]))
    verdict = office.store.get_verdict("review-0003")
    repair = outcome_of(
        repair_answer(
            verify_lexically(verdict.verification.trace),
            verify_lexically,
            Config(),
            load_families(),
        )
    )
    said = verdict.verification.claims[0].claim
    made = pre_label_of({"label": "supported", "status": "agreement"})
    assert made is not None
    row = LabelledClaim(
        claim_id=said.claim_id, trace_id="review-0003", text=said.text, content_hash=None, made=made
    )
    assert work.pre_labels.put([row], by=lea) == (1, [])
    kept = work.repairs.put(verdict.content_hash, repair)
    work.repairs.choose(kept, repair.actions[0].action_id, Choice.ACCEPT, reviewer="Ada")
    Splits(store=office.store).say("review-0003", Split.TRAIN, by="Lea")
    table = f"trace_id,claim,label\nreview-0004,{said.text},contradicted\n"
    labels_in(work.label_intake(), lea, table, "Guest")
    work.label_intake().withdraw(work.label_intake().imports()[0].key, by=lea)
    a_calibrator(folder / "fitted", above=0.8, threshold=0.7)
    name = work.calibrators.keep(folder / "fitted", {"claims": 12}, {"votes": [1]}, by=lea)
    work.calibrators.promote(name, "fewer good claims blocked", lea)
    work.key_bindings.bind({"keep": "M"}, by=ada)
    work.word_lists.keep_own(["metformin"], by=ada)
    work.packet_signatures.lock("{}", "approval", by=lea)
    office.store.put_import(
        IngestReport(
            files=(),
            new=0,
            changed=0,
            unchanged=0,
            tools=(),
            skipped=(),
            skipped_count=0,
            without_answer=0,
            without_evidence=0,
        )
    )
