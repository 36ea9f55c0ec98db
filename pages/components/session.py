"""What all screens share: the database, the models, the settings of a run."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import streamlit as st

from core.config import Config
from core.review.records import Person
from storage.calibrators import Calibrators
from storage.engine import database_url
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
    """The models, with the calibrator in force at this moment; raises ComponentUnavailable.

    The two readers are loaded once for the whole process.
    """
    return replace(_readers(config), calibrator=Calibrators(store=open_store()).forest())


@lru_cache(maxsize=1)
def _readers(config: Config) -> Models:
    # Imported here: pages that only show verdicts open without waiting for the learning libraries.
    from core.workflows.models import load_models

    return load_models(config)
