"""Corrected citations, routing by confidence, and every stage turned over once (seed 001).

    python bench/citation_correction_bench.py [--data ../shared/data] [--claims 300] [--ablate]

Supported claims cite the best span of a right source; 30 % of them one of a wrong source instead.
The judge is one of words, so that it runs everywhere.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.citations.claim_stages import (
    Action,
    CheckedClaim,
    Confidence,
    EvidenceSpan,
    Stages,
    check_claims,
    select_spans,
)
from core.citations.numeric import FiveWay
from core.records import Probabilities, Source
from core.statistics import mcnemar
from core.text.tokens import content_terms, overlap

RATE = 0.30
TURNED = ("preselection", "confidence", "correction", "numeric", "abstention", "nei", "retrieval")


@dataclass(frozen=True, slots=True)
class Case:
    """A claim with what it cites, its sources, and the ids of those that are right."""

    text: str
    cited: EvidenceSpan
    sources: tuple[Source, ...]
    gold: frozenset[str]

    @property
    def right(self) -> bool:
        """Whether it cites a right source."""
        return self.cited.source_id in self.gold


def main() -> None:
    """Print the figures of each set of claims."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--claims", type=int, default=300)
    parser.add_argument("--ablate", action="store_true", help="turn every stage over once")
    given = parser.parse_args()
    for name in ("clinical_dev", "livemcp_dev", "validation"):
        cases = _cases(given.data / "packets" / f"{name}.jsonl.gz", given.claims)
        sys.stdout.write(f"{name}: {json.dumps(measured(cases, given.ablate))}\n")


def by_words(claim: str, quote: str) -> Probabilities:
    """A judge that goes by the share of the claim's words; it never says that one is denied."""
    shared = overlap(content_terms(claim), content_terms(quote))
    said = round(min(0.95, shared), 4)
    return Probabilities(entailment=said, neutral=round(1 - said, 4), contradiction=0.0)


def measured(cases: Sequence[Case], ablate: bool) -> dict[str, object]:
    """Wrong citations put right and right ones broken, what routing saves and misses, each stage's part."""
    base = [_checked(case, Stages()) for case in cases]
    pairs = list(zip(base, cases, strict=True))
    wrong = [(one, case) for one, case in pairs if not case.right]
    right = [(one, case) for one, case in pairs if case.right]
    restored = sum(one.better is not None and one.better.source_id in c.gold for one, c in wrong)
    broken = sum(
        one.action is Action.REMOVE
        or (one.better is not None and one.better.source_id not in case.gold)
        for one, case in right
    )
    return {
        "claims": len(cases),
        "wrong": len(wrong),
        "accuracy": round(restored / len(wrong), 4) if wrong else None,
        "false_positive_rate": round(broken / len(right), 4) if right else None,
        "spared": _spared(base),
        "routing": [
            [
                threshold,
                round(sum(one.confidence >= threshold for one in base) / len(base), 4),
                round(sum(one.confidence >= threshold for one, _ in wrong) / len(wrong), 4),
            ]
            for threshold in (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9)
        ],
        "ablation": {name: _ablated(name, cases, base) for name in TURNED if ablate},
    }


def _checked(case: Case, stages: Stages) -> CheckedClaim:
    return check_claims([(case.text, case.cited)], case.sources, by_words, stages=stages)[0]


def _spared(checked: Sequence[CheckedClaim]) -> float:
    """The share of claims that were spared the full chain of questions."""
    return round(sum(one.depth is not Confidence.LOW for one in checked) / len(checked), 4)


def _ablated(name: str, cases: Sequence[Case], base: Sequence[CheckedClaim]) -> dict[str, object]:
    """A stage turned over: the share of claims that end with a right source, and McNemar's p."""
    stages = replace(Stages(), **{name: not getattr(Stages(), name)})
    other = [_checked(case, stages) for case in cases]
    first, second = (
        [_ends_right(one, case) for one, case in zip(checked, cases, strict=True)]
        for checked in (base, other)
    )
    return {
        "as_is": round(sum(first) / len(first), 4),
        "turned_over": round(sum(second) / len(second), 4),
        "p": round(mcnemar(first, second), 4),
        "spared": _spared(other),
    }


def _ends_right(checked: CheckedClaim, case: Case) -> bool:
    """Whether the claim is supported by a right citation, or its wrong one is put right."""
    if checked.better is not None:
        return checked.better.source_id in case.gold
    return case.right and checked.verdict in (FiveWay.SUPPORTED, FiveWay.PARTIAL)


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
            cases.append(Case(row["claim"], spans[0], sources, gold))
    return cases


if __name__ == "__main__":
    main()
