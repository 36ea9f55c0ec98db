"""From labels to what decides, and back, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from browsing import SETTLED, watched
from databases import workspace_of
from labelled import a_labelled_office
from playwright.sync_api import BrowserContext, Page, expect
from reviewing import problems_beside_the_clock

from core.review.calibrators import Action
from storage.store import open_store

TRACES = 20


def test_a_lead_fits_compares_promotes_and_rolls_back(
    visitor: BrowserContext, serve: Callable[[Path], AbstractContextManager[str]], tmp_path: Path
) -> None:
    database = tmp_path / "workbench.db"
    store = open_store(str(database), actor="tester")
    calibrators = workspace_of(store).calibrators
    a_labelled_office(workspace_of(store), traces=TRACES)

    with serve(database) as url:
        visit = watched(visitor, url)
        page = visit.open("recalibrate", "text=What has been settled so far")
        expect(page.get_by_text(re.compile(r"80 on 20 traces"))).to_be_visible()
        _step(page, "3 Fit")
        page.get_by_text("Add the rows that the shipped").or_(
            page.get_by_text("The rows that the shipped calibrator was fitted on are not")
        ).first.wait_for()
        if page.get_by_role("checkbox").is_checked():  # these labels alone are enough
            page.get_by_text("Add the rows that the shipped").click()
            page.wait_for_selector(SETTLED)
        page.get_by_role("button", name="Fit a candidate").click()
        expect(page.get_by_text("waits for a decision")).to_be_visible(timeout=180_000)
        page.get_by_role("button", name="Next: compare").click()
        expect(page.get_by_text("Claims that flip")).to_be_visible()
        _step(page, "5 Promote")
        expect(page.get_by_role("list", name="What this calibrator rests on")).to_be_visible()

        expect(page.get_by_text(f"Of {TRACES} stored answers:")).to_be_visible()
        expect(page.get_by_text("labelled claims show that it is better")).to_be_visible()
        page.get_by_role("button", name="Promote", exact=True).click()
        expect(page.get_by_text("That was not done")).to_be_visible()
        page.get_by_label("Reason").fill("it agrees with the reviewers")
        page.get_by_role("button", name="Promote", exact=True).click()
        expect(page.get_by_text(f"{TRACES} stored answers were decided again")).to_be_visible()
        expect(page.get_by_text("it agrees with the reviewers").first).to_be_visible()

        page.get_by_role("button", name="Roll back").first.click()
        page.get_by_label("Reason").last.fill("only a rehearsal")
        page.get_by_role("button", name="Roll back").last.click()
        expect(page.get_by_text(re.compile("Active:.*only a rehearsal"))).to_be_visible()

        assert visit.outside() == []
        assert visit.faults == []
        page.close()
    assert [step.action for step in calibrators.steps()] == [Action.PROMOTE, Action.ROLL_BACK]
    assert problems_beside_the_clock(store) == []


def _step(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).click()
    page.wait_for_selector(SETTLED)
