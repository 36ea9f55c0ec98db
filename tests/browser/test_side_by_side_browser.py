"""Two sources side by side, many sources, and the provenance of an answer, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import pytest
from browsing import SCREENSHOTS, Visit, watched
from builders import a_source, a_trace
from contrast import low_contrast
from databases import workspace_of
from playwright.sync_api import Browser, Page, expect
from verdicts import PATIENT, SEARCH, Said, a_verification, fill, showcase, with_checks

from core.calibration.rows import read_training_rows
from core.models.forest import load_forest
from core.records import (
    Check,
    FactPlace,
    Judged,
    Outcome,
    RankedSource,
    Source,
    Span,
    VerdictLabel,
    Verification,
)
from core.review.records import ProjectSettings
from storage.store import open_store

READY = "#evidence .answer"
LINES = "n => n.clientHeight / parseFloat(getComputedStyle(n.querySelector('pre')).lineHeight)"


def with_sources(count: int) -> Verification:
    """The showcase with as many sources as asked for, all of them ranked."""
    base = showcase(f"many-{count}")
    more = tuple(
        Source(source_id=f"more#{n}", tool_name="get_article", text=f"Article {n} says little.")
        for n in range(count - len(base.trace.sources))
    )
    ranked = tuple(
        RankedSource(source_id=each.source_id, score=round(0.2 - n / 1000, 4))
        for n, each in enumerate(more)
    )
    claims = []
    for verdict in base.claims:
        outcome = verdict.outcome
        if isinstance(outcome, Judged):
            route = replace(outcome.route, ranking=(*outcome.route.ranking, *ranked))
            outcome = replace(outcome, route=route)
        claims.append(replace(verdict, outcome=outcome))
    return replace(
        base,
        trace=replace(base.trace, sources=(*base.trace.sources, *more)),
        families={**base.families, **{each.source_id: "literature" for each in more}},
        claims=tuple(claims),
    )


def with_provenance() -> Verification:
    """An answer that changes a word, contradicts itself and leaves an allergy out."""
    chart = "Allergies: penicillin (anaphylaxis).\nIbuprofen was associated with her rash.\n"
    table = (
        "Ibuprofen caused her rash. Her potassium was 4.6 mmol/L in June. "
        "Her potassium was 5.9 mmol/L in June."
    )
    trace = a_trace(
        table,
        a_source(chart + "Potassium 4.6 mmol/L in June.", "chart", "load_patient_history"),
        trace_id="prov-1",
    )
    asked = "Which antibiotic can this patient take, given her allergies?"
    before = "I looked at her chart.\n\nIbuprofen did not cause her rash. <b>Ask the ward.</b>"
    trace = replace(trace, question=asked, earlier=("Which drugs did she take?", before))
    sentences = [sentence.strip(".") + "." for sentence in table.split(". ")]
    verified = a_verification(
        trace,
        {"chart": "patient_record"},
        [
            Said(
                said=sentence,
                verdict=VerdictLabel.UNSUPPORTED,
                source="chart",
                premise="Potassium 4.6 mmol/L in June.",
                reasons=("Not confirmed.",),
                probability=0.2,
            )
            for sentence in sentences
        ],
    )
    at = chart.index("associated with")
    said = Check(
        check="association as cause",
        outcome=Outcome.CONTRADICTS,
        reason="Association as cause: the source says “associated with”; the answer says “caused”",
        claim_span=Span(start=10, end=16),
        facts=(FactPlace(source_id="chart", span=Span(start=at, end=at + 15)),),
    )
    return decided_by_what_ships(with_checks(verified, 1, said))


def decided_by_what_ships(verified: Verification) -> Verification:
    """The same with inputs of the shipped calibrator, by which the first claim's are told."""
    features = read_training_rows().train[0].features
    claims = [
        replace(one, outcome=replace(one.outcome, features=features))
        if isinstance(one.outcome, Judged)
        else one
        for one in verified.claims
    ]
    versions = replace(verified.versions, calibrator=load_forest().name)
    return replace(verified, claims=tuple(claims), versions=versions)


