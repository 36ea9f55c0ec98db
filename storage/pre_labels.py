"""Pre-labels of claims: what two judges said, erased with their claim."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.review.packet_reader import PacketReview
from core.review.pre_labels import LabelledClaim, PreLabel, pre_label_of
from core.review.records import Person, Role
from storage.audit import append_event, sha256_of
from storage.columns import plain_text
from storage.people import allow
from storage.store import SqlStore
from storage.tables import ClaimRow, PreLabelRow, TraceVersion
from storage.traces import is_newest, trace_key

KEPT = "claim.pre_labelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreLabels:
    """The pre-labels of a store; of several of a claim the last one counts."""

    store: SqlStore

    def put(self, rows: Sequence[LabelledClaim], *, by: Person) -> tuple[int, list[str]]:
        """Keep those that are not here yet: how many, and the ids of claims that are not here at all.

        The trail is told how many and their digest: what they say can be erased. Raises NotAllowed.
        """
        found: dict[int, str] = {}  # of several of a claim in a file, too, the last one counts
        unknown = list[str]()
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "import pre-labels")
            for row in rows:
                key = key_of_claim(connection, row)
                if key is None:
                    unknown.append(row.claim_id)
                else:
                    found[key] = json.dumps(row.made.document, sort_keys=True)
            here = _documents(connection)
            new = [
                {"claim_key": key, "document": document}
                for key, document in found.items()
                if here.get(key) != document
            ]
            if new:
                connection.execute(insert(PreLabelRow), new)
                said = {"pre_labels": len(new), "digest": sha256_of(json.dumps(new))}
                append_event(
                    connection, self.store.now(), by.name, KEPT, f"{len(new)} claims", said
                )
        return len(new), unknown

    def of(self, key: int) -> PreLabel | None:
        """The pre-label of a claim: for whoever has decided it."""
        with self.store.database.reading() as connection:
            return _made(_documents(connection, key)).get(key)

    def all(self) -> Mapping[int, PreLabel]:
        """The pre-labels by the key of their claim."""
        with self.store.database.reading() as connection:
            return _made(_documents(connection))


def _documents(connection: Connection, key: int | None = None) -> dict[int, str]:
    """The latest document of each claim, or of one."""
    asked = select(col(PreLabelRow.claim_key), col(PreLabelRow.document)).order_by(
        col(PreLabelRow.pre_label_id)
    )
    if key is not None:
        asked = asked.where(col(PreLabelRow.claim_key) == key)
    return {row.claim_key: row.document for row in connection.execute(asked)}


def _made(documents: Mapping[int, str]) -> dict[int, PreLabel]:
    made = {key: pre_label_of(json.loads(document)) for key, document in documents.items()}
    return {key: one for key, one in made.items() if one is not None}


def key_of_claim(connection: Connection, review: PacketReview | LabelledClaim) -> int | None:
    """The claim with that id and text, of that trace version; else of the trace's newest one."""
    version = (
        (col(TraceVersion.trace_key) == trace_key(review.trace_id)) & is_newest()
        if review.content_hash is None
        else col(TraceVersion.content_hash) == review.content_hash
    )
    key: int | None = connection.execute(
        select(col(ClaimRow.claim_key))
        .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
        .where(
            version,
            col(ClaimRow.claim_id) == plain_text(review.claim_id),
            col(ClaimRow.text_sha256) == sha256_of(plain_text(review.text)),
        )
    ).scalar()
    return key
