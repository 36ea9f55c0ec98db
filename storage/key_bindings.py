"""Key bindings: which keys somebody chose for their own keyboard, kept with their name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlmodel import col

from core.errors import InputError
from core.review.records import Person
from storage.audit import add_row
from storage.people import person_at
from storage.preference_tables import KeyBinding
from storage.store import SqlStore

MOST_KEYS = 200
NAME_CHARACTERS = 60
KEY_CHARACTERS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyBindings:
    """The keys that people of a store chose."""

    store: SqlStore

    def of(self, person: Person) -> Mapping[str, str]:
        """What a key does → the key that this person chose for it; empty: nothing was chosen."""
        with self.store.database.reading() as connection:
            return _keys(connection, person.person_id)

    def bind(self, keys: Mapping[str, str], *, by: Person) -> None:
        """Keep these as all the keys that this person chose; an event says what changed.

        Raises InputError for what can be no keys, NotFound, NotAllowed without a role.
        """
        _check(keys)
        with self.store.database.writing() as connection:
            person = person_at(connection, by.person_id)
            before = _keys(connection, person.person_id)
            if dict(before) == dict(keys):
                return
            moved = sorted({*before, *keys} - {n for n in keys if before.get(n) == keys[n]})
            add_row(
                connection,
                KeyBinding,
                {
                    "person_id": person.person_id,
                    "keys": json.dumps(dict(keys), sort_keys=True),
                    "at": self.store.now(),
                },
                at=self.store.now(),
                actor=person.name,
                action="keys.bound",
                entity=f"person {person.person_id}",
                detail={
                    "from": {name: before.get(name) for name in moved},
                    "to": {name: keys.get(name) for name in moved},
                },
            )


def _keys(connection: Connection, person_id: int) -> Mapping[str, str]:
    held = connection.execute(
        select(col(KeyBinding.keys))
        .where(col(KeyBinding.person_id) == person_id)
        .order_by(col(KeyBinding.binding_id).desc())
        .limit(1)
    ).scalar()
    return {} if held is None else {str(name): str(key) for name, key in json.loads(held).items()}


def _check(keys: Mapping[str, str]) -> None:
    if len(keys) > MOST_KEYS:
        raise InputError(f"expected at most {MOST_KEYS} keys, found {len(keys)}", path="keys")
    for name, key in keys.items():
        if not 1 <= len(name) <= NAME_CHARACTERS or not 1 <= len(key) <= KEY_CHARACTERS:
            raise InputError(f"expected a key, found {name!r:.80}: {key!r:.80}", path="keys")
