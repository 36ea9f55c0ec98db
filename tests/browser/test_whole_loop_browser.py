"""The whole loop in a real browser with the real models, and without a mouse.

A file of traces is added and verified; two people read its claims and disagree on one; a third
decides; the decision becomes a calibrator, which is promoted; what it gives on the settled claims
sets the threshold; the claims leave as a packet, which comes back without changing anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from browsing import SETTLED, Visit, chosen_answers, read_by_keys, watched
from databases import workspace_of
from playwright.sync_api import Browser, Page, expect
from reviewing import Office, an_office

from core.records import VerdictLabel
from core.review.calibrators import Action
from core.review.records import Judgement, ReviewStatus
from core.workflows.packet_folder import check_packet, unpack
from core.workflows.retraining import Retraining
from storage.store import open_store, utc_now

if TYPE_CHECKING:
    from collections.abc import Iterator

# Models are loaded twice and a forest is grown, on a machine that may be busy with other work.
WORKING_MILLISECONDS = 400_000
CLAIM = "#review .the-claim"
ROWS = "#traces tbody tr"
SLIDER = "input[type=range]"
DISPUTED, AGREED = "Her potassium is 5.6 mmol/L.", "Her weight is 71.4 kg."
HOLDS, FAILS = "1qy", "30y"  # supported, by the first source; contradicted, said by none
PROMOTED, MOVED = "the adjudicated claim is in it", "fewer wrong claims may pass"


def a_file_of_traces(folder: Path) -> Path:
    """Two answers of one claim each; their records say on which side of the split they stand."""
    records = [
        {
            "question_id": name,
            "user_question": "What does her chart say?",
            "full_tool_outputs": [
                {
                    "tool_name": "load_patient_history",
                    "source_id": "chart",
                    "text": "Invented patient. Weight 71.4 kg. Potassium 4.6 mmol/L.",
                },
                {
                    "tool_name": "search_literature",
                    "source_id": "literature",
                    "text": "In 3,730 adults the invented drug lowered the combined outcome.",
                },
            ],
            "final_reply_to_user": answer,
            "split": split,
        }
        for name, answer, split in (
            ("loop-train", DISPUTED, "train"),
            ("loop-held-out", AGREED, "held_out"),
        )
    ]
    file = folder / "captured.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


@dataclass
class Workbench:
    """A served database, and everybody's visits to it."""

    chromium: Browser
    url: str
    office: Office
    visits: list[Visit] = field(default_factory=list)

    @contextmanager
    def visit(self, name: str, path: str, wait_for: str) -> Iterator[Page]:
        """That person, in a browser of their own, on that page."""
        context = self.chromium.new_context(
            viewport={"width": 1280, "height": 800}, reduced_motion="reduce"
        )
        visit = watched(context, self.url)
        self.visits.append(visit)
        yield visit.open(f"{path}?as={self.office.people[name].person_id}", wait_for)
        context.close()


def test_a_captured_file_becomes_labels_a_calibrator_a_threshold_and_a_packet_by_keyboard(
    chromium: Browser, serve: Callable[[Path], AbstractContextManager[str]], tmp_path: Path
) -> None:
    database = tmp_path / "workbench.db"
    office = an_office(
        open_store(str(database), actor="tester"),
        traces=0,
        reviewers=("Ada", "Ben"),
        reads_per_claim=2,
        dwell_milliseconds=0,
    )
    office.clock.at = utc_now()
    with serve(database) as url:
        workbench = Workbench(chromium=chromium, url=url, office=office)
        _import_and_verify(workbench, a_file_of_traces(tmp_path))
        _read_all(workbench, "Ada", {DISPUTED: HOLDS, AGREED: HOLDS})
        _read_all(workbench, "Ben", {DISPUTED: FAILS, AGREED: HOLDS})
        _adjudicate(workbench)
        _recalibrate(workbench)
        threshold = _move_the_threshold(workbench)
        archive = _export_and_read_back(workbench, tmp_path)

    store = office.store
    reviewed = {one.text: one for one in workspace_of(store).labels.reviewed()}
    assert {text: one.resolution.status for text, one in reviewed.items()} == {
        DISPUTED: ReviewStatus.ADJUDICATED,
        AGREED: ReviewStatus.UNANIMOUS,
    }
    assert reviewed[DISPUTED].resolution.final == Judgement(
        support=VerdictLabel.CONTRADICTED, source_id=None, conflation=False
    )
    assert sorted(
        annotation.judgement.support.value for annotation in reviewed[DISPUTED].annotations
    ) == [
        "contradicted",
        "supported",
    ]

    calibrators = workspace_of(store).calibrators
    current = calibrators.current()
    assert [(step.action, step.reason, step.by) for step in calibrators.steps()] == [
        (Action.PROMOTE, PROMOTED, "Lea"),
        (Action.THRESHOLD, MOVED, "Lea"),
    ]
    assert current.threshold == threshold
    lineage = Retraining(workspace=workspace_of(store)).lineage(current.name)
    votes = lineage["votes"]
    assert isinstance(votes, dict)
    assert (votes["claims"], votes["adjudications"]) == (1, 1)  # the held-out claim is not in it

    unpack(archive.read_bytes(), tmp_path / "packet", name=archive.name)
    assert check_packet(tmp_path / "packet").intact
    assert store.verify_chain().intact
    assert [visit.outside() for visit in workbench.visits if visit.outside()] == []
    assert [visit.faults for visit in workbench.visits if visit.faults] == []


