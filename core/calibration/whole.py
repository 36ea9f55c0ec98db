"""From where on an answer passes as a whole, by labelled answers (III.7, unlike the paper).

What is bounded is the share of the answers with a claim that should be blocked that pass, with the
confidence of ``guarantee``: an answer is one draw, so that its bound is Clopper and Pearson's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
from sklearn.model_selection import StratifiedKFold

from core.calibration.guarantee import CONFIDENCE, Flags, LabelledScores, guaranteed_point
from core.models.forest import WHOLE
from core.records import WholePoint
from core.verification.decision import FLOOR, LEAST_CLAIMS, weakest_together

FOLDS, SEED = 10, 20260607
# Of the answers with a bad claim. The bound holds for answers like the labelled ones, of which most bad
# ones have several bad claims; of answers by other authors (training texts, t*) half of the 24 with just
# one came as far as a point for 15 %, and one of the 24 with more.
ANSWER_RISK = 0.10


def whole_card(
    labels: LabelledScores, *, risk: float = ANSWER_RISK
) -> dict[str, float | int] | None:
    """The point of whole answers for a calibrator's card; None where no labels show one to be safe.

    The probabilities of ``labels`` are by trees that did not see them.
    """
    answers = answers_of(labels)
    point = guaranteed_point(answers, risk=risk)
    if point.threshold is None or point.upper is None:
        return None
    return {
        "risk": risk,
        "confidence": CONFIDENCE,
        "upper_bound": round(point.upper, 4),
        **asdict(_counted(answers, answers.probability >= point.threshold, point.threshold)),
    }


def answers_of(labels: LabelledScores) -> LabelledScores:
    """The answers of labelled claims as labelled scores, those of too few claims left out.

    An answer is bad where one of its claims should be blocked, and is blocked whatever the threshold
    where something else than support blocks a claim or one lies below the floor.
    """
    found, bad, forced = [], [], []
    order = np.argsort(labels.trace, kind="stable")
    starts = np.flatnonzero(np.diff(labels.trace[order])) + 1
    for of_answer in np.split(order, starts) if len(order) else ():
        chances = labels.probability[of_answer]
        together = weakest_together([float(one) for one in chances])
        if together is not None:
            found.append(round(together, 4))
            bad.append(bool(labels.bad[of_answer].any()))
            forced.append(bool(labels.forced[of_answer].any() or chances.min() < FLOOR))
    return LabelledScores(
        probability=np.array(found, dtype=np.float64),
        bad=np.array(bad, dtype=np.bool_),
        forced=np.array(forced, dtype=np.bool_),
        trace=np.arange(len(found), dtype=np.int64),
        family=("",) * len(found),
    )


def passed_as_a_whole(labels: LabelledScores, threshold: float) -> WholePoint:
    """How many of the answers of labelled claims pass as a whole at a threshold."""
    answers = answers_of(labels)
    return _counted(answers, answers.probability >= threshold, threshold)


def _counted(answers: LabelledScores, reaches: Flags, threshold: float) -> WholePoint:
    passes = reaches & ~answers.forced
    return WholePoint(
        threshold=threshold,
        bad=int(answers.bad.sum()),
        bad_passed=int((passes & answers.bad).sum()),
        good=int((~answers.bad).sum()),
        good_passed=int((passes & ~answers.bad).sum()),
    )


def crossed_whole(labels: LabelledScores, *, risk: float = ANSWER_RISK) -> WholePoint:
    """How many answers pass as a whole, each at a point that was chosen on nine tenths of the others.

    ``threshold`` is the one of all answers, 1 where there is none. Raises ValueError for fewer than
    ten answers of a kind.
    """
    answers = answers_of(labels)
    reaches = np.zeros(len(answers.bad), dtype=np.bool_)
    folds = StratifiedKFold(n_splits=FOLDS, shuffle=True, random_state=SEED)
    for chosen, counted in folds.split(answers.bad, answers.bad):
        kept = np.zeros(len(answers.bad), dtype=np.bool_)
        kept[chosen] = True
        point = guaranteed_point(answers.where(kept), risk=risk)
        if point.threshold is not None:
            reaches[counted] = answers.probability[counted] >= point.threshold
    return _counted(answers, reaches, guaranteed_point(answers, risk=risk).threshold or 1.0)


def whole_words(card: Mapping[str, object], labels: LabelledScores) -> str:
    """What a calibrator's point for whole answers does, by the labels it rests on and by ``labels``."""
    point = card.get(WHOLE)
    if not isinstance(point, Mapping):
        return "The calibrator in force has no point for whole answers: too few labelled answers."
    here = passed_as_a_whole(labels, float(point["threshold"]))
    words = (
        "Whole answers, only where it is asked for (verify --whole-answers, a policy, a service): an "
        f"answer of {LEAST_CLAIMS} or more claims passes where its weakest quarter together reaches "
        f"{point['threshold']:.2f}. With {100 * point['confidence']:g} % confidence, at most "
        f"{100 * point['risk']:g} % of the answers with a wrong claim pass so. Of the labelled answers "
        f"that this rests on, {point['bad_passed']} of {point['bad']} with a wrong claim passed, "
        f"wrongly, and {point['good_passed']} of {point['good']} without one passed, rightly. A single "
        "wrong claim hides more easily than several."
    )
    if not here.bad + here.good:
        return f"{words} No labelled answer shown here has as many claims."
    return (
        f"{words} Of the labelled answers shown here, {here.bad_passed} of {here.bad} with a wrong "
        f"claim would pass, wrongly, and {here.good_passed} of {here.good} without one, rightly."
    )
