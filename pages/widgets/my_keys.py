"""The keys of whoever works here, as they chose them."""

from __future__ import annotations

from core.review.records import Person
from pages.widgets.rebinding import usable
from pages.widgets.shortcuts import Keymap
from storage.workspace import Workspace


def my_keys(workspace: Workspace, user: Person) -> Keymap:
    """That person's keys; what this version cannot give them is as shipped. Raises StoreError."""
    return usable(workspace.key_bindings.of(user))
