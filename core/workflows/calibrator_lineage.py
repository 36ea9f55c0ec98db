"""Where a candidate calibrator comes from: guideline, annotations, split, packet and code."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING

from core.calibration.rows import KeptRows
from core.identity import rules_digest
from core.records import JsonObject
from core.review.records import ReviewedClaim, Split
from core.workflows.reviewed_material import LabelledRow, Material

if TYPE_CHECKING:
    from core.calibration.fit import FittedCalibrator


def lineage(material: Material, shipped: KeptRows | None, fitted: FittedCalibrator) -> JsonObject:
    """guideline → votes → forest → threshold: what a candidate rests on, as JSON."""
    used = (*material.train, *material.validation)
    guidelines = Counter(_guideline_of(one.claim) for one in used)
    reviewers = Counter(vote.reviewer for one in used for vote in one.claim.annotations)
    labels = [_label(one) for one in used]
    return {
        "format": "provenanceguard-lineage",
        "version": 1,
        "guideline": [
            {"version": version, "claims": claims} for version, claims in sorted(guidelines.items())
        ],
        "votes": {
            "claims": len(used),
            "votes": sum(len(one.claim.annotations) for one in used),
            "adjudications": sum(one.claim.adjudication is not None for one in used),
            "by_status": dict(Counter(one.claim.resolution.status.value for one in used)),
            "by_reviewer": dict(sorted(reviewers.items())),
            "sha256": hashlib.sha256(json.dumps(labels, sort_keys=True).encode()).hexdigest(),
            "labels": labels,
        },
        "split": {
            split.value: {
                "claims": len(rows),
                "traces": len({one.claim.trace_id for one in rows}),
            }
            for split, rows in (
                (Split.TRAIN, material.train),
                (Split.VALIDATION, material.validation),
                (Split.HELD_OUT, material.held_out),
            )
        },
        "shipped_rows": None
        if shipped is None
        else {"train": len(shipped.train), "validation": len(shipped.validation)},
        "left_out": dict(material.left_out),
        "forest": {"settings": fitted.card["settings"], "made_by": fitted.card["made_by"]},
        "threshold": {
            "value": fitted.choice.point.threshold,
            "rule": fitted.choice.rule,
            "met": fitted.choice.met,
        },
        "pipeline": rules_digest(),
    }


def _label(one: LabelledRow) -> JsonObject:
    claim, final = one.claim, one.claim.resolution.final
    assert final is not None  # gather leaves the others out
    return {
        "claim_id": claim.claim_id,
        "trace_id": claim.trace_id,
        "content_hash": claim.content_hash,
        "split": one.split.value,
        "status": claim.resolution.status.value,
        "support": final.support.value,
        "source_id": final.source_id,
        "conflation": final.conflation,
        "votes": [vote.vote_id for vote in claim.annotations],
        "adjudication": claim.adjudication.adjudication_id if claim.adjudication else None,
        "guideline_version": _guideline_of(claim),
        "supported_by_route": one.row.supported_by_route,
    }


def _guideline_of(claim: ReviewedClaim) -> int:
    """The guideline under which its label was settled."""
    if claim.adjudication is not None:
        return claim.adjudication.guideline_version
    return max(vote.guideline_version for vote in claim.annotations)
