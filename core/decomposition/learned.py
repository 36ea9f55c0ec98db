"""The two fitted models of the decomposition: where to cut, and what goes in front (III.2).

Both were fitted by ``python -m training.decomposition_models``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Protocol

from core.decomposition.clauses import has_finite_verb, opens_with_verb
from core.decomposition.contexts import Candidate, Fragment, beside
from core.decomposition.cuts import Cut, candidates
from core.decomposition.trees import Trees, read_trees
from core.records import Span

CUTS_FILE, CONTEXTS_FILE = "cut_weights.json", "context_weights.json"
VERB_MAY_COST = 0.15  # share of terms
_PARTICIPLE = re.compile(r"(?:including|all|each|both|below|above|within|whereas|\w+ing)\b", re.I)
MOST = 3  # contexts in front of one statement
# By the claims that were read: how many content terms a claim has, and which share of a
# statement's own terms is in it.
CLAIM_TERMS, CLAIM_TERMS_PER_TERM, KEPT_SHARE = 5.0, 0.6, 0.85


class Chooser(Protocol):
    """Says where a sentence is cut, and what goes in front of a statement."""

    def cuts(self, text: str, within: Span, scene: Mapping[str, float], at: int) -> Sequence[Cut]:
        """The cuts to make in a stretch of a text that stands ``at`` in the answer."""
        ...

    def contexts(self, fragment: Fragment, place: Span) -> Sequence[Candidate]:
        """What goes in front of a fragment that is said at ``place``, outermost first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What was learned of claims read by hand."""

    cut: Trees
    context: Trees

    def cuts(self, text: str, within: Span, scene: Mapping[str, float], at: int) -> Sequence[Cut]:
        """The cuts to make in a stretch of a text that stands ``at`` in the answer."""
        offered = candidates(text, within, scene)
        totals = self.cut.totals([cut.seen for cut in offered])
        return [
            cut for cut, total in zip(offered, totals, strict=True) if total >= self.cut.threshold
        ]

    def contexts(self, fragment: Fragment, place: Span) -> Sequence[Candidate]:
        """What goes in front of a fragment that is said at ``place``, outermost first.

        The model says which share of a context's terms the claim that is meant holds. One after the
        other is taken that raises the expected agreement (Dice of content terms) with that claim.
        """
        offered = fragment.offered
        totals = self.context.totals([fragment.seen(one) for one in offered])
        shares = {
            one: min(1.0, max(0.0, total)) for one, total in zip(offered, totals, strict=True)
        }
        terms = fragment.terms
        hits = KEPT_SHARE * len(terms)
        meant = max(CLAIM_TERMS + CLAIM_TERMS_PER_TERM * len(terms), hits)
        reached = 2 * hits / (len(terms) + meant)
        taken: set[Candidate] = set()
        while len(taken) < MOST:
            gains = []
            for at, one in enumerate(offered):
                new = len(one.terms - terms)
                if new and 2 * new >= len(one.terms) and all(beside(one, each) for each in taken):
                    then = min(meant, hits + shares[one] * new)
                    gains.append((2 * then / (len(terms) + new + meant), -at, then))
            if not gains or max(gains)[0] < reached + self.context.threshold:
                break
            reached, back, hits = max(gains)
            taken.add(offered[-back])
            terms |= offered[-back].terms
        chosen = _with_verb(taken, offered, shares, fragment.said)
        return [one for one in offered if one in chosen]


def _with_verb(
    taken: set[Candidate],
    offered: Sequence[Candidate],
    shares: Mapping[Candidate, float],
    said: str,
) -> set[Candidate]:
    """The chosen contexts, a subject with its verb where that is nearly as good: it reads better.

    What brings a verb of its own, or opens with one, takes no second one.
    """
    if has_finite_verb(said) or opens_with_verb(said) or _PARTICIPLE.match(said):
        alone = {one for one in taken if one.kind == "predicate"}
        subjects = {one for one in offered if one.kind == "subject"}
        return taken - alone | (subjects if alone else set())
    for subject in [one for one in taken if one.kind == "subject"]:
        for one in offered:
            if one.kind == "predicate" and shares[one] >= shares[subject] - VERB_MAY_COST:
                return taken - {subject} | {one}
    return taken


@lru_cache(maxsize=1)
def shipped() -> Learned:
    """The models that come with the package."""
    return Learned(cut=_trees(CUTS_FILE), context=_trees(CONTEXTS_FILE))


def _trees(name: str) -> Trees:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return read_trees(text, name)
