"""Shared by all tests: the builders are importable, and nothing reaches for a model hub."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def weights_loaded_once() -> Iterator[None]:
    """For tests that run several commands with the real weights: they are loaded by the first."""
    # Imported here: most tests do without the learning libraries.
    from real_models import loaded_once

    with loaded_once():
        yield
