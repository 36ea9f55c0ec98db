"""A fact of the record, chosen under its claim, is lit where its source states it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browsing import watched
from playwright.sync_api import BrowserContext, expect
from verdicts import (
    HOSTILE,
    METADATA,
    PATIENT,
    fill,
    showcase,
    with_call_read,
    with_checks,
    with_support,
)

from core.records import Check, FactPlace, Outcome, Span
from storage.store import open_store

READY = "#evidence .answer"


@pytest.mark.journey
def test_choosing_a_check_opens_its_source_and_lights_its_place(
    visitor: BrowserContext, serve: Callable[..., AbstractContextManager[str]], tmp_path: Path
) -> None:
    base = showcase()
    chart = base.trace.source(PATIENT).text
    at = chart.index("HbA1c 7.4 %")
    title = base.trace.source(METADATA).text.index("Invented Heart")
    lines = [
        Check(
            check="value",
            outcome=Outcome.SUPPORTS,
            reason=HOSTILE,
            facts=(FactPlace(source_id=METADATA, span=Span(start=title, end=title + 14)),),
        ),
        Check(
            check="value",
            outcome=Outcome.CONTRADICTS,
            reason="HbA1c: 7.4 %, not 25 mg",
            facts=(FactPlace(source_id=PATIENT, span=Span(start=at, end=at + 11)),),
        ),
        *(
            Check(check="value", outcome=Outcome.SUPPORTS, reason=f"entry {n} gives 25 mg")
            for n in range(7)
        ),
    ]
    store = open_store(str(tmp_path / "checks.db"))
    checked = with_support(with_checks(base, 2, *lines), 6, probability=0.5, review_from=0.3)
    fill(store, checked)
    store.close()

    with serve(tmp_path / "checks.db") as url:
        visit = watched(visitor, url)
        link = urlencode({"trace": "clin-0042", "claim": "clin-0042::c02"})
        page = visit.open(f"verdict?{link}", READY)
        first = page.locator(".check").first
        expect(page.locator(".check")).to_have_count(6)
        expect(first).to_contain_text("HbA1c: 7.4 %, not 25 mg")
        expect(page.locator("mark.fact")).to_have_count(0)
        # Red is for what is shown to be wrong: a line that speaks against has the colour of the state.
        told, state = (
            page.locator(where).first.evaluate("n => getComputedStyle(n).color")
            for where in (".check.contradicts .check-text", ".headline-text")
        )
        assert told == state

        first.click()

        lit = page.locator(".output mark.fact")
        expect(lit).to_have_text("HbA1c 7.4 %")
        expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", PATIENT)
        expect(page.get_by_test_id("legend")).to_contain_text("what speaks against the claim")
        place, box = lit.bounding_box(), page.locator(".output").bounding_box()
        assert place and box
        assert box["y"] <= place["y"] and place["y"] + place["height"] <= box["y"] + box["height"]

        page.get_by_text("3 more", exact=True).click()
        expect(page.locator(".check")).to_have_count(len(lines))
        page.locator(".check", has_text="tracker.invalid").click()
        expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", METADATA)
        expect(lit).to_have_text("Invented Heart")
        page.locator(".flag[data-claim='5']").click()
        expect(page.locator(".headline-text")).to_contain_text("Needs a person")
        expect(page.locator("mark.fact")).to_have_count(0)
        expect(page.locator(".count.kind-person")).to_contain_text("needs a person")

        assert visit.outside() == []
        assert visit.faults == []
        assert page.evaluate("window.hacked") is None
        page.close()


def test_what_was_read_of_a_call_is_shown_where_a_claim_rests_on_it_and_as_text_alone(
    visitor: BrowserContext, serve: Callable[..., AbstractContextManager[str]], tmp_path: Path
) -> None:
    base = showcase()
    lines = f"Called search pubmed key words.\nThe call succeeded.\nquery: {HOSTILE}"
    store = open_store(str(tmp_path / "calls.db"))
    fill(store, with_call_read(base, 1, lines))
    store.close()

    with serve(tmp_path / "calls.db") as url:
        visit = watched(visitor, url)
        link = urlencode({"trace": "clin-0042", "claim": "clin-0042::c01"})
        page = visit.open(f"verdict?{link}", READY)

        read = page.get_by_test_id("call-read")
        expect(read.locator("pre")).to_have_text(lines)
        expect(read.locator("mark.premise")).to_have_text(f"query: {HOSTILE}")

        page.locator(".flag[data-claim='1']").click()
        expect(page.locator(".place").first).to_have_text("claim 2 of 9")
        expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", PATIENT)
        expect(page.get_by_test_id("call-read")).to_have_count(0)
