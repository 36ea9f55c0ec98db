"""Reviews as annotations of OpenInference: what an observability tool shows beside the trace."""

from __future__ import annotations

from collections.abc import Sequence

from core.codec import canonical_json
from core.records import VerdictLabel
from core.review.records import Judgement, ReviewedClaim, Unfit

Json = dict[str, object]


def annotations_of(trace_id: str, claims: Sequence[ReviewedClaim]) -> Json:
    """The trace's annotations, flat: ``trace.annotations.<i>.annotation.name|label|score|…``.

    Each annotation, adjudication and final label gives one annotation a question (support, source,
    conflation); ``identifier`` tells apart who said it of which claim.
    """
    attributes: Json = {}
    number = 0
    for claim in claims:
        for user, judgement, explanation in _said(claim):
            for name, label, score in _answers(judgement):
                base = f"trace.annotations.{number}.annotation"
                attributes |= {
                    f"{base}.name": name,
                    f"{base}.label": label,
                    **({} if score is None else {f"{base}.score": score}),
                    **({f"{base}.explanation": explanation} if explanation else {}),
                    f"{base}.annotator_kind": "HUMAN",
                    f"{base}.identifier": f"{claim.claim_id}/{user}",
                    f"{base}.metadata": canonical_json(
                        {
                            "claim_id": claim.claim_id,
                            "claim": claim.text,
                            "by": user,
                            "status": claim.resolution.status.value,
                        }
                    ),
                }
                number += 1
    return {"trace_id": trace_id, "attributes": attributes}


def _said(claim: ReviewedClaim) -> list[tuple[str, Judgement, str]]:
    said = [
        (annotation.reviewer, annotation.judgement, annotation.rationale)
        for annotation in claim.annotations
    ]
    if claim.adjudication is not None:
        decided = claim.adjudication
        said.append((decided.reviewer, decided.judgement, decided.rationale))
    if claim.resolution.final is not None:
        said.append(("final", claim.resolution.final, ""))
    return said


def _answers(judgement: Judgement) -> list[tuple[str, str, float | None]]:
    if isinstance(judgement.support, Unfit):
        return [("claim_support", judgement.support.value, None)]
    supported = judgement.support is VerdictLabel.SUPPORTED
    answers: list[tuple[str, str, float | None]] = [
        ("claim_support", judgement.support.value, 1.0 if supported else 0.0),
        ("claim_source", "; ".join(judgement.source_ids) or "no source", None),
    ]
    if judgement.conflation is not None:
        wrong = judgement.conflation
        answers.append(("claim_conflation", "yes" if wrong else "no", 0.0 if wrong else 1.0))
    return answers
