"""Put together what the pipeline is given: models from their folders, families from their file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.attribution.families import load_families
from core.config import Config
from core.errors import ConfigError
from core.models.forest import DEFAULT_FOLDER, Forest, load_forest
from core.models.loading import load_embedder, load_pair_reader
from core.pipeline import Models
from core.ports import Calibrator
from core.workflows.calibrators import shipped_with


def load_models(
    config: Config,
    *,
    pair_reader: str | Path | None = None,
    embedder: str | Path | None = None,
    calibrator: Path | Calibrator | None = None,
    families: Path | None = None,
) -> Models:
    """The bundled models, or those that are named; ComponentUnavailable says what is missing.

    Without a ``calibrator`` the one decides that ships with the reader; it may also be one that is
    loaded already. Raises ConfigError when it was fitted on the readings of another pair reader.
    """
    decides = _calibrator(calibrator, pair_reader)
    reader = load_pair_reader(pair_reader, max_tokens=config.nli_max_tokens)
    check_fitted_for(decides, reader.name, pair_reader)
    return Models(
        embedder=load_embedder(embedder),
        reader=reader,
        calibrator=decides,
        families=load_families(families),
    )


def deciding(models: Models, *, by_kind: bool = False, whole_answers: bool = False) -> Models:
    """The same models, deciding as is asked beside the one threshold of every claim.

    ``by_kind``: each kind of source by its own threshold where labels gave it one; ``whole_answers``:
    letting answers pass as a whole from the point on that labels gave. Raises ConfigError when the
    calibrator cannot.
    """
    calibrator = models.calibrator
    if not (by_kind or whole_answers):
        return models
    if not isinstance(calibrator, Forest):
        raise ConfigError(f"calibrator {calibrator.name} knows one threshold alone")
    if by_kind:
        calibrator = calibrator.by_kind()
    if whole_answers:
        calibrator = calibrator.whole_answers()
    return replace(models, calibrator=calibrator)


def check_fitted_for(calibrator: Calibrator, reader: str, choice: str | Path | None = None) -> None:
    """Raise ConfigError, with the command that refits it, when it was fitted on another reader."""
    if fitted_for(calibrator, reader):
        return
    fitted = getattr(calibrator, "reader", None)
    chosen = f" --reader {choice}" if choice is not None else ""
    raise ConfigError(
        f"calibrator {calibrator.name} was fitted on the readings of {fitted}, and the reader here is "
        f"{reader}: fit one with `provenanceguard recalibrate TRAIN.jsonl{chosen} --out calibrator/`, "
        "then give it with --calibrator calibrator/"
    )


def fitted_for(calibrator: Calibrator, reader: str) -> bool:
    """Whether a calibrator may decide on that reader's readings: those it was fitted on, or unknown.

    Its probabilities are learned from one reader's: on another's they mean nothing. What counts is
    the digest in the name, since one reader may lie in several folders.
    """
    fitted = getattr(calibrator, "reader", None)
    return fitted is None or fitted.rpartition("@")[2] == reader.rpartition("@")[2]


def _calibrator(given: Path | Calibrator | None, reader: str | Path | None) -> Calibrator:
    if given is None:
        return load_forest(shipped_with(reader) or DEFAULT_FOLDER)
    return load_forest(given) if isinstance(given, Path) else given
