"""provenance_report: what a database has verified, as reports that name where its trail stood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.citations.answer import audit_citations
from core.errors import NotFound
from core.provenance.analyse import analyse
from core.provenance.omissions import OmissionWeights
from core.provenance.records import ProvenanceReport
from core.provenance.report import TrailLink, report_document
from core.records import Trace, Verification
from core.workflows.earlier_answers import earlier_claims


def report_of(
    verified: Verification, trace: Trace, content_hash: str, weights: OmissionWeights | None = None
) -> ProvenanceReport:
    """The provenance of one stored verdict: a verdict tells the sources' texts, the stored trace also
    what the calls were asked.
    """
    return analysed(replace(verified, trace=trace, content_hash=content_hash), weights)


def analysed(verified: Verification, weights: OmissionWeights | None = None) -> ProvenanceReport:
    """The provenance of a verification, with what its answer cites and what was said before it."""
    return analyse(
        verified,
        earlier=earlier_claims(verified.trace),
        citations=audit_citations(verified.trace),
        weights=weights,
    )


def one_answer(report: ProvenanceReport, store: Any) -> Mapping[str, object]:
    """The report document of one answer, linked to the trail as it stands now."""
    return report_document([report], trail_link(store))


def verified_in(
    store: Any, wanted: Sequence[str] | None, since: datetime | None, until: datetime | None
) -> Iterator[Verification]:
    """The latest verdict of each trace, in order of its id; of the days asked for."""
    for name in sorted(set(wanted)) if wanted else _names(store):
        try:
            stored = store.get_verdict(name)
        except NotFound:
            continue
        day = stored.verified_at.date()
        if (since and day < since.date()) or (until and day > until.date()):
            continue
        whole = store.get_trace(name, stored.content_hash).trace
        yield replace(stored.verification, trace=whole, content_hash=stored.content_hash)


def trail_link(store: Any) -> TrailLink:
    """Where the audit trail of a database stands, after every link of it was checked."""
    checked = store.verify_chain()
    last = store.audit_events(limit=1)
    first = store.audit_events(newest_first=False, limit=1)
    return TrailLink(
        trail_id=first[0].hash.removeprefix("sha256:")[:16] if first else "",
        events=checked.events,
        head=last[0].hash if last else "",
        intact=checked.intact,
    )


def _names(store: Any) -> list[str]:
    names: list[str] = []
    while True:
        page = store.list_traces(offset=len(names), limit=500)
        names += [row.trace_id for row in page.rows]
        if not page.rows:
            return sorted(set(names))
