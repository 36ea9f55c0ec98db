"""What people set up for their own work, in a browser: keys, lit words, agreement rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytest
from browsing import SCREENSHOTS, SETTLED, Visit, press, until, watched
from playwright.sync_api import Browser, BrowserContext, Page, expect
from reviewing import Office, an_office
from verdicts import showcase

from core.records import VerdictLabel
from core.review.records import Judgement
from storage.store import open_store, utc_now

Serve = Callable[..., AbstractContextManager[str]]
CLAIM = "#review .the-claim"
DOUBTFUL = Judgement(support=VerdictLabel.NOT_ENOUGH_EVIDENCE, source_id=None, conflation=False)


@dataclass(frozen=True)
class Room:
    """One workbench for all of these tests, and a browser on it that keeps what it has loaded."""

    made: Office
    url: str
    context: BrowserContext

    def visit(self, path: str, wait_for: str, name: str) -> Page:
        """That person at that page, in a tab and so a session of its own."""
        who = self.made.people[name].person_id
        visit: Visit = watched(self.context, self.url)
        return visit.open(f"{path}{'&' if '?' in path else '?'}as={who}", wait_for)


@pytest.fixture(scope="module")
def room(
    chromium: Browser, serve: Serve, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Room]:
    """A lead, reviewers, and verified answers."""
    file = tmp_path_factory.mktemp("uses") / "uses.db"
    made = an_office(
        open_store(str(file)),
        verifications=[showcase(f"clin-{n:04d}") for n in range(42, 45)],
        dwell_milliseconds=0,
    )
    made.clock.at = utc_now()
    with serve(file) as url:
        context = chromium.new_context(
            viewport={"width": 1280, "height": 800}, reduced_motion="reduce"
        )
        yield Room(made=made, url=url, context=context)
        context.close()


def test_a_key_of_ones_own_is_refused_with_the_reason_or_holds_on_every_page(room: Room) -> None:
    page = room.visit("settings?show=keys", "#keys td", "Ada")
    keep = page.get_by_role("button", name="Keep my answer, on to the next claim (Review)")

    keep.click()
    page.keyboard.press("Control+k")
    expect(page.locator("#keys .why")).to_contain_text("screen readers")
    keep.click()
    page.keyboard.press("1")
    expect(page.locator("#keys .why")).to_contain_text("1 is “A source says this” on Review")
    expect(keep).to_be_focused()
    keep.press("Enter")
    page.keyboard.press("v")
    expect(keep.locator("kbd")).to_have_text("V")
    expect(page.locator("#keys .why")).to_have_count(0)
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / "keys-light.png")
    page.close()

    # Another session of the same person: what is shown follows, and so does what is listened to.
    page = room.visit("review", CLAIM, "Ada")
    bar = page.locator(".st-key-keep button")
    expect(bar).to_contain_text("V")
    page.keyboard.press("h")
    sheet = page.locator("#review .keys tr", has_text="Keep my answer")
    expect(sheet.locator("kbd")).to_have_text("V")
    page.keyboard.press("h")
    first = page.locator("#review").get_attribute("data-item")
    for key in "0x3":
        page.keyboard.press(key)
    page.locator(".st-key-keep button:not([disabled])").first.wait_for()
    page.wait_for_selector(SETTLED)
    page.keyboard.press("k")
    page.keyboard.press("v")
    until(page, lambda: page.locator("#review").get_attribute("data-item") != first)
    page.close()


WANTED = ("heart failure", "tele", "mg")
WORDS_LIT = (
    """() => [...(CSS.highlights.get("lit-words") || [])].map((range) => range.toString())"""
)


def test_chosen_words_are_lit_counted_and_put_out_and_stay_text(room: Room) -> None:
    lists, people = room.made.workspace.word_lists, room.made.people
    lists.keep_for_project(["<b>mg</b>", "Empagliflozin"], by=people["Lea"])
    page = room.visit("settings?show=words", ".st-key-own-words-text textarea", "Cleo")
    page.locator(".st-key-own-words-text textarea").fill("heart  failure\nTELE\nmg")
    page.get_by_role("button", name="Highlight these words").click()
    page.get_by_text("My words were saved").wait_for()
    page.close()
    assert lists.of(people["Cleo"]).mine == ("heart failure", "TELE", "mg")

    page = room.visit("review", CLAIM, "Cleo")
    text = page.locator("#review [data-testid=source-text]").inner_text().casefold()
    switch = page.locator("#review .words-switch")
    lit = page.evaluate(WORDS_LIT)

    # Whole words, in any case: the beginning of "telephone" is none.
    found = [each.casefold() for each in lit]
    assert {"empagliflozin", "heart failure"} <= set(found) <= {*WANTED, "empagliflozin"}
    assert "tele" in text and "tele" not in found
    assert "Highlighted: 5 words" in (switch.get_attribute("title") or "")
    assert int(switch.locator(".words-count").inner_text()) >= len(lit)
    # No node was added for it: what is read and copied is what the tool wrote.
    assert page.locator("#review .the-claim mark, #review .the-claim b").count() == 0
    page.screenshot(path=SCREENSHOTS / "words-light.png")
    page.keyboard.press("i")
    expect(switch).to_have_attribute("aria-pressed", "false")
    assert page.evaluate(WORDS_LIT) == []
    page.keyboard.press("i")
    expect(switch).to_have_attribute("aria-pressed", "true")
    page.close()


def test_a_round_is_read_by_keys_compared_and_followed_by_an_amended_guideline(room: Room) -> None:
    rounds, people = room.made.workspace.rounds, room.made.people
    lead, annotators = people["Lea"], [people["Ben"], people["Cleo"]]
    rounds.begin(annotators, by=lead, count=2)
    while item := rounds.next_item(people["Cleo"]):
        rounds.label(item, DOUBTFUL, by=people["Cleo"], rationale="<i>Rule 4</i>", seconds=1.0)

    page = room.visit("review", CLAIM, "Ben")
    expect(page.locator("#review .progress")).to_contain_text("Round 1, 1 of 2")
    expect(page.get_by_test_id("guideline")).to_contain_text("1. Judge the claim")
    for place in (1, 2):
        page.locator(f"#review[data-item$='-{place}']").wait_for()
        page.wait_for_selector(SETTLED)
        for key, name in (("3", "v_contradicted"), ("0", "own_none"), ("y", "rightly_credited")):
            page.keyboard.press(key)
            page.locator(f".st-key-{name} button").get_by_text("●").first.wait_for()
        page.locator(".st-key-keep button:not([disabled])").first.wait_for()
        page.wait_for_selector(SETTLED)
        page.keyboard.press("k")
    # Its claims came first; then the queue goes on.
    page.locator("#review:not([data-item^='round-'])").wait_for()
    assert page.locator("#review .machine").count() == 0
    page.close()
    (one,) = rounds.all()
    assert one.finished

    page = room.visit("agreement?readings=Agreement+rounds", "#cards .card", "Lea")
    page.get_by_text("Where they differ").wait_for()
    expect(page.locator("#cards").filter(has_text="<i>Rule 4</i>").first).to_be_visible()
    page.screenshot(path=SCREENSHOTS / "rounds-light.png")
    page.get_by_text("Amend the guideline").click()
    page.locator(".st-key-guideline-1 textarea").fill("1. Judge by the sources alone.")
    page.locator(".st-key-guideline-change input").fill("Rule 4 was read two ways")
    # The words that say so go by themselves; the form of the version after it stays.
    publish = page.get_by_role("button", name="Publish version 2")
    press(publish, page.locator(".st-key-guideline-2 textarea"), state="attached")
    page.wait_for_selector(SETTLED)
    page.get_by_text("Begin round 2").first.click()
    begin = page.get_by_role("button", name="Begin round 2")
    expect(begin).to_be_visible()
    page.wait_for_selector(SETTLED)
    press(begin, page.get_by_text("Round 2 is being read"))
    page.close()
    two = rounds.all()[-1]
    assert (two.number, two.guideline_version, two.by) == (2, 2, "Lea")
