"""The judge that a database asks: the choices of leads, and what was sent, in counts, are its trail."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import Connection

from core.records.judge import JudgeFor, JudgeRequest
from core.review.assignment import check_reason
from core.review.judge_choice import CurrentJudge
from core.review.records import Person, Role
from storage.audit import append_event, latest_event
from storage.columns import plain_text
from storage.people import allow
from storage.store import SqlStore

CHOSEN, SENT = "judge.chosen", "judge.sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """The choice of a judge in a store; only a lead changes it."""

    store: SqlStore

    def current(self) -> CurrentJudge:
        """Who is asked now: the latest choice, else nobody."""
        with self.store.database.reading() as connection:
            return _current(connection)

    def choose(
        self, address: str | None, model: str, asked: JudgeFor, reason: str, by: Person
    ) -> None:
        """Ask that judge from now on, nobody where ``address`` is None; raises NotAllowed, InputError.

        Whether the address may be asked at all is for ``core.workflows.judges`` to say, before.
        """
        stated = plain_text(check_reason(reason, "a change of the judge"))
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "choose the judge")
            chosen = {"address": address, "model": plain_text(model), "asked": asked.value}
            append_event(
                connection,
                self.store.now(),
                by.name,
                CHOSEN,
                "judge",
                {"from": _plain(_current(connection)), "to": chosen, "reason": stated},
            )

    def sent(self, judge: str, request: JudgeRequest) -> None:
        """Keep that a request goes to a judge: its counts, and none of its text."""
        with self.store.database.writing() as connection:
            append_event(
                connection,
                self.store.now(),
                self.store.actor,
                SENT,
                "judge",
                {"judge": judge, "claims": len(request.claims), "tokens": request.tokens},
            )


def _plain(now: CurrentJudge) -> dict[str, str | None]:
    return {"address": now.address, "model": now.model, "asked": now.asked.value}


def _current(connection: Connection) -> CurrentJudge:
    row = latest_event(connection, CHOSEN)
    if row is None:
        return CurrentJudge()
    detail = json.loads(row.detail)
    chosen = detail["to"]
    return CurrentJudge(
        address=chosen["address"],
        model=chosen["model"],
        asked=JudgeFor(chosen["asked"]),
        since=row.at,
        by=row.actor,
        reason=detail["reason"],
    )