@pytest.fixture(scope="module")
def workbench(
    tmp_path_factory: pytest.TempPathFactory, serve: Callable[[Path], AbstractContextManager[str]]
) -> Iterator[str]:
    """A workbench with answers from five, eight and thirty sources, and one with much provenance."""
    database = tmp_path_factory.mktemp("sides") / "workbench.db"
    store = open_store(str(database))
    fill(store, with_sources(8), with_sources(30), showcase(), with_provenance())
    workspace = workspace_of(store)
    workspace.projects.change(
        workspace.projects.default(),
        ProjectSettings(dwell_milliseconds=0),
        by=workspace.people.local(),
        reason="set up for a test",
    )
    store.close()
    with serve(database) as url:
        yield url


def a_visit(chromium: Browser, url: str, scheme: str, size: tuple[int, int]) -> Visit:
    context = chromium.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
        accept_downloads=True,
    )
    return watched(context, url)


def link(trace: str, **more: str) -> str:
    return f"verdict?{urlencode({'trace': trace, **more})}"


def in_view(page: Page, mark: str, box: str) -> bool:
    inner, outer = page.locator(mark).first.bounding_box(), page.locator(box).bounding_box()
    assert inner and outer
    return outer["y"] <= inner["y"] and inner["y"] + inner["height"] <= outer["y"] + outer["height"]


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        ("light", (1366, 625)),
        ("dark", (1280, 800)),
        pytest.param("dark", (1600, 1000), marks=pytest.mark.stress),
    ],
)
def test_both_sources_of_a_wrong_credit_stand_at_their_places_with_room_to_read(
    chromium: Browser, workbench: str, scheme: str, size: tuple[int, int]
) -> None:
    visit = a_visit(chromium, workbench, scheme, size)
    page = visit.open(link("clin-0042", claim="clin-0042::c01"), READY)

    expect(page.locator(".side-left mark.near")).to_contain_text("Heart failure")
    assert in_view(page, ".side-left mark.near", ".side-left .output")
    assert in_view(page, ".side-right mark.premise", ".side-right .output")
    assert all(page.locator(".side .output").nth(n).evaluate(LINES) >= 8 for n in (0, 1))
    assert low_contrast(page) == []
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"sides-{scheme}-{size[0]}.png")

    # On demand for any other claim, and the link brings the same two panes back.
    page.locator(".flag[data-claim='3']").click()
    expect(page.locator(".side")).to_have_count(0)
    assert page.locator(".output").evaluate(LINES) >= 6
    page.keyboard.press("l")
    expect(page.locator(".side")).to_have_count(2)
    chosen = page.locator(".side-left .picker").input_value()
    page.reload()
    page.locator(READY).wait_for()
    expect(page.locator(".side-left .picker")).to_have_value(chosen)
    assert page.locator(".bar, .pane-bar, .question-line").evaluate_all(
        "all => all.filter(n => n.scrollWidth > n.clientWidth + 1).map(n => n.className)"
    ) == []  # fmt: skip
    assert visit.outside() == [] and visit.faults == []
    page.context.close()


@pytest.mark.parametrize("count", [8, 30])
def test_many_sources_stay_choosable_by_name(chromium: Browser, workbench: str, count: int) -> None:
    visit = a_visit(chromium, workbench, "light", (1366, 625))
    page = visit.open(link(f"many-{count}", claim=f"many-{count}::c01"), READY)
    picker = page.locator(".side-right .picker")

    expect(picker.locator("option")).to_have_count(count)
    last = picker.locator("option", has_text="get_article").last
    picker.select_option(value=last.get_attribute("value"))

    expect(page.locator(".side-right").get_by_test_id("source-text")).to_contain_text("says little")
    expect(page.locator(".side-left .picker")).to_have_value(PATIENT)
    page.keyboard.press("l")
    page.locator(f".source-row[data-source='{SEARCH}']").click()
    expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", SEARCH)
    assert visit.faults == []
    page.context.close()


