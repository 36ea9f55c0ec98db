"""The agreement figures of pairs: coefficients, and their intervals from draws of the traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from core.bootstrap import SEED, Interval, interval
from core.review.agreement_pairs import Pairs
from core.review.agreement_records import (
    AgreementFigures,
    Figure,
    Label,
    LabelShare,
    Question,
)
from core.review.agreement_resamples import RESAMPLES, Array, resampled
from core.review.records import (
    SUPPORT_LABELS,
)
from core.statistics import (
    Agreement,
    cohen_kappa,
    exact_binomial_interval,
    fleiss_kappa,
    gwet_ac1,
)

# An interval without width would pretend that the figure is known for sure.
ALL_ALIKE = "every resample of the traces gives the same figure"


def figures(
    pairs: Pairs,
    left_out: Mapping[str, int],
    question: Question,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> AgreementFigures:
    """The coefficients of the pairs, each with its interval or the reason for none."""
    kinds, times = np.unique(pairs.left * len(pairs.names) + pairs.right, return_counts=True)
    labels = [
        (pairs.names[a], pairs.names[b])
        for a, b in zip(*divmod(kinds, max(1, len(pairs.names))), strict=True)
    ]
    each = times.tolist()
    choices = _choices(question, labels)
    draws = resampled(pairs, len(choices), resamples, seed)
    count = len(pairs.claims)
    fleiss = fleiss_kappa(labels, each)
    cohen = (
        cohen_kappa([left for left, _ in labels], [right for _, right in labels], each)
        if len(np.unique(pairs.raters)) <= 1
        else Agreement(
            value=None,
            raw=fleiss.raw,
            items=count,
            reason="several pairs of reviewers: it is defined for one pair",
        )
    )
    chosen = Counter[Label]()
    for pair, n in zip(labels, each, strict=True):
        for label in pair:
            chosen[label] += n
    agree = pairs.left == pairs.right
    traces = len(np.unique(pairs.traces))
    raw = Agreement(
        value=fleiss.raw if count else None,
        raw=fleiss.raw,
        items=count,
        reason=None if count else "no claim was judged twice",
    )
    return AgreementFigures(
        question=question,
        claims=count,
        traces=traces,
        raw=_one_sided(_figure(raw, draws, "raw"), draws, traces),
        cohen=_figure(cohen, draws, "cohen"),
        fleiss=_figure(fleiss, draws, "fleiss"),
        ac1=_figure(gwet_ac1(labels, choices, each), draws, "ac1"),
        prevalence=tuple(
            LabelShare(label=label, count=count, share=count / chosen.total())
            for label, count in sorted(
                chosen.items(), key=lambda each: (-each[1], each[0] is None, each[0] or "")
            )
        ),
        agreeing=tuple(pairs.claims[agree].tolist()),
        differing=tuple(pairs.claims[~agree].tolist()),
        left_out=dict(left_out),
    )


def _choices(question: Question, labels: Sequence[tuple[Label, Label]]) -> Sequence[Label]:
    """What raters could choose from; sources differ from trace to trace, so there: what they chose."""
    if question is Question.SUPPORT:
        return [label.value for label in SUPPORT_LABELS]
    if question in (Question.CONFLATION, Question.CLAIM):
        return ["yes", "no"]
    return list(dict.fromkeys(label for pair in labels for label in pair))


def _figure(found: Agreement, resampled: Mapping[str, Array] | str, name: str) -> Figure:
    if found.value is None:
        return Figure(value=None, interval=None, reason=found.reason)
    if isinstance(resampled, str):
        return Figure(value=found.value, interval=None, reason=resampled)
    between = interval(resampled[name])
    if between is not None and between.low == between.high:
        return Figure(value=found.value, interval=None, reason=ALL_ALIKE)
    return Figure(
        value=found.value,
        interval=between,
        reason=None if between else "no resample of the traces has a value",
    )


def _one_sided(raw: Figure, resampled: Mapping[str, Array] | str, traces: int) -> Figure:
    """Where all annotations agree, or none do, the exact interval with a trace as one trial.

    No resample differs then; the claims of one trace are not counted as so many trials.
    """
    if isinstance(resampled, str) or raw.value not in (0.0, 1.0):
        return raw
    found = exact_binomial_interval(traces if raw.value else 0, traces)
    if found is None:
        return raw
    low, high = (round(end, 6) for end in found)
    return Figure(value=raw.value, interval=Interval(low=low, high=high), reason=None)
