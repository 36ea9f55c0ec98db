"""Agreement, export and audit in a real browser: keyboard, downloads, and nothing of a hostile text."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from browsing import SCREENSHOTS, SETTLED, Visit, watched
from playwright.sync_api import BrowserContext, expect
from reviewing import SUPPORTED, UNSUPPORTED, an_office

from core.workflows.packet_folder import check_packet, unpack
from storage.store import open_store

HOSTILE = '<img src=x onerror="alert(1)"> ![x](http://192.0.2.1/a.png) :red[x] $a^2$'


@pytest.fixture(scope="module")
def workbench(
    tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AbstractContextManager[str]]
) -> Iterator[tuple[str, int, int]]:
    """Eight claims read twice, two of them not alike: the address, and who leads and who reads."""
    database = tmp_path_factory.mktemp("packets") / "workbench.db"
    office = an_office(open_store(str(database), actor="test"), traces=2, reads_per_claim=2)
    for number in range(8):
        office.read("Ada", SUPPORTED, rationale=HOSTILE)
        office.read("Ben", UNSUPPORTED if number in (1, 5) else SUPPORTED)
    office.store.close()
    with serve(database) as url:
        yield url, office.people["Lea"].person_id, office.people["Ben"].person_id


@pytest.fixture
def visit(visitor: BrowserContext, workbench: tuple[str, int, int]) -> Iterator[Visit]:
    visit = watched(visitor, workbench[0])
    yield visit
    visit.page.close()


def test_each_agreement_figure_leads_to_the_claims_and_reasons_behind_it(
    visit: Visit, workbench: tuple[str, int, int]
) -> None:
    page = visit.open(f"agreement?as={workbench[1]}", "[data-testid='stMetric']")
    expect(page.locator("[data-testid='stMetricValue']").first).to_have_text("6 of 8")
    labels = page.get_by_test_id("stWidgetLabel").filter(
        has_text=re.compile("Compared on|Told apart by")
    )
    assert len({box["y"] for each in labels.all() if (box := each.bounding_box())}) == 1

    table = page.locator("[data-testid='stDataFrame']").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 15, box["y"] + 52)

    expect(page.get_by_text(HOSTILE)).to_be_visible()
    expect(page.get_by_role("link", name="Open its verdict")).to_be_visible()
    assert visit.outside() == []
    assert visit.faults == []


@pytest.mark.journey
def test_a_packet_is_prepared_signed_and_downloaded_and_proves_itself(
    visit: Visit, workbench: tuple[str, int, int], tmp_path: Path
) -> None:
    page = visit.open(f"export?as={workbench[1]}", "text=6 claims of 2 traces")

    page.get_by_role("button", name="Parquet tables").click()
    page.get_by_text("Preview the files").click()
    # The file as it will stand there: a hostile reason is text in it, and nothing of it acts.
    expect(page.get_by_test_id("stCode")).to_contain_text(HOSTILE.split('"')[0])
    page.screenshot(path=SCREENSHOTS / "packet-preview-light.png")
    page.get_by_role("button", name="Prepare the packet").press("Enter")
    page.get_by_text("The packet is ready").wait_for()
    page.get_by_role("button", name="Lock and sign").press("Enter")
    page.get_by_label("Type your name to sign").fill("Lea")
    page.get_by_label("Type your name to sign").press("Enter")
    sign = page.get_by_role("button", name="Sign", exact=True)
    expect(sign).to_be_enabled()
    sign.press("Enter")
    page.get_by_text("Signed packets").wait_for()
    page.keyboard.press("Escape")
    page.get_by_label("Type your name to sign").wait_for(state="hidden")
    page.wait_for_selector(SETTLED)
    # Unlike a key press, a click waits for a button that is being drawn anew.
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download (.zip)").click()
    archive = tmp_path / "packet.zip"
    downloading.value.save_as(archive)

    unpack(archive.read_bytes(), tmp_path / "packet", name="packet.zip")
    check = check_packet(tmp_path / "packet")
    assert check.intact
    assert [(one.signer, one.meaning) for one in check.signatures] == [("Lea", "review")]
    names = zipfile.ZipFile(archive).namelist()
    assert {"reports/index.html", "claims.csv"} <= set(names)
    assert "claims.parquet" not in names

    # What the packet says, as a table: it is all here already, but for a row about something else.
    said = zipfile.ZipFile(archive).read("votes.csv") + b"review-0009::c01,review-0009,1,Ada\r\n"
    page.get_by_text("Bring in labels that exist already").click()
    page.locator(".st-key-labels-file-0 input[type=file]").set_input_files(
        {"name": "votes.csv", "mimeType": "text/csv", "buffer": said}
    )
    expect(page.get_by_text("0 of 13 rows can come in, 1 cannot")).to_be_visible()
    expect(page.get_by_role("button", name="Import annotations")).to_be_disabled()
    page.screenshot(path=SCREENSHOTS / "labels-preview-light.png", full_page=True)
    assert visit.outside() == []


def test_a_downloaded_report_shows_a_hostile_reason_as_text_and_fetches_nothing(
    visit: Visit, workbench: tuple[str, int, int], visitor: BrowserContext, tmp_path: Path
) -> None:
    page = visit.open(f"export?as={workbench[1]}", "text=6 claims of 2 traces")
    page.get_by_role("button", name="Prepare the packet").press("Enter")
    page.get_by_text("The packet is ready").wait_for()
    page.wait_for_selector(SETTLED)
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Download (.zip)").click()
    archive = tmp_path / "packet.zip"
    downloading.value.save_as(archive)
    unpack(archive.read_bytes(), tmp_path / "packet", name="packet.zip")

    report = watched(visitor, (tmp_path / "packet").as_uri())
    report.page.goto((tmp_path / "packet" / "reports" / "trace-000001.html").as_uri())
    expect(report.page.get_by_text(HOSTILE).first).to_be_visible()
    expect(report.page.locator("img, script")).to_have_count(0)
    report.page.close()

    assert [url for url in report.requests if not url.startswith("file:")] == []
    assert report.faults == []


def test_the_trail_opens_an_event_and_a_reviewer_gets_no_byte_of_it(
    visit: Visit, workbench: tuple[str, int, int]
) -> None:
    page = visit.open(f"audit?as={workbench[1]}", "text=Chain intact")
    table = page.locator("[data-testid='stDataFrame']").first
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 15, box["y"] + 52)
    expect(page.get_by_text("Follows")).to_be_visible()

    for name in ("audit", "agreement", "export"):
        blind = visit.open(f"{name}?as={workbench[2]}", "text=leads and auditors")
        assert "Ada" not in blind.content()
        assert HOSTILE not in blind.locator("body").inner_text()
    assert visit.outside() == []
