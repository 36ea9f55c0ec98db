"""A judge in a real browser: a lead chooses it, a verdict shows its proof, a failure is told."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import urlencode

from browsing import SETTLED, until, watched
from endpoints import reading, serving
from judged import contradicted, supported
from playwright.sync_api import BrowserContext, expect
from reviewing import an_office
from verdicts import HOSTILE, PATIENT, showcase

from core.config import Config
from core.judge.asking import read_by_judge
from core.records import Verification
from core.records.judge import JudgeFor
from core.workflows.judges import judge_named
from storage.store import open_store

READY = "#evidence .answer"
POTASSIUM = "Her last potassium was 4.6 mmol/L."
READINGS = {
    "The patient takes empagliflozin 25 mg once daily.": {
        **contradicted("- empagliflozin 10 mg once daily, started 2024-02-12", "25 mg", "10 mg"),
        "why": f"The chart says 10 mg. {HOSTILE}",
    },
    POTASSIUM: {
        **supported("potassium 4.6 mmol/L, HbA1c 7.4 %"),
        "calculations": ["4.6 * 1000"],
        "why": "The laboratory summary states it.",
    },
    "She has a history of ketoacidosis.": supported("Ketoacidosis, 2020"),
}


def read(verification: Verification, readings: dict[str, dict[str, object]] | None) -> Verification:
    """The verification with what a real endpoint says of it; None for one that is gone."""
    with serving(reading(readings or {})) as server:
        judge = judge_named(server.url, "small-model")
        if readings is not None:
            (found,) = read_by_judge([verification], judge, JudgeFor.ALL, Config())
            return found
    (found,) = read_by_judge([verification], judge, JudgeFor.ALL, Config())
    return found


def test_a_lead_chooses_a_judge_and_a_verdict_shows_its_proof_or_why_there_is_none(
    visitor: BrowserContext, serve: Callable[..., AbstractContextManager[str]], tmp_path: Path
) -> None:
    file = tmp_path / "judged.db"
    judged, unread = read(showcase("judged"), READINGS), read(showcase("unread"), None)
    office = an_office(open_store(str(file), actor="test"), verifications=[judged, unread])
    lead = office.people["Lea"].person_id
    trial = {"The potassium was 4.6 mmol/L.": supported("Potassium: 4.6 mmol/L")}
    with serve(file) as url, serving(reading(trial)) as server:
        visit = watched(visitor, url)
        page = visit.open(f"settings?as={lead}", "text=Reviewing")
        page.get_by_role("tab", name="Models").click()
        page.get_by_text("Ask a language model: an engineer").click()
        page.get_by_label("Endpoint of a language model").fill(server.url)
        page.get_by_label("Model", exact=True).fill("small-model")
        page.get_by_label("Model", exact=True).press("Tab")
        page.get_by_text(f"Sent to 127.0.0.1:{server.url.split(':')[2][:-3]}").wait_for()
        page.wait_for_selector(SETTLED)
        page.get_by_role("button", name="Try it").click()
        page.get_by_text("the proof of its verdict holds").wait_for()
        page.locator(".st-key-set-judge-reason input").fill("A pilot")
        page.get_by_role("button", name="Ask this judge").click()
        until(page, lambda: office.workspace.judges.current().address == server.url)
        page.get_by_text("small-model at 127.0.0.1").wait_for()

        def claim(trace: str, number: int) -> None:
            chosen = {"as": lead, "trace": trace, "claim": f"{trace}::c{number:02d}"}
            visit.open(f"verdict?{urlencode(chosen)}", READY)

        box, lit = page.get_by_test_id("judge"), page.locator("mark.judged")
        claim("judged", 2)
        expect(box).to_contain_text("read by small-model@127.0.0.1")
        expect(box).to_contain_text("Contradicted, and the proof holds")
        expect(box).to_contain_text("Without the judge: needs a person, chance of support 0.22")
        expect(box).to_contain_text(HOSTILE)
        expect(lit.first).to_be_in_viewport()
        assert "empagliflozin 10 mg once daily" in "".join(lit.all_text_contents())
        claim("judged", 5)
        expect(box).to_contain_text("4.6 × 1000 = 4600")
        box.get_by_role("button").first.click()
        expect(page.locator("mark.judged.fact").first).to_contain_text("potassium")
        claim("judged", 6)
        expect(box).to_contain_text("the proof does not hold, so it counts for nothing")
        expect(box).to_contain_text(f"the quote “Ketoacidosis, 2020” is not in {PATIENT}")
        claim("unread", 2)
        expect(box).to_contain_text("Not read: its endpoint could not be reached")
        assert visit.outside() == []
        assert visit.faults == []
        page.close()
