"""Records as JSON documents and back: the only place where a trace or a verdict is taken apart.

``verification_from_document(verdict_document(v))`` is ``v`` as far as formats.md tells it, and the
document of that is the first one again, byte for byte; the same holds for traces and repairs.
"""

from core.codec.fields import (
    Fields,
    canonical_json,
    json_kind,
    plain,
    read_record,
    record_document,
)
from core.codec.traces import content_hash, trace_document, trace_from_document
from core.codec.verdicts import (
    PROPOSAL,
    actions_of,
    citation_document,
    repair_document,
    repair_from_document,
    verdict_document,
    verification_from_document,
    versions_document,
    versions_from_document,
)

__all__ = [
    "PROPOSAL",
    "Fields",
    "actions_of",
    "canonical_json",
    "citation_document",
    "content_hash",
    "json_kind",
    "plain",
    "read_record",
    "record_document",
    "repair_document",
    "repair_from_document",
    "trace_document",
    "trace_from_document",
    "verdict_document",
    "verification_from_document",
    "versions_document",
    "versions_from_document",
]
