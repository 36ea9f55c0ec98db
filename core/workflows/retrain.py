"""retrain: what reviewers settled becomes a candidate calibrator, compared with the one in force.

Labels of training traces grow the forest, labels of validation traces choose its threshold, and
held-out traces are only ever measured on. Everything here takes records and gives records; who may
do it, and where it is kept, is the store's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.calibration.rows import KeptRows
from core.errors import InputError
from core.ports import Calibrator
from core.records import JsonObject
from core.review.records import Split
from core.workflows.calibrator_comparison import compare
from core.workflows.calibrator_lineage import lineage
from core.workflows.reviewed_material import Material

if TYPE_CHECKING:
    from core.calibration.fit import FittedCalibrator, ForestSettings

# Below the leaf size of Table 1 no tree could tell the two kinds apart.
LEAST_TRAIN = 8
LEAST_VALIDATION = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A kind of label that there are too few of."""

    side: Split
    kind: str
    have: int
    least: int

    @property
    def words(self) -> str:
        """ "2 more claims to block on validation traces (there are 2; at least 4)"."""
        more = self.least - self.have
        return (
            f"{more} more {self.kind} on {self.side.value} traces "
            f"(there {'is' if self.have == 1 else 'are'} {self.have}; at least {self.least})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A fitted forest with how it compares and where it comes from, ready to be kept."""

    fitted: FittedCalibrator
    comparison: JsonObject
    lineage: JsonObject


# ---------------------------------------------------------------- labels


def needs(material: Material, shipped: KeptRows | None) -> tuple[Need, ...]:
    """The kinds of labels that there are too few of to fit a candidate; empty when there are enough.

    With the shipped rows one new label on a training trace is enough.
    """
    train = [one.row for one in material.train]
    if shipped is not None and shipped.validation:
        have = len(train)
        return () if have else (Need(side=Split.TRAIN, kind="label", have=0, least=1),)
    validation = [one.row for one in material.validation]
    asked = [
        (Split.TRAIN, "supported claims", sum(r.supported_by_route for r in train), LEAST_TRAIN),
        (
            Split.TRAIN,
            "claims that the routed source does not support",
            sum(not r.supported_by_route for r in train),
            LEAST_TRAIN,
        ),
        (
            Split.VALIDATION,
            "claims to pass",
            sum(not r.should_block for r in validation),
            LEAST_VALIDATION,
        ),
        (
            Split.VALIDATION,
            "claims to block",
            sum(r.should_block for r in validation),
            LEAST_VALIDATION,
        ),
    ]
    if shipped is not None:  # rows to train on, none to choose a threshold on
        asked = asked[2:]
    return tuple(
        Need(side=side, kind=kind, have=have, least=least)
        for side, kind, have, least in asked
        if have < least
    )


# ---------------------------------------------------------------- fitting


def fit_candidate(
    material: Material,
    shipped: KeptRows | None,
    current: Calibrator,
    *,
    settings: ForestSettings | None = None,
) -> Candidate:
    """A candidate forest, grown on training labels, compared with ``current`` on the other sides.

    Raises InputError when there are too few labels, naming how many of which kind are missing.
    """
    # Imported here: who only looks at labels and candidates does not wait for scikit-learn.
    from core.calibration.fit import ForestSettings, fit_calibrator

    missing = needs(material, shipped)
    if missing:
        raise InputError("too few labels: " + "; ".join(need.words for need in missing))
    settings = settings or ForestSettings()
    more = shipped or KeptRows(train=(), validation=())
    made = material.made_by
    fitted = fit_calibrator(
        [*(one.row for one in material.train), *more.train],
        [*(one.row for one in material.validation), *more.validation],
        settings=settings,
        made_with={}
        if made is None
        else {
            "embedder": made.embedder,
            "pair_reader": made.pair_reader,
            "precision": made.precision,
            "config_sha256": made.config_sha256,
        },
    )
    forest = fitted.forest()
    return Candidate(
        fitted=fitted,
        comparison=compare(material, shipped, forest, current),
        lineage=lineage(material, shipped, fitted),
    )


# ---------------------------------------------------------------- comparing
