"""The stages of claim-level citations on labels by others (seed 001, part VII), with the NLI model.

    python -m bench eval_citations [--data ../shared/data] [--claims 200]

Stage 1: the spans that a claim could cite, ranked, against its right sources. Stage 2: what answers cite,
by ALCE's measures with our NLI model in the place of theirs. Stage 4: the five-way verdict by the quote,
on AttributionBench and FEVER symmetric by the quote given, on the packets by the best span of all outputs.
Stage 6: the numbers of stage 4's claims that are supported or contradicted.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    ndcg_score,
    precision_score,
    recall_score,
)

from bench.report import Report
from bench.verdicts import Row, read_lines
from core.capture.reading import read_traces
from core.citations.claim_stages import SAYS, Judge, cited_span, select_spans, verify_isolated
from core.citations.claims import citations_by_claim
from core.citations.numeric import FiveWay, verify_numbers
from core.decomposition.claims import decompose
from core.evidence.quantities import read_quantities
from core.records import ClaimType, Source, Trace
from core.site_config import site_config
from core.workflows.cited_claims import nli_judge

K = 5
PACKETS = ("clinical_dev", "livemcp_dev")
PAIRS = ("attributionbench_dev", "fever_symmetric_dev")
LABELS = {
    "supported": FiveWay.SUPPORTED,
    "entailment": FiveWay.SUPPORTED,
    "contradicted": FiveWay.CONTRADICTED,
    "contradiction": FiveWay.CONTRADICTED,
    "unsupported": FiveWay.UNSUPPORTED,
    "not_entailment": FiveWay.UNSUPPORTED,
    "not_enough_evidence": FiveWay.NEI,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim, the quote that it is judged by, and what people say of it."""

    claim: str
    quote: str
    label: FiveWay


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--claims", type=int, default=200, help="of each set, drawn")


def run(options: argparse.Namespace) -> Report:
    """One table a stage."""
    report, judge = Report(), nli_judge()
    sets: dict[str, list[Pair]] = {}
    ranked = []
    for name in PACKETS:
        rows = _drawn(options.data / "packets" / f"{name}.jsonl.gz", options.claims)
        ranked.append((name, *ranking(rows)))
        sets[name] = [
            Pair(row["claim"], spans[0].quote if spans else "", LABELS[row["label"]])
            for row in rows
            for spans in [select_spans(_sources(row), row["claim"])]
        ]
    for name in PAIRS:
        rows = _drawn(options.data / "nli" / "more" / f"{name}.jsonl.gz", options.claims)
        sets[name] = [Pair(r["hypothesis"], r["premise"], LABELS[r["label"]]) for r in rows]
    at = (f"recall@{K}", f"precision@{K}", f"NDCG@{K}")
    report.table("Stage 1: spans", ("set", "claims", *at, "coverage"), ranked)
    traces = options.data / "traces" / "clinical_native.jsonl.gz"
    report.table("Stage 2: citations", ("traces", "cited claims", "precision", "recall", "F1"), (
        (traces.name, *alce(traces, judge, options.claims)),
    ))  # fmt: skip
    columns = ("set", "claims", "accuracy", "macro F1", "kappa", "supported precision",
               "contradicted recall")  # fmt: skip
    report.table("Stage 4: verdicts", columns, (
        (name, *five_way([p.label for p in pairs], [_verdict(p, judge) for p in pairs]))
        for name, pairs in sets.items()
    ))  # fmt: skip
    report.table("Stage 6: numbers", ("set", "claims", "right", "wrong", "not decided"), (
        (name, *numbers(pairs)) for name, pairs in sets.items()
    ))  # fmt: skip
    return report


