"""A citation's chip opens the place that it leads to, and then the place that says it instead."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlencode

from browsing import watched
from playwright.sync_api import BrowserContext, expect
from verdicts import HOSTILE, METADATA, PATIENT, fill, showcase, with_citations

from core.records import CitationFinding, CitationKind, CitationOutcome, CitedPlace, Span
from storage.store import open_store

READY = "#evidence .answer"


def _cited(text: str, outcome: CitationOutcome, **more: object) -> CitationFinding:
    return CitationFinding(
        text=text,
        span=Span(start=0, end=3),
        covers=Span(start=0, end=3),
        kind=CitationKind.NUMBER,
        outcome=outcome,
        reason=f"why {text} is so",
        **more,  # type: ignore[arg-type]
    )


def test_a_chip_opens_what_is_cited_and_then_what_says_it(
    visitor: BrowserContext, serve: Callable[..., AbstractContextManager[str]], tmp_path: Path
) -> None:
    base = showcase()
    chart = base.trace.source(PATIENT).text.index("HbA1c 7.4 %")
    title = base.trace.source(METADATA).text.index("Invented Heart")
    chips = (
        _cited(
            "[2]",
            CitationOutcome.SAYS_OTHERWISE,
            resolves_to=CitedPlace(source_id=METADATA, span=Span(start=title, end=title + 14)),
            better=CitedPlace(source_id=PATIENT, span=Span(start=chart, end=chart + 11)),
            instead="[1]",
        ),
        _cited(HOSTILE, CitationOutcome.RESOLVES_TO_NOTHING),
        _cited("[3]", CitationOutcome.SAYS_IT),
        _cited("https://page.example", CitationOutcome.NOT_RESOLVABLE_HERE),
    )
    store = open_store(str(tmp_path / "cited.db"))
    fill(store, with_citations(base, 2, *chips))
    store.close()

    with serve(tmp_path / "cited.db") as url:
        visit = watched(visitor, url)
        link = urlencode({"trace": "clin-0042", "claim": "clin-0042::c02"})
        page = visit.open(f"verdict?{link}", READY)
        found = page.locator(".cite")
        expect(found).to_have_count(len(chips))
        expect(found.nth(0)).to_contain_text("says something else")
        expect(found.nth(0)).to_contain_text("→ [1]")
        expect(found.nth(1)).to_contain_text("leads to nothing")
        expect(found.nth(1)).to_contain_text("<script")  # what it says is text, whatever it says
        expect(page.locator("mark.fact")).to_have_count(0)

        found.nth(0).click()

        # What is cited and what says it instead stand side by side, each lit at its place.
        expect(page.locator(".side-left mark.fact")).to_have_text("Invented Heart")
        expect(page.locator(".side-right mark.fact")).to_have_text("HbA1c 7.4 %")
        page.keyboard.press("l")
        lit = page.locator(".output mark.fact")
        expect(lit).to_have_text("Invented Heart")
        expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", METADATA)
        expect(found.nth(0)).to_have_attribute("aria-pressed", "true")

        found.nth(0).click()

        expect(lit).to_have_text("HbA1c 7.4 %")
        expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", PATIENT)

        page.locator(".flag[data-claim='0']").click()
        expect(found).to_have_count(0)
        expect(page.locator("mark.fact")).to_have_count(0)
