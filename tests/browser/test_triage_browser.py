"""Triage in a real browser: a list that holds, from verdict to verdict, several traces at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from browsing import SCREENSHOTS, SETTLED, Visit, until, watched
from databases import a_store
from playwright.sync_api import Browser, expect
from reviewing import Office, an_office

TABLE = "#traces tbody tr"
ANSWER = "#evidence .answer"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """Sixty verified traces, so that a list has two pages."""
    file = tmp_path_factory.mktemp("triage") / "workbench.db"
    return an_office(a_store(file), traces=60, reads_per_claim=1)


@pytest.fixture
def desk(
    office: Office,
    chromium: Browser,
    serve: Callable[..., AbstractContextManager[str]],
) -> Iterator[Visit]:
    """A lead who may review as well, at a workbench on it."""
    with serve(Path(office.workspace.name)) as url:
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        yield watched(context, url)
        context.close()


def test_filters_order_and_place_hold_through_verdicts_back_and_reload(desk: Visit) -> None:
    page = desk.open("traces?search=review&order=newest&page=2", TABLE)
    expect(page.get_by_text("51 to 60 of 60")).to_be_visible()
    row = page.locator(TABLE).nth(3)
    name = str(row.get_attribute("data-trace"))

    row.click()
    page.locator(ANSWER).wait_for()
    expect(page.get_by_text("54 of 60")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_text("55 of 60")).to_be_visible()
    page.keyboard.press("p")
    expect(page.get_by_text("54 of 60")).to_be_visible()
    expect(page.locator("#evidence .trace-id")).to_have_text(name)
    page.reload()
    expect(page.get_by_text("54 of 60")).to_be_visible()
    page.locator(ANSWER).wait_for()
    page.get_by_role("link", name="Traces").click()

    expect(page.get_by_text("51 to 60 of 60")).to_be_visible()
    expect(page.get_by_label("Search")).to_have_value("review")
    expect(page.locator(f"{TABLE}.last")).to_have_attribute("data-trace", name)
    page.locator(f"{TABLE}.last").click()
    page.locator(ANSWER).wait_for()
    page.go_back()
    expect(page.get_by_text("51 to 60 of 60")).to_be_visible()
    page.reload()
    expect(page.get_by_text("51 to 60 of 60")).to_be_visible()
    assert desk.faults == []


def test_from_a_verdict_to_the_claim_on_screen_with_a_flag_and_a_comment(
    desk: Visit, office: Office
) -> None:
    page = desk.open("verdict?trace=review-0040&claim=review-0040::c02", ANSWER)

    page.get_by_role("button", name="Flag").click()
    expect(page.get_by_role("button", name="Flagged")).to_be_visible()
    page.get_by_role("button", name="Notes").click()
    page.get_by_label("Comment").fill("<img src=x onerror=alert(1)> Ask the ward.")
    page.get_by_role("button", name="Add the comment").click()
    until(
        page, lambda: office.workspace.triage.standing(["review-0040"])["review-0040"].comments == 1
    )
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Label").click()

    page.locator("#review .claim-text").wait_for()
    expect(page.locator("#review .the-claim")).to_contain_text("Her blood pressure is 128/76 mmHg.")
    marks = office.workspace.triage.standing(["review-0040"])["review-0040"]
    assert len(marks.flagged_by) == 1
    assert desk.faults == []


def test_several_traces_are_chosen_assigned_and_tagged_at_once(desk: Visit, office: Office) -> None:
    page = desk.open("traces", TABLE)
    for number in (1, 3):
        page.locator(TABLE).nth(number).get_by_role("checkbox").check()
    expect(page.get_by_text("2 traces chosen")).to_be_visible()

    page.get_by_role("button", name="Assign").click()
    page.get_by_label("Their claims come first to").click()
    page.get_by_role("option", name="Ben").click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Assign").click()

    expect(page.locator(TABLE).nth(1)).to_contain_text("→ Ben")
    expect(page.locator(TABLE).nth(2)).not_to_contain_text("→ Ben")
    item = office.desk("Ben").next_item()
    assert item is not None and item.trace_id == page.locator(TABLE).nth(1).get_attribute(
        "data-trace"
    )
    assert desk.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "size", [(1280, 800), (1366, 625), pytest.param((1600, 1000), marks=pytest.mark.stress)]
)
def test_the_tools_beside_a_verdict_fit_into_the_frame(
    chromium: Browser, desk: Visit, scheme: str, size: tuple[int, int]
) -> None:
    context = chromium.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
    )
    visit = watched(context, desk.url)
    page = visit.open("verdict?trace=review-0004&at=4", ANSWER)
    page.wait_for_selector(SETTLED)
    tools = page.locator(".st-key-trace-tools").bounding_box()
    person = page.locator(".st-key-person").bounding_box()
    keep = page.get_by_text("Manage", exact=True).bounding_box()

    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"triage-verdict-{scheme}-{size[0]}.png")
    context.close()

    assert tools and person and keep
    assert keep["x"] + keep["width"] <= tools["x"]
    assert tools["x"] + tools["width"] <= person["x"]
    assert tools["y"] + tools["height"] < 56
