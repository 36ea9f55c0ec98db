"""What axe-core finds serious on the pages where evidence is read, in both themes: nothing."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from browsing import watched
from playwright.sync_api import Browser, Page
from verdicts import SEARCH

pytestmark = pytest.mark.browser

READY = "#evidence .answer"
LINK = "verdict?trace=clin-0042&claim=clin-0042%3A%3Ac0{}"
# The page, what must be there, the key that opens more, and what that brings.
PLACES = (
    (LINK.format(1), READY, "", ".side-left"),
    (f"{LINK.format(4)}&source={SEARCH.replace('#', '%23')}", READY, "", ".source-row"),
    (LINK.format(4), READY, "m", ".matrix"),
    (LINK.format(4), READY, "v", ".tier"),
    ("review", "#review .the-claim", "l", ".beside-box .side"),
    ("repair", "[data-testid='stDataFrame']", "", "h1"),
)
_RUN = """() => axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
  violations.filter((each) => ["serious", "critical"].includes(each.impact)).map((each) =>
    `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`))"""


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, which is no part of this project: fetched by npm where that can be."""
    folder = tmp_path_factory.mktemp("axe")
    if shutil.which("npm") is None:
        pytest.skip("no npm on this machine to fetch axe-core with")
    try:
        subprocess.run(
            ["npm", "pack", "axe-core@4"], cwd=folder, check=True, capture_output=True, timeout=90
        )
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"axe-core could not be fetched by npm ({type(error).__name__})")
    (packed,) = Path(folder).glob("axe-core-*.tgz")
    with tarfile.open(packed) as archive:
        found = archive.extractfile("package/axe.min.js")
        assert found is not None
        return found.read().decode("utf-8")


def findings(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found: list[str] = page.evaluate(_RUN)
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_found_where_evidence_is_read(
    chromium: Browser, fresh_app_url: str, axe: str, scheme: str
) -> None:
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    visit = watched(context, fresh_app_url)
    serious = {}
    for path, ready, key, brings in PLACES:
        page = visit.open(path, ready)
        if key:
            page.keyboard.press(key)
        page.locator(brings).first.wait_for()
        if found := findings(page, axe):
            serious[f"{path} {key}"] = found
    context.close()

    assert serious == {}
