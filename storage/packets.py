"""Packets: what an export reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlmodel import col

from core.codec import actions_of
from core.errors import NotFound
from core.records import JsonObject
from core.review.exchange import Evidence
from core.review.items import Guideline
from core.review.preferences import ChosenEdit
from core.review.records import Person, Project, ReviewedClaim
from storage.anchors import anchor_of, write_anchor
from storage.audit import append_event
from storage.guidelines import Guidelines
from storage.labels import Labels
from storage.listing_conditions import with_tag
from storage.people import People
from storage.repairs import Repairs
from storage.review_tables import AdjudicationRow, AssignmentRow, PersonRow, VoteRow
from storage.store import SqlStore
from storage.tables import TraceVersion
from storage.trail import Trail


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """A project's packets; implements PacketStore of core's workflows."""

    store: SqlStore
    project: Project

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose readings are all in."""
        return Labels(store=self.store).reviewed(self.project.project_id)

    def unfinished(self) -> int:
        """How many claims have an annotation, and readings still to come."""
        return Labels(store=self.store).unfinished(self.project.project_id)

    def events(self) -> int:
        """How many events the trail of the database has: nothing changed while it stays."""
        return Trail(store=self.store).length()

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds a reading or an adjudication of."""
        with self.store.database.reading() as connection:
            return frozenset(
                connection.execute(
                    select(col(AssignmentRow.claim_key)).where(
                        col(AssignmentRow.person_id) == person.person_id,
                        col(AssignmentRow.state) == "open",
                    )
                ).scalars()
            )

    def evidence(self, trace_id: str, content_hash: str, run_key: str | None) -> Evidence:
        """A trace version with the verdict of that run; raises NotFound without the trace.

        A run that only rescored stored features wrote no documents: then it is the latest one.
        """
        trace = self.store.get_trace(trace_id, content_hash).trace
        for wanted in dict.fromkeys([run_key, None]):
            try:
                found = self.store.get_verdict(trace_id, content_hash=content_hash, run_key=wanted)
            except NotFound:
                continue
            return Evidence(trace=trace, verdict=found.verification)
        return Evidence(trace=trace, verdict=None)

    def tagged(self, tag: str) -> frozenset[str]:
        """The ids of the traces that have that tag."""
        with self.store.database.reading() as connection:
            return frozenset(
                connection.execute(
                    select(col(TraceVersion.trace_id)).where(with_tag(tag))
                ).scalars()
            )

    def edits(self, content_hashes: Sequence[str]) -> Mapping[str, Sequence[ChosenEdit]]:
        """The last word on each edit of the latest repair of these traces."""
        wanted, found = set(content_hashes), dict[str, list[ChosenEdit]]()
        for row in Repairs(store=self.store).export():
            content, document, choices = row["content_hash"], row["repair"], row["choices"]
            assert isinstance(content, str)
            assert isinstance(document, Mapping)
            assert isinstance(choices, list)
            if content not in wanted:
                continue
            last = {one["action_id"]: one for one in choices}
            found[content] = [
                ChosenEdit(
                    action=action,
                    choice=last[action.action_id]["choice"],
                    text=last[action.action_id]["text"],
                    reviewer=last[action.action_id]["reviewer"],
                    at=last[action.action_id]["at"],
                )
                for action in actions_of(document)
                if action.action_id in last
            ]
        return found

    def superseded(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """Judgements on these claims that no longer stand, as they were written, the oldest first."""
        ids = {claim.claim_key: claim.claim_id for claim in claims}
        standing = {annotation.vote_id for claim in claims for annotation in claim.annotations}
        decided = {
            claim.adjudication.adjudication_id for claim in claims if claim.adjudication is not None
        }
        for kind, table, key, counts in (
            ("reading", VoteRow, "vote_id", standing),
            ("decision", AdjudicationRow, "adjudication_id", decided),
        ):
            target = table.__table__  # type: ignore[union-attr]
            statement = (
                select(target, col(PersonRow.name).label("reviewer"))
                .join(PersonRow, col(PersonRow.person_id) == target.c.person_id)
                .where(target.c.project_id == self.project.project_id)
                .order_by(target.c[key])
            )
            with self.store.database.reading() as connection:
                for row in connection.execute(statement).yield_per(1000):
                    if row.claim_key in ids and row._mapping[key] not in counts:
                        yield _as_written(kind, ids[row.claim_key], row._mapping)

    def trail(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """The events of the audit trail that tell of these claims, the oldest first."""
        return Trail(store=self.store).about(
            claim_keys={claim.claim_key for claim in claims},
            content_hashes={claim.content_hash for claim in claims},
        )

    def machine_profiles(self) -> Mapping[str, str]:
        """Name → identity of the people whom a machine without login made for itself."""
        return People(store=self.store).machine_profiles()

    def guidelines(self) -> Sequence[Guideline]:
        """The versions of the guideline, the oldest first."""
        return Guidelines(store=self.store).versions()

    def told(self, user: Person, manifest_sha256: str, detail: JsonObject) -> None:
        """Keep the event of an export, and anchor the trail outside the database."""
        with self.store.database.writing() as connection:
            append_event(
                connection,
                at=self.store.now(),
                actor=user.name,
                action="packet.exported",
                entity=manifest_sha256,
                detail={"project": self.project.project_id, **detail},
            )
        with self.store.database.reading() as connection:
            anchor = anchor_of(connection, self.store.name)
        write_anchor(anchor)


def _as_written(kind: str, claim_id: str, row: Mapping[Any, Any]) -> JsonObject:
    names = ("support", "source_id", "conflation", "confidence", "cause", "rule", "rationale",
             "saw_model_output", "changed_after_reveal", "seconds", "guideline_version")  # fmt: skip
    return {
        "claim_id": claim_id,
        "kind": kind,
        "reviewer": row["reviewer"],
        "at": row["at"].isoformat(),
        **{name: row[name] for name in names if name in row},
    }
