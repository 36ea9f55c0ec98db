"""Frozen claims through the pipeline's own stages: one prediction a packet row, nothing decomposed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.config import Config
from core.errors import BadRecord
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow, row_sha256
from core.evaluation.predictions import (
    Cause,
    Prediction,
    prediction_from_json,
    prediction_to_json,
    recalibrated,
)
from core.pipeline import Models, verify_claims, versions
from core.ports import Progress
from core.records import (
    DISPUTED,
    AttributionStatus,
    ClaimVerdict,
    Decision,
    Features,
    Judged,
    Outcome,
    Support,
    Unjudged,
    VerdictLabel,
    Verification,
)
from core.verification.decision import decide_certain, decide_claim

BATCH_ROWS = 64


class Uncalibrated:
    """Stands where a calibrator will be while features are gathered to fit one: all are supported."""

    name = "uncalibrated"
    threshold = 0.5

    def probabilities(self, rows: Sequence[Features]) -> NDArray[np.float64]:
        """Ones, shape (len(rows),)."""
        return np.ones(len(rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Predictions in row order, and the seconds that each stage took, one entry a call."""

    predictions: tuple[Prediction, ...]
    latency_seconds: Mapping[str, tuple[float, ...]]


def score_rows(
    rows: Sequence[PacketRow],
    models: Models,
    config: Config,
    *,
    kept: PredictionFile | None = None,
    progress: Progress | None = None,
) -> Scored:
    """The verifier's predictions for every row; what ``kept`` holds already is not read again."""
    found: dict[str, Prediction] = {}
    waiting = []
    for row in rows:
        known = kept.get(row) if kept else None
        if known is None:
            waiting.append(row)
        else:
            found[row.claim_id] = known
    # Neighbours that share sources share their embeddings; the order shows in nothing else.
    waiting.sort(key=lambda row: (row.trace_id, row.claim_id))
    spent: dict[str, list[float]] = {}
    if progress:
        progress(len(found), len(rows), "claims")
    for start in range(0, len(waiting), BATCH_ROWS):
        batch = waiting[start : start + BATCH_ROWS]
        scored = [
            (row, _prediction(row, verification, config))
            for row, verification in zip(batch, _verify(batch, models, config, spent), strict=True)
        ]
        found.update((row.claim_id, prediction) for row, prediction in scored)
        if kept:
            kept.append(scored)
        if progress:
            progress(len(found), len(rows), "claims")
    in_order = [found[row.claim_id] for row in rows]
    return Scored(
        predictions=tuple(recalibrated(in_order, models.calibrator)),
        latency_seconds={stage: tuple(seconds) for stage, seconds in spent.items()},
    )


def _verify(
    batch: Sequence[PacketRow], models: Models, config: Config, spent: dict[str, list[float]]
) -> Iterator[Verification]:
    frozen = []
    for row in batch:
        trace, claim = freeze(row, models.families)
        frozen.append((trace, (claim,)))
    for verification in verify_claims(frozen, models, config):
        for stage, seconds in verification.latency_seconds.items():
            spent.setdefault(stage, []).extend(seconds)
        yield verification


def _prediction(row: PacketRow, verification: Verification, config: Config) -> Prediction:
    (verdict,) = verification.claims
    outcome = verdict.outcome
    label = verdict.verdict or VerdictLabel.UNJUDGED
    if not isinstance(outcome, Judged):
        reason = outcome.reason if isinstance(outcome, Unjudged) else "set aside"
        return Prediction(
            claim_id=row.claim_id,
            decision=Decision.BLOCK,
            verdict=label,
            cause=Cause.UNJUDGED,
            forced=True,
            if_supported=label,
            if_unsupported=label,
            reason=reason,
            threshold=0.0,
        )
    passing = decide_certain(verdict, outcome, config)
    failing = decide_certain(verdict, outcome, config, supported=False)
    return Prediction(
        claim_id=row.claim_id,
        decision=verdict.decision,
        verdict=label,
        cause=_cause(verdict, outcome, passing, config),
        forced=passing.decision is Decision.BLOCK,
        if_supported=passing.verdict or label,
        if_unsupported=failing.verdict or label,
        reason=verdict.reasons[0],
        threshold=outcome.support.threshold,
        routed_source_id=outcome.route.source_id,
        routed_tool=outcome.route.tool_name,
        premise=outcome.premise.spans,
        ranking=outcome.route.ranking,
        relation=outcome.literals.relation,
        probabilities=outcome.entailment.probabilities,
        rescued=outcome.literals.rescued,
        supported_token_ratio=outcome.alignment.supported_token_ratio,
        features=outcome.features,
        probability=outcome.support.probability,
        attribution=outcome.attribution.status,
        probable_credit=outcome.attribution.probable,
        if_disputed=_if_disputed(verdict, outcome, config),
    )


