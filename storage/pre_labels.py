"""Pre-labels of claims: what two judges said, erased with their claim."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, insert, select, true
from sqlmodel import col

from core.review.packet_reader import PacketReview
from core.review.pre_labels import LabelledClaim, PreLabel, pre_label_of
from core.review.records import Person, Role
from storage.audit import append_event, sha256_of
from storage.columns import in_pieces, plain_text
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
        with self.store.database.writing() as connection:
            allow(connection, by, Role.LEAD, "import pre-labels")
            return put_pre_labels(connection, rows, by=by, at=self.store.now())

    def of(self, key: int) -> PreLabel | None:
        """The pre-label of a claim: for whoever has decided it."""
        with self.store.database.reading() as connection:
            return _made(_documents(connection, [key])).get(key)

    def all(self, keys: Collection[int] | None = None) -> Mapping[int, PreLabel]:
        """The pre-labels by the key of their claim, of all claims or of some."""
        with self.store.database.reading() as connection:
            return _made(_documents(connection, None if keys is None else list(keys)))


def put_pre_labels(
    connection: Connection, rows: Sequence[LabelledClaim], *, by: Person, at: datetime
) -> tuple[int, list[str]]:
    """What ``PreLabels.put`` does, inside a transaction."""
    found: dict[int, str] = {}  # of several of a claim in a file, too, the last one counts
    unknown = list[str]()
    for row, key in zip(rows, keys_of_claims(connection, rows), strict=True):
        if key is None:
            unknown.append(row.claim_id)
        else:
            found[key] = json.dumps(row.made.document, sort_keys=True)
    here = _documents(connection, list(found))
    new = [
        {"claim_key": key, "document": document}
        for key, document in found.items()
        if here.get(key) != document
    ]
    if new:
        connection.execute(insert(PreLabelRow), new)
        said = {"pre_labels": len(new), "digest": sha256_of(json.dumps(new))}
        append_event(connection, at, by.name, KEPT, f"{len(new)} claims", said)
    return len(new), unknown


def _documents(connection: Connection, keys: Sequence[int] | None = None) -> dict[int, str]:
    """The latest document of each claim, or of some."""
    asked = select(col(PreLabelRow.claim_key), col(PreLabelRow.document)).order_by(
        col(PreLabelRow.pre_label_id)
    )
    asked_of = [asked] if keys is None else [
        asked.where(col(PreLabelRow.claim_key).in_(some)) for some in in_pieces(keys)
    ]  # fmt: skip
    return {row.claim_key: row.document for each in asked_of for row in connection.execute(each)}


def _made(documents: Mapping[int, str]) -> dict[int, PreLabel]:
    made = {key: pre_label_of(json.loads(document)) for key, document in documents.items()}
    return {key: one for key, one in made.items() if one is not None}


def keys_of_claims(
    connection: Connection, rows: Sequence[PacketReview | LabelledClaim]
) -> list[int | None]:
    """The claim with each one's id and text, of that trace version; else of the trace's newest one."""
    named = [
        (
            row.content_hash or trace_key(row.trace_id),
            plain_text(row.claim_id),
            sha256_of(plain_text(row.text)),
        )
        for row in rows
    ]
    found: dict[tuple[bool, str, str, str], int] = {}
    for newest, version in (
        (False, col(TraceVersion.content_hash)), (True, col(TraceVersion.trace_key)),
    ):  # fmt: skip
        asked = {
            one for row, one in zip(rows, named, strict=True) if newest is (not row.content_hash)
        }
        for some in in_pieces(sorted(asked)):
            versions, _, texts = (set(each) for each in zip(*some, strict=True))
            here = connection.execute(
                select(version, col(ClaimRow.claim_id), col(ClaimRow.text_sha256))
                .add_columns(col(ClaimRow.claim_key))
                .join(TraceVersion, col(TraceVersion.position) == col(ClaimRow.position))
                .where(version.in_(versions), col(ClaimRow.text_sha256).in_(texts))
                .where(is_newest() if newest else true())
            )
            found |= {(newest, *row[:3]): row.claim_key for row in here}
    return [found.get((not row.content_hash, *one)) for row, one in zip(rows, named, strict=True)]
