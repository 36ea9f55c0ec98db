"""Claims and what each run said about them: taken from verdict documents, added once, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.errors import StoreError
from core.records import (
    AttributionStatus,
    ClaimType,
    Decision,
    Features,
    JsonObject,
    VerdictLabel,
)
from core.review.records import Signal
from storage import queue
from storage.audit import sha256_of
from storage.columns import plain_text
from storage.review_tables import ClaimRow, ClaimSignal
from storage.tables import Run, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaim:
    """One factual claim of a verdict document, with what its run said about it."""

    claim_id: str
    number: int
    text: str
    span_start: int
    span_end: int
    claim_type: str
    signal: Signal


def put_claims(
    connection: Connection, position: int, run_id: int, run_key: str, document: JsonObject
) -> None:
    """Keep the claims of a verdict on the trace at ``position``, and put them into the queues.

    Raises StoreError when the document is no verdict.
    """
    judged = judged_claims(document, run_key)
    keys = _claim_keys(connection, position, judged)
    signals = {key: one.signal for key, one in zip(keys, judged, strict=True)}
    _put_signals(connection, run_id, signals)
    queue.follow(connection, position, signals)


def fill_claims(connection: Connection) -> None:
    """Keep the claims of the verdicts that were stored before there were claims, in their order."""
    rows = connection.execute(
        select(
            col(Verdict.verdict_id), col(Verdict.position), col(Verdict.run_id), col(Run.run_key)
        )
        .join(Run, col(Run.run_id) == col(Verdict.run_id))
        .order_by(col(Verdict.verdict_id))
    ).all()
    for row in rows:
        document = connection.execute(
            select(col(Verdict.document)).where(col(Verdict.verdict_id) == row.verdict_id)
        ).scalar_one()
        put_claims(connection, row.position, row.run_id, row.run_key, json.loads(document))


def judged_claims(document: JsonObject, run_key: str) -> list[JudgedClaim]:
    """The factual claims of a verdict document, in its order; raises StoreError."""
    claims = document.get("claims")
    if not isinstance(claims, list):
        raise StoreError(f"claims: expected a list, found {claims!r:.60}")
    found: dict[tuple[str, str], JudgedClaim] = {}
    for index, claim in enumerate(claims):
        try:
            if claim["claim_type"] != ClaimType.FACTUAL:
                continue
            one = _judged(claim, index, run_key)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise StoreError(f"claims[{index}]: {type(error).__name__}: {error}") from None
        found.setdefault((one.claim_id, one.text), one)
    return list(found.values())


def _judged(claim: Mapping[str, object], index: int, run_key: str) -> JudgedClaim:
    span = claim["span"]
    assert isinstance(span, Sequence)
    return JudgedClaim(
        claim_id=plain_text(str(claim["claim_id"])),
        number=index + 1,
        text=plain_text(str(claim["text"])),
        span_start=int(span[0]),
        span_end=int(span[1]),
        claim_type=str(claim["claim_type"]),
        signal=signal_of_claim(claim, run_key),
    )


def signal_of_claim(claim: Mapping[str, object], run_key: str) -> Signal:
    """What one claim of a verdict document says; raises KeyError, TypeError or ValueError."""
    routed = _object(claim.get("routed_source"))
    features = _object(claim.get("calibrator_input"))
    attribution = _object(claim.get("attribution"))
    probability, threshold = (
        _number(claim.get("support_probability")),
        _number(claim.get("threshold")),
    )
    decision, verdict = Decision(str(claim["decision"])), claim.get("verdict")
    reasons = claim.get("reasons")
    return Signal(
        run_key=run_key,
        decision=decision,
        verdict=None if verdict is None else VerdictLabel(str(verdict)),
        probability=probability,
        threshold=threshold,
        margin=_number(routed.get("routing_margin")),
        routed_source_id=_text(routed.get("source_id")),
        routed_family=_text(routed.get("family")),
        attribution=AttributionStatus(str(attribution["status"])),
        gated=_gated(
            decision, probability, threshold, len(reasons) if isinstance(reasons, list) else 0
        ),
        features=None
        if not features
        else Features(
            categorical={
                name: str(value)
                for name, value in _object(features["categorical_features"]).items()
            },
            numeric={
                name: float(str(value))
                for name, value in _object(features["numeric_features"]).items()
            },
        ),
    )


def _gated(
    decision: Decision, probability: float | None, threshold: float | None, reasons: int
) -> bool:
    """Whether the claim would stay blocked if its probability reached the threshold.

    The gate gives one reason for each thing that it found, and exactly one of them for a
    probability below the threshold: any more is something else.
    """
    if decision is not Decision.BLOCK:
        return False
    if probability is None or threshold is None or probability >= threshold:
        return True
    return reasons > 1


def _object(value: object) -> Mapping[str, object]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"expected an object, found {value!r:.60}")
    return value


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"expected a number, found {value!r:.60}")
    return float(value)


def _text(value: object) -> str | None:
    return None if value is None else plain_text(str(value))


def _claim_keys(connection: Connection, position: int, judged: Sequence[JudgedClaim]) -> list[int]:
    """The key of each claim, in order; a claim with the same id and text is the same claim."""
    hashes = [sha256_of(one.text) for one in judged]
    known = _known(connection, position)
    wanted = [(one.claim_id, digest) for one, digest in zip(judged, hashes, strict=True)]
    new = [
        {
            "position": position,
            "claim_id": one.claim_id,
            "number": one.number,
            "text": one.text,
            "text_sha256": digest,
            "span_start": one.span_start,
            "span_end": one.span_end,
            "claim_type": one.claim_type,
        }
        for one, digest in zip(judged, hashes, strict=True)
        if (one.claim_id, digest) not in known
    ]
    if new:
        connection.execute(insert(ClaimRow), new)
        known = _known(connection, position)
    return [known[key] for key in wanted]


def _known(connection: Connection, position: int) -> dict[tuple[str, str], int]:
    rows = connection.execute(
        select(col(ClaimRow.claim_key), col(ClaimRow.claim_id), col(ClaimRow.text_sha256)).where(
            col(ClaimRow.position) == position
        )
    )
    return {(row.claim_id, row.text_sha256): row.claim_key for row in rows}


def _put_signals(connection: Connection, run_id: int, signals: Mapping[int, Signal]) -> None:
    rows = [
        {
            "claim_key": claim_key,
            "run_id": run_id,
            "decision": one.decision.value,
            "verdict": None if one.verdict is None else one.verdict.value,
            "probability": one.probability,
            "threshold": one.threshold,
            "margin": one.margin,
            "routed_source_id": one.routed_source_id,
            "routed_family": one.routed_family,
            "attribution": one.attribution.value,
            "gated": one.gated,
            "features": None
            if one.features is None
            else json.dumps(
                {
                    "categorical": dict(one.features.categorical),
                    "numeric": dict(one.features.numeric),
                },
                separators=(",", ":"),
            ),
        }
        for claim_key, one in signals.items()
    ]
    if rows:
        connection.execute(insert(ClaimSignal), rows)


# ---------------------------------------------------------------- read

SIGNAL_COLUMNS = (
    col(ClaimSignal.decision),
    col(ClaimSignal.verdict),
    col(ClaimSignal.probability),
    col(ClaimSignal.threshold),
    col(ClaimSignal.margin),
    col(ClaimSignal.routed_source_id),
    col(ClaimSignal.routed_family),
    col(ClaimSignal.attribution),
    col(ClaimSignal.gated),
    col(ClaimSignal.features),
)


def signal_from(row: Mapping[Any, Any]) -> Signal:
    """The signal in a row that holds SIGNAL_COLUMNS, features or not, and run_key, as its mapping."""
    verdict, features = row["verdict"], row.get("features")
    read = None if features is None else json.loads(str(features))
    return Signal(
        run_key=str(row["run_key"]),
        decision=Decision(str(row["decision"])),
        verdict=None if verdict is None else VerdictLabel(str(verdict)),
        probability=_number(row["probability"]),
        threshold=_number(row["threshold"]),
        margin=_number(row["margin"]),
        routed_source_id=_text(row["routed_source_id"]),
        routed_family=_text(row["routed_family"]),
        attribution=AttributionStatus(str(row["attribution"])),
        gated=bool(row["gated"]),
        features=None
        if read is None
        else Features(categorical=read["categorical"], numeric=read["numeric"]),
    )


def latest_signal(connection: Connection, claim_key: int) -> Signal | None:
    """What the latest run said about the claim."""
    row = connection.execute(
        select(*SIGNAL_COLUMNS, col(Run.run_key))
        .join(Run, col(Run.run_id) == col(ClaimSignal.run_id))
        .where(col(ClaimSignal.claim_key) == claim_key)
        .order_by(col(ClaimSignal.signal_id).desc())
        .limit(1)
    ).first()
    return None if row is None else signal_from(row._mapping)
