"""The traces page in a real browser."""

from __future__ import annotations

import json

import pytest
from browsing import SCREENSHOTS, SETTLED, Visit, watched
from playwright.sync_api import Browser, BrowserContext, expect
from verdicts import HOSTILE

from storage.tables import SLICE_CHARACTERS

TABLE = "#traces tbody tr"


LISTED_FILES = """window.listed = 0; new MutationObserver(() => {
  window.listed += document.querySelectorAll("[data-testid=stSidebarNav]").length;
}).observe(document, {childList: true, subtree: true});"""


def test_a_deep_link_opened_right_after_the_start_has_its_frame_and_never_lists_files(
    chromium: Browser, fresh_app_url: str
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(LISTED_FILES)
    visit = watched(context, fresh_app_url)

    page = visit.open("verdict?trace=clin-0042&claim=clin-0042::c02", "#evidence .answer")

    expect(page.get_by_role("link", name="Traces")).to_be_visible()
    expect(page.locator(".place").first).to_have_text("claim 2 of 9")
    expect(page.get_by_text("Page not found")).to_have_count(0)
    assert page.evaluate("window.listed") == 0
    assert page.locator("#evidence").bounding_box()["width"] > 1_000  # type: ignore[index]
    context.close()


def test_the_first_page_of_a_process_says_that_it_is_opening(
    visitor: BrowserContext, fresh_app_url: str
) -> None:
    page = watched(visitor, fresh_app_url).page
    page.goto(fresh_app_url)

    expect(page.get_by_text("Opening the workbench")).to_be_visible()
    expect(page).to_have_title("ProvenanceGuard Workbench")
    page.close()


def test_a_row_is_a_link_that_the_keyboard_reaches(visit: Visit) -> None:
    page = visit.open("traces", TABLE)
    link = page.locator(TABLE).first.get_by_role("link")
    assert link.get_attribute("href") == "verdict?trace=clin-0042"

    link.focus()
    page.keyboard.press("Enter")

    expect(page.locator("#evidence .trace-id")).to_have_text("clin-0042")


def test_filters_narrow_the_list_and_stay_in_the_address(visit: Visit) -> None:
    page = visit.open("traces", TABLE)

    page.get_by_role("radio", name="Waiting").or_(page.get_by_text("Waiting")).first.click()
    expect(page.locator(TABLE).first).to_contain_text("plain-000")
    page.get_by_label("Search").fill("Question 129?")
    page.get_by_label("Search").press("Enter")
    expect(page.locator(TABLE)).to_have_count(1)
    page.reload()

    expect(page.locator(TABLE)).to_have_count(1)
    expect(page.locator(TABLE).first).to_contain_text("plain-129")


def test_a_long_list_comes_in_pages(visit: Visit) -> None:
    page = visit.open("traces", TABLE)
    expect(page.locator(TABLE)).to_have_count(50)
    expect(page.get_by_text("1 to 50 of 132")).to_be_visible()

    page.get_by_role("button", name="Page 3").click()

    expect(page.get_by_text("101 to 132 of 132")).to_be_visible()
    expect(page.locator(TABLE)).to_have_count(32)


def test_a_search_without_a_hit_says_what_to_do(visit: Visit) -> None:
    page = visit.open("traces?search=zzz", "#cards .card")

    expect(page.locator("#cards .card")).to_contain_text("No trace matches")


def test_hostile_ids_and_categories_are_shown_verbatim_and_fetch_nothing(visit: Visit) -> None:
    page = visit.open("traces", TABLE)
    row = page.locator(f"{TABLE}:nth-child(2)")

    assert row.locator(".trace-id").text_content() == HOSTILE
    assert row.locator(".question").text_content() == HOSTILE
    assert row.locator("td.category").text_content() == HOSTILE
    page.get_by_role("button", name="Filters").click()
    page.get_by_label("Category").click()
    option = page.get_by_role("option").filter(has_text="tracker.invalid")
    assert option.text_content() == HOSTILE
    option.click()
    expect(page.locator(TABLE)).to_have_count(1)
    page.get_by_label("Slice").click()
    option = page.get_by_role("option").filter(has_text="tracker.invalid")
    assert option.text_content() == HOSTILE[:SLICE_CHARACTERS]
    page.keyboard.press("Escape")
    page.locator(TABLE).click()
    page.locator("#evidence .answer").wait_for()

    assert page.locator("#evidence .trace-id").text_content() == HOSTILE
    assert page.evaluate("window.hacked") is None
    assert visit.outside() == []
    assert visit.faults == []


def test_a_dropped_file_is_described_before_it_is_added(visit: Visit) -> None:
    page = visit.open("traces", TABLE)
    good = {
        "question_id": "dropped-1",
        "user_question": "Which dose?",
        "full_tool_outputs": [
            {"tool_name": HOSTILE, "source_id": "a", "text": "10 mg once daily."}
        ],
        "final_reply_to_user": "The dose is 10 mg once daily.",
    }
    bad = {**good, "question_id": "dropped-2", "full_tool_outputs": [{"tool_name": "t", "text": 7}]}
    lines = "\n".join(json.dumps(record) for record in (good, bad))

    page.locator("input[type=file]").set_input_files(
        {"name": "drop :red[x].jsonl", "mimeType": "application/jsonl", "buffer": lines.encode()}
    )

    card = page.locator("#cards .card")
    expect(card).to_contain_text("native (recognised)")
    expect(card).to_contain_text("Not understood: 1")
    expect(card).to_contain_text("full_tool_outputs[0].text")
    card.get_by_text("Tool calls by server and tool").click()
    expect(card).to_contain_text(HOSTILE)
    page.get_by_role("button", name="Add without verifying").click()
    expect(card).to_contain_text("Added: 1 new. 1 could not be read.")
    expect(page.locator(TABLE).first).to_contain_text("dropped-1")
    assert visit.outside() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "size", [(1280, 800), pytest.param((1600, 1000), marks=pytest.mark.stress)]
)
def test_the_list_fits_and_both_themes_are_finished(
    chromium: Browser, app_url: str, scheme: str, size: tuple[int, int]
) -> None:
    context = chromium.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
    )
    visit = watched(context, app_url)
    page = visit.open("traces", TABLE)
    page.wait_for_selector(SETTLED)

    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"traces-{scheme}-{size[0]}.png")
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    table = page.locator("#traces table").bounding_box()
    first = page.locator(TABLE).first.bounding_box()
    context.close()

    assert not wide
    assert table and table["x"] + table["width"] <= size[0]
    assert first and first["y"] + first["height"] < size[1] / 2 + 40
    assert visit.outside() == []
    assert visit.faults == []


@pytest.mark.stress  # loading the real models takes its time on a busy machine
def test_what_waits_is_verified_with_the_real_models_while_the_page_shows_it(
    chromium: Browser, fresh_app_url: str
) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    visit = watched(context, fresh_app_url)
    page = visit.open("traces", TABLE)
    expect(page.locator(TABLE).nth(1)).to_contain_text("Not verified yet")

    page.get_by_role("button", name="Verify 1 trace").click()
    expect(page.get_by_text("Verifying: ")).to_be_visible()

    decided = page.locator(TABLE).nth(1).locator(".badge-allow, .badge-block")
    decided.wait_for(timeout=120_000)
    page.locator(TABLE).nth(1).click()
    page.locator("#evidence .flag").first.wait_for()
    expect(page.locator("#evidence .why")).to_contain_text("Support")
    assert visit.outside() == []
    context.close()
