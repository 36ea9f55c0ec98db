"""retire_keys: a lead answers for seals of a key that is not here any more."""

from __future__ import annotations

from core.review.assignment import check_reason
from core.review.records import Person, Role
from storage.audit import append_event
from storage.people import allow
from storage.seals import RETIRED, retirement
from storage.store import SqlStore


def retire_keys(store: SqlStore, reason: str, *, by: Person) -> int:
    """Keep, under the key here, which seals of other keys there are and why they are taken as they are.

    Returns the last of them. Raises NotAllowed, InputError without a reason, NotFound where every seal
    is of the key here. Nobody can check what those seals cover: compare with a copy or an anchor first.
    """
    stated = check_reason(reason, "retiring a key")
    with store.database.writing() as connection:
        allow(connection, by, Role.LEAD, "retire a key")
        said = retirement(connection)
        append_event(
            connection,
            at=store.now(),
            actor=by.name,
            action=RETIRED,
            entity="trail keys",
            detail={**said, "reason": stated},
        )
    return int(str(said["through_seal"]))
