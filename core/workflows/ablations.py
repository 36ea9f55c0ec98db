"""The verifier with one part taken away: what a packet is read anew for, and what is fitted anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.calibration.verdict_head import Variant, fit_variants
from core.config import Config
from core.errors import ComponentUnavailable, ConfigError
from core.evaluation.ablations import PLAIN, apply_plain
from core.evaluation.predictions import Prediction, at_threshold
from core.evaluation.scoring import PredictionFile, score_rows
from core.evaluation.tables import System
from core.pipeline import Models
from core.ports import Progress
from core.records import VerdictLabel
from core.workflows.evaluate import Evaluated
from core.workflows.recalibrate import refuse_held_out, training_rows

# Variants that read anew: what they change in the configuration.
READ_ANEW: Mapping[str, tuple[str, dict[str, object]]] = {
    "centroid-router": ("The paper's: the source with the nearest centroid.", {"router": "centroid"}),
    "evidence-router": ("Words, vectors and readings together choose the source.", {"router": "evidence"}),
    "claim-relevant-windows": ("Premises of at most 500 characters.", {"premise_characters": 500}),
    "read-one": ("Only the first candidate is read.", {"read_sources": 1}),
    "read-two": ("The first two candidates are read.", {"read_sources": 2}),
}  # fmt: skip
FITTED = (
    "raw verdict head",
    "raw head + validation threshold",
    "raw head + high-recall threshold",
    "evidence-calibrated blend",
    "calibrated-score ensemble",
)


def ablation_names() -> tuple[str, ...]:
    """Every name that ``ablate`` takes."""
    return (*PLAIN, *READ_ANEW, *FITTED)


def ablate(
    name: str,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    *,
    development: Development | None = None,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> Evaluated:
    """The same packet under one variant; ConfigError for a name that is not known.

    A fitted variant needs ``development``; ComponentUnavailable says so without it.
    """
    if name in PLAIN:
        return replace(evaluated, predictions=tuple(apply_plain(name, evaluated.predictions)))
    if name in READ_ANEW:
        changed = replace(config, **READ_ANEW[name][1])  # type: ignore[arg-type]
        file = PredictionFile(kept, models, changed) if kept else None
        scored = score_rows(evaluated.rows, models, changed, kept=file, progress=progress)
        return replace(
            evaluated, predictions=scored.predictions, latency_seconds=scored.latency_seconds
        )
    if name not in FITTED:
        raise ConfigError(
            f"ablation: expected one of {', '.join(ablation_names())}, found {name!r}"
        )
    if development is None:
        raise ComponentUnavailable(
            f"{name}: is fitted, and needs a training and a validation packet"
        )
    (variant,) = [one for one in fitted_variants(development) if one.name == name]
    return replace(evaluated, predictions=tuple(apply_variant(variant, evaluated.predictions)))


def fitted_variants(development: Development) -> tuple[Variant, ...]:
    """Table 12's fitted rows, from the development splits alone; held-out rows are refused."""
    train, validation = development.train, development.validation
    refuse_held_out((*train.rows, *validation.rows))
    return fit_variants(
        training_rows(train.rows, train.predictions),
        training_rows(validation.rows, validation.predictions),
    )


def apply_variant(variant: Variant, predictions: Sequence[Prediction]) -> list[Prediction]:
    """Each claim decided by the variant's score; ungated variants drop the other checks."""
    features = [found.features for found in predictions if found.features is not None]
    scores = iter(variant.scores(features))
    decided = []
    for found in predictions:
        if found.features is None:
            decided.append(found)
            continue
        if not variant.gated:
            found = replace(found, forced=False, if_supported=VerdictLabel.SUPPORTED)
        decided.append(at_threshold(found, round(float(next(scores)), 4), variant.threshold))
    return decided


def variant_systems(evaluated: Evaluated, development: Development | None) -> tuple[System, ...]:
    """The variants as systems of the tables; unavailable ones say why."""
    if development is None:
        reason = "it is fitted, and no training and validation packets were given"
        return tuple(System(name=n, note="", predictions=None, reason=reason) for n in FITTED)
    return tuple(
        System(
            name=variant.name,
            note=variant.objective,
            predictions=apply_variant(variant, evaluated.predictions),
        )
        for variant in fitted_variants(development)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Development:
    """Development splits with their predictions, for variants and thresholds that are fitted."""

    train: Evaluated
    validation: Evaluated
