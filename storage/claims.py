"""Claims and what each run said about them: taken from verdicts, added once, never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select
from sqlmodel import col

from core.provenance.triage import is_gated
from core.records import (
    AttributionStatus,
    ClaimType,
    ClaimVerdict,
    Decision,
    Features,
    Judged,
    State,
    VerdictLabel,
    Verification,
    state_of,
)
from core.review.records import Signal
from storage.audit import sha256_of
from storage.columns import plain_text
from storage.tables import ClaimBlock, ClaimRow, ClaimSignal, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaim:
    """One factual claim of a verdict, with what its run said about it."""

    claim_id: str
    number: int
    text: str
    span_start: int
    span_end: int
    claim_type: str
    signal: Signal
    blocks: bool  # it is shown to be wrong


def put_claims(
    connection: Connection, position: int, run_id: int, run_key: str, verification: Verification
) -> dict[int, Signal]:
    """Keep the claims of a verdict on the trace at ``position``: claim key → what was said of it."""
    judged = judged_claims(verification, run_key)
    keys = _claim_keys(connection, position, judged)
    signals = {key: one.signal for key, one in zip(keys, judged, strict=True)}
    _put_signals(connection, run_id, signals)
    put_blocks(connection, position, run_id, judged)
    return signals


def put_blocks(
    connection: Connection, position: int, run_id: int, judged: Sequence[JudgedClaim]
) -> None:
    """Keep which of the claims whose signals that run has are shown to be wrong."""
    wrong = [one for one in judged if one.blocks]
    signals = select(col(ClaimSignal.signal_id)).where(
        col(ClaimSignal.run_id) == run_id,
        col(ClaimSignal.claim_key).in_(_claim_keys(connection, position, wrong)),
    )
    if wrong:
        connection.execute(insert(ClaimBlock).from_select(["signal_id"], signals))


def judged_claims(verification: Verification, run_key: str) -> list[JudgedClaim]:
    """The factual claims of a verification, in its order; one with the same id and text is the same."""
    found: dict[tuple[str, str], JudgedClaim] = {}
    for number, verdict in enumerate(verification.claims, 1):
        claim = verdict.claim
        if claim.claim_type is not ClaimType.FACTUAL:
            continue
        one = JudgedClaim(
            claim_id=plain_text(claim.claim_id),
            number=number,
            text=plain_text(claim.text),
            span_start=claim.span.start,
            span_end=claim.span.end,
            claim_type=claim.claim_type.value,
            signal=signal_of_claim(verdict, run_key),
            blocks=state_of(verdict) is State.BLOCK,
        )
        found.setdefault((one.claim_id, one.text), one)
    return list(found.values())


def signal_of_claim(verdict: ClaimVerdict, run_key: str) -> Signal:
    """What one claim of a verification says."""
    outcome = verdict.outcome
    if not isinstance(outcome, Judged):
        return Signal(
            run_key=run_key,
            decision=verdict.decision,
            verdict=verdict.verdict,
            probability=None,
            threshold=None,
            margin=None,
            routed_source_id=None,
            routed_family=None,
            attribution=AttributionStatus.NONE,
            gated=verdict.decision is Decision.BLOCK,
            features=None,
        )
    support, route = outcome.support, outcome.route
    return Signal(
        run_key=run_key,
        decision=verdict.decision,
        verdict=verdict.verdict,
        probability=support.probability,
        threshold=support.threshold,
        margin=route.margin,
        routed_source_id=plain_text(route.source_id),
        routed_family=plain_text(route.family),
        attribution=outcome.attribution.status,
        gated=is_gated(verdict, outcome),
        features=outcome.features,
        review_from=support.review_from,
    )


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
            "review_from": one.review_from,
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
    col(ClaimSignal.review_from),
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
        review_from=_number(row["review_from"]),
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