# ---------------------------------------------------------------- the steps


def _import_and_verify(workbench: Workbench, file: Path) -> None:
    with workbench.visit("Lea", "traces", "[data-testid=stFileUploader]") as page:
        _bring(page, file)
        _enter(page, "Add 2 traces and verify")
        expect(page.locator(ROWS).locator(".badge-allow, .badge-block")).to_have_count(
            2, timeout=WORKING_MILLISECONDS
        )


def _read_all(workbench: Workbench, name: str, answers: dict[str, str]) -> None:
    """Let that person answer every claim in whatever order the queue has."""
    with workbench.visit(name, "review", CLAIM) as page:
        read_by_keys(page, len(answers), answers.__getitem__)


def _adjudicate(workbench: Workbench) -> None:
    with workbench.visit("Dora", "adjudicate", "#review .readings") as page:
        expect(page.locator(f"{CLAIM} .claim-text")).to_have_text(DISPUTED)
        for count, key in enumerate((*FAILS, "7"), 1):  # 7: a reviewer's error
            page.keyboard.press(key)
            expect(chosen_answers(page)).to_have_count(count)
            page.wait_for_selector(SETTLED)
        page.keyboard.press("k")
        expect(page.get_by_text("No disagreement waits for you")).to_be_visible()


def _recalibrate(workbench: Workbench) -> None:
    with workbench.visit("Lea", "recalibrate", "text=What has been settled so far") as page:
        expect(page.get_by_text("2 on 2 traces")).to_be_visible()
        _enter(page, "Next: split")
        _enter(page, "Next: fit")
        expect(page.get_by_role("checkbox")).to_be_checked()  # with the shipped rows
        _enter(page, "Fit a candidate")
        expect(page.get_by_text("waits for a decision")).to_be_visible(timeout=WORKING_MILLISECONDS)
        _enter(page, "Next: compare")
        expect(page.get_by_text("The calibration alone was moved")).to_be_visible()
        _enter(page, "Next: promote")
        expect(page.get_by_role("list", name="What this calibrator rests on")).to_be_visible()
        _write(page, "Reason", PROMOTED)
        _enter(page, "Promote")
        expect(page.get_by_text("2 stored answers were decided again")).to_be_visible()
        expect(page.get_by_text(PROMOTED).first).to_be_visible()


def _move_the_threshold(workbench: Workbench) -> float:
    """Weigh thresholds on what was settled, and put another one to use; which one."""
    with workbench.visit("Lea", "evaluation", "[data-testid=stSelectbox]") as page:
        settled = re.compile(r"settled claims, as of now \(2\)")
        expect(page.get_by_role("combobox", name="Packet")).to_have_value(settled)
        _enter(page, "Evaluate")
        page.get_by_test_id("stMetric").first.wait_for(timeout=WORKING_MILLISECONDS)
    with workbench.visit("Lea", "thresholds", SLIDER) as page:
        before = page.locator(".chosen b").inner_text()
        for _ in range(3):
            page.locator(SLIDER).press("ArrowRight")
        expect(page.locator(".chosen b")).not_to_have_text(before)
        page.get_by_text("Claims that flip between").wait_for()
        page.wait_for_selector(SETTLED)
        threshold = float(page.locator(".chosen b").inner_text())
        _enter(page, "Use this threshold")
        _write(page, "Reason", MOVED)
        _enter(page, "Use it")
        expect(page.get_by_text(f"Threshold {threshold:g} is in use")).to_be_visible()
    with workbench.visit("Lea", "recalibrate", "text=stored answers were decided again") as page:
        expect(page.get_by_text(MOVED).first).to_be_visible()
    return threshold


def _export_and_read_back(workbench: Workbench, folder: Path) -> Path:
    """Take a packet out and bring it back in; the packet's file."""
    archive = folder / "packet.zip"
    with workbench.visit("Lea", "export", "text=2 claims of 2 traces") as page:
        _enter(page, "Prepare the packet")
        page.get_by_text("The packet is ready").wait_for()
        page.wait_for_selector(SETTLED)
        with page.expect_download() as downloading:
            _enter(page, "Download (.zip)")
        downloading.value.save_as(archive)
        page.locator("summary", has_text="Read a packet").press("Enter")
        _bring(page, archive)
        page.get_by_role("checkbox", name="Read it even if").press("Space")  # it is not signed
        _enter(page, "Read the packet")
        expect(page.get_by_text("Nothing changed")).to_be_visible()
    return archive


# ---------------------------------------------------------------- keys


def _enter(page: Page, name: str) -> None:
    """Go to that button and press Enter."""
    button = page.get_by_role("button", name=name, exact=True)
    expect(button).to_be_enabled()
    page.wait_for_selector(SETTLED)
    button.press("Enter")


def _write(page: Page, label: str, text: str) -> None:
    """Go to that field, type, and leave it by Tab."""
    field = page.get_by_label(label, exact=True)
    field.press_sequentially(text)
    field.press("Tab")
    page.wait_for_selector(SETTLED)


def _bring(page: Page, file: Path) -> None:
    """Choose a file from the drop zone's button."""
    with page.expect_file_chooser() as choosing:
        page.locator("[data-testid=stFileUploaderDropzone] button").first.press("Enter")
    choosing.value.set_files(file)
