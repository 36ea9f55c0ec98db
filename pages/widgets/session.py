"""What all screens share: the database, the models, the settings of a run."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import streamlit as st

from core.attribution.families import load_families
from core.config import Config
from core.identity import rules_digest
from core.models.loading import BUNDLED
from core.review.records import Person
from core.site_config import site_config
from core.workflows.models import ForestFiles, active_forest
from storage.engine import database_url
from storage.workspace import Workspace
from storage.workspace import open_workspace as open_workspace_at

if TYPE_CHECKING:
    from core.pipeline import Models


def open_workspace(user: Person | None = None) -> Workspace:
    """The database that this process serves; what is written through it is ``user``'s.

    Raises ConfigError, ComponentUnavailable, StoreError.
    """
    workspace = _workspace(database_url().render_as_string(hide_password=False))
    return workspace if user is None else workspace.written_by(user.name)


@st.cache_resource(show_spinner=False)
def _workspace(url: str) -> Workspace:
    return open_workspace_at(url, files=ForestFiles())


def settings() -> Config:
    """The operating constants that the workbench verifies with."""
    return site_config()


def run_now(config: Config) -> str:
    """``sha256:…`` of what verifies now: rules, constants, NLI model, calibrator and judge; loads
    no model."""
    workspace = open_workspace()
    verifies = (
        rules_digest(),
        config.sha256(load_families().digest),
        workspace.nli_models.current().nli,
        active_forest(workspace.calibrators).name,
        workspace.judges.current(),
    )
    return "sha256:" + hashlib.sha256(repr(verifies).encode()).hexdigest()


def load_models_once(config: Config) -> Models:
    """The models, with the active NLI model and calibrator, and the judge if any; raises
    ComponentUnavailable.

    NLI model and embedder are loaded once for the whole process. Raises ConfigError when the
    calibrator was fitted on another NLI model.
    """
    from core.workflows.models import check_fitted_for, with_chosen_judge

    workspace = open_workspace()
    chosen = workspace.nli_models.current().nli
    forest = active_forest(workspace.calibrators)
    models = _models(config, None if chosen == BUNDLED else chosen)
    check_fitted_for(forest, models.nli.name, chosen)
    return with_chosen_judge(replace(models, calibrator=forest), workspace.judges)


@lru_cache(maxsize=1)
def _models(config: Config, nli: str | None) -> Models:
    # Imported here: pages that only show verdicts open without waiting for the learning libraries.
    from core.workflows.recalibrate import models_to_calibrate

    return models_to_calibrate(config, nli_model=nli)
