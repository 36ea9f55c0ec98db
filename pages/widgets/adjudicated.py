"""What reviewers settled, as a packet to evaluate on; only for those who may read all of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.records import JsonObject
from core.review.packet import packet_row
from core.review.records import Person, ReviewStatus, Role
from core.workflows.packet_export import DECIDED, ExportFilters, Selection, select_claims
from pages.widgets.reviewed import packets_for
from pages.widgets.session import open_workspace


def may_see_labels(who: Person) -> bool:
    """Whether the person may see what everybody said, and so what reviewers' labels are."""
    return bool(who.roles & {Role.LEAD, Role.AUDITOR})


def settled_claims(who: Person) -> int:
    """How many claims are settled and readable for the person; 0 for who may not see labels."""
    return len(_selection(who).claims) if may_see_labels(who) else 0


def write_settled(who: Person, file: Path) -> None:
    """Write the settled claims as a packet; raises NotAllowed, StoreError."""
    with file.open("w", encoding="utf-8") as out:
        for row in _rows(who):
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


def _rows(who: Person) -> Iterator[JsonObject]:
    packets = packets_for(who)
    seen: Counter[str] = Counter()
    for claim in _selection(who).claims:
        run_key = claim.signal.run_key if claim.signal else None
        found = packets.evidence(claim.trace_id, claim.content_hash, run_key)
        row = dict(packet_row(claim, found.trace, found.verdict))
        # How it was settled is counted; who said what is not carried any further.
        review = row["adjudication"]
        assert isinstance(review, Mapping)
        row["adjudication"] = {"status": review["status"]}
        del row["review_record"]
        seen[claim.claim_id] += 1
        if seen[claim.claim_id] > 1:  # another version of the trace has used the id
            row["claim_id"] = f"{claim.claim_id}~{seen[claim.claim_id]}"
        yield row


def _selection(who: Person) -> Selection:
    # Where a claim gets two readings, one of them settles nothing yet.
    once = open_workspace(who).project().settings.reads_per_claim == 1
    statuses = DECIDED if once else DECIDED - {ReviewStatus.SINGLE}
    return select_claims(packets_for(who), who, ExportFilters(statuses=statuses))
