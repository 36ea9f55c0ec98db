"""From labels to what decides, and back, in a real browser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from browsing import SETTLED, read_by_keys, watched
from databases import workspace_of
from labelled import FACTS, a_labelled_office, a_measured_trace, a_reworded_trace, models_of
from playwright.sync_api import BrowserContext, Page, expect
from reviewing import an_office, problems_beside_the_clock

from core.config import Config
from core.records import ClaimType, answer_state, state_of
from core.review.calibrators import Action
from core.workflows.verify import verify_pending
from storage.store import SqlStore, open_store, utc_now

TRACES = 20


def test_a_lead_fits_compares_promotes_and_rolls_back(
    visitor: BrowserContext, serve: Callable[[Path], AbstractContextManager[str]], tmp_path: Path
) -> None:
    database = tmp_path / "workbench.db"
    store = open_store(str(database), actor="tester")
    calibrators = workspace_of(store).calibrators
    a_labelled_office(workspace_of(store), TRACES, a_reworded_trace)

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


def test_twelve_readings_become_a_promotion_whose_effect_was_shown_before(
    visitor: BrowserContext, serve: Callable[[Path], AbstractContextManager[str]], tmp_path: Path
) -> None:
    database = tmp_path / "twelve.db"
    workspace = workspace_of(open_store(str(database), actor="tester"))
    store = workspace.store
    store.put_traces([a_measured_trace(number) for number in range(3)])
    verify_pending(store, models_of(workspace.calibrators), Config())
    office = an_office(store, traces=0, dwell_milliseconds=0, shipped=workspace.files.shipped)
    office.clock.at = utc_now()
    before = _states(store)

    with serve(database) as url:
        visit = watched(visitor, url)
        page = visit.open(f"review?as={office.people['Ada'].person_id}", "#review .the-claim")
        read_by_keys(page, 12, _keys_for)
        page = visit.open(
            f"recalibrate?as={office.people['Lea'].person_id}", "text=What has been settled so far"
        )
        expect(page.get_by_text("12 on 3 traces")).to_be_visible()
        _step(page, "3 Fit")
        expect(page.get_by_role("checkbox")).to_be_checked()  # with the shipped rows
        expect(page.get_by_text("moves the calibration alone")).to_be_visible()
        page.get_by_role("button", name="Fit a candidate").click()
        expect(page.get_by_text("waits for a decision")).to_be_visible(timeout=400_000)
        _step(page, "5 Promote")
        effect = page.get_by_text("Of 3 stored answers:")
        expect(effect).to_be_visible()
        shown = effect.inner_text()
        assert _states(store) == before  # told, and nothing done
        page.get_by_label("Reason").fill("twelve readings")
        page.get_by_role("button", name="Promote", exact=True).click()
        done = page.get_by_text("3 stored answers were decided again")
        expect(done).to_be_visible(timeout=400_000)  # a process of its own, on a busy machine
        assert (visit.outside(), visit.faults) == ([], [])
        page.close()

    after = _states(store)
    # What was shown before is what came of it.
    told = {
        (words.replace(" ", "_"), kind): (int(was), int(now))
        for kind, part in zip(("answers", "claims"), shown.split("Of their claims:"), strict=True)
        for words, was, now in re.findall(r"(allow|needs review|block)[a-z]* (\d+) → (\d+)", part)
    }
    assert told
    for (state, kind), (was, now) in told.items():
        assert (before[kind][state], after[kind][state]) == (was, now)
    assert [step.action for step in workspace.calibrators.steps()] == [Action.PROMOTE]


def _states(store: SqlStore) -> dict[str, Counter[str]]:
    """Answers and claims of the stored verdicts by state."""
    found = [store.get_verdict(f"visit-{number:03d}").verification for number in range(3)]
    return {
        "answers": Counter(answer_state(one).value for one in found),
        "claims": Counter(
            state_of(claim).value
            for one in found
            for claim in one.claims
            if claim.claim.claim_type is ClaimType.FACTUAL
        ),
    }


def _keys_for(text: str) -> tuple[str, str, str]:
    """The keys of what the chart says of a claim."""
    good = any(f"{name} " in text and right in text for name, right, _ in FACTS)
    return ("1", "q", "y") if good else ("3", "0", "y")


def _step(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).click()
    page.wait_for_selector(SETTLED)
