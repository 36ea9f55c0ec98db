"""The shipped models with their real weights, loaded once for all tests of a process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from core.attribution.families import load_families
from core.config import Config
from core.evaluation.scoring import Uncalibrated
from core.models.forest import load_forest
from core.models.loading import load_embedder, load_nli_model
from core.pipeline import Models
from core.ports import Calibrator
from core.workflows import models, recalibrate


def real_models() -> Models:
    """What the workbench verifies with."""
    return _models(load_forest())


def uncalibrated_models() -> Models:
    """The models that make features, without a calibrator."""
    return _models(Uncalibrated())


def _models(calibrator: Calibrator) -> Models:
    return Models(
        embedder=_ONCE["load_embedder"](),
        nli=_ONCE["load_nli_model"](max_tokens=Config().nli_max_tokens),
        calibrator=calibrator,
        families=load_families(),
    )


@contextmanager
def loaded_once() -> Iterator[None]:
    """Inside the block, whatever asks for the shipped weights is given those that are loaded.

    Loading takes seconds, and a command loads what it needs: two dozen commands in one process
    would spend minutes on it. Other folders than the shipped ones are loaded as ever.
    """
    with pytest.MonkeyPatch.context() as patched:
        for name, load in _ONCE.items():
            for module in (models, recalibrate):
                patched.setattr(module, name, load)
        yield


def _once(load: Callable[..., Any]) -> Callable[..., Any]:
    kept = lru_cache(maxsize=1)(load)

    def loaded(folder: str | Path | None = None, **more: Any) -> Any:
        return kept(**more) if folder is None else load(folder, **more)

    return loaded


_ONCE = {"load_embedder": _once(load_embedder), "load_nli_model": _once(load_nli_model)}
