"""Typing while claims are read, in a real browser: what is typed is text, and no key acts unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest
from browsing import SETTLED, Visit, watched
from databases import workspace_of
from playwright.sync_api import Browser, Page, expect
from reviewing import Office, an_office
from verdicts import PATIENT, showcase

from core.records import VerdictLabel
from core.review.records import Judgement
from storage.store import open_store, utc_now

Serve = Callable[..., AbstractContextManager[str]]
CLAIM = "#review .the-claim"
NOTE = "textarea"
HOLDS = Judgement(support=VerdictLabel.SUPPORTED, source_id=PATIENT, conflation=False)
FAILS = Judgement(support=VerdictLabel.CONTRADICTED, source_id=None, conflation=False)
# Every key in one task of the browser: nothing can be drawn in between.
BURST = """keys => { for (const key of keys) for (const type of ["keydown", "keyup"])
  document.body.dispatchEvent(new KeyboardEvent(type,
    { key: key.toLowerCase(), keyCode: key.charCodeAt(0), bubbles: true, composed: true })); }"""
TYPED = "1 2 3 4 q w y x k u p 0 maybe"


@dataclass(frozen=True)
class Room:
    """Somebody with a claim on screen, and one verdict given before."""

    made: Office
    visit: Visit

    @property
    def page(self) -> Page:
        """The page."""
        return self.visit.page

    def told(self) -> list[str]:
        """What the trail says of verdicts since the page was opened, besides the first one."""
        return [
            each.action
            for each in self.made.store.audit_events(newest_first=False)
            if each.action.startswith(("vote.", "claim.declined"))
        ][1:]


@pytest.fixture
def room(chromium: Browser, serve: Serve, tmp_path: Path) -> Iterator[Room]:
    """An annotator who can vote, and take an annotation back."""
    made = an_office(
        open_store(str(tmp_path / "notes.db")), verifications=[showcase()], dwell_milliseconds=0
    )
    made.clock.at = utc_now()
    made.read("Ada", HOLDS)
    with serve(tmp_path / "notes.db") as url:
        context = chromium.new_context(
            viewport={"width": 1280, "height": 800}, reduced_motion="reduce"
        )
        visit = watched(context, url)
        visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        visit.page.get_by_text("Answer all three").wait_for()
        visit.page.locator(".st-key-notes button").first.wait_for()
        visit.page.wait_for_selector(SETTLED)
        yield Room(made=made, visit=visit)
        context.close()


def test_what_is_typed_at_once_behind_the_key_is_the_note_and_nothing_else(room: Room) -> None:
    page = room.page

    page.keyboard.type("n" + TYPED)
    expect(page.locator(NOTE)).to_have_value(TYPED)
    expect(page.locator(NOTE)).to_be_focused()
    page.keyboard.type(" 1")
    expect(page.locator(NOTE)).to_have_value(TYPED + " 1")
    expect(page.locator(".st-key-row-next")).to_contain_text("Answer all three")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.locator(".st-key-v_unsupported button").first).to_contain_text("●")
    page.wait_for_selector(SETTLED)

    expect(page.locator(".st-key-row-next")).to_contain_text("2 to go")
    assert room.told() == []
    item = room.made.desk("Ada").next_item()
    assert item is not None
    assert item.draft is not None
    assert item.draft.rationale == TYPED + " 1"
    assert room.visit.faults == []


@pytest.mark.parametrize("milliseconds", [0, 40, 120])
def test_what_is_typed_behind_an_answer_and_the_key_of_the_note_is_the_note(
    room: Room, milliseconds: int
) -> None:
    page = room.page

    page.keyboard.type("1n" + TYPED, delay=milliseconds)

    expect(page.locator(NOTE)).to_have_value(TYPED)
    expect(page.locator(NOTE)).to_be_focused()
    page.keyboard.type(" 2")
    expect(page.locator(NOTE)).to_have_value(TYPED + " 2")
    expect(page.locator(".st-key-v_supported button").first).to_contain_text("●")
    expect(page.locator(".st-key-row-next")).to_contain_text("2 to go")
    assert room.told() == []
    assert room.visit.faults == []


def test_what_is_typed_behind_the_deciding_answer_changes_no_verdict(room: Room) -> None:
    page = room.page
    for key, name in (("1", "v_supported"), ("q", "own_1")):
        page.keyboard.press(key)
        expect(page.locator(f".st-key-{name} button").first).to_contain_text("●")
    page.wait_for_selector(SETTLED)

    page.keyboard.type("yn" + TYPED)

    page.locator("#review .machine").wait_for()
    expect(page.locator(NOTE)).to_have_value(TYPED)
    expect(page.locator(NOTE)).to_be_focused()
    assert room.told() == ["vote.cast"]
    assert room.visit.faults == []


def test_a_key_pressed_on_how_sure_answers_nothing(room: Room) -> None:
    page = room.page
    page.keyboard.press("n")
    expect(page.locator(NOTE)).to_be_focused()

    sure = page.locator(".st-key-row-notes [role=radio]").nth(2)
    sure.focus()
    page.keyboard.press("3")
    page.keyboard.press("u")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator(".st-key-v_supported button").first).to_contain_text("●")

    expect(page.locator(".st-key-v_contradicted button").first).not_to_contain_text("●")
    assert room.told() == []


def test_after_the_note_the_keys_answer_again_and_escape_closes_it(room: Room) -> None:
    page = room.page
    page.keyboard.type("nno")
    expect(page.locator(NOTE)).to_have_value("no")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    expect(page.locator(".st-key-v_unsupported button").first).to_contain_text("●")

    page.keyboard.press("Escape")

    expect(page.locator(NOTE)).to_have_count(0)
    page.wait_for_selector(SETTLED)
    page.keyboard.press("0")
    expect(page.locator(".st-key-own_none button").first).to_contain_text("●")


def test_while_giving_back_is_about_to_open_no_key_answers_the_claim(room: Room) -> None:
    page = room.page

    page.keyboard.type("p1")
    page.locator(".st-key-decline_not button").first.wait_for()
    page.keyboard.type("p1")
    page.locator(".st-key-undo button").first.wait_for()
    page.wait_for_selector(SETTLED)

    expect(page.locator(".st-key-row-next")).to_contain_text("Answer all three")
    assert room.told() == []


@pytest.mark.journey
def test_a_key_pressed_for_the_claim_before_never_answers_the_next(room: Room) -> None:
    page = room.page
    for key, name in (("1", "v_supported"), ("q", "own_1")):
        page.keyboard.press(key)
        expect(page.locator(f".st-key-{name} button").first).to_contain_text("●")
    page.keyboard.press("y")
    page.locator("#review .machine").wait_for()
    expect(page.locator(".st-key-keep button").first).to_be_enabled()
    page.wait_for_selector(SETTLED)

    page.evaluate(BURST, "KKK30YU")
    page.locator("#review .machine").wait_for(state="detached")
    page.wait_for_selector(SETTLED)

    assert room.told() == ["vote.cast", "vote.after_reveal"]
    item = room.made.desk("Ada").next_item()
    assert item is not None
    assert item.draft is None


def test_an_adjudicators_reason_is_typed_at_once_too(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = an_office(
        open_store(str(tmp_path / "tie.db")),
        verifications=[showcase()],
        reads_per_claim=2,
        dwell_milliseconds=0,
    )
    made.clock.at = utc_now()
    made.read("Ada", HOLDS)
    made.read("Ben", FAILS)
    with serve(tmp_path / "tie.db") as url:
        visit = watched(chromium.new_context(viewport={"width": 1280, "height": 800}), url)
        page = visit.open(f"adjudicate?as={made.people['Dora'].person_id}", "#review .readings")
        page.locator(".st-key-save button").first.wait_for()
        page.wait_for_selector(SETTLED)
        page.keyboard.type("n1 6 v k")

        expect(page.locator(NOTE)).to_have_value("1 6 v k")
        expect(page.locator(".st-key-row-next")).to_contain_text("4 of 4 answers to go")
        page.context.close()
    assert workspace_of(made.store).labels.reviewed()[0].adjudication is None
