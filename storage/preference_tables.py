"""The tables of what people set up for themselves; the latest row of a person counts.

key_binding     which keys somebody chose for their own keyboard
word_list       which words somebody, or a whole project, wants lit
"""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import Index, Text
from sqlmodel import Field, SQLModel

from storage.columns import UtcDateTime


class KeyBinding(SQLModel, table=True):
    """All keys that a person chose, as they were from then on; rows never change."""

    __tablename__: ClassVar[str] = "key_binding"
    __table_args__ = (Index(None, "person_id"), {"sqlite_autoincrement": True})

    binding_id: int | None = Field(default=None, primary_key=True)
    person_id: int = Field(foreign_key="person.person_id")
    keys: str = Field(sa_type=Text)  # JSON: what a key does → the key
    at: datetime = Field(sa_type=UtcDateTime)


class WordList(SQLModel, table=True):
    """Words to be lit: a person's own, or with ``project_id`` the project's; rows never change."""

    __tablename__: ClassVar[str] = "word_list"
    __table_args__ = (
        Index(None, "person_id"),
        Index(None, "project_id"),
        {"sqlite_autoincrement": True},
    )

    list_id: int | None = Field(default=None, primary_key=True)
    project_id: int | None = Field(default=None, foreign_key="project.project_id")
    person_id: int = Field(foreign_key="person.person_id")  # who wrote it
    words: str = Field(sa_type=Text)  # JSON: a list
    at: datetime = Field(sa_type=UtcDateTime)
