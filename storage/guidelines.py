"""The guideline: what reviewers agreed to mean, in numbered rules, one version after another."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, func, select
from sqlmodel import col

from core.errors import Conflict, InputError
from core.review.assignment import check_reason
from core.review.items import Guideline
from core.review.records import Person, Role
from storage.audit import add_row
from storage.columns import plain_text, read_as
from storage.people import allow
from storage.store import SqlStore
from storage.tables import GuidelineRow

FIRST_TEXT = """\
1. Judge the claim against the tool outputs of this trace alone, not against what you know.
2. Supported: a source says it, with every value, name, date, unit and qualifier of the claim.
3. Unsupported: a source is about it, but a value, a name or a qualifier of the claim is not there.
4. Contradicted: a source says something that cannot be true together with the claim.
5. Not enough evidence: no source is about it. A failed or an empty output says nothing.
6. Owner: choose the source whose words say the claim. If several do, choose the one that the answer \
credits; if it credits none of them, the first.
7. If no source says it, choose "none", also when you know who should have said it.
8. Credited rightly: no, if the answer credits another source than the one that says it, and the \
credited one does not say it as well; else yes, also if it names none.
9. A rounded value supports the claim only if the claim says that it is rounded ("about", "nearly").
10. Another patient's record never supports a claim about this patient.
11. If one half of a claim holds and the other does not, judge the half that does not.
12. If the claim cannot be understood from the answer, give it back with the reason.
"""
SHIPPED = Guideline(
    version=1,
    text=FIRST_TEXT,
    change="The first version, as shipped with the workbench.",
    author="ProvenanceGuard Workbench",
    at=datetime(2026, 1, 1, tzinfo=UTC),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guidelines:
    """The guideline of a store."""

    store: SqlStore

    def current(self) -> Guideline:
        """The version in force."""
        return self.versions()[-1]

    def versions(self) -> tuple[Guideline, ...]:
        """All versions, the first first."""
        with self.store.database.reading() as connection:
            return _versions(connection) or (SHIPPED,)

    def publish(self, text: str, change: str, *, by: Person, expected_version: int) -> Guideline:
        """A new version; raises NotAllowed, InputError, and Conflict when another came first."""
        stated = check_reason(change, "a new version of the guideline")
        if not text.strip():
            raise InputError("a guideline needs a text", path="text")
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "publish a guideline")
            version = keep_first(connection, self.store.now())
            if version != expected_version:
                raise Conflict(
                    f"somebody published version {version} of the guideline meanwhile; reloaded"
                )
            new = Guideline(
                version=version + 1,
                text=plain_text(text),
                change=plain_text(stated),
                author=by.name,
                at=self.store.now(),
            )
            _put(connection, new)
        return new


def keep_first(connection: Connection, at: datetime) -> int:
    """The version in force; writes down the shipped one where there is none yet.

    Later programs may ship another text: what people judged under must not change with it.
    """
    version: int | None = connection.execute(select(func.max(col(GuidelineRow.version)))).scalar()
    if version is not None:
        return version
    _put(connection, replace(SHIPPED, at=at))
    return SHIPPED.version


def _put(connection: Connection, new: Guideline) -> None:
    add_row(
        connection,
        GuidelineRow,
        asdict(new),
        at=new.at,
        actor=new.author,
        action="guideline.published",
        entity=f"guideline {new.version}",
        detail={
            "from": new.version - 1 or None,
            "to": new.version,
            "reason": new.change,
        },
    )


def _versions(connection: Connection) -> tuple[Guideline, ...]:
    rows = connection.execute(
        select(GuidelineRow.__table__).order_by(col(GuidelineRow.version))  # type: ignore[attr-defined]
    )
    return tuple(read_as(Guideline, row) for row in rows)
