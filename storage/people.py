"""People and their roles: granted and revoked by a lead, every change an event."""

from __future__ import annotations

import json
import os
import pwd
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, insert, select, update
from sqlmodel import col

from core.errors import ConfigError, Conflict, InputError, NotAllowed, NotFound
from core.review.assignment import check_reason
from core.review.records import Person, Role
from core.review.roles import require
from storage.audit import (
    PROGRAM_NAMES,
    SHOWN_AS,
    add_row,
    append_event,
    roles_by_person,
    roles_of,
    trail_id,
)
from storage.columns import plain_text
from storage.erasing import erase_person
from storage.keys import USER_FILE, key_folder, read_owned
from storage.store import SqlStore
from storage.tables import AuditEvent, PacketLock, PersonRow, RoleGrant

LOCAL_NAME = "local reviewer"
THIS_MACHINE = "this machine"
# Whoever sits at a machine without login may do everything; an auditor could do nothing.
LOCAL_ROLES = frozenset({Role.REVIEWER, Role.ADJUDICATOR, Role.LEAD})
NAME_CHARACTERS = 200
# Parts of words in several scripts; what else is not seen turns a name, or makes two look the same.
_JOINERS = "\u200c\u200d"
# Where people log in, nobody may make themselves lead: whoever starts the workbench says who is first.
FIRST_LEAD = "PROVENANCEGUARD_FIRST_LEAD"


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The people of a store."""

    store: SqlStore

    def everybody(self) -> tuple[Person, ...]:
        """Everybody, in the order they came."""
        with self.store.database.reading() as connection:
            return people(connection)

    def shown_names(self) -> Mapping[str, str]:
        """What pages call whoever has another name there, by the name that is recorded."""
        return {each.name: each.shown for each in self.everybody() if each.shown_as}

    def at(self, person_id: int) -> Person:
        """The person with the roles of this moment; raises NotFound."""
        with self.store.database.reading() as connection:
            return person_at(connection, person_id)

    def by_name(self, name: str) -> Person:
        """The person of that name; raises NotFound."""
        with self.store.database.reading() as connection:
            return _one(connection, col(PersonRow.name) == plain_text(name.strip()), name)

    def by_email(self, email: str) -> Person:
        """The person whom a login names, in any case; raises NotFound."""
        with self.store.database.reading() as connection:
            return _one(connection, col(PersonRow.email) == _plain_email(email), email)

    def of_login(self, email: str, name: str = "") -> Person:
        """The person whom a login names; the first lead is made so here, once, as an event.

        While no lead has a login, the address in PROVENANCEGUARD_FIRST_LEAD becomes lead. Raises
        NotFound for anybody else who is not here, ConfigError where the variable holds no address.
        """
        address = _plain_email(email)
        with self.store.database.reading() as connection:
            if _led_by_login(connection) or _named_first() != address:
                return _one(connection, col(PersonRow.email) == address, email)
        with self.store.database.writing() as connection:
            if _led_by_login(connection):
                return _one(connection, col(PersonRow.email) == address, email)
            return _make_first_lead(connection, address, name, at=self.store.now())

    def led_by_login(self) -> bool:
        """Whether somebody who can log in is lead."""
        with self.store.database.reading() as connection:
            return _led_by_login(connection)

    def local(self) -> Person:
        """Who works on a machine without login; made at first use.

        The first of a database gets all roles that write. Where somebody leads already, another
        account of the machine comes without a role: a lead grants it, nobody makes themselves lead.
        """
        name = local_name()
        with self.store.database.reading() as connection:
            found = [one for one in people(connection) if one.name == name]
        if found:
            return found[0]
        with self.store.database.writing() as connection:
            found = [one for one in people(connection) if one.name == name]
            if found:
                return found[0]
            led = any(Role.LEAD in one.roles for one in people(connection))
            return _add(
                connection,
                name,
                () if led else LOCAL_ROLES,
                email=None,
                by=THIS_MACHINE,
                at=self.store.now(),
            )

    def database_id(self) -> str:
        """Short, and no other database's: the beginning of its trail; "" while it has none."""
        with self.store.database.reading() as connection:
            return trail_id(connection)

    def add(
        self, name: str, roles: Collection[Role], *, by: Person, email: str | None = None
    ) -> Person:
        """A new person; raises NotAllowed, Conflict for a name or email that is taken, InputError."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "add people")
            _check_free(connection, _plain_name(name))
            return _add(connection, name, roles, email=email, by=by.name, at=self.store.now())

    def add_from_packet(self, name: str, origin: str | None, *, by: Person) -> Person:
        """A person of a packet, without a role; ``origin`` is a machine profile's identity.

        Such a profile is recognised by its identity alone: where its name is somebody else's here, it
        is kept under the name with the beginning of its identity. Raises NotAllowed, InputError.
        """
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "add people")
            plain, profiles = _plain_name(name), machine_profiles(connection)
            known = {each.name: each for each in people(connection)}
            if origin is None and plain in known:
                return known[plain]
            for called, identity in profiles.items():
                if identity == origin:
                    return known[called]
            if plain in known:
                plain = f"{plain} ({str(origin).removeprefix('sha256:')[:8]})"
            return _add(
                connection, plain, (), email=None, by=by.name, at=self.store.now(), origin=origin
            )

    def machine_profiles(self) -> dict[str, str]:
        """Names and identities of the people whom a machine without login made for itself."""
        with self.store.database.reading() as connection:
            return machine_profiles(connection)

    def grant(self, person: Person, role: Role, *, by: Person) -> Person:
        """The person with the role; raises NotAllowed."""
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "grant a role")
            now = person_at(connection, person.person_id)
            if role not in now.roles:
                _set(connection, now, role, granted=True, by=by.name, at=self.store.now())
            return person_at(connection, person.person_id)

    def show_as(self, person: Person, name: str, *, by: Person) -> Person:
        """The person as pages call them from now on; what is recorded keeps the name that it has.

        Their own name takes the other away. Raises NotAllowed, InputError, and Conflict for a name
        by which somebody else is known.
        """
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "name people")
            now, plain = person_at(connection, person.person_id), _plain_name(name)
            if plain == now.shown:
                return now
            _check_free(connection, plain, now.person_id)
            _show_as(connection, now, plain, by=by.name, at=self.store.now())
            return person_at(connection, person.person_id)

    def revoke(self, person: Person, role: Role, *, by: Person, reason: str) -> Person:
        """The person without the role; raises NotAllowed, also for the last lead."""
        stated = check_reason(reason, "taking a role away")
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "take a role away")
            now = person_at(connection, person.person_id)
            if role is Role.LEAD and _leads(connection) <= {now.person_id}:
                raise NotAllowed(f"{now.name} is the only lead: nobody could give the role back")
            if role in now.roles:
                _set(
                    connection,
                    now,
                    role,
                    granted=False,
                    by=by.name,
                    at=self.store.now(),
                    reason=stated,
                )
            return person_at(connection, person.person_id)

    def erase(self, person: Person, reason: str, *, by: Person) -> tuple[int, int]:
        """Take a person's name and address out of the database: rows rewritten, and texts that hold it.

        Raises NotAllowed, InputError, and Conflict for somebody who has a role, or has signed a packet,
        which nobody could check without the name.
        """
        stated = check_reason(reason, "erasing a person")
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "erase a person")
            now = person_at(connection, person.person_id)
            if now.roles:
                raise Conflict(f"{now.name} has a role: take it away before")
            signed = select(PacketLock).where(col(PacketLock.signer) == now.name).limit(1)
            if connection.execute(signed).first() is not None:
                raise Conflict(
                    f"{now.name} has signed a packet: the name is part of what was signed"
                )
            at = self.store.now()
            found = erase_person(connection, now, reason=stated, actor=by.name, at=at)
        self.store.database.empty_log()
        return found


def _check_free(connection: Connection, name: str, person_id: int | None = None) -> None:
    for each in people(connection):
        if each.person_id != person_id and name in (each.name, each.shown_as):
            raise Conflict(f"{name!r:.200} is here already: a name belongs to one person")


def _show_as(connection: Connection, person: Person, name: str, *, by: str, at: datetime) -> None:
    connection.execute(
        update(PersonRow)
        .where(col(PersonRow.person_id) == person.person_id)
        .values(shown_as=None if name == person.name else name)
    )
    told = {"from": person.shown, "to": name}
    append_event(connection, at, by, SHOWN_AS, f"person {person.person_id}", told)


def people(connection: Connection) -> tuple[Person, ...]:
    """Everybody with the roles of this moment."""
    rows = connection.execute(select(*_PERSON).order_by(col(PersonRow.person_id))).all()
    roles = roles_by_person(connection)
    return tuple(_person(row, roles.get(row.person_id, frozenset())) for row in rows)


_PERSON = (
    col(PersonRow.person_id), col(PersonRow.name), col(PersonRow.email), col(PersonRow.shown_as)
)  # fmt: skip


def _person(row: Any, roles: frozenset[Role]) -> Person:
    return Person(**row._mapping, roles=roles, active=bool(roles))


def machine_profiles(connection: Connection) -> dict[str, str]:
    """The people whom a machine without login made for itself, here or elsewhere: name → identity.

    The identity is the hash of the event that added them where they come from: two machines call
    such a profile by the same name, and it is not the same person.
    """
    emails = {person.person_id: person.email for person in people(connection)}
    rows = connection.execute(
        select(
            col(AuditEvent.actor),
            col(AuditEvent.entity),
            col(AuditEvent.detail),
            col(AuditEvent.hash),
        ).where(col(AuditEvent.action) == "person.added")
    )
    found: dict[str, str] = {}
    for row in rows:
        detail = json.loads(row.detail)
        person_id = int(row.entity.removeprefix("person "))
        if "origin" in detail:
            found[detail["name"]] = detail["origin"]
        elif row.actor == THIS_MACHINE and emails.get(person_id) is None:
            found[detail["name"]] = row.hash
    return found


def person_at(connection: Connection, person_id: int) -> Person:
    """The person with the roles of this moment; raises NotFound."""
    return _one(connection, col(PersonRow.person_id) == person_id, str(person_id))


def allow(connection: Connection, user: Person, role: Role, doing: str) -> None:
    """Raise NotAllowed unless the person has the role now, whatever the record in hand says."""
    require(user.name, roles_of(connection, user.person_id), role, doing)


def _one(connection: Connection, condition: ColumnElement[bool], wanted: str) -> Person:
    row = connection.execute(select(*_PERSON).where(condition)).first()
    if row is None:
        raise NotFound(f"nobody here is called {wanted!r:.200}")
    return _person(row, roles_of(connection, row.person_id))


def _leads(connection: Connection) -> set[int]:
    return {user for user, roles in roles_by_person(connection).items() if Role.LEAD in roles}


def _led_by_login(connection: Connection) -> bool:
    # The profile of a machine without login may lead, and nobody can log in as it.
    return any(Role.LEAD in one.roles and one.email for one in people(connection))


def _named_first() -> str | None:
    named = os.environ.get(FIRST_LEAD, "").strip()
    if not named:
        return None
    try:
        return _plain_email(named)
    except InputError:
        raise ConfigError(f"{FIRST_LEAD}: expected an address, found {named!r:.200}") from None


def _make_first_lead(connection: Connection, address: str, name: str, *, at: datetime) -> Person:
    by = THIS_MACHINE
    try:
        person = _one(connection, col(PersonRow.email) == address, address)
    except NotFound:
        try:
            called = _plain_name(name)
        except InputError:
            called = address
        # A name is somebody's already, perhaps the local profile's: an address is nobody else's.
        taken = called in {one.name for one in people(connection)}
        person = _add(connection, address if taken else called, (), email=address, by=by, at=at)
    _set(
        connection,
        person,
        Role.LEAD,
        granted=True,
        by=by,
        at=at,
        reason=f"the first lead, named by {FIRST_LEAD}",
    )
    return person_at(connection, person.person_id)


def _add(
    connection: Connection,
    name: str,
    roles: Collection[Role],
    *,
    email: str | None,
    by: str,
    at: datetime,
    origin: str | None = None,
) -> Person:
    plain, address = _plain_name(name), None if email is None else _plain_email(email)
    taken = connection.execute(
        select(col(PersonRow.name)).where(
            (col(PersonRow.name) == plain)
            | ((col(PersonRow.email) == address) if address else False)
        )
    ).scalar()
    if taken is not None:
        raise Conflict(f"{taken!r:.200} is here already: a name and an email belong to one person")
    # Whoever a login, an account or a packet brings has that name alone, on pages too.
    for each in people(connection):
        if each.shown_as == plain:
            _show_as(connection, each, each.name, by=by, at=at)
    person_id = connection.execute(
        insert(PersonRow)
        .values(name=plain, email=address, created_at=at)
        .returning(col(PersonRow.person_id))
    ).scalar_one()
    assert person_id is not None
    append_event(
        connection,
        at,
        by,
        "person.added",
        f"person {person_id}",
        {"name": plain} | ({} if origin is None else {"origin": origin}),
    )
    person = Person(person_id=person_id, name=plain, email=address, roles=frozenset())
    for role in sorted(set(roles)):
        _set(connection, person, role, granted=True, by=by, at=at)
    return person_at(connection, person_id)


def _set(
    connection: Connection,
    person: Person,
    role: Role,
    *,
    granted: bool,
    by: str,
    at: datetime,
    reason: str | None = None,
) -> None:
    add_row(
        connection,
        RoleGrant,
        {
            "person_id": person.person_id,
            "role": role.value,
            "granted": granted,
            "by": plain_text(by),
            "at": at,
        },
        at=at,
        actor=by,
        action="role.granted" if granted else "role.revoked",
        entity=f"person {person.person_id}",
        detail={
            "role": role,
            "from": sorted(person.roles),
            "to": sorted(person.roles | {role} if granted else person.roles - {role}),
            "reason": reason,
        },
    )


def _plain_name(name: str) -> str:
    plain = " ".join(plain_text(name).split())
    if not plain or len(plain) > NAME_CHARACTERS:
        raise InputError(f"expected 1 to {NAME_CHARACTERS} characters", path="name")
    if any(unicodedata.category(one) in ("Cc", "Cf") and one not in _JOINERS for one in plain):
        raise InputError("expected letters and signs that are seen", path="name")
    if plain in PROGRAM_NAMES:
        raise InputError(f"{plain!r} is what the program itself writes under", path="name")
    return plain


def _plain_email(email: str) -> str:
    plain = plain_text(email).strip().casefold()
    if not plain or "@" not in plain:
        raise InputError(f"expected an address, found {email!r:.200}", path="email")
    return plain


def local_name() -> str:
    """What whoever works on this machine without a login is called: as configured, else the account.

    The environment is not asked (LOGNAME, USER): everybody can set it to somebody else's name.
    """
    try:
        configured = (read_owned(key_folder() / USER_FILE) or b"").decode("utf-8", "replace")
        name = _plain_name(configured.strip() or pwd.getpwuid(os.getuid()).pw_name)
    except (OSError, KeyError, InputError):
        return LOCAL_NAME
    return LOCAL_NAME if name == "root" else name
