"""Corrected citations, routing by confidence, and every stage turned over once (seed 001).

    python -m bench citation_correction [--data ../shared/data] [--claims 300] [--ablate]

Supported claims cite the best span of a right source; 30 % of them one of a wrong source instead.
The judge is one of words, so that it runs everywhere.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.report import Report, share
from bench.verdicts import read_lines
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


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this suite."""
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--claims", type=int, default=300)
    parser.add_argument("--ablate", action="store_true", help="turn every stage over once")


def run(options: argparse.Namespace) -> Report:
    """Wrong citations put right and right ones broken, what routing saves and misses, each stage's part."""
    report, rows = Report(), []
    for name in ("clinical_dev", "livemcp_dev", "validation"):
        cases = _cases(options.data / "packets" / f"{name}.jsonl.gz", options.claims)
        base = [_checked(case, Stages()) for case in cases]
        pairs = list(zip(base, cases, strict=True))
        wrong = [(one, case) for one, case in pairs if not case.right]
        right = [(one, case) for one, case in pairs if case.right]
        restored = sum(
            one.better is not None and one.better.source_id in c.gold for one, c in wrong
        )
        broken = sum(
            one.action is Action.REMOVE
            or (one.better is not None and one.better.source_id not in case.gold)
            for one, case in right
        )
        rows.append((name, share(restored, len(wrong)), share(broken, len(right)), _spared(base)))
        report.table(f"{name}, routing", ("confidence from", "of all", "of wrong ones"), (
            (
                str(threshold),
                sum(one.confidence >= threshold for one in base) / len(base),
                sum(one.confidence >= threshold for one, _ in wrong) / len(wrong),
            )
            for threshold in (0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9)
        ))  # fmt: skip
        if options.ablate:
            columns = ("stage", "right as it is", "turned over", "p", "spared")
            report.table(f"{name}, a stage turned over", columns,
                         (_ablated(stage, cases, base) for stage in TURNED))  # fmt: skip
    return report.table("", ("packet", "wrong put right", "right broken", "spared"), rows)


def by_words(claim: str, quote: str) -> Probabilities:
    """A judge that goes by the share of the claim's words; it never says that one is denied."""
    shared = overlap(content_terms(claim), content_terms(quote))
    said = round(min(0.95, shared), 4)
    return Probabilities(entailment=said, neutral=round(1 - said, 4), contradiction=0.0)


def _checked(case: Case, stages: Stages) -> CheckedClaim:
    return check_claims([(case.text, case.cited)], case.sources, by_words, stages=stages)[0]


def _spared(checked: Sequence[CheckedClaim]) -> float:
    """The share of claims that were spared the full chain of questions."""
    return sum(one.depth is not Confidence.LOW for one in checked) / len(checked)


def _ablated(
    name: str, cases: Sequence[Case], base: Sequence[CheckedClaim]
) -> tuple[str, float, float, float, float]:
    """A stage turned over: the share of claims that end with a right source, and McNemar's p."""
    stages = replace(Stages(), **{name: not getattr(Stages(), name)})
    other = [_checked(case, stages) for case in cases]
    first, second = (
        [_ends_right(one, case) for one, case in zip(checked, cases, strict=True)]
        for checked in (base, other)
    )
    shares = (sum(ends) / len(ends) for ends in (first, second))
    return name, *shares, mcnemar(first, second), _spared(other)


def _ends_right(checked: CheckedClaim, case: Case) -> bool:
    """Whether the claim is supported by a right citation, or its wrong one is put right."""
    if checked.better is not None:
        return checked.better.source_id in case.gold
    return case.right and checked.verdict in (FiveWay.SUPPORTED, FiveWay.PARTIAL)


def _cases(path: Path, most: int) -> list[Case]:
    """Supported claims with one right source and a wrong one at least, 30 % of them wrongly cited."""
    chance = random.Random(17)
    rows = [
        r for r in read_lines(path) if r["label"] == "supported" and len(r["gold_source_ids"]) == 1
    ]
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
