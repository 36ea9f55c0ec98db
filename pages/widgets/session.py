"""What all screens share: the database, the models, the settings of a run."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import streamlit as st

from core.config import Config
from core.models.loading import BUNDLED
from core.review.records import Person
from storage.calibrators import Calibrators
from storage.engine import database_url
from storage.readers import Readers
from storage.store import SqlStore
from storage.store import open_store as open_store_at

if TYPE_CHECKING:
    from core.pipeline import Models


def open_store(who: Person | None = None) -> SqlStore:
    """The database that this process serves; what is written through it is ``who``'s.

    Raises ConfigError, ComponentUnavailable, StoreError.
    """
    store = _store(database_url().render_as_string(hide_password=False))
    return store if who is None else replace(store, actor=who.name)


@st.cache_resource(show_spinner=False)
def _store(url: str) -> SqlStore:
    return open_store_at(url)


def settings() -> Config:
    """The operating constants that the workbench verifies with."""
    return Config()


def load_models_once(config: Config) -> Models:
    """The models, with the reader and the calibrator in force; raises ComponentUnavailable.

    Reader and embedder are loaded once for the whole process. Raises ConfigError when the
    calibrator was fitted on another reader.
    """
    from core.workflows.models import check_fitted_for

    store = open_store()
    chosen = Readers(store=store).current().reader
    forest = Calibrators(store=store).forest()
    models = _models(config, None if chosen == BUNDLED else chosen)
    check_fitted_for(forest, models.reader.name, chosen)
    return replace(models, calibrator=forest)


@lru_cache(maxsize=1)
def _models(config: Config, reader: str | None) -> Models:
    # Imported here: pages that only show verdicts open without waiting for the learning libraries.
    from core.workflows.recalibrate import models_to_calibrate

    return models_to_calibrate(config, pair_reader=reader)
