"""A lead frees a claim in a real browser, by keyboard, whatever the claim's text looks like."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from browsing import SETTLED, watched
from playwright.sync_api import BrowserContext, expect
from reviewing import an_office
from verdicts import hostile

from storage.store import open_store, utc_now


def test_a_lead_follows_homes_link_and_frees_a_claim_without_a_mouse(
    visitor: BrowserContext, serve: Callable[[Path], AbstractContextManager[str]], tmp_path: Path
) -> None:
    file = tmp_path / "hands.db"
    made = an_office(open_store(str(file), actor="test"), verifications=[hostile()])
    made.clock.at = utc_now()
    assert made.desk("Ada").next_item() is not None
    with serve(file) as url:
        visit = watched(visitor, url)
        page = visit.open(f"?as={made.people['Lea'].person_id}", "text=Who reads what")
        page.get_by_role("link", name="Who reads what").press("Enter")
        which = page.get_by_label("Free these claims for somebody else")
        which.wait_for()

        which.press("ArrowDown")
        page.get_by_role("option").filter(has_text="Ada").wait_for()
        page.keyboard.type("Ada")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        page.get_by_label("Reason, for the trail").press_sequentially("On leave")
        page.get_by_label("Reason, for the trail").press("Tab")
        page.get_by_role("button", name="Free them").press("Enter")

        page.get_by_text("No claim is in hand").wait_for()
        page.wait_for_selector(SETTLED)
        expect(page.get_by_text("1 claim freed: the next who asks gets it.")).to_be_visible()
        assert visit.outside() == []
        assert visit.faults == []
        page.close()
    assert made.desk("Lea").open_assignments() == ()
