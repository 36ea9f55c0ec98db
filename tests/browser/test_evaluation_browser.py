"""Evaluation and thresholds in a real browser: a packet brought and read, a slider dragged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from browsing import SETTLED, Visit, watched
from evaluations import HOSTILE, keep_evaluated, packet_records
from playwright.sync_api import BrowserContext, Page, expect

from core.evaluation.kept import KeptPacket, kept_packets, kept_runs, read_predictions
from core.evaluation.packets import read_packet
from core.evaluation.threshold_view import costs_at, view_predictions
from storage.store import open_store

# The models are loaded and read eight claims, on a machine that may be busy with other work.
READING_MILLISECONDS = 400_000
SLIDER = "input[type=range]"


@pytest.fixture(scope="module")
def workbench(
    tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AbstractContextManager[str]]
) -> Iterator[tuple[str, KeptPacket, Path]]:
    """A workbench with one evaluated packet, and the folder where packets are kept."""
    database = tmp_path_factory.mktemp("evaluation") / "workbench.db"
    open_store(str(database)).close()
    folder = database.parent / "evaluations"
    packet = keep_evaluated(folder, claims=120, threshold=0.5, calibrator="forest-of-before")
    with serve(database) as url:
        yield url, packet, folder


@pytest.fixture
def visit(visitor: BrowserContext, workbench: tuple[str, KeptPacket, Path]) -> Iterator[Visit]:
    visit = watched(visitor, workbench[0])
    yield visit
    assert visit.outside() == []
    assert visit.faults == []
    visit.page.close()


def at_thresholds(visit: Visit, packet: KeptPacket, more: str = "") -> Page:
    return visit.open(f"thresholds?packet={packet.sha256}{more}", SLIDER)


def shown(page: Page, figure: str) -> str:
    return page.locator(f"[data-figure={figure}] .value").inner_text()


def test_dragging_the_slider_moves_the_figures_and_names_the_claims_that_flip(
    visit: Visit, workbench: tuple[str, KeptPacket, Path]
) -> None:
    packet = workbench[1]
    rows = read_packet(packet.path).rows
    found = read_predictions(kept_runs(packet)[0].folder / "predictions.jsonl")
    view = view_predictions(rows, found)
    page = at_thresholds(visit, packet)
    (before,) = costs_at(view, (0.5,))
    assert shown(page, "false_block") == f"{100 * before.false_block_rate:.1f} %"

    box = page.locator(SLIDER).bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.5, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.74, middle, steps=12)
    chosen = float(page.locator(".chosen b").inner_text())
    (after,) = costs_at(view, (chosen,))
    held = (shown(page, "false_block"), shown(page, "false_pass"), shown(page, "reviews"))
    page.mouse.up()

    assert 0.65 < chosen < 0.8
    assert held == (
        f"{100 * after.false_block_rate:.1f} %",
        f"{100 * after.false_pass_rate:.1f} %",
        f"{1_000 * after.blocked / 120:,.0f}",
    )
    crossed = [f for f in found if not f.forced and 0.5 <= f.probability < chosen]
    expect(page.locator("[data-claim]")).to_have_count(min(50, len(crossed)))
    newest = max(crossed, key=lambda one: one.probability)
    expect(page.locator("[data-claim]").first.locator(".support").last).to_have_text(
        f"{newest.probability:.4f}"
    )


def test_arrow_keys_move_the_slider_one_threshold_at_a_time(
    visit: Visit, workbench: tuple[str, KeptPacket, Path]
) -> None:
    page = at_thresholds(visit, workbench[1])
    slider = page.locator(SLIDER)

    slider.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        slider.press(key)

    expect(page.locator(".chosen b")).to_have_text("0.52")
    assert slider.get_attribute("aria-valuetext") == "threshold 0.52"
    expect(page.get_by_text("Claims that flip between 0.5 and 0.52")).to_be_visible()
    expect(slider).to_be_focused()
    page.wait_for_url("**threshold=0.52**")


def test_a_rule_moves_the_slider_and_a_reload_finds_it_where_it_was(
    visit: Visit, workbench: tuple[str, KeptPacket, Path]
) -> None:
    page = at_thresholds(visit, workbench[1], "&threshold=0.03")
    expect(page.locator(".chosen b")).to_have_text("0.03")

    page.get_by_role("button", name="Set").nth(1).click()
    expect(page.locator(".chosen b")).not_to_have_text("0.03")
    chosen = page.locator(".chosen b").inner_text()
    page.wait_for_url(f"**threshold={chosen}**")
    page.reload()
    page.locator(SLIDER).wait_for()

    expect(page.locator(".chosen b")).to_have_text(chosen)


def test_a_claim_that_flips_opens_with_its_sources(
    visit: Visit, workbench: tuple[str, KeptPacket, Path]
) -> None:
    page = at_thresholds(visit, workbench[1], "&threshold=0.9")
    link = page.locator("[data-claim] a").first
    claim = link.inner_text()

    link.click()

    page.locator(".card", has_text=claim).first.wait_for()
    page.wait_for_url("**/evaluation?**claim=**")
    expect(page.locator("[data-testid=stCode]")).to_contain_text("mg once daily")


def test_text_of_a_packet_stays_text(visit: Visit, workbench: tuple[str, KeptPacket, Path]) -> None:
    page = visit.open(
        f"evaluation?packet={workbench[1].sha256}&view=Errors&claim=c0005", "[data-testid=stCode]"
    )

    expect(page.locator(".card h2", has_text="cured patient 5")).to_have_text(
        f"{HOSTILE} cured patient 5."
    )
    assert page.locator("img[src='x'], img[src*='192.0.2.1']").count() == 0


def test_a_packet_is_brought_evaluated_in_the_background_and_shown(
    visit: Visit, workbench: tuple[str, KeptPacket, Path], tmp_path: Path
) -> None:
    folder = workbench[2]
    file = tmp_path / "eight claims.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in packet_records(8, seed=9)))
    page = visit.open("evaluation", "[data-testid=stSelectbox]")

    page.get_by_role("button", name="Another packet").click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_text("Not evaluated yet").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Evaluate", exact=True).click()
    page.get_by_text(re.compile("^Evaluating")).first.wait_for()  # at first while models load
    page.locator("[data-testid=stMetric]").first.wait_for(timeout=READING_MILLISECONDS)
    page.wait_for_selector(SETTLED)

    brought = next(each for each in kept_packets(folder) if each.rows == 8)
    assert brought.name == "eight claims.jsonl" and kept_runs(brought)
    expect(
        page.get_by_text(re.compile(r"Too few labels to tell \(2 bad claims; about"))
    ).to_be_visible()
