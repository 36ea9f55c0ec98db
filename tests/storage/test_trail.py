"""The trail as the Audit page reads it, on both engines: the same events, found by an index."""

from __future__ import annotations

import dataclasses
import tracemalloc

import pytest
from databases import workspace_of
from reviewing import Office, an_office
from sqlalchemy import text

from core.review.records import Person
from storage import audit
from storage.store import SqlStore
from storage.trail import TrailFilters


@pytest.fixture
def office(store: SqlStore) -> Office:
    """A trail of some length, by several people."""
    office = an_office(store, traces=2)
    for name in ("Ada", "Ben", "Ada", "Cleo"):
        office.read(name)
    return office


def auditor(office: Office) -> Person:
    """Who may read the trail."""
    return office.people["Otto"]


def test_names_and_actions_are_those_of_all_events_in_order(office: Office) -> None:
    trail, events = office.workspace.trail, office.store.audit_events()

    assert trail.actors() == tuple(sorted({event.actor for event in events}))
    assert trail.actions() == tuple(sorted({event.action for event in events}))


def test_an_empty_trail_has_neither(store: SqlStore) -> None:
    assert workspace_of(store).trail.actors() == workspace_of(store).trail.actions() == ()


def test_pages_put_together_are_the_filtered_trail(office: Office) -> None:
    trail, everything = office.workspace.trail, office.store.audit_events()

    for filters in (
        TrailFilters(),
        TrailFilters(actor="Ada"),
        TrailFilters(action="claim.assigned"),
        TrailFilters(actor="Ada", action="vote.cast"),
        TrailFilters(actor="nobody"),
    ):
        expected = [
            event
            for event in everything
            if filters.actor in (None, event.actor) and filters.action in (None, event.action)
        ]
        found = []
        for offset in range(0, len(everything) + 3, 3):
            page = trail.find(filters, auditor(office), offset=offset, limit=3)
            assert page.total == len(expected)
            assert len(page.entries) <= 3
            found += [entry.event for entry in page.entries]
        exported = [one["sequence"] for one in trail.export(filters, auditor(office))]

        assert found == expected
        assert exported == [event.sequence for event in reversed(expected)]


def test_the_latest_of_some_kinds_are_found_however_much_else_happened(office: Office) -> None:
    kinds = {"person.added", "role.granted", "vote.cast"}
    expected = [event for event in office.store.audit_events() if event.action in kinds]

    for limit in (1, 3, 500):
        assert list(office.workspace.trail.lately(kinds, limit=limit)) == expected[:limit]
    assert office.workspace.trail.lately((), limit=5) == ()


def test_the_filters_of_the_audit_page_read_an_index(office: Office) -> None:
    database = office.store.database
    on_sqlite = database.engine.dialect.name == "sqlite"
    with database.reading() as connection:
        if not on_sqlite:  # a table of a few rows is read whole unless that is made expensive
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            connection.execute(text("SET LOCAL enable_bitmapscan = off"))
        for column in ("actor", "action"):
            for query in (
                f"SELECT * FROM audit_event WHERE {column} = 'x' ORDER BY sequence DESC LIMIT 100",
                f"SELECT count(*) FROM audit_event WHERE {column} = 'x'",
                f"SELECT min({column}) FROM audit_event WHERE {column} > 'x'",
            ):
                explain = "EXPLAIN QUERY PLAN " if on_sqlite else "EXPLAIN "
                plan = " ".join(str(row) for row in connection.execute(text(explain + query)))
                assert f"ix_audit_event_{column}_sequence" in plan, plan
                assert "TEMP B-TREE" not in plan and "Sort" not in plan, plan


@pytest.mark.stress
def test_a_long_trail_is_exported_in_the_memory_of_a_piece_of_it(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    number, detail = 6_000, {"reason": "x" * 1_000}
    with store.database.writing() as connection:
        for _ in range(number):
            audit.append_event(
                connection, office.clock(), "Ada", "claim.assigned", "claim 1", detail
            )

    events = workspace_of(store).trail.export(TrailFilters(actor="Ada"), auditor(office))
    tracemalloc.start()
    count = sum(1 for _ in events)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == number
    assert peak < number * 1_000  # less than the details alone; one piece holds a sixth of them


def test_who_is_neither_lead_nor_auditor_gets_no_byte_of_the_trail(office: Office) -> None:
    reviewer = dataclasses.replace(office.people["Ada"])
    trail = office.workspace.trail

    for read in (trail.find, trail.export):
        with pytest.raises(Exception, match="lead or auditor"):
            read(TrailFilters(), reviewer)
