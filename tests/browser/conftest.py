"""A real workbench on a real database, looked at with a real Chromium."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import pytest
from browsing import PATIENCE_MILLISECONDS, Visit, watched
from builders import a_source, a_trace
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Playwright,
    expect,
    sync_playwright,
)
from verdicts import fill, hostile, showcase

from core.records import Trace
from storage.store import open_store

PROJECT = Path(__file__).resolve().parents[2]
expect.set_options(timeout=PATIENCE_MILLISECONDS)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MANY = 130
SHOWN = 4000  # characters of a page that a failure prints


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the whole suite only the journeys; all of these tests where this folder is named."""
    if any("browser" in argument for argument in config.args):
        return
    for item in items:
        if "browser" in item.path.parts and not item.get_closest_marker("journey"):
            item.add_marker(pytest.mark.stress)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Say with a failure what every open page shows: the samples are invented."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    browser = getattr(item, "funcargs", {}).get("chromium")
    if not report.failed or browser is None:
        return
    for page in (page for context in browser.contexts for page in context.pages):
        with suppress(Error):
            report.sections.append((page.url, page.inner_text("body", timeout=1000)[:SHOWN]))


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A workbench with the showcase, the hostile trace and two pages of others."""
    database = tmp_path_factory.mktemp("workbench") / "workbench.db"
    store = open_store(str(database))
    others = [
        Trace(
            trace_id=f"plain-{n:03d}",
            question=f"Question {n}?",
            answer="Nothing checked yet.",
            sources=(),
            category="one_source",
        )
        for n in range(MANY)
    ]
    fill(store, showcase(), hostile(), unverified=others)
    store.close()
    with serving(database) as url:
        yield url


@pytest.fixture
def fresh_app_url(tmp_path: Path) -> Iterator[str]:
    """A workbench that nobody has opened yet: the showcase, and a trace that waits."""
    store = open_store(str(tmp_path / "workbench.db"))
    chart = a_source("Medications: empagliflozin 10 mg once daily. Allergies: none recorded.")
    waiting = a_trace(
        "The patient takes empagliflozin 10 mg once daily.", chart, trace_id="waiting"
    )
    fill(store, showcase(), unverified=[waiting])
    store.close()
    with serving(tmp_path / "workbench.db", cold=True) as url:
        yield url


@pytest.fixture(scope="session")
def serve() -> Callable[..., AbstractContextManager[str]]:
    """Serves a database of a test's own: ``with serve(file) as url``."""
    return serving


@contextmanager
def serving(database: Path, port: int | None = None, *, cold: bool = False) -> Iterator[str]:
    """The address of a workbench on that database, until the block ends; ``cold``: nothing is imported."""
    if port is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    forks = _forks()
    arguments = ["run", "app.py", f"--server.port={port}"]
    environment = {**os.environ, "PROVENANCEGUARD_DB": str(database)}
    server = forks(arguments=arguments, environment=environment, cold=cold)
    try:
        yield _when_ready(f"http://127.0.0.1:{port}", lambda: forks(ended=server))
    finally:
        forks(stop=server)


@lru_cache(maxsize=1)
def _forks() -> Callable[..., int | None]:
    """What is asked of the process that all workbenches are forked off (`fork_servers`)."""
    process = subprocess.Popen(
        [sys.executable, "tests/browser/fork_servers.py"],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    atexit.register(process.communicate)
    assert process.stdin is not None and process.stdout is not None
    sent, heard = process.stdin, process.stdout

    def ask(**what: object) -> int | None:
        sent.write(json.dumps(what) + "\n")
        sent.flush()
        answer: int | None = json.loads(heard.readline())
        return answer

    return ask


def _when_ready(url: str, ended: Callable[[], int | None]) -> str:
    deadline = time.monotonic() + PATIENCE_MILLISECONDS / 1000
    waiting = threading.Event()
    while time.monotonic() < deadline:
        if (status := ended()) is not None:
            raise RuntimeError(f"the workbench ended with {status} before it answered")
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=5) as answer:
                if answer.read() == b"ok":
                    return url
        except OSError:
            waiting.wait(0.05)
    raise RuntimeError("the workbench did not answer")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright itself."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    """Debian's Chromium."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def visitor(chromium: Browser) -> Iterator[BrowserContext]:
    """Someone in the light theme at 1280 × 800, whose browser keeps what it has loaded."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800},
        permissions=["clipboard-read", "clipboard-write"],
        reduced_motion="reduce",
    )
    yield context
    context.close()


@pytest.fixture
def visit(visitor: BrowserContext, app_url: str) -> Iterator[Visit]:
    """A new tab, and so a new session of the workbench."""
    visit = watched(visitor, app_url)
    yield visit
    visit.page.close()
