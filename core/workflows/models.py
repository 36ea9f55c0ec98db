"""Put together what the pipeline is given: models from their folders, families from their file."""

from __future__ import annotations

from pathlib import Path

from core.attribution.families import load_families
from core.config import Config
from core.models.forest import load_forest
from core.models.loading import load_embedder, load_pair_reader
from core.pipeline import Models
from core.ports import Calibrator


def load_models(
    config: Config,
    *,
    pair_reader: str | Path | None = None,
    embedder: str | Path | None = None,
    calibrator: Path | Calibrator | None = None,
    families: Path | None = None,
) -> Models:
    """The bundled models, or those in the named folders; ComponentUnavailable says what is missing.

    ``calibrator`` may also be one that is loaded already.
    """
    return Models(
        embedder=load_embedder(embedder),
        reader=load_pair_reader(pair_reader, max_tokens=config.nli_max_tokens),
        calibrator=_calibrator(calibrator),
        families=load_families(families),
    )


def _calibrator(given: Path | Calibrator | None) -> Calibrator:
    if given is None:
        return load_forest()
    return load_forest(given) if isinstance(given, Path) else given
