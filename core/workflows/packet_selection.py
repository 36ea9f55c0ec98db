"""Which claims a packet holds: the filters, and who may read what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.records import JsonObject, VerdictLabel
from core.review.exchange import Evidence
from core.review.items import Guideline
from core.review.preferences import ChosenEdit
from core.review.readers import readable_by, require_reader
from core.review.records import Person, ReviewedClaim, ReviewStatus
from core.workflows.packet_tables import (
    decided_at,
)

DECIDED = frozenset({ReviewStatus.SINGLE, ReviewStatus.UNANIMOUS, ReviewStatus.ADJUDICATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFilters:
    """Which claims to export; an empty field asks for nothing.

    ``since`` is the first instant of the decision that counts, ``until`` the first that does not.
    """

    statuses: frozenset[ReviewStatus] = DECIDED
    labels: frozenset[VerdictLabel] = frozenset()
    slice: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    traces: frozenset[str] = frozenset()
    tag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The claims to export, and how many are left out, by reason."""

    claims: tuple[ReviewedClaim, ...]
    left_out: Mapping[str, int]


class PacketStore(Protocol):
    """What an export asks of a database."""

    def reviewed(self) -> tuple[ReviewedClaim, ...]:
        """The claims whose readings are all in."""
        ...

    def unfinished(self) -> int:
        """How many claims have a vote, and readings still to come."""
        ...

    def open_claims(self, person: Person) -> frozenset[int]:
        """The claims that the person holds a reading or a tie-break of."""
        ...

    def evidence(self, trace_id: str, content_hash: str, run_key: str | None) -> Evidence:
        """A trace version with the verdict of that run; raises NotFound without the trace."""
        ...

    def tagged(self, tag: str) -> frozenset[str]:
        """The ids of the traces that have that tag."""
        ...

    def edits(self, content_hashes: Sequence[str]) -> Mapping[str, Sequence[ChosenEdit]]:
        """The last word on each edit of the repairs of these traces."""
        ...

    def superseded(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """Judgements on these claims that no longer stand, as they were written, the oldest first."""
        ...

    def trail(self, claims: Sequence[ReviewedClaim]) -> Iterator[JsonObject]:
        """The events of the audit trail that tell of these claims, the oldest first."""
        ...

    def machine_profiles(self) -> Mapping[str, str]:
        """Name → identity of the people whom a machine without login made for itself."""
        ...

    def guidelines(self) -> Sequence[Guideline]:
        """The versions of the guideline, the oldest first."""
        ...

    def told(self, user: Person, manifest_sha256: str, detail: JsonObject) -> None:
        """Keep the event of an export."""
        ...


EVERY_DECISION = ExportFilters()


def select_claims(
    store: PacketStore, user: Person, filters: ExportFilters = EVERY_DECISION
) -> Selection:
    """The reviewed claims that pass, in the order of trace and number; nobody loses their blindness.

    Raises NotAllowed for somebody who is neither lead nor auditor.
    """
    require_reader(user, "export what everybody said")
    readable = readable_by(user, store.reviewed(), store.open_claims(user))
    left_out: Counter[str] = Counter()
    if waiting := store.unfinished():
        left_out["readings are still to come"] = waiting
    if readable.kept_back:
        left_out["you still have to judge it yourself"] = readable.kept_back
    tagged = frozenset[str]() if filters.tag is None else store.tagged(filters.tag)
    kept = []
    for claim in readable.claims:
        reason = _not_wanted(claim, filters, tagged)
        if reason is None:
            kept.append(claim)
        else:
            left_out[reason] += 1
    kept.sort(key=lambda claim: (claim.trace_id, claim.content_hash, claim.claim_id))
    return Selection(claims=tuple(kept), left_out=dict(left_out))


def _not_wanted(claim: ReviewedClaim, filters: ExportFilters, tagged: frozenset[str]) -> str | None:
    status, final, when = claim.resolution.status, claim.resolution.final, decided_at(claim)
    if status not in filters.statuses:
        return f"status {status.value} was not asked for"
    if filters.labels and (final is None or final.support not in filters.labels):
        return "another label was asked for"
    if filters.slice is not None and filters.slice not in claim.slices:
        return "not of the slice"
    if filters.traces and claim.trace_id not in filters.traces:
        return "another trace was asked for"
    if filters.tag is not None and claim.trace_id not in tagged:
        return "without the tag"
    if (filters.since or filters.until) and when is None:
        return "without a date"
    if when is not None and filters.since is not None and when < filters.since:
        return "decided before the dates"
    if when is not None and filters.until is not None and when >= filters.until:
        return "decided after the dates"
    return None