def ranking(rows: Sequence[Row]) -> tuple[int, float, float, float, float]:
    """Of claims with a right source: recall, precision and NDCG at K, and how many are in the pool."""
    found: list[tuple[float, ...]] = []
    for row in rows:
        gold = set(row["gold_source_ids"])
        spans = select_spans(_sources(row), row["claim"])
        if not gold or len(spans) < 2:
            continue
        right = np.array([[span.source_id in gold for span in spans]], dtype=float)
        scores = np.array([[-place for place in range(len(spans))]], dtype=float)
        held = {span.source_id for span in spans[:K]} & gold
        ranked = float(ndcg_score(right, scores, k=K)) if right.any() else 0.0
        found.append(
            (len(held) / len(gold), float(right[0, :K].mean()), ranked, float(right.any()))
        )
    return len(found), *map(float, np.mean(found, axis=0))  # type: ignore[return-value]


def alce(path: Path, judge: Judge, most: int) -> tuple[int, float, float, float]:
    """ALCE's citation precision and recall, each claim by the stretches that it cites."""
    recalls: list[bool] = []
    precise: list[bool] = []
    for trace in read_traces([path]):
        if not isinstance(trace, Trace) or len(recalls) >= most:
            continue
        claims = [c for c in decompose(trace, site_config()) if c.claim_type is ClaimType.FACTUAL]
        cited = citations_by_claim(trace, claims)
        for claim in claims:
            each = (cited_span(claim.text, [one], trace.sources) for one in cited[claim.claim_id])
            quotes = [span.quote for span in dict.fromkeys(filter(None, each))]
            if not quotes:
                continue
            whole = judge(claim.text, "\n".join(quotes)).entailment >= SAYS
            recalls.append(whole)
            for quote in quotes:
                rest = "\n".join(other for other in quotes if other != quote)
                alone = judge(claim.text, quote).entailment >= SAYS
                needed = not rest or judge(claim.text, rest).entailment < SAYS
                precise.append(whole and (alone or needed))
    recall, precision = (float(np.mean(each)) if each else 0.0 for each in (recalls, precise))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return len(recalls), precision, recall, f1


def five_way(gold: Sequence[str], said: Sequence[str]) -> tuple[int, *tuple[float, ...]]:
    """Accuracy, macro F1 over the labels that occur, kappa, supported precision, contradicted recall.

    A set that only tells whether a claim is supported counts every other verdict as unsupported.
    """
    if FiveWay.CONTRADICTED not in gold:
        said = [one if one is FiveWay.SUPPORTED else FiveWay.UNSUPPORTED for one in said]
    given, found = [str(one) for one in gold], [str(one) for one in said]
    each = {"zero_division": 0.0, "average": "macro"}
    return (
        len(given),
        float(accuracy_score(given, found)),
        float(f1_score(given, found, labels=sorted(set(given)), **each)),
        float(cohen_kappa_score(given, found)),
        float(precision_score(given, found, labels=[FiveWay.SUPPORTED.value], **each)),
        float(recall_score(given, found, labels=[FiveWay.CONTRADICTED.value], **each)),
    )


def numbers(pairs: Sequence[Pair]) -> tuple[int, int, int, int]:
    """Claims with numbers, supported or contradicted: how many the numbers alone tell rightly."""
    decided = [FiveWay.SUPPORTED, FiveWay.CONTRADICTED]
    told = []
    for pair in pairs:
        if pair.label in decided and read_quantities(pair.claim):
            found = {one.verdict for one in verify_numbers(pair.claim, pair.quote)}
            said = FiveWay.CONTRADICTED if FiveWay.CONTRADICTED in found else FiveWay.NEI
            told.append((FiveWay.SUPPORTED if found == {FiveWay.SUPPORTED} else said, pair.label))
    right = sum(said is label for said, label in told)
    wrong = sum(said in decided and said is not label for said, label in told)
    return len(told), right, wrong, len(told) - right - wrong


def _verdict(pair: Pair, judge: Judge) -> FiveWay:
    return verify_isolated(pair.claim, pair.quote, judge)[0]


def _sources(row: Row) -> tuple[Source, ...]:
    return tuple(
        Source(source_id=one["source_id"], tool_name=one["tool_name"], text=one["text"])
        for one in row["sources"]
        if one["text"].strip()
    )


def _drawn(path: Path, most: int) -> list[Row]:
    rows = list(read_lines(path))
    random.Random(17).shuffle(rows)
    return rows[:most]
