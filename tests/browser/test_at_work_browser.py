"""Who is at work, in a real browser without logins: shown everywhere, kept, and part of every write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from browsing import SETTLED, Visit, watched
from databases import workspace_of
from playwright.sync_api import Browser, BrowserContext, Page, TimeoutError, expect
from reviewing import Office, an_office
from verdicts import PATIENT, showcase

from core.records import VerdictLabel
from core.review.records import Annotation, Judgement
from storage.store import open_store, utc_now

Serve = Callable[..., AbstractContextManager[str]]
CLAIM = "#review .the-claim"
NAME = ".st-key-person"
HOLDS = Judgement(support=VerdictLabel.SUPPORTED, source_id=PATIENT, conflation=False)
CONNECTED = "[data-test-connection-state='CONNECTED']"
LOST = "[data-test-connection-state]:not([data-test-connection-state='CONNECTED'])"
PAGES = (
    "", "traces", "verdict?trace=clin-0042", "verdict", "review", "adjudicate", "repair",
    "repair?trace=clin-0042", "thresholds", "evaluation", "agreement", "recalibrate", "export",
    "audit", "people", "settings",
)  # fmt: skip


def office_at(file: Path, **more: object) -> Office:
    """People and verified traces in a database of their own, read as fast as a test presses."""
    made = an_office(
        open_store(str(file)), verifications=[showcase()], dwell_milliseconds=0, **more
    )
    made.clock.at = utc_now()
    return made


def a_browser(chromium: Browser) -> BrowserContext:
    """A browser that has never been here."""
    return chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")


def become(page: Page, made: Office, name: str) -> None:
    """Choose who is at work, as a person would."""
    page.locator(f"{NAME} button").first.click()
    page.locator(f".st-key-become-{made.people[name].person_id} button").click()
    expect(page.locator(NAME)).to_contain_text(name)
    page.wait_for_selector(SETTLED)


def go_to_review(page: Page) -> None:
    """Follow the link; one that is clicked while a lost connection is taken up again is not kept."""
    for _ in range(5):
        page.get_by_role("link", name="Review").first.click()
        try:
            return page.locator(CLAIM).wait_for(timeout=5_000)
        except TimeoutError:
            continue
    raise AssertionError("the page with claims never came")


def annotation(page: Page) -> None:
    """Answer the three questions about the claim on screen."""
    for key, name in (("1", "v_supported"), ("q", "own_1")):
        page.keyboard.press(key)
        expect(page.locator(f".st-key-{name} button")).to_contain_text("●")
    page.keyboard.press("y")
    page.locator("#review .machine").wait_for()
    page.wait_for_selector(SETTLED)


def annotations(made: Office) -> list[Annotation]:
    """All annotations that count."""
    reviewed = workspace_of(made.store).labels.reviewed()
    return [each for claim in reviewed for each in claim.annotations]


def test_who_was_chosen_stays_through_reload_and_every_page_and_gives_the_vote(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = office_at(tmp_path / "kept.db")
    with serve(tmp_path / "kept.db") as url:
        visit = watched(a_browser(chromium), url)
        page = visit.open("", "#cards")
        become(page, made, "Ada")

        page.reload()
        expect(page.locator(NAME)).to_contain_text("Ada")
        for path in PAGES:
            page.goto(f"{url}/{path}")
            expect(page.locator(NAME)).to_contain_text("Ada")
        visit.open("review", CLAIM)
        page.reload()
        page.locator(CLAIM).wait_for()
        page.get_by_text("Answer all three").wait_for()
        page.wait_for_selector(SETTLED)  # a press while the reloaded page still comes is not kept
        annotation(page)
        page.context.close()

    assert [each.reviewer for each in annotations(made)] == ["Ada"]
    assert visit.faults == []


def test_two_tabs_of_one_browser_keep_their_two_people_apart(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = office_at(tmp_path / "tabs.db", reads_per_claim=2)
    with serve(tmp_path / "tabs.db") as url:
        context = a_browser(chromium)
        tabs = {name: watched(context, url) for name in ("Ada", "Ben")}
        for name, visit in tabs.items():
            become(visit.open("", "#cards"), made, name)

        for name, visit in tabs.items():
            visit.page.bring_to_front()
            visit.page.reload()
            expect(visit.page.locator(NAME)).to_contain_text(name)
            page = visit.open("review", CLAIM)
            expect(page.locator(NAME)).to_contain_text(name)
            page.get_by_text("Answer all three").wait_for()
            annotation(page)
        third = watched(context, url)
        expect(third.open("", "#cards").locator(NAME)).to_contain_text("Ben")
        context.close()

    assert sorted(each.reviewer for each in annotations(made)) == ["Ada", "Ben"]


def test_who_is_at_work_survives_a_restart_of_the_workbench(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = office_at(tmp_path / "restart.db")
    context = a_browser(chromium)
    with serve(tmp_path / "restart.db") as url:
        tabs = {name: watched(context, url) for name in ("Ada", "Ben")}
        for name, visit in tabs.items():
            become(visit.open("", "#cards"), made, name)
    for visit in tabs.values():
        visit.page.wait_for_selector(LOST)
    with serve(tmp_path / "restart.db", port=int(url.rpartition(":")[2])):
        for name, visit in tabs.items():
            visit.page.bring_to_front()
            visit.page.wait_for_selector(CONNECTED)
            expect(visit.page.locator(NAME)).to_contain_text(name)
            visit.page.wait_for_selector(SETTLED)
            go_to_review(visit.page)
            expect(visit.page.locator(NAME)).to_contain_text(name)
        context.close()
    assert made.desk("Ada").next_item() != made.desk("Ben").next_item()


def test_the_address_of_a_page_does_not_make_its_reader_somebody_else(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = office_at(tmp_path / "link.db")
    with serve(tmp_path / "link.db") as url:
        sender = watched(a_browser(chromium), url)
        sender.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        link = sender.page.url
        reader = watched(a_browser(chromium), url)
        become(reader.open("", "#cards"), made, "Ben")
        reader.page.goto(link)
        reader.page.locator(CLAIM).wait_for()

        expect(sender.page.locator(NAME)).to_contain_text("Ada")
        expect(reader.page.locator(NAME)).to_contain_text("Ben")
        for visit in (sender, reader):
            visit.page.context.close()


def test_a_tab_that_shows_an_older_drawing_of_the_claim_writes_nothing(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = office_at(tmp_path / "stale.db")
    with serve(tmp_path / "stale.db") as url:
        context = a_browser(chromium)
        old, new = watched(context, url), watched(context, url)
        for visit in (old, new):
            visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
            visit.page.get_by_text("Answer all three").wait_for()

        old.page.bring_to_front()
        old.page.keyboard.press("3")
        expect(old.page.get_by_text("in another tab").first).to_be_visible()
        old.page.wait_for_selector(SETTLED)
        item = made.desk("Ada").next_item()
        context.close()

    assert item is not None
    assert item.draft is None or item.draft.support is None
    assert annotations(made) == []


def test_the_key_that_takes_a_verdict_back_takes_back_one(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = office_at(tmp_path / "undo.db")
    for _ in range(2):
        made.read("Ada", HOLDS)
    with serve(tmp_path / "undo.db") as url:
        visit: Visit = watched(a_browser(chromium), url)
        page = visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        page.locator(".st-key-undo button").first.wait_for()
        page.wait_for_selector(SETTLED)
        page.keyboard.press("u")
        page.keyboard.press("u")
        expect(page.get_by_test_id("stToast").filter(has_text="open again").first).to_be_visible()
        page.wait_for_selector(SETTLED)
        page.context.close()

    assert len([each for each in made.store.audit_events() if each.action == "vote.reopened"]) == 1
