"""The words that whoever works here wants lit in claims and sources."""

from __future__ import annotations

from core.review.records import Person, Project
from storage.workspace import Workspace


def my_words(workspace: Workspace, project: Project, user: Person) -> list[str]:
    """Their own words and the project's, as a view takes them. Raises StoreError."""
    return list(workspace.word_lists.of(project, user).all)
