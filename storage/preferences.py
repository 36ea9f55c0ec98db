"""What people set up for themselves: their keys, and the words that they or a project want lit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, select
from sqlmodel import col

from core.errors import InputError
from core.review.records import Person, Role
from core.review.word_lists import WordLists as Words
from core.review.word_lists import read_words
from storage.audit import add_row
from storage.people import allow, person_at
from storage.projects import project_at
from storage.store import SqlStore
from storage.tables import KeyBinding, WordList

MOST_KEYS = 200
OF_PROJECT = col(WordList.project_id).is_not(None)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLists:
    """The word lists of a store."""

    store: SqlStore

    def of(self, person: Person) -> Words:
        """The words of that person, and those of the project."""
        with self.store.database.reading() as connection:
            return Words(
                mine=_latest(connection, _own(person.person_id)),
                team=_latest(connection, OF_PROJECT),
            )

    def keep_own(self, words: Sequence[str], *, by: Person) -> None:
        """Keep these as that person's words; raises InputError, NotFound, NotAllowed."""
        with self.store.database.writing() as connection:
            person = person_at(connection, by.person_id)
            self._keep(connection, words, person, None)

    def keep_for_project(self, words: Sequence[str], *, by: Person) -> None:
        """Keep these as the project's words (lead); raises InputError, NotAllowed."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "choose the words that everybody sees lit")
            person = person_at(connection, by.person_id)
            self._keep(connection, words, person, project_at(connection).project_id)

    def _keep(
        self, connection: Connection, words: Sequence[str], person: Person, project_id: int | None
    ) -> None:
        wanted = read_words("\n".join(words))
        whose = _own(person.person_id) if project_id is None else OF_PROJECT
        before = _latest(connection, whose)
        if before == wanted:
            return
        entity = f"project {project_id}" if project_id else f"person {person.person_id}"
        add_row(
            connection,
            WordList,
            {
                "project_id": project_id,
                "person_id": person.person_id,
                "words": json.dumps(wanted),
                "at": self.store.now(),
            },
            at=self.store.now(),
            actor=person.name,
            action="words.chosen",
            entity=entity,
            detail={
                "added": [each for each in wanted if each not in before],
                "removed": [each for each in before if each not in wanted],
            },
        )


def _own(person_id: int) -> ColumnElement[bool]:
    return col(WordList.project_id).is_(None) & (col(WordList.person_id) == person_id)


def _latest(connection: Connection, whose: ColumnElement[bool]) -> tuple[str, ...]:
    held = connection.execute(
        select(col(WordList.words)).where(whose).order_by(col(WordList.list_id).desc()).limit(1)
    ).scalar()
    return () if held is None else tuple(str(each) for each in json.loads(held))
