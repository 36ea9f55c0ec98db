"""What the tables of an evaluation are made from: variants, routers, baselines, probes and repairs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.bootstrap import RESAMPLES
from core.config import Config
from core.evaluation.tables import Material, Probes, RepairRun, System
from core.pipeline import Models
from core.ports import Progress
from core.workflows.ablations import (
    READ_ANEW,
    Development,
    ablate,
    variant_systems,
)
from core.workflows.evaluate import Evaluated


def gather_material(
    evaluated: Evaluated,
    *,
    split: str = "packet",
    development: Development | None = None,
    routers: Sequence[System] = (),
    baselines: Sequence[System] = (),
    probes: Probes | None = None,
    repair: RepairRun | None = None,
    captured: RepairRun | None = None,
    resamples: int = RESAMPLES,
) -> Material:
    """What the tables are made from; fitted variants are unavailable without ``development``."""
    return Material(
        rows=evaluated.rows,
        predictions=evaluated.predictions,
        split=split,
        latency_seconds=evaluated.latency_seconds,
        variants=variant_systems(evaluated, development),
        routers=tuple(routers),
        baselines=tuple(baselines),
        probes=probes,
        repair=repair,
        captured=captured,
        resamples=resamples,
    )


def router_system(
    name: str,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    *,
    kept: Path | None = None,
    progress: Progress | None = None,
) -> System:
    """One way of choosing the source, as a row of Tables 11 and 13."""
    found = ablate(name, evaluated, models, config, kept=kept, progress=progress)
    return System(name=name, note=READ_ANEW[name][0], predictions=found.predictions)
