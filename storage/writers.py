"""Writers: who may add to the trail. Everything that is kept has an event, so this is asked for all."""

from __future__ import annotations

from sqlalchemy import Connection, select
from sqlmodel import col

from core.review.records import Role
from core.review.roles import require_writer
from storage.columns import plain_text
from storage.review_tables import PersonRow, RoleGrant

# What somebody who only reads leaves behind: that they looked, that they took a copy away, and how
# their own keyboard is set.
READING = frozenset({"verdict.opened", "packet.exported", "keys.bound"})
# Under these names the program itself writes: nobody is called so.
PROGRAM_NAMES = frozenset({"local", "first start", "fitting", "this machine"})


def check_writer(connection: Connection, actor: str, action: str) -> None:
    """Raise NotAllowed for a person who is an auditor or has no role now.

    A name that is nobody's here is the program's own: pages and the terminal write as a person.
    """
    person_id = connection.execute(
        select(col(PersonRow.person_id)).where(col(PersonRow.name) == plain_text(actor))
    ).scalar()
    if person_id is None:
        return
    roles = roles_of(connection, person_id)
    if action in READING and Role.AUDITOR in roles:
        return
    require_writer(actor, roles, f"write here ({action})")


def roles_of(connection: Connection, person_id: int) -> frozenset[Role]:
    """The roles that the person has at this moment."""
    return roles_by_person(connection, person_id).get(person_id, frozenset())


def roles_by_person(
    connection: Connection, person_id: int | None = None
) -> dict[int, frozenset[Role]]:
    """Person → roles at this moment, of everybody or of one."""
    statement = select(
        col(RoleGrant.person_id), col(RoleGrant.role), col(RoleGrant.granted)
    ).order_by(col(RoleGrant.grant_id))
    if person_id is not None:
        statement = statement.where(col(RoleGrant.person_id) == person_id)
    found: dict[int, set[Role]] = {}
    for row in connection.execute(statement):
        roles = found.setdefault(row.person_id, set())
        (roles.add if row.granted else roles.discard)(Role(row.role))
    return {person: frozenset(roles) for person, roles in found.items()}
