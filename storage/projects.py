"""Projects: how claims are reviewed. Every change of a setting is an event with its reason."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, update
from sqlmodel import col

from core.errors import Conflict, NotFound
from core.review.assignment import check_reason, check_settings
from core.review.records import Person, Project, ProjectSettings, Role
from storage import queue
from storage.audit import append_event
from storage.columns import plain_text
from storage.people import allow
from storage.queue import rebuild
from storage.store import SqlStore
from storage.tables import PROJECT, ProjectRow

QUEUE_SETTINGS = ("reads_per_claim", "audit_share", "slice")  # a change of these moves claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Projects:
    """The project of a store: there is one."""

    store: SqlStore

    def default(self) -> Project:
        """The project; made at first use, with one annotation a claim."""
        with self.store.database.reading() as connection:
            found = queue.the_project(connection)
        if found is not None:
            return found
        with self.store.database.writing() as connection:
            return queue.the_project(connection) or _made(connection, self.store.now())

    def existing(self) -> Project | None:
        """The project where it is made already; None of a database in which nobody has reviewed."""
        with self.store.database.reading() as connection:
            return queue.the_project(connection)

    def change(
        self, project: Project, settings: ProjectSettings, *, by: Person, reason: str
    ) -> Project:
        """The project with other settings.

        Raises NotAllowed, InputError, and Conflict when somebody changed it since ``project`` was
        read.
        """
        check_settings(settings)
        stated = check_reason(reason, "a change of the settings")
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "change the settings")
            now = project_at(connection)
            if now.version != project.version:
                raise Conflict("somebody else changed these settings meanwhile; reloaded")
            before, after = _plain(now.settings), _plain(settings)
            if before == after:
                return now
            connection.execute(
                update(ProjectRow)
                .where(col(ProjectRow.project_id) == PROJECT)
                .values(**after, version=now.version + 1)
            )
            moved = [name for name in after if after[name] != before[name]]
            append_event(
                connection,
                self.store.now(),
                by.name,
                "project.changed",
                f"project {project.project_id}",
                {
                    "from": {name: before[name] for name in moved},
                    "to": {name: after[name] for name in moved},
                    "reason": stated,
                },
            )
            changed = project_at(connection)
            if any(name in QUEUE_SETTINGS for name in moved):
                rebuild(connection, changed)
            return changed


def project_at(connection: Connection) -> Project:
    """The project as it is now; raises NotFound before its first use."""
    project = queue.the_project(connection)
    if project is None:
        raise NotFound("nobody has reviewed here yet")
    return project


def _made(connection: Connection, at: datetime) -> Project:
    values = _plain(ProjectSettings())
    project_id = connection.execute(
        insert(ProjectRow)
        .values(**values, version=1, created_at=at)
        .returning(col(ProjectRow.project_id))
    ).scalar_one()
    assert project_id is not None
    append_event(
        connection, at, "this machine", "project.added", f"project {project_id}", {"to": values}
    )
    project = project_at(connection)
    rebuild(connection, project)
    return project


def _plain(settings: ProjectSettings) -> dict[str, object]:
    values = dataclasses.asdict(settings)
    slice_name = None if settings.slice is None else plain_text(settings.slice)
    return {**values, "name": plain_text(settings.name.strip()), "slice": slice_name}
