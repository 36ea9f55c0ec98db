"""Shared by all tests: the builders are importable, and nothing reaches for a model hub."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ.setdefault("PROVENANCEGUARD_KEYS", tempfile.mkdtemp(prefix="provenanceguard-keys-"))
sys.path.insert(0, str(Path(__file__).parent))
# The first example of a worker loads the parser, which takes seconds and is no finding.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


# Files whose tests start real processes with the real weights.
PROCESSES = ("tests/service/", "tests/core/workflows/test_workers.py", "tests/test_cli_policy_gate")


class OneBrowserAtATime(LoadFileScheduling):  # type: ignore[misc]
    """Files go to whichever worker is free, the browser's all to one.

    They are many together, so that they begin early: the longest of them, alone in its file, would
    else be the last to begin. And two browsers at once starve one another on two cores.
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/browser/"):
            return "tests/browser/"
        # Few tests of many seconds each: with others of their kind they begin early too.
        if nodeid.startswith(PROCESSES):
            return "processes"
        return str(super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> OneBrowserAtATime | None:
    """The order of ``pytest -n``; the fixtures of a file are set up by one worker."""
    if config.getoption("dist") != "loadfile":
        return None
    return OneBrowserAtATime(config, log)


@pytest.fixture(scope="session")
def weights_loaded_once() -> Iterator[None]:
    """For tests that run several commands with the real weights: they are loaded by the first."""
    # Imported here: most tests do without the learning libraries.
    from real_models import loaded_once

    with loaded_once():
        yield
