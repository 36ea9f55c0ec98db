"""require: may this person do that?"""

from __future__ import annotations

from collections.abc import Collection

from core.errors import NotAllowed
from core.review.records import Role


def require(name: str, roles: Collection[Role], wanted: Role, doing: str) -> None:
    """Raise NotAllowed unless ``roles`` hold the wanted one; an auditor never writes."""
    if Role.AUDITOR in roles:
        raise NotAllowed(f"{name} is an auditor, who reads everything and writes nothing")
    if wanted not in roles:
        held = ", ".join(sorted(roles)) or "no role"
        raise NotAllowed(f"to {doing}, {name} needs the role {wanted} (has {held})")
