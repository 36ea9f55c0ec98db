"""Keys that people chose: kept with their name, each change an event, nobody else's."""

from __future__ import annotations

import pytest
from reviewing import an_office, problems_beside_the_clock
from sqlalchemy import text

from core.errors import InputError
from storage.checking import check_database
from storage.store import SqlStore


def test_keys_belong_to_one_person_and_the_latest_count(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    bindings = office.workspace.key_bindings
    ada, ben, otto = (office.people[name] for name in ("Ada", "Ben", "Otto"))

    bindings.bind({"keep": "M"}, by=ada)
    bindings.bind({"keep": "M", "undo": "Z"}, by=ada)
    bindings.bind({"keep": "M", "undo": "Z"}, by=ada)  # nothing new: nothing is written
    bindings.bind({"next_claim": "Z"}, by=otto)  # who writes nothing still has a keyboard

    assert bindings.of(ada) == {"keep": "M", "undo": "Z"}
    assert bindings.of(ben) == {}
    events = [
        each for each in store.audit_events(newest_first=False) if each.action == "keys.bound"
    ]
    assert [each.actor for each in events] == ["Ada", "Ada", "Otto"]
    assert '"to": {"undo": "Z"}' in events[1].detail
    assert problems_beside_the_clock(store) == []


def test_keys_are_only_ever_added_and_a_change_outside_is_seen(store: SqlStore) -> None:
    office = an_office(store, traces=1)
    office.workspace.key_bindings.bind({"keep": "M"}, by=office.people["Ada"])

    with pytest.raises(Exception, match="append-only"), store.database.writing() as connection:
        connection.execute(text("UPDATE key_binding SET keys = '{}'"))
    with pytest.raises(InputError):
        office.workspace.key_bindings.bind({"keep": ""}, by=office.people["Ada"])

    assert not [one for one in check_database(store.database).problems if "key_binding" in one]
