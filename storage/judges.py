"""The judge that a database asks: the choices of leads, and what was sent, in counts, are its trail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select
from sqlmodel import col

from core.errors import NotFound
from core.records import Judged, VerdictLabel
from core.records.judge import JudgeFor, JudgeRequest, JudgeVerdict, Proved
from core.review.assignment import check_reason, unaided
from core.review.judge_choice import CurrentJudge
from core.review.records import Person, ReviewedClaim, Role
from storage.audit import append_event, latest_event
from storage.columns import plain_text
from storage.labels import Labels
from storage.people import allow
from storage.projects import Projects
from storage.store import SqlStore
from storage.tables import TraceVersion, Verdict

CHOSEN, SENT = "judge.chosen", "judge.sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """The choice of a judge in a store; only a lead changes it."""

    store: SqlStore

    def current(self) -> CurrentJudge:
        """Who is asked now: the latest choice, else nobody."""
        with self.store.database.reading() as connection:
            return _current(connection)

    def readings(self) -> Iterator[tuple[str, JudgeVerdict, VerdictLabel]]:
        """Proved readings of claims, each claim once, with what people said before they saw a verdict.

        As (judge, verdict, label). Where such first answers differ, that counts which a third person
        took; who had seen the proof says nothing about it.
        """
        labels = Labels(store=self.store)
        with self.store.database.reading() as connection:
            # Verdicts without a proof are not parsed: with a thousand of them that took seconds.
            with_proof = set(
                connection.execute(
                    select(col(TraceVersion.content_hash))
                    .join(Verdict, col(Verdict.position) == col(TraceVersion.position))
                    .where(col(Verdict.document).contains('"proved"'))
                ).scalars()
            )
        if not with_proof or Projects(store=self.store).existing() is None:
            return  # no label is read where no judge has proved anything
        versions: dict[tuple[str, str], list[ReviewedClaim]] = {}
        for claim in labels.reviewed(features=False):
            if claim.content_hash in with_proof:
                versions.setdefault((claim.trace_id, claim.content_hash), []).append(claim)
        for version, claims in versions.items():
            proved = self._proved(*version)
            for claim in claims:
                said = _unaided_label(claim)
                if said is not None and claim.claim_id in proved:
                    yield (*proved[claim.claim_id], said)

    def _proved(self, trace_id: str, content_hash: str) -> dict[str, tuple[str, JudgeVerdict]]:
        try:
            stored = self.store.get_verdict(trace_id, content_hash=content_hash)
        except NotFound:
            return {}
        read = {
            one.claim.claim_id: one.outcome.judge
            for one in stored.verification.claims
            if isinstance(one.outcome, Judged) and one.outcome.judge is not None
        }
        return {
            claim_id: (outcome.by, outcome.proof.verdict)
            for claim_id, outcome in read.items()
            if isinstance(outcome.proof, Proved)
        }

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


def _unaided_label(claim: ReviewedClaim) -> VerdictLabel | None:
    """What people said of a claim before they saw a verdict on it."""
    said = {first.label for one in claim.annotations if (first := unaided(one)) is not None}
    taken = {claim.adjudication.judgement.label} if claim.adjudication else set()
    (label, *others) = (said if len(said) == 1 else said & taken) or (None,)
    return None if others else label


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
