"""What agreement says: the questions, what is compared, and the figures of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.bootstrap import Interval

Label = str | None  # None: "no source", an answer to the question of the source


class Question(StrEnum):
    """What two annotations are compared on."""

    CLAIM = "claim"  # whether it is one at all: how well answers are cut into claims
    SUPPORT = "support"
    SOURCE = "source"
    CONFLATION = "conflation"


class Basis(StrEnum):
    """Which judgement of an annotation is compared."""

    INDEPENDENT = "independent"  # made before anything of the machine's view was shown
    STANDING = "standing"  # as it stands now, after the reveal


class Grouping(StrEnum):
    """What the claims are told apart by."""

    SLICE = "slice"
    FAMILY = "family"
    CATEGORY = "category"
    PAIR = "pair"
    WEEK = "week"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A coefficient with its 95 % interval by trace; without a value, ``reason`` says why.

    A value without an interval has the reason for that.
    """

    value: float | None
    interval: Interval | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelShare:
    """How often raters chose a label; ``label`` None is "no source"."""

    label: Label
    count: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFigures:
    """Two ratings a claim, compared on one question; the claims behind the numbers by their key.

    ``left_out`` counts, by reason, the annotations or claims that the question could not compare.
    """

    question: Question
    claims: int
    traces: int
    raw: Figure
    cohen: Figure
    fleiss: Figure
    ac1: Figure
    prevalence: tuple[LabelShare, ...]
    agreeing: tuple[int, ...]
    differing: tuple[int, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAgreement:
    """The figures of the claims that have something in common; ``name`` None: they lack it."""

    name: str | None
    figures: AgreementFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealEffect:
    """What showing the machine's view did: annotations that saw it after deciding, and who changed."""

    annotations: int
    changed: int
    towards_machine: int
    away_from_machine: int
