"""The trail is append-only, and every change behind its back is found."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from builders import a_source, a_trace
from sqlmodel import select
from tables import cases
from verdicts import a_verification

from core.codec import verdict_document
from core.errors import NotFound, ProvenanceGuardError, StoreError
from core.records import Decision, FileCount, IngestReport, ToolCount, Trace, Verification
from storage.audit import BEGINNING
from storage.store import SqlStore
from storage.tables import ImportRecord

RUN = "sha256:" + "1" * 64
A_REPORT = IngestReport(
    files=(FileCount(file="a.jsonl", format="native", version=None, traces=2),),
    new=2,
    changed=0,
    unchanged=0,
    tools=(ToolCount(server="ehr", tool="load_patient_history", calls=2, not_evidence=0),),
    skipped=("a.jsonl:3: not JSON",),
    skipped_count=1,
    without_answer=0,
    without_evidence=0,
)


def a_verdict(trace: Trace) -> Verification:
    return a_verification(trace, {"chart": "patient_record"}, [])


@pytest.fixture
def filled(store: SqlStore) -> SqlStore:
    """Two traces and their verdicts, one import record."""
    traces = [a_trace(f"Answer {n}.", a_source("Evidence."), trace_id=f"t{n}") for n in range(2)]
    store.put_traces(traces)
    store.put_import(A_REPORT)
    store.put_verdicts(RUN, [a_verdict(trace) for trace in traces])
    return store


def tamper(store: SqlStore, trigger: str, statement: str) -> None:
    """Do what a person with access to the database file can do."""
    with store.database.writing() as connection:
        on_table = trigger.split("_refuses_")[0]
        suffix = "" if connection.dialect.name == "sqlite" else f" ON {on_table}"
        connection.exec_driver_sql(f"DROP TRIGGER {trigger}{suffix}")
        connection.exec_driver_sql(statement)


def test_a_trail_that_nobody_touched_is_intact(filled: SqlStore) -> None:
    report = filled.verify_chain()

    assert report.problems == ()
    assert (report.events, report.traces, report.verdicts) == (3, 2, 2)


def test_an_empty_trail_is_intact(store: SqlStore) -> None:
    assert store.verify_chain().intact


def test_events_say_who_did_what_and_follow_each_other(filled: SqlStore) -> None:
    events = filled.audit_events(newest_first=False)

    assert [event.action for event in events] == [
        "traces.stored",
        "files.imported",
        "verdicts.stored",
    ]
    assert {event.actor for event in events} == {"tester"}
    assert [event.previous_hash for event in events] == [
        BEGINNING,
        events[0].hash,
        events[1].hash,
    ]
    assert filled.audit_events(limit=1)[0] == events[-1]


def test_no_text_of_a_trace_is_in_the_trail(filled: SqlStore) -> None:
    details = "".join(event.detail for event in filled.audit_events())

    assert "Answer" not in details
    assert "Evidence" not in details


@cases
def test_the_database_refuses_to_change_the_past(filled: SqlStore, statement: str) -> None:
    refused = pytest.raises(ProvenanceGuardError, match="append-only|syntax error")
    with refused, filled.database.writing() as connection:
        connection.exec_driver_sql(statement)

    assert filled.verify_chain().intact


@cases
def test_a_change_behind_the_triggers_is_found(
    filled: SqlStore, trigger: str, statement: str, found: str
) -> None:
    tamper(filled, trigger, statement)

    report = filled.verify_chain()

    assert not report.intact
    assert any(found in problem for problem in report.problems), report.problems


def test_a_verdict_is_never_overwritten(filled: SqlStore) -> None:
    trace = filled.get_trace("t0").trace
    verdict = a_verdict(trace)
    changed = replace(verdict, answer=replace(verdict.answer, decision=Decision.UNAVAILABLE))

    filled.put_verdicts(RUN, [changed])

    assert filled.get_verdict("t0").verification.answer.decision is Decision.ALLOW
    assert len(filled.audit_events()) == 3


def test_a_window_with_one_bad_verdict_keeps_none_of_them(filled: SqlStore) -> None:
    trace = filled.get_trace("t0").trace
    later = "sha256:" + "2" * 64

    with pytest.raises(StoreError, match="no such trace"):
        filled.put_verdicts(
            later, [a_verdict(trace), replace(a_verdict(trace), content_hash="sha256:unknown")]
        )

    with pytest.raises(NotFound):
        filled.get_verdict("t0", run_key=later)
    assert [run.run_key for run in filled.runs()] == [RUN]
    assert len(filled.audit_events()) == 3


def test_erasing_a_trace_takes_its_verdicts_with_it_and_is_noticed(filled: SqlStore) -> None:
    with filled.database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM trace_version WHERE trace_id = 't0'")

    with pytest.raises(NotFound):
        filled.get_verdict("t0")
    problems = filled.verify_chain().problems
    assert sum("is gone" in problem for problem in problems) == 2
    assert all("gone" in problem for problem in problems)


def test_an_import_is_recorded_with_what_was_understood_of_it(filled: SqlStore) -> None:
    with filled.database.reading() as connection:
        (stored,) = connection.execute(select(ImportRecord.__table__))  # type: ignore[attr-defined]

    assert json.loads(stored.files) == [asdict(file) for file in A_REPORT.files]
    assert json.loads(stored.tools) == [asdict(tool) for tool in A_REPORT.tools]
    assert tuple(json.loads(stored.skipped)) == A_REPORT.skipped
    assert stored.actor == "tester"


def test_a_document_comes_back_with_its_order_and_values(filled: SqlStore) -> None:
    trace = filled.get_trace("t1").trace

    kept = filled.get_verdict("t1").verification

    assert json.dumps(verdict_document(kept)) == json.dumps(verdict_document(a_verdict(trace)))
