"""What the pair classifier is taught on, and what is kept to measure it."""

from __future__ import annotations

from training.data import MEASURED_ONLY, SOURCES


def test_no_set_that_measures_is_taught() -> None:
    taught = {name if "/" in name else f"train/{name}" for name in SOURCES}

    assert not taught & set(MEASURED_ONLY)
