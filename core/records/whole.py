"""Answers that pass as a whole: by their weakest claims together (III.7, unlike the paper)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WholePoint:
    """From where on an answer passes as a whole, and the labelled answers that it rests on.

    ``threshold`` is of the geometric mean of the support of an answer's weakest claims; of ``bad``
    labelled answers with a claim that should be blocked ``bad_passed`` come as far, of ``good``
    others ``good_passed``.
    """

    threshold: float
    bad: int
    bad_passed: int
    good: int
    good_passed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Why a claim passes with its answer: what the answer's weakest claims have, and what was asked."""

    weakest: float
    asked: WholePoint