def _if_disputed(verdict: ClaimVerdict, judged: Judged, config: Config) -> VerdictLabel | None:
    """What the claim is called where a check vetoes it and the NLI score disputes that."""
    if not any(check.veto for check in judged.checks):
        return None
    support = Support(probability=DISPUTED, threshold=1.0)
    return decide_claim(verdict.claim, replace(judged, support=support), config).verdict


def _cause(verdict: ClaimVerdict, judged: Judged, passing: ClaimVerdict, config: Config) -> Cause:
    if passing.decision is not Decision.BLOCK:
        return Cause.NONE if verdict.decision is Decision.ALLOW else Cause.SUPPORT
    if judged.literals.identity_mismatches:
        return Cause.IDENTITY
    if any(check.veto for check in judged.checks):
        return Cause.CONTRADICTION
    if judged.attribution.status is AttributionStatus.CONFLATION:
        return Cause.CONFLATION
    if any(check.outcome is Outcome.CONTRADICTS for check in judged.checks):
        return Cause.CONTRADICTION
    return Cause.VALUE if judged.literals.missing else Cause.TOKENS


# ---------------------------------------------------------------- what was scored before


class PredictionFile:
    """Predictions kept in a JSON Lines file, so that a killed run goes on where it stopped.

    A kept prediction stands for a row when what the verifier sees of the row, its models and its
    config are the same. Features are kept, so the calibrator may differ as well, unless the row's
    attribution depends on what the calibrator supports. Damaged lines (a run killed while writing)
    are read over; their rows are scored again.
    """

    def __init__(self, path: Path, models: Models, config: Config) -> None:
        self.path = path
        self.run = run_key(models, config)
        self.calibrator = models.calibrator.name
        self._found = dict(self._read())

    def get(self, row: PacketRow) -> Prediction | None:
        """The kept prediction for a row, None when there is none."""
        return self._found.get((row.claim_id, row_sha256(row)))

    def append(self, scored: Sequence[tuple[PacketRow, Prediction]]) -> None:
        """Keep predictions; they are on disk when this returns."""
        lines = [
            json.dumps(
                {
                    "run": self.run,
                    "calibrator": self.calibrator,
                    "row": row_sha256(row),
                    "prediction": prediction_to_json(found),
                },
                ensure_ascii=False,
            )
            for row, found in scored
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            # A line cut off by a killed run must not swallow the next one.
            file.write("\n" + "\n".join(lines) + "\n")

    def _read(self) -> Iterator[tuple[tuple[str, str], Prediction]]:
        if not self.path.is_file():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    record = json.loads(line)
                    if record["run"] != self.run:
                        continue
                    found = prediction_from_json(record["prediction"])
                    if self._holds(str(record["calibrator"]), found):
                        yield (found.claim_id, str(record["row"])), found
                except (ValueError, KeyError, TypeError, BadRecord):
                    continue

    def _holds(self, calibrator: str, found: Prediction) -> bool:
        """Whether the attribution would be the same under this run's calibrator."""
        if calibrator == self.calibrator:
            return True
        # Without a credit, these do not depend on who else supports the claim.
        credited = found.features is None or found.features.numeric["has_stated_attr"] > 0
        return (
            calibrator == Uncalibrated.name
            and not credited
            and found.attribution in (AttributionStatus.NONE, AttributionStatus.MATCH)
        )


def run_key(models: Models, config: Config) -> str:
    """Names everything that a stored feature depends on: models, config, code; not the calibrator."""
    parts = asdict(versions(models, config))
    parts.pop("calibrator")
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
