"""Fit the evidence router's weights on claim packets: which candidate owns the claim?"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from core.attribution.families import Families, load_families
from core.config import Config, RouteWeights
from core.evaluation.frozen import freeze
from core.evaluation.packets import read_packet
from core.models.forest import load_forest
from core.models.loading import load_embedder, load_nli_model
from core.pipeline import WINDOW
from core.ports import Progress
from core.records import Claim, Trace
from core.verification.candidates import rank_claims
from core.verification.prepare import Models, embed_window, open_trace
from core.verification.reading import read_window

COLUMNS = (
    "centroid",
    "nearest",
    "overlap",
    "values",
    "identity",
    "entailment",
    "contradiction",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterRow:
    """One claim's candidates, shape (sources, len(COLUMNS)), and which of them own it."""

    candidates: NDArray[np.float64]
    owns: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldClaim:
    """A frozen claim with the sources that may own it; never empty."""

    trace: Trace
    claim: Claim
    gold_source_ids: frozenset[str]


def router_rows(
    gold: Iterable[GoldClaim], models: Models, config: Config, progress: Progress | None = None
) -> Iterator[RouterRow]:
    """Read every candidate of every claim once; memory holds one window."""
    pending, done = iter(gold), 0
    while window := list(islice(pending, WINDOW * 4)):
        opened = [open_trace(g.trace, (g.claim,), models, config) for g in window]
        vectors = embed_window(opened, models.embedder)
        cases = [rank_claims(one, vectors, models, config) for one in opened]
        nli_scores = read_window(opened, cases, models.nli)
        for item, [case] in zip(window, cases, strict=True):
            rows, owns = [], []
            for c in case.candidates:
                read = [
                    nli_scores.pairs[(premise.text, case.claim.text)]
                    for premise in case.windows.get(c.source_id, ())
                ]
                said = max(
                    (nli_score.probabilities for nli_score in read if nli_score is not None),
                    key=lambda probabilities: probabilities.entailment,
                    default=None,
                )
                rows.append(
                    [
                        c.centroid,
                        c.nearest,
                        c.overlap,
                        c.values,
                        float(c.identity),
                        said.entailment if said else 0.0,
                        said.contradiction if said else 0.0,
                    ]
                )
                owns.append(c.source_id in item.gold_source_ids)
            yield RouterRow(candidates=np.array(rows), owns=np.array(owns))
        done += len(window)
        if progress:
            progress(done, None, "claims")


def fit_route_weights(rows: Sequence[RouterRow], penalty: float = 1e-3) -> RouteWeights:
    """Weights that rank an owning source first, then scaled so that the score is P(owns).

    First a conditional logit over each claim's own candidates (only differences inside a claim
    count), then a one-variable logistic regression for scale and bias, which leaves ranks alone.
    Deterministic: no sampling. Weights are kept non-negative, so that no score falls because
    evidence grew.
    """
    scored = [row for row in rows if row.owns.any() and not row.owns.all()]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = penalty * float(weights @ weights), 2 * penalty * weights
        for row in scored:
            scores = row.candidates @ weights
            chance = np.exp(scores - scores.max())
            chance /= chance.sum()
            owned = chance * row.owns / max(chance[row.owns].sum(), 1e-12)
            total -= float(np.log(max(chance[row.owns].sum(), 1e-12))) / len(scored)
            slope = slope + row.candidates.T @ (chance - owned) / len(scored)
        return total, slope

    found = minimize(
        loss, np.ones(len(COLUMNS)), jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(COLUMNS)
    )
    combined = np.concatenate([row.candidates @ found.x for row in rows]).reshape(-1, 1)
    scale = LogisticRegression(C=1e6).fit(combined, np.concatenate([row.owns for row in rows]))
    weights = np.round(found.x * float(scale.coef_[0, 0]), 4)
    return RouteWeights(
        bias=round(float(scale.intercept_[0]), 4),
        **dict(zip(COLUMNS, map(float, weights), strict=True)),
    )


def source_accuracy(rows: Sequence[RouterRow], weights: RouteWeights) -> float:
    """The share of claims whose first-ranked source owns them; ties go to the earlier one."""
    vector = np.array([getattr(weights, name) for name in COLUMNS])
    right = [bool(row.owns[int(np.argmax(row.candidates @ vector))]) for row in rows]
    return sum(right) / len(right)


def gold_claims(
    packets: Sequence[Path], families: Families, most: int, seed: int
) -> list[GoldClaim]:
    """At most ``most`` claims of these packets that have an owner and a choice, drawn with ``seed``."""
    rows = [row for path in packets for row in read_packet(path).rows]
    choices = [row for row in rows if row.gold_source_ids and len(row.sources) > 1]
    drawn = random.Random(seed).sample(choices, min(most, len(choices)))
    found = []
    for row in drawn:
        trace, claim = freeze(row, families)
        found.append(
            GoldClaim(trace=trace, claim=claim, gold_source_ids=frozenset(row.gold_source_ids))
        )
    return found


def main() -> None:
    """Fit on packets, print the weights for core/config.py and the source accuracy beside centroid's."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("train", type=Path, nargs="+")
    parser.add_argument("--validation", type=Path, required=True)
    parser.add_argument("--claims", type=int, default=800)
    parser.add_argument("--seed", type=int, default=20260607)
    options = parser.parse_args()
    config = Config()
    models = Models(
        embedder=load_embedder(),
        nli=load_nli_model(max_tokens=config.nli_max_tokens),
        calibrator=load_forest(),
        families=load_families(),
    )
    rows = {}
    for name, files in (("train", options.train), ("validation", [options.validation])):
        gold = gold_claims(files, models.families, options.claims, options.seed)
        rows[name] = list(router_rows(gold, models, config))
    fitted = fit_route_weights(rows["train"])
    print(fitted)
    nothing = dict.fromkeys(COLUMNS, 0.0) | {"bias": 0.0}
    for name, of_split in rows.items():
        centroid = source_accuracy(of_split, RouteWeights(**(nothing | {"centroid": 1.0})))
        evidence, before = (source_accuracy(of_split, w) for w in (fitted, config.route_weights))
        print(
            f"{name}: {len(of_split)} claims, source accuracy: "
            f"evidence {evidence:.3f}, as configured {before:.3f}, centroid {centroid:.3f}"
        )


if __name__ == "__main__":
    main()
