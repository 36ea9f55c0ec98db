"""The audits as JSON documents; their schemas are published in ``schemas/``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files

from core.citations.envelope import EnvelopeAudit
from core.citations.lattice import PARTLY_LINKED, LatticeAudit
from core.citations.lexical import LexicalAudit
from core.citations.rules import Kind
from core.codec import citation_document, plain
from core.records import CitationFinding, CitationOutcome, Trace

SCHEMAS = ("citations", "envelope", "envelope_audit", "lattice", "lattice_audit", "lexical_audit")


def schema(name: str) -> dict[str, object]:
    """The published JSON Schema of that name; KeyError when there is none."""
    if name not in SCHEMAS:
        raise KeyError(name)
    text = files("core.citations").joinpath("schemas", f"{name}.json").read_text("utf-8")
    found: dict[str, object] = json.loads(text)
    return found


def citations_document(
    trace: Trace, findings: Sequence[CitationFinding], lexical: LexicalAudit
) -> dict[str, object]:
    """What one answer cites, counted, with its lexical audit."""
    counts = {outcome.value: 0 for outcome in CitationOutcome}
    for finding in findings:
        counts[finding.outcome.value] += 1
    return {
        "trace_id": trace.trace_id,
        "decision": "block" if any(one.outcome.blocks for one in findings) else "allow",
        "counts": counts,
        "citations": [citation_document(one) for one in findings],
        "lexical": lexical_document(lexical),
    }


def lexical_document(audit: LexicalAudit) -> dict[str, object]:
    """A lexical audit under the field names of seed 002."""
    return {
        "audit_mode": audit.mode.value,
        "verifier_method": audit.method,
        "n_quotes": len(audit.units),
        "n_verified": audit.verified,
        "unverified_quotes": list(audit.unverified),
        "covered": audit.covered,
        "claim_statuses": plain(audit.units),
    }


def lattice_document(audit: LatticeAudit) -> dict[str, object]:
    """A verified lattice under the field names of seed 002."""
    kinds = Counter(violation.kind for violation in audit.violations)

    def claims_with(kind: Kind) -> list[int | None]:
        return [one.claim_index for one in audit.violations if one.kind is kind]

    return {
        "audit_mode": audit.mode.value,
        "verifier_method": "claim_lattice",
        "form": audit.form,
        "n_quotes": audit.pairs,
        "n_verified": audit.verified_pairs,
        "unverified_quotes": list(audit.unverified),
        "claim_statuses": plain(audit.claims),
        "violations": plain(audit.violations),
        "rendered_text": audit.rendered,
        "lazy_anchor_ratio": audit.lazy_anchor_ratio,
        "evidence_id_pairs": [list(one.evidence_ids) for one in audit.claims],
        "pointer_id_distribution": dict(
            Counter(pointer for one in audit.claims for pointer in one.pointer_ids)
        ),
        "warrant_proven_claim_idxs": list(audit.warranted),
        "warrant_missing_claim_idxs": claims_with(Kind.WARRANT_MISSING),
        "title_mismatch_claim_idxs": claims_with(Kind.TITLE_MISMATCH),
        "lazy_anchor_demoted": kinds[Kind.LAZY_ANCHOR_DEMOTE] > 0,
        "deflection_detected": kinds[Kind.DEFLECTION_DETECTED] > 0,
        "format_collapsed": kinds[Kind.FORMAT_COLLAPSED] > 0,
        "partially_verified_quotes": [
            one.text for one in audit.claims if one.status == PARTLY_LINKED
        ],
        "json_fixups": list(audit.fixups),
        "dropped": list(audit.dropped),
    }


def envelope_audit_document(audit: EnvelopeAudit) -> dict[str, object]:
    """An audited envelope: every claim with its four layers."""
    return {
        "decision": "allow" if audit.passes else "block",
        "claims": [
            {
                "claim_index": one.index,
                "claim": one.claim.claim,
                "source": one.claim.source,
                "passes": one.passes,
                "layers": plain(one.layers),
                "anti_patterns": plain(one.anti_patterns),
                "place": plain(one.place),
            }
            for one in audit.claims
        ],
        "unverified": list(audit.unverified),
        "dropped_unverified": list(audit.dropped),
        "json_fixups": list(audit.fixups),
        "dropped": list(audit.lost),
    }
