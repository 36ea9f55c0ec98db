"""What the tables of an evaluation are made from: variants, routers, baselines, probes and repairs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from core.bootstrap import RESAMPLES
from core.config import Config
from core.errors import BadRecord, InputError
from core.evaluation.kept import read_predictions
from core.evaluation.probes import probe_outcomes
from core.evaluation.tables import Material, Probes, RepairRun, System
from core.pipeline import Models
from core.ports import Progress
from core.workflows.ablations import READ_ANEW, Development, ablate, variant_systems
from core.workflows.evaluate import Evaluated
from core.workflows.evaluation_options import Options
from core.workflows.rebuilt import repair_rebuilt_answers, repair_run


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


def other_routers(
    options: Options,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    kept: Path | None,
    progress: Progress | None,
) -> tuple[System, ...]:
    """The other router, and systems whose predictions are in files, where a table asks for them."""
    if not {11, 13} & set(options.tables):
        return ()
    other = "evidence-router" if config.router == "centroid" else "centroid-router"
    found = router_system(other, evaluated, models, config, kept=kept, progress=progress)
    return (found, *(_beside(path, evaluated) for path in options.beside))


def _beside(path: Path, evaluated: Evaluated) -> System:
    """A system whose predictions are in a file, as ``training.joint`` writes them."""
    known = {found.claim_id: found for found in read_predictions(path)}
    missing = [row.claim_id for row in evaluated.rows if row.claim_id not in known]
    if missing:
        raise InputError(
            f"{len(missing)} claims of the packet have no prediction, {missing[0]!r} first",
            file=path.name,
        )
    return System(
        name=path.stem,
        note="Predictions from a file.",
        predictions=[known[row.claim_id] for row in evaluated.rows],
    )


def packet_repair(
    options: Options,
    evaluated: Evaluated,
    models: Models,
    config: Config,
    packet: str,
    progress: Progress | None,
) -> RepairRun | None:
    """Repairs of answers rebuilt from the packet, where a table asks for them."""
    if not {9, 10} & set(options.tables):
        return None
    return repair_rebuilt_answers(evaluated.rows, models, config, packet=packet, progress=progress)


def captured_repair(path: Path) -> RepairRun:
    """The figures that a repair run wrote; raises InputError naming the file."""
    try:
        figures = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON: {error}", file=path.name) from error
    if not isinstance(figures, dict):
        raise InputError("expected the figures that `repair --json` writes", file=path.name)
    try:
        return repair_run(figures, path.name)
    except BadRecord as error:
        raise InputError(str(error), file=path.name) from None


def packet_probes(evaluated: Evaluated) -> Probes | None:
    """Outcomes of a packet that ``probe`` wrote; None for any other packet."""
    if not evaluated.rows or not all({"probe", "twin"} & set(row.slices) for row in evaluated.rows):
        return None
    return probe_outcomes(evaluated.rows, evaluated.predictions)
