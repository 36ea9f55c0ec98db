"""Citation correction by strategy, routing by confidence, and every switch off once.

    python bench/citation_correction_bench.py [--data ../shared/data] [--claims 300] [--semantic]

Supported claims cite the best span of a right source; 30 % of them one of a wrong source instead.
The judge is one of words, so that it runs everywhere; --reader takes the bundled pair reader.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from core.citations.claim_pipeline import CheckedClaim, Switches, check_claims, saved_share
from core.citations.claim_records import CitedClaim, FiveWay, Judge, Ranking, Similarity
from core.citations.confidence import routing_curve
from core.citations.correction import tally_corrections
from core.citations.preselection import alike, select_spans
from core.records import Probabilities, Source
from core.statistics import mcnemar
from core.text.tokens import content_terms, overlap

RATE = 0.30
SWITCHES = ("preselection", "confidence", "correction", "numeric", "abstention", "nei", "retrieval")


@dataclass(frozen=True, slots=True)
class Case:
    """A claim that cites, its sources, and the ids of those that are right."""

    claim: CitedClaim
    sources: tuple[Source, ...]
    gold: frozenset[str]

    @property
    def right(self) -> bool:
        """Whether it cites a right source."""
        return self.claim.evidence is not None and self.claim.evidence.source_id in self.gold


def main() -> None:
    """Print the figures of each set of claims."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--claims", type=int, default=300)
    parser.add_argument("--semantic", action="store_true", help="also the strategies with vectors")
    parser.add_argument("--reader", action="store_true", help="the bundled pair reader as judge")
    parser.add_argument("--ablate", action="store_true", help="turn every switch over once")
    given = parser.parse_args()
    similarity = _similarity() if given.semantic else None
    judge = _reader() if given.reader else by_words
    for name in ("clinical_dev", "livemcp_dev", "validation"):
        cases = _cases(given.data / "packets" / f"{name}.jsonl.gz", given.claims)
        sys.stdout.write(
            f"{name}: {json.dumps(measured(cases, judge, similarity, given.ablate))}\n"
        )


def by_words(claim: str, quote: str) -> Probabilities:
    """A judge that goes by the share of the claim's words; it never says that one is denied."""
    shared = overlap(content_terms(claim), content_terms(quote))
    said = round(min(0.95, shared), 4)
    return Probabilities(entailment=said, neutral=round(1 - said, 4), contradiction=0.0)


def measured(
    cases: Sequence[Case], judge: Judge, similarity: Similarity | None, ablate: bool
) -> dict[str, object]:
    """Correction by strategy, the routing curve, and each switch against all on."""
    start = time.perf_counter()
    methods = [Ranking.KEYWORD, *([Ranking.SEMANTIC, Ranking.HYBRID] if similarity else [])]
    corrections = {}
    for method in methods:
        on = Switches(correction_method=method)
        checked = [_checked(case, judge, on, similarity) for case in cases]
        tally = tally_corrections(
            method,
            [
                (one.claim, one.correction, case.gold)
                for one, case in zip(checked, cases, strict=True)
            ],
        )
        corrections[method.value] = {
            "wrong": tally.wrong,
            "accuracy": tally.accuracy,
            "false_positive_rate": tally.false_positive_rate,
            "actions": dict(tally.actions),
        }
    base = [_checked(case, judge, Switches(), similarity) for case in cases]
    scored = [(one.confidence.score, case.right) for one, case in zip(base, cases, strict=True)]
    curve = routing_curve(scored, (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9))
    return {
        "claims": len(cases),
        "correction": corrections,
        "spared": saved_share(base),
        "routing": [[one.threshold, one.saved, one.missed] for one in curve],
        "ablation": {
            name: _ablated(name, cases, base, judge, similarity) for name in SWITCHES if ablate
        },
        "seconds": round(time.perf_counter() - start, 1),
    }


def _checked(
    case: Case, judge: Judge, switches: Switches, similarity: Similarity | None
) -> CheckedClaim:
    found = check_claims(
        [case.claim],
        case.sources,
        judge,
        query=case.claim.text,
        switches=switches,
        similarity=similarity,
    )
    return found[0]


def _ablated(
    name: str,
    cases: Sequence[Case],
    base: Sequence[CheckedClaim],
    judge: Judge,
    similarity: Similarity | None,
) -> dict[str, object]:
    """A switch turned over: the share of claims that end with a right source, and McNemar's p."""
    switches = replace(Switches(), **{name: not getattr(Switches(), name)})  # type: ignore[arg-type]
    other = [_checked(case, judge, switches, similarity) for case in cases]
    first = [_ends_right(one, case) for one, case in zip(base, cases, strict=True)]
    second = [_ends_right(one, case) for one, case in zip(other, cases, strict=True)]
    return {
        "as_is": round(sum(first) / len(first), 4),
        "turned_over": round(sum(second) / len(second), 4),
        "p": round(mcnemar(first, second), 4),
        "spared": saved_share(other),
    }


def _ends_right(checked: CheckedClaim, case: Case) -> bool:
    """Whether the claim is supported by a right citation, or its wrong one is put right."""
    new = checked.correction.evidence
    if new is not None:
        return new.source_id in case.gold
    return case.right and checked.verdict.verdict in (FiveWay.SUPPORTED, FiveWay.PARTIAL)


def _cases(path: Path, most: int) -> list[Case]:
    """Supported claims with one right source and a wrong one at least, 30 % of them wrongly cited."""
    chance = random.Random(17)
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    rows = [r for r in rows if r["label"] == "supported" and len(r["gold_source_ids"]) == 1]
    chance.shuffle(rows)
    cases: list[Case] = []
    for row in rows:
        sources = tuple(
            Source(source_id=s["source_id"], tool_name=s["tool_name"], text=s["text"])
            for s in row["sources"]
            if s["text"].strip()
        )
        gold = frozenset(row["gold_source_ids"])
        wrong = chance.random() < RATE
        cited = [s for s in sources if (s.source_id in gold) != wrong]
        if not cited or len(cases) == most:
            continue
        spans = select_spans([chance.choice(cited)], row["claim"], per_source=1)
        if spans:
            best = max(spans, key=lambda one: alike(row["claim"], one.quote, Ranking.KEYWORD))
            cases.append(Case(CitedClaim(text=row["claim"], evidence=best), sources, gold))
    return cases


def _similarity() -> Similarity:
    from core.models.loading import load_embedder

    embedder = load_embedder()

    @lru_cache(maxsize=50_000)
    def vector(text: str):  # type: ignore[no-untyped-def]
        return embedder.embed([text])[0]

    return lambda one, other: float(vector(one) @ vector(other))


def _reader() -> Judge:
    from core.models.loading import load_pair_reader

    reader = load_pair_reader()

    @lru_cache(maxsize=50_000)
    def judge(claim: str, quote: str) -> Probabilities:
        reading = reader.read([(quote, claim)])[0]
        unread = Probabilities(entailment=0.0, neutral=1.0, contradiction=0.0)
        return unread if reading is None else reading.probabilities

    return judge


if __name__ == "__main__":
    main()