def test_a_review_s_tabs_and_answer_keys_have_the_same_names_and_the_sources_keep_their_lines(
    chromium: Browser, workbench: str
) -> None:
    visit = a_visit(chromium, workbench, "light", (1366, 625))
    page = visit.open("review", "#review .the-claim")
    expect(page.locator(".beside-box .side")).to_have_count(0)
    tabs = page.locator(".tab-name").all_inner_texts()
    keys = [
        text.replace("●", "").split("\n")[0].strip()
        for text in page.locator("[class*='st-key-own_'] button p").all_inner_texts()
    ]

    assert keys[: len(tabs)] == tabs[: len(keys) - 1] and len(set(tabs)) == len(tabs) > 3
    box = page.get_by_role("button", name="It is this one").bounding_box()
    assert box is not None and box["height"] < 36, "the button wraps"
    for key, name in (("1", "v_supported"), ("q", "own_1")):
        page.keyboard.press(key)
        page.locator(f".st-key-{name} button").get_by_text("●").first.wait_for()
    page.keyboard.press("x")
    page.locator("#review .machine").wait_for()
    # Nothing of the verifier's was open before; its wrong credit now shows both sources by itself.
    expect(page.locator(".beside-box .side-role")).to_contain_text("The answer credits")
    for box in (".beside-box .output", ".single .output"):
        assert page.locator(box).evaluate(LINES) >= 5
    assert in_view(page, "#review mark.lit", "#review .answer")
    assert in_view(page, "#review .claim-text", "#review .the-claim")
    page.keyboard.press("l")
    expect(page.locator(".beside-box .side")).to_have_count(0)
    assert visit.faults == []
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_provenance_of_an_answer_is_shown_followed_and_downloaded(
    chromium: Browser, workbench: str, scheme: str
) -> None:
    visit = a_visit(chromium, workbench, scheme, (1280, 800))
    page = visit.open(link("prov-1"), READY)

    page.keyboard.press("v")

    pair = page.get_by_test_id("distortion")
    expect(pair.locator("mark.differs")).to_have_text(["caused", "associated with"])
    expect(page.get_by_test_id("contradiction").last).to_contain_text("5.9 mmol/L")
    across = page.get_by_test_id("contradiction").first
    expect(across.get_by_role("button", name="claim 1")).to_be_visible()
    expect(across).to_contain_text("this answer, turn 3 of 3")
    expect(across.locator(".pair-texts mark").first).to_have_text("not")
    across.get_by_role("button", name="turn 2 of 3").click()
    expect(across.locator(".turn-text mark")).to_contain_text("did not cause her rash")
    expect(across.locator(".turn-text")).to_contain_text("<b>Ask the ward.</b>")
    across.scroll_into_view_if_needed()
    page.screenshot(path=SCREENSHOTS / f"contradiction-{scheme}-1280.png")
    omission = page.get_by_test_id("omission").first
    expect(omission).to_contain_text("penicillin")
    auditors = page.get_by_test_id("auditors")
    auditors.locator("summary").click()
    expect(auditors.locator("tr")).to_have_count(4)
    expect(auditors).to_contain_text("prov-1::c01")
    expect(auditors).to_contain_text("calibrator: ")
    assert low_contrast(page) == []
    page.screenshot(path=SCREENSHOTS / f"provenance-{scheme}-1280.png")

    page.get_by_role("button", name="Report").click()
    dialog = page.locator("[data-testid='stDialog']")
    expect(dialog).to_contain_text("audit trail")
    files = {}
    for name in ("Markdown", "JSON"):
        with page.expect_download() as arriving:
            dialog.get_by_role("button", name=name, exact=True).click()
        files[name] = Path(arriving.value.path()).read_text(encoding="utf-8")
    dialog.get_by_role("button", name="Print as PDF").click()
    with page.expect_download() as arriving:
        dialog.get_by_role("button", name="PDF", exact=True).click()
    assert Path(arriving.value.path()).read_bytes().startswith(b"%PDF-")
    document = json.loads(files["JSON"])
    assert document["answers"][0]["trace_id"] == "prov-1"
    assert document["audit_trail"]["intact"] and document["sha256"] in files["Markdown"]
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()

    omission.get_by_role("button", name="load_patient_history").click()
    expect(page.locator(".output mark.fact")).to_contain_text("penicillin")
    expect(page.locator(".drawer")).to_be_hidden()
    page.keyboard.press("-")
    moved = page.get_by_test_id("moved")
    expect(moved.first).to_contain_text("Spoke for it most:")
    assert not any("_" in words for words in moved.all_inner_texts())
    assert visit.outside() == [] and visit.faults == []
    page.context.close()
