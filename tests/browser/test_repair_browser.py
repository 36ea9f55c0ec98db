"""The repair page in a real browser: the diff, the reasons, the source, the choices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from browsing import SCREENSHOTS, SETTLED, Visit, watched
from builders import a_source, a_trace
from databases import workspace_of
from lexical import verify_lexically
from playwright.sync_api import Browser, BrowserContext, expect
from verdicts import fill

from core.attribution.families import load_families
from core.codec import content_hash
from core.config import Config
from core.records import Trace
from core.repair.loop import repair_answer
from core.workflows.repair import outcome_of
from storage.repairs import Choice, Repairs
from storage.store import open_store

HOSTILE = '<img src=x onerror="alert(1)"> ![x](http://192.0.2.1/a.png) :red[x]'
CHART = a_source(
    "\n".join(f"Visit {n}: routine check, nothing new was recorded." for n in range(1, 60))
    + "\nResting heart rate was 62 bpm.\nElena Marchetti has type 2 diabetes mellitus.",
    "chart",
    "load_patient_history",
)
STUDY = a_source(
    "Background text that says little.\n" * 40
    + "Empagliflozin reduced a mortality endpoint in adults at high risk.",
    "pubmed",
    "search_pubmed_key_words",
)
TRACE = a_trace(
    "According to the patient's chart, empagliflozin reduced a mortality endpoint.\n\n"
    "Findings:\n\n1. Elena Marchetti has type 2 diabetes mellitus\n"
    f"2. {HOSTILE} cured everything\n3. Resting heart rate was 88 bpm\n",
    CHART,
    STUDY,
    trace_id="clin-0042",
)


def stored(database: Path, trace: Trace) -> Repairs:
    store = open_store(str(database))
    verification = verify_lexically(trace)
    fill(store, verification)
    repairs = workspace_of(store).repairs
    repair = repair_answer(verification, verify_lexically, Config(), load_families())
    repairs.put(content_hash(trace), outcome_of(repair))
    return repairs


@pytest.fixture(scope="module")
def workbench(
    tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AbstractContextManager[str]]
) -> Iterator[tuple[str, Repairs]]:
    """A workbench with one repaired answer, and its repairs."""
    database = tmp_path_factory.mktemp("repair") / "workbench.db"
    repairs = stored(database, TRACE)
    with serve(database) as url:
        yield url, repairs


@pytest.fixture
def visit(visitor: BrowserContext, workbench: tuple[str, Repairs]) -> Iterator[Visit]:
    visit = watched(visitor, workbench[0])
    yield visit
    visit.page.close()


def test_each_edit_stands_in_the_text_and_beside_it_with_its_reason(visit: Visit) -> None:
    page = visit.open("repair?trace=clin-0042", ".card")

    expect(page.locator(".card")).to_have_count(3)
    expect(page.locator("ins").first).to_have_text("published literature")
    expect(page.locator(".card h3")).to_have_text(
        [
            "1 · Another source credited",
            "2 · Not confirmed: kept, with a mark",
            "3 · Another value, from the source",
        ]
    )
    expect(page.locator(".card .reason").first).to_contain_text("credits the patient's chart")
    expect(page.locator(".badge")).to_have_text(["✕Blocked", "…Proposal, 3 undecided"])
    expect(page.locator(".badge-allow")).to_have_count(0)
    expect(page.get_by_text(HOSTILE, exact=False).first).to_be_visible()
    assert visit.outside() == []
    assert visit.faults == []


def test_the_source_is_one_click_away_and_scrolled_to_the_evidence(visit: Visit) -> None:
    page = visit.open("repair?trace=clin-0042", ".card")

    page.get_by_role(
        "button", name="Both sources: load_patient_history → search_pubmed_key_words"
    ).click()

    # The corrected credit stands over both sources, each scrolled to what it says of the claim.
    mark = page.locator(".drawer .side[data-side='right'] mark.premise").first
    expect(mark).to_contain_text("Empagliflozin reduced a mortality endpoint")
    expect(mark).to_be_in_viewport()
    expect(page.locator(".drawer .side[data-side='left']")).to_contain_text("load_patient_history")
    expect(page.locator(".drawer ins")).to_have_text("published literature")
    page.keyboard.press("Escape")
    expect(page.locator(".drawer")).to_be_hidden()
    page.get_by_role("button", name="Source: load_patient_history").first.click()
    expect(page.locator(".drawer mark.premise").first).to_contain_text("heart rate was 62 bpm")
    page.keyboard.press("Escape")
    expect(page.locator(".drawer")).to_be_hidden()


@pytest.mark.journey
def test_a_reviewer_accepts_rejects_and_rewords_and_every_word_is_kept(
    visit: Visit, workbench: tuple[str, Repairs]
) -> None:
    repairs = workbench[1]
    page = visit.open("repair?trace=clin-0042", ".card")
    kept = repairs.latest(content_hash(TRACE)).repair_id
    cards = page.locator(".card")

    cards.nth(0).get_by_role("button", name="Accept").click()
    expect(cards.nth(0).get_by_text("by local")).to_be_visible()
    cards.nth(1).get_by_role("button", name="Confirmed: no mark").click()
    expect(cards.nth(1).get_by_text("by local")).to_be_visible()
    cards.nth(2).get_by_role("button", name="Edit").click()
    page.get_by_label("Your wording").fill("62 beats a minute")
    page.get_by_role("button", name="Keep my wording").click()
    expect(page.get_by_text("all decided")).to_be_visible()

    said = repairs.choices(kept)
    assert [one.choice for _, one in sorted(said.items())] == [
        Choice.ACCEPT,
        Choice.REJECT,
        Choice.EDIT,
    ]
    page.get_by_role("button", name="After").click()
    expect(page.locator(".text")).to_contain_text("62 beats a minute")
    expect(page.locator(".text")).to_contain_text("cured everything")
    expect(page.get_by_text("has not been verified as it stands here")).to_be_visible()
    expect(page.locator(".badge")).to_have_text(["✕Blocked", "…Not verified yet"])
    expect(page.get_by_role("button", name="Verify this text")).to_be_visible()


def test_keys_walk_through_the_edits_and_typing_decides_nothing(
    visit: Visit, workbench: tuple[str, Repairs]
) -> None:
    page = visit.open("repair?trace=clin-0042", ".card")
    words = len(workbench[1].export()[0]["choices"])  # type: ignore[arg-type]

    # Keys are named where they work, and one pressed before an edit is chosen chooses, and says so.
    expect(page.locator(".key-hint kbd")).to_have_text(["J K", "Y E N S"])
    page.keyboard.press("y")
    expect(page.locator(".key-hint")).to_have_text(
        "Edit 1 is chosen now: press the key again for it."
    )
    assert len(workbench[1].export()[0]["choices"]) == words  # type: ignore[arg-type]
    page.keyboard.press("k")
    expect(page.locator(".card.chosen")).to_contain_text("1 · Another source credited")
    page.keyboard.press("e")
    page.get_by_label("Your wording").press_sequentially("yny")
    page.keyboard.press("Escape")
    expect(page.get_by_label("Your wording")).to_have_count(0)
    assert len(workbench[1].export()[0]["choices"]) == words  # type: ignore[arg-type]
    page.keyboard.press("y")
    page.wait_for_selector(SETTLED)
    expect(page.locator(".card.chosen").get_by_role("button", name="Accept")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_keys_act_on_the_edit_that_is_lit_however_it_was_reached(visit: Visit) -> None:
    page = visit.open("repair?trace=clin-0042", ".card")
    cards, lit = page.locator(".card"), page.locator(".card.chosen h3")

    def pressed(number: int, name: str) -> None:
        button = cards.nth(number - 1).get_by_role("button", name=name)
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(lit).to_have_text(re.compile(rf"^{number} · "))

    cards.nth(2).get_by_role("button", name="Reject").click()
    pressed(3, "Reject")
    page.keyboard.press("y")
    pressed(3, "Accept")
    page.keyboard.press("k")
    expect(lit).to_have_text(re.compile("^2 · "))
    cards.nth(0).get_by_role("button", name="Edit").focus()
    expect(lit).to_have_text(re.compile("^1 · "))
    page.keyboard.press("n")
    pressed(1, "Reject")
    page.keyboard.press("s")
    expect(page.locator(".drawer")).to_be_visible()
    page.keyboard.press("j")
    expect(lit).to_have_text(re.compile("^2 · "))
    page.keyboard.press("j")
    page.keyboard.press("n")
    pressed(3, "Reject")
    assert visit.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "size", [(1280, 800), pytest.param((1600, 1000), marks=pytest.mark.stress)]
)
def test_the_page_fits_in_light_and_dark(
    chromium: Browser, workbench: tuple[str, Repairs], scheme: str, size: tuple[int, int]
) -> None:
    context = chromium.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    visit = watched(context, workbench[0])
    page = visit.open("repair?trace=clin-0042", ".card")

    wide = page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"repair-{scheme}-{size[0]}.png")
    context.close()

    assert wide
    assert visit.faults == []
