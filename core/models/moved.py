"""What moved a claim's score, by feature and in words: the claim's path through the trees (III.5).

Of each tree the share of supported claims changes from node to node; what a node's feature changes is
counted to it (Saabas, 2014), and last what the NLI scores beside the trees change. The parts add up to
the score before calibration, which permuted ones do not, and a claim takes a millisecond.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.models.forest import Forest, encode
from core.models.heard import with_nli_scores
from core.records import CLOSE_FEATURE, NLI_FEATURE, Features

MOST = 5
OTHER_WORDS = "something else that was measured"
_OWN = "what the agent itself asked or wrote, as the model reads it"
_CHECKS = "how the checks of values, dates and names came out"
_SOURCE = "the source it was checked against, as the model reads it"
_FITS = "how well that source fits the claim"
_OUTPUTS = "the best of all sources, as the model reads them"
_LABEL = "whether the model takes it for said, left open or contradicted"
# Features that say one thing together have the same words, and are counted together.
WORDS: Mapping[str, str] = {
    "route_score": _FITS,
    "routing_margin": "how far that source leads the others",
    "strong_route": _FITS,
    "weak_route_high_score": _FITS,
    "route_x_overlap": _FITS,
    "entailment_outputs": _OUTPUTS,
    "entailment_fit": _OUTPUTS,
    NLI_FEATURE: _OUTPUTS,
    "entailment_max": _SOURCE,
    "neutral_min": _SOURCE,
    "pred_score": _SOURCE,
    "score_x_route": _SOURCE,
    "score_x_route_squared": _SOURCE,
    "score_x_overlap": _SOURCE,
    "entailment": _LABEL,
    "neutral": _LABEL,
    "contradiction": _LABEL,
    "verifier_label": _LABEL,
    "entailment_calls": _OWN,
    "entailment_own": _OWN,
    "entailment_said": _OWN,
    CLOSE_FEATURE: "the few sentences or fields that could show it, as the model reads them",
    "term_overlap": "words shared with what was read there",
    "all_term_overlap": "words shared with all sources",
    "evidence_rare_overlap": "rare words shared with all sources",
    "terms_nowhere": "words that stand in no source",
    "values_nowhere": "values that stand in no source",
    "protected_missing": "values that the source lacks",
    "protected_missing_all": "values that stand in no source",
    "protected_n": "how many values it has",
    "values_in_calls": "values that the agent asked with",
    "own_work": "whether it is about the agent's own work",
    "checks_supports": _CHECKS,
    "checks_contradicts": _CHECKS,
    "checks_share": _CHECKS,
    "checks_all_support": _CHECKS,
    "checks_derived": "values that follow by calculation",
    "check_value": "the check of its values",
    "check_date": "the check of its dates",
    "source_checks_supports": "what the checks found in that source",
    "claim_terms_n": "how long it is",
    "claim_len": "how long it is",
    "evidence_chunks_n": "how long the source is",
    "has_stated_attr": "whether the answer credits a source",
    "category": "the category of the question",
    "pred_tool": "which tool the source is from",
    "status": "how the tool's call ended",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One thing that moved a claim, in words; ``by`` is a share of the score in [-1, 1], above 0 towards
    supported."""

    words: str
    by: float


def moved_most(forest: Forest, claim: Features, most: int = MOST) -> tuple[Moved, ...]:
    """What moved the claim's score most, the largest first; none where the score did not move."""
    found: dict[str, float] = defaultdict(float)
    for name, by in contributions(forest, claim).items():
        found[WORDS.get(name, OTHER_WORDS)] += by
    largest = sorted(found.items(), key=lambda item: (-abs(item[1]), item[0]))[:most]
    return tuple(Moved(words=words, by=round(by, 4)) for words, by in largest if round(by, 4))


def contributions(forest: Forest, claim: Features) -> dict[str, float]:
    """By feature how far it moves the score; together the score less the forest's mean at its roots."""
    columns, trees = encode([claim], forest.encoding)[0], forest.trees
    of_column = [
        *(name for name, values in forest.encoding.categories for _ in values),
        *forest.encoding.numeric,
    ]
    found: dict[str, float] = defaultdict(float)
    node = trees.roots
    while len(node := node[trees.feature[node] >= 0]):
        column = trees.feature[node]
        left = columns[column] <= trees.threshold[node]
        child = np.where(left, trees.left[node], trees.right[node])
        change = (trees.value[child] - trees.value[node]) / len(trees.roots)
        for place in np.unique(column):
            found[of_column[place]] += float(change[column == place].sum())
        node = child
    grown = forest.exact_probabilities(columns[None, :])
    close = with_nli_scores(grown, [claim], replace(forest.heard, reading=0.0))
    score = with_nli_scores(grown, [claim], forest.heard)
    found[CLOSE_FEATURE] += float(close[0] - grown[0])
    found[NLI_FEATURE] += float(score[0] - close[0])
    return dict(found)
