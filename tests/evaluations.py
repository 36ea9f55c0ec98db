"""Evaluated packets for tests: labelled claims, what a verifier said of them, and a kept run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.attribution.families import load_families
from core.config import Config
from core.evaluation.ablations import apply_plain
from core.evaluation.comparison import compare_with
from core.evaluation.kept import KeptPacket, keep_packet, keep_run
from core.evaluation.packets import PacketRow, row_from_json
from core.evaluation.predictions import Cause, Prediction, at_threshold
from core.evaluation.report import evaluation_report
from core.identity import rules_digest
from core.models.forest import load_forest
from core.records import (
    AttributionStatus,
    Decision,
    RankedSource,
    Relation,
    VerdictLabel,
    Versions,
)

HOSTILE = '<img src=x onerror="alert(1)"> ![x](http://192.0.2.1/a.png) :red[x]'
DRUGS = ("metformin", "ramipril", "apixaban", "sertraline", "furosemide")


def packet_records(count: int, *, seed: int = 1, traces: int | None = None) -> list[object]:
    """Labelled claims about a chart and an abstract; every third is bad, slices overlap."""
    rng = np.random.default_rng(seed)
    records: list[object] = []
    for at in range(count):
        drug, dose = DRUGS[at % len(DRUGS)], 5 * (1 + int(rng.integers(1, 9)))
        bad = at % 3 == 2
        records.append(
            {
                "claim_id": f"c{at:04d}",
                "trace_id": f"trace-{at % (traces or max(1, count // 4)):03d}",
                "claim": f"Patient {at} takes {drug} {dose} mg daily."
                if at != 5
                else f"{HOSTILE} cured patient 5.",
                "stated_attribution": "According to the chart" if at % 4 == 0 else None,
                "sources": [
                    {
                        "source_id": "chart",
                        "tool_name": "load_patient_history",
                        "text": f"Patient {at}. {drug} {dose} mg once daily. {HOSTILE}",
                    },
                    {
                        "source_id": "pubmed",
                        "tool_name": "search_pubmed_key_words",
                        "text": f"PMID: 900000{at}. {drug} in adults.",
                    },
                ],
                "label": ("contradicted", "not_enough_evidence")[at % 2] if bad else "supported",
                "relation": ("contradiction", "neutral")[at % 2] if bad else "entailment",
                "gold_source_ids": [] if bad and at % 2 else ["chart"],
                "gold_attribution": "match" if at % 4 == 0 else None,
                "slices": ["chart plus literature"] + (["values"] if at % 2 else []),
            }
        )
    return records


def predict(
    rows: Sequence[PacketRow], *, threshold: float, seed: int = 2, skill: float = 0.3
) -> list[Prediction]:
    """What a verifier of some skill might say: noisy probabilities, a few claims blocked elsewhere."""
    rng = np.random.default_rng(seed)
    found = []
    for row in rows:
        centre = 0.5 - skill if row.should_block else 0.5 + skill
        probability = round(float(np.clip(rng.normal(centre, 0.2), 0.0, 1.0)), 4)
        forced = bool(rng.uniform() < 0.08)
        first, second = ("chart", "pubmed") if rng.uniform() < 0.8 else ("pubmed", "chart")
        judged = Prediction(
            claim_id=row.claim_id,
            decision=Decision.BLOCK,
            verdict=VerdictLabel.SUPPORTED,
            cause=Cause.VALUE if forced else Cause.NONE,
            forced=forced,
            if_supported=VerdictLabel.UNSUPPORTED if forced else VerdictLabel.SUPPORTED,
            if_unsupported=VerdictLabel.NOT_ENOUGH_EVIDENCE,
            reason="a value of the claim is not in the source" if forced else "it says so",
            threshold=threshold,
            routed_source_id=first,
            routed_tool={"chart": "load_patient_history", "pubmed": "search_pubmed_key_words"}[
                first
            ],
            ranking=(
                RankedSource(source_id=first, score=0.8),
                RankedSource(source_id=second, score=0.4),
            ),
            relation=Relation.ENTAILMENT,
            supported_token_ratio=0.8,
            probability=probability,
            attribution=AttributionStatus.MATCH,
        )
        found.append(at_threshold(judged, probability, threshold))
    return found


def keep_evaluated(
    folder: Path,
    *,
    claims: int = 60,
    threshold: float = 0.5,
    calibrator: str | None = None,
    seed: int = 1,
    skill: float = 0.3,
    name: str = "trial.jsonl",
    resamples: int = 60,
) -> KeptPacket:
    """A kept packet with one complete run, by default of the calibrator that is in use."""
    file = folder.parent / f"{seed}-{claims}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    records = packet_records(claims, seed=seed)
    file.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    packet = keep_packet(folder, name, file, max_record_bytes=1 << 20)
    keep_predicted(
        packet,
        records,
        threshold=threshold,
        calibrator=calibrator,
        seed=seed,
        skill=skill,
        resamples=resamples,
    )
    return packet


def keep_predicted(
    packet: KeptPacket,
    records: Sequence[object],
    *,
    threshold: float = 0.5,
    calibrator: str | None = None,
    seed: int = 1,
    skill: float = 0.3,
    resamples: int = 60,
) -> None:
    """Keep a complete run over a packet that holds these records."""
    rows = [row_from_json(record) for record in records]
    predictions = predict(rows, threshold=threshold, seed=seed + 1, skill=skill)
    versions = Versions(
        pipeline=rules_digest(),
        config_sha256=Config().sha256(load_families().digest),
        embedder="embedder@sha256:0",
        pair_reader="reader@sha256:0",
        precision="fp32",
        calibrator=calibrator or load_forest().name,
    )
    report = evaluation_report(
        rows, predictions, threshold=threshold, versions=versions, seconds=1.0, resamples=resamples
    )
    report["packet_sha256"] = packet.sha256
    everything = apply_plain("block-all", predictions)
    report["compared"] = [
        compare_with("block-all", "", rows, predictions, everything, resamples=resamples)
    ]
    keep_run(packet, versions, report, predictions)
