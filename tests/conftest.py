"""Shared by all tests: the builders are importable, and nothing reaches for a model hub.

Three tiers: ``make quick`` (``--quick``: without weights, parser, browser, other processes and whatever
is marked slow), ``make test``, and ``make check-all``, which leaves nothing out (what only runs there is
marked ``stress``).
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

SHARED_MEMORY = Path("/dev/shm")
ROOM = 4 << 30  # bytes that must be free there


def _room_in_memory() -> bool:
    if not SHARED_MEMORY.is_dir():
        return False
    found = os.statvfs(SHARED_MEMORY)
    return found.f_bavail * found.f_frsize > ROOM and not found.f_flag & os.ST_NOEXEC


# A database waits for the disk at every commit, as it must. Files of tests outlive nothing.
if "TMPDIR" not in os.environ and _room_in_memory():
    os.environ["TMPDIR"] = str(SHARED_MEMORY)
    tempfile.tempdir = None
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
# A worker inherits the folder of who started it, where another one's test would take its anchors away.
if "PROVENANCEGUARD_KEYS" not in os.environ or "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["PROVENANCEGUARD_KEYS"] = tempfile.mkdtemp(prefix="provenanceguard-keys-")
sys.path.insert(0, str(Path(__file__).parent))
SLOW = set(Path(__file__).with_name("slow.txt").read_text(encoding="utf-8").splitlines())
COSTLY = {
    "core.models.loading._read": "real weights",
    "core.decomposition.parsing._parser": "the parser",
    "subprocess.Popen.__init__": "a process of its own",
}
# On how many examples a property is tried. Without a limit of time: the first example of a worker loads
# the parser, which takes seconds and is no finding.
EXAMPLES = {"quick": 5, "test": 10, "thorough": 300}
for name, count in EXAMPLES.items():
    settings.register_profile(
        name, max_examples=count, deadline=None, suppress_health_check=list(HealthCheck)
    )


@pytest.fixture(autouse=True)
def no_anchors_of_others() -> Iterator[None]:
    """An anchor is of a trail, and offices of tests are copies of one: each begins without any."""
    yield
    Path(os.environ["PROVENANCEGUARD_KEYS"], "anchors.jsonl").unlink(missing_ok=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--quick``: the tier of under a minute."""
    parser.addoption("--quick", action="store_true", help="leave out all that loads a model")


def pytest_configure(config: pytest.Config) -> None:
    """Properties are tried on few examples, and on many in ``make check-all``."""
    thorough = os.environ.get("PROVENANCEGUARD_THOROUGH") == "1"
    quick = config.getoption("quick")
    settings.load_profile("quick" if quick else "thorough" if thorough else "test")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``--quick``: without the files that ``slow.txt`` names."""
    place = collection_path.relative_to(config.rootpath).as_posix()
    return True if config.getoption("quick") and place in SLOW else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--quick``: without the tests that ``slow.txt`` names."""
    if config.getoption("quick"):
        left_out = [item for item in items if item.nodeid.partition("[")[0] in SLOW]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session", autouse=True)
def without_models(pytestconfig: pytest.Config) -> Iterator[None]:
    """With ``--quick``: a test that asks for weights, the parser or a process of its own is skipped."""
    if not pytestconfig.getoption("quick"):
        yield
        return
    with pytest.MonkeyPatch.context() as patched:
        for place, what in COSTLY.items():
            patched.setattr(place, partial(_skipped, what))
        yield


def _skipped(what: str, *given: object, **named: object) -> NoReturn:
    pytest.skip(f"needs {what}: make test")


# Files of few tests of many seconds each: together they begin early, and none is the last to begin.
LONG = (
    "tests/service/", "tests/core/workflows/test_workers.py", "tests/test_cli_policy_gate",
    "tests/test_cli_keys", "tests/storage/test_any_order", "tests/training/test_claim_pairs",
)  # fmt: skip


class OneBrowserAtATime(LoadFileScheduling):  # type: ignore[misc]
    """Files go to whichever worker is free, the longest lists of tests first; the browser's all to one.

    Two browsers at once starve one another on two cores.
    """

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/browser/"):
            return "tests/browser/"
        if nodeid.startswith(LONG):
            return "long"
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
