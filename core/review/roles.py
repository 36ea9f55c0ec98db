"""require: may this person do that? An auditor writes nothing, and without a role nobody does."""

from __future__ import annotations

from collections.abc import Collection

from core.errors import NotAllowed
from core.review.records import Person, Role


def require(name: str, roles: Collection[Role], wanted: Role, doing: str) -> None:
    """Raise NotAllowed unless ``roles`` hold the wanted one; an auditor never writes."""
    _no_auditor(name, roles)
    if wanted not in roles:
        held = ", ".join(sorted(roles)) or "no role"
        raise NotAllowed(f"to {doing}, {name} needs the role {wanted} (has {held})")


def require_writer(name: str, roles: Collection[Role], doing: str) -> None:
    """Raise NotAllowed for an auditor, and for somebody without any role."""
    _no_auditor(name, roles)
    if not roles:
        raise NotAllowed(f"to {doing}, {name} needs a role; a lead gives it on the page People")


def may_write(user: Person) -> bool:
    """Whether the person has a role that adds or changes something."""
    return bool(user.roles) and Role.AUDITOR not in user.roles


def _no_auditor(name: str, roles: Collection[Role]) -> None:
    if Role.AUDITOR in roles:
        raise NotAllowed(f"{name} is an auditor, who reads everything and writes nothing")
