"""What axe-core finds serious on every page, in both themes: nothing; and few sizes of letters."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from browsing import Visit, watched
from databases import a_store
from evaluations import keep_evaluated
from lexical import verify_lexically
from playwright.sync_api import Browser, Page, expect
from reviewing import SUPPORTED, UNSUPPORTED, Office, a_reviewed_trace, an_office
from verdicts import SEARCH, fill, showcase

from core.attribution.families import load_families
from core.codec import content_hash
from core.config import Config
from core.repair.loop import repair_answer
from core.workflows.repair import outcome_of

READY, TABLE, TITLE = "#evidence .answer", "[data-testid='stDataFrame']", "h1"
LINK = "verdict?trace=clin-0042&claim=clin-0042%3A%3Ac0{}"
REPAIRED = "review-0002"
LETTER_SIZES = 9  # on one page; plots and Streamlit's own controls included


@dataclass(frozen=True, slots=True)
class Place:
    """A page as somebody opens it: what must be there, a key that opens more, and what that brings."""

    who: str
    path: str
    ready: str
    key: str = ""
    brings: str = ""


PLACES = (
    Place("Lea", "", TITLE),
    Place("Ada", "", TITLE),
    Place("Lea", "traces", "#traces tbody tr"),
    Place("Lea", "verdict", TITLE),
    Place("Lea", LINK.format(1), READY, brings=".side-left"),
    Place("Lea", f"{LINK.format(4)}&source={SEARCH.replace('#', '%23')}", READY, "", ".source-row"),
    Place("Lea", LINK.format(4), READY, "-", ".why-more"),
    Place("Lea", LINK.format(4), READY, "v", ".chain"),
    Place("Ada", "review", "#review .the-claim", "l", ".beside-box .side"),
    Place("Ada", "review", "#review .the-claim", "h", "#review .keys"),
    Place("Dora", "adjudicate", "#review .readings"),
    Place("Lea", "repair", TABLE, "", TITLE),
    Place("Lea", f"repair?trace={REPAIRED}", "#repair .card"),
    Place("Lea", "thresholds?threshold=0.45", "#flips tbody tr"),
    Place("Lea", "evaluation", "[data-testid=stMetric]"),
    Place("Lea", "evaluation?view=Errors&claim=c0005", "[data-testid=stCode]"),
    Place("Lea", "agreement", TABLE),
    Place("Lea", "recalibrate", "text=What has been settled so far"),
    Place("Lea", "export", "text=Prepare the packet"),
    Place("Otto", "audit", TABLE),
    Place("Lea", "people", TITLE, brings="text=Who works here"),
    Place("Lea", "settings", TITLE, brings="text=Reviewing"),
)
_RUN = """(only) => axe.run(document, { resultTypes: ["violations"], ...only }).then(({ violations }) =>
  violations.filter((each) => ["serious", "critical"].includes(each.impact)).map((each) =>
    `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`))"""
# The theme changes colours alone: the second one is asked about those.
_ONLY = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
# Sizes of what is written on the page, shadow trees included; icons are pictures, not letters.
_SIZES = """() => {
  const found = new Set();
  const look = (root) => root.querySelectorAll("*").forEach((node) => {
    if (node.shadowRoot) look(node.shadowRoot);
    const says = [...node.childNodes].some((each) => each.nodeType === 3 && each.textContent.trim());
    const style = getComputedStyle(node);
    if (says && node.getClientRects().length && !/Material/.test(style.fontFamily))
      found.add(Math.round(parseFloat(style.fontSize) * 10) / 10);
  });
  look(document);
  return [...found].sort((one, other) => one - other);
}"""


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


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """An office where every page has something to show: annotations, a tie, a repair, an evaluation."""
    folder = tmp_path_factory.mktemp("everything")
    shown = a_reviewed_trace(2)
    made = an_office(
        a_store(folder / "workbench.db"),
        verifications=[a_reviewed_trace(1), shown],
        reads_per_claim=2,
        dwell_milliseconds=0,
    )
    for number in range(3):
        made.read("Ada")
        made.read("Ben", SUPPORTED if number else UNSUPPORTED)
    fill(made.store, showcase())
    repaired = repair_answer(
        verify_lexically(shown.trace), verify_lexically, Config(), load_families()
    )
    made.workspace.repairs.put(content_hash(shown.trace), outcome_of(repaired))
    keep_evaluated(folder / "evaluations", claims=90)
    return made


@pytest.fixture(scope="module")
def url(office: Office, serve: Callable[[Path], AbstractContextManager[str]]) -> Iterator[str]:
    with serve(Path(office.workspace.name)) as url:
        yield url


def opened(visit: Visit, office: Office, place: Place) -> Page:
    """The page as that person sees it, with what its key opens."""
    joint = "&" if "?" in place.path else "?"
    path = f"{place.path}{joint}as={office.people[place.who].person_id}"
    page = visit.open(path, place.ready)
    if place.key:
        page.keyboard.press(place.key)
    if place.brings:
        page.locator(place.brings).first.wait_for()
    return page


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.stress)])
def test_nothing_serious_is_found_on_any_page_and_letters_have_few_sizes(
    chromium: Browser, url: str, office: Office, axe: str, scheme: str
) -> None:
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    visit = watched(context, url)
    serious, crowded = {}, {}
    for place in PLACES:
        page = opened(visit, office, place)
        page.evaluate(axe)
        name = f"{place.who}: {place.path} {place.key}"
        if found := page.evaluate(_RUN, _ONLY[scheme]):
            serious[name] = found
        if len(sizes := page.evaluate(_SIZES)) > LETTER_SIZES:
            crowded[name] = sizes
    context.close()

    assert serious == {}
    assert crowded == {}


def test_what_flips_is_seen_beside_the_slider_in_a_low_window(
    chromium: Browser, url: str, office: Office
) -> None:
    context = chromium.new_context(viewport={"width": 1366, "height": 625}, reduced_motion="reduce")
    visit = watched(context, url)
    page = opened(visit, office, Place("Lea", "thresholds", "input[type=range]"))
    slider = page.locator("input[type=range]")
    for _ in range(8):
        slider.press("ArrowLeft")

    first = page.locator("#flips tbody tr").first
    expect(first).to_be_in_viewport(ratio=1)
    expect(page.get_by_text(re.compile(r"flips? to passed"))).to_be_in_viewport(ratio=1)
    expect(slider).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Use this threshold")).to_be_in_viewport(ratio=1)
    context.close()
