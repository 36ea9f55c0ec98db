"""Word lists: the words that a person or a project wants lit, one list after another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, select
from sqlmodel import col

from core.review.records import Person, Project, Role
from core.review.word_lists import WordLists as Words
from core.review.word_lists import read_words
from storage.audit import add_row
from storage.people import allow, person_at
from storage.preference_tables import WordList
from storage.projects import project_at
from storage.store import SqlStore


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLists:
    """The word lists of a store."""

    store: SqlStore

    def of(self, project: Project, person: Person) -> Words:
        """The words of that person, and of that project."""
        with self.store.database.reading() as connection:
            return Words(
                mine=_latest(connection, _own(person.person_id)),
                team=_latest(connection, _of_project(project.project_id)),
            )

    def keep_own(self, words: Sequence[str], *, by: Person) -> None:
        """Keep these as that person's words; raises InputError, NotFound, NotAllowed."""
        with self.store.database.writing() as connection:
            person = person_at(connection, by.person_id)
            self._keep(connection, words, person, None)

    def keep_for_project(self, project: Project, words: Sequence[str], *, by: Person) -> None:
        """Keep these as the project's words (lead); raises InputError, NotAllowed."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "choose the words that everybody sees lit")
            now = project_at(connection, project.project_id)
            self._keep(connection, words, person_at(connection, by.person_id), now.project_id)

    def _keep(
        self, connection: Connection, words: Sequence[str], person: Person, project_id: int | None
    ) -> None:
        wanted = read_words("\n".join(words))
        whose = _own(person.person_id) if project_id is None else _of_project(project_id)
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


def _of_project(project_id: int) -> ColumnElement[bool]:
    return col(WordList.project_id) == project_id


def _latest(connection: Connection, whose: ColumnElement[bool]) -> tuple[str, ...]:
    held = connection.execute(
        select(col(WordList.words)).where(whose).order_by(col(WordList.list_id).desc()).limit(1)
    ).scalar()
    return () if held is None else tuple(str(each) for each in json.loads(held))
