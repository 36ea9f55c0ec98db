"""Review and adjudication in a real browser: by keyboard, blind, and by three people in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from browsing import SETTLED, Visit, proxied, until, watched
from contrast import low_contrast
from databases import workspace_of
from playwright.sync_api import Browser, Page, expect
from reviewing import CHART_TEXT, UNSUPPORTED, Office, a_reviewed_trace, an_office
from verdicts import HOSTILE, PATIENT, fill, hostile, showcase

from core.records import SourceStatus, VerdictLabel
from core.review.records import Annotation, Judgement, Role, Unfit
from storage.store import open_store, utc_now

Serve = Callable[[Path], AbstractContextManager[str]]
CLAIM = "#review .the-claim"
NEXT = ".st-key-row-next"
HOLDS = Judgement(support=VerdictLabel.SUPPORTED, source_id=PATIENT, conflation=False)
FAILS = Judgement(support=VerdictLabel.CONTRADICTED, source_id=None, conflation=False)
SCROLLS = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollHeight > main.clientHeight + 1 || main.scrollWidth > innerWidth;
}"""
PAGES = (
    "", "traces", "verdict?trace=clin-0042", "review", "adjudicate", "repair", "thresholds",
    "evaluation", "agreement", "recalibrate", "export", "audit", "people", "settings",
)  # fmt: skip
WHOLE = """box => [box, ...box.querySelectorAll(".why-words, .headline")].every(node =>
  node.scrollHeight <= node.clientHeight + 1 && node.getBoundingClientRect().bottom <= innerHeight)"""
# Keys pressed faster than any server answers.
IN_TURN = """async keys => { for (const key of keys) {
  const code = /[0-9]/.test(key) ? `Digit${key}` : `Key${key.toUpperCase()}`;
  for (const type of ["keydown", "keyup"])
    document.body.dispatchEvent(new KeyboardEvent(type, { key, code, bubbles: true, composed: true }));
  await new Promise(sent => setTimeout(sent, 1));
} }"""
NAME = "Zephyrine Quillfeather"
USED = pytest.StashKey[list[str]]()
NOTE = "qqnote-of-the-first-reader-7719"


def an_office_at(file: Path, **more: object) -> Office:
    """People and verified traces in a database of their own."""
    made = an_office(open_store(str(file)), **{"dwell_milliseconds": 0, **more})
    made.clock.at = utc_now()
    return made


def a_visit(chromium: Browser, url: str, scheme: str = "light", **more: object) -> Visit:
    """A browser of its own on the workbench."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 800},
        color_scheme=scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
        **more,  # type: ignore[arg-type]
    )
    return watched(context, url)


def press(page: Page, key: str, then: str) -> None:
    """Press a key and wait for what it must bring."""
    page.keyboard.press(key)
    page.locator(then).first.wait_for()
    page.wait_for_selector(SETTLED)


def chosen(page: Page, name: str) -> None:
    """Wait until that answer is marked as chosen."""
    page.locator(f".st-key-{name} button").get_by_text("●").first.wait_for()


def item(page: Page) -> str:
    """Names the claim on screen."""
    return page.locator("#review").get_attribute("data-item") or ""


def decide(page: Page, key: str) -> None:
    """Press the last answer's key, and wait until the verifier's view and the next step are there."""
    page.keyboard.press(key)
    page.locator("#review .machine").wait_for()
    page.locator(".st-key-keep button:not([disabled])").first.wait_for()
    page.wait_for_selector(SETTLED)


READERS = ("Ada", "Ben", "Cleo", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon", "Kit", "Liv", "Max")


@pytest.fixture(scope="module")
def room(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Office]]:
    """One workbench for many annotators, with claims enough for all of them."""
    file = tmp_path_factory.mktemp("room") / "review.db"
    made = an_office_at(
        file,
        verifications=[showcase(f"clin-{n:04d}") for n in range(42, 45)],
        reviewers=READERS,
    )
    with serve(file) as url:
        yield url, made


@dataclass(frozen=True)
class Reader:
    """Somebody with a browser of their own and a claim on screen."""

    visit: Visit
    made: Office
    name: str

    @property
    def page(self) -> Page:
        """The annotator's page."""
        return self.visit.page

    def annotations(self) -> list[Annotation]:
        """This annotator's annotations that count."""
        return [
            annotation for annotation in annotations(self.made) if annotation.reviewer == self.name
        ]


@pytest.fixture
def reader(
    chromium: Browser, room: tuple[str, Office], request: pytest.FixtureRequest
) -> Iterator[Reader]:
    """An annotator who has not been here before."""
    url, made = room
    used: list[str] = request.config.stash.setdefault(USED, [])
    name = READERS[len(used)]
    used.append(name)
    visit = a_visit(chromium, url)
    visit.open(f"review?as={made.people[name].person_id}", CLAIM)
    yield Reader(visit=visit, made=made, name=name)
    visit.page.context.close()


def annotations(made: Office) -> list[Annotation]:
    """All annotations that count, whatever the claim."""
    reviewed = workspace_of(made.store).labels.reviewed()
    return [annotation for each in reviewed for annotation in each.annotations]


# ---------------------------------------------------------------- by keyboard


@pytest.mark.journey
def test_a_claim_is_read_decided_and_kept_without_a_mouse(reader: Reader) -> None:
    page = reader.page
    claim = item(page)
    expect(page.locator("#review .machine")).to_have_count(0)

    page.keyboard.press("ArrowRight")
    expect(page.locator("#review .tab.chosen")).to_contain_text("#1")
    page.keyboard.press("1")
    chosen(page, "v_supported")
    page.keyboard.press("w")
    chosen(page, "own_2")
    expect(page.locator("#review .tab .mine")).to_be_visible()
    decide(page, "x")
    expect(page.locator(NEXT)).to_contain_text("Saved")
    page.set_viewport_size({"width": 1280, "height": 720})
    box, figures = page.locator("#review .machine"), page.locator("#review .machine .figures")
    assert box.evaluate(WHOLE)
    page.keyboard.press("-")
    expect(figures).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(figures).to_be_hidden()
    page.keyboard.press("k")

    expect(page.locator("#review")).not_to_have_attribute("data-item", claim)
    expect(page.locator("#review .machine")).to_have_count(0)
    (annotation,) = reader.annotations()
    assert annotation.judgement == Judgement(
        support=VerdictLabel.SUPPORTED, source_id="search#1", conflation=True
    )
    assert not annotation.changed_after_reveal
    assert reader.visit.faults == []
    assert reader.visit.outside() == []


def test_a_claim_that_rests_on_two_sources_has_both_and_the_second_saves_nothing(
    reader: Reader,
) -> None:
    page = reader.page
    for key, name in (("1", "v_supported"), ("y", "rightly_credited")):
        page.keyboard.press(key)
        chosen(page, name)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#review .tab.chosen")).to_contain_text("#1")

    for key, mine in (("j", 1), ("ArrowRight", 1), ("j", 2)):
        page.keyboard.press(key)
        expect(page.locator("#review .tab .mine")).to_have_count(mine)
        page.wait_for_selector(SETTLED)
    assert reader.annotations() == []
    decide(page, "k")
    page.keyboard.press("k")

    until(page, lambda: bool(reader.annotations()))
    (annotation,) = reader.annotations()
    assert annotation.judgement.source_ids == ("search#1", "search#2")
    assert reader.visit.faults == []


def test_what_says_it_is_found_by_its_value_marked_and_shown_to_the_adjudicator(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    said = ("She takes metformin 1000 mg twice daily.", "Metformin 1,000 mg twice daily.", 0.6)
    made = an_office_at(
        tmp_path / "marks.db",
        verifications=[a_reviewed_trace(1, [said])],
        reviewers=("Ada", "Ben"),
        reads_per_claim=2,
    )
    with serve(tmp_path / "marks.db") as url:
        visit = a_visit(chromium, url)
        page = visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        marks, source = page.locator("mark.own-passage"), page.get_by_test_id("source-text")
        page.keyboard.press("Shift+W")
        expect(page.locator("#review .tab.chosen")).to_contain_text("literature")

        page.keyboard.press(".")
        expect(page.locator("mark.hit.here")).to_have_text("1,000 mg")
        page.keyboard.press(",")
        expect(marks.first).to_be_visible()
        page.keyboard.press("Shift+W")
        source.dblclick(position={"x": 3, "y": 8})
        page.locator(".output-bar").get_by_role("button", name="Mark").click()
        expect(marks).to_have_text("In")
        page.wait_for_selector(SETTLED)
        for key, name in (("1", "v_supported"), ("q", "own_1")):
            page.keyboard.press(key)
            chosen(page, name)
        decide(page, "y")
        page.keyboard.press("u")  # what is taken back stands there again, whatever was looked for
        expect(page.get_by_test_id("stToast")).to_contain_text("open again")
        expect(page.locator("#review .tab.chosen")).to_be_visible()
        page.wait_for_selector(SETTLED)
        page.keyboard.press(".")
        expect(page.locator("mark.hit.here")).to_have_text("1,000 mg")
        decide(page, "k")
        page.context.close()

        desk = made.desk("Ben")
        with_none = desk.next_item()
        assert with_none is not None
        made.clock.at = utc_now()
        made.decide("Ben", with_none, UNSUPPORTED)
        visit = a_visit(chromium, url)
        page = visit.open(f"adjudicate?as={made.people['Dora'].person_id}", CLAIM)
        expect(page.locator(".reading .quoted")).to_have_text([f"“{CHART_TEXT}”", "“In”"])
        expect(page.locator("mark.passage").first).to_be_visible()
        assert visit.faults == []
        page.context.close()


def test_a_source_scrolls_and_opens_by_keys_that_answer_nothing(reader: Reader) -> None:
    page = reader.page
    box = page.get_by_test_id("output")

    page.keyboard.press("PageDown")
    until(page, lambda: box.evaluate("box => box.scrollTop") > 100)
    page.keyboard.press("PageUp")
    until(page, lambda: box.evaluate("box => box.scrollTop") == 0)
    page.keyboard.press("ArrowDown")
    until(page, lambda: 0 < box.evaluate("box => box.scrollTop") < 100)
    page.keyboard.press("Shift+A")

    expect(page.locator("#review .tab.chosen")).to_contain_text("Source 5")
    page.keyboard.press("1")
    chosen(page, "v_supported")
    expect(page.locator("#review .tab .mine")).to_have_count(0)
    assert reader.visit.faults == []


@pytest.mark.journey
def test_what_is_no_claim_is_said_with_one_key_corrected_and_saved(reader: Reader) -> None:
    page = reader.page
    claim = item(page)
    text = page.get_by_test_id("claim").inner_text()
    field = page.locator(".st-key-row-correction input")
    for key, name in (("1", "v_supported"), ("q", "own_1"), ("z", "not_a_claim")):
        page.keyboard.press(key)
        chosen(page, name)
    expect(field).to_have_value(text)
    expect(page.locator(".st-key-row-owner")).to_have_count(0)

    page.keyboard.press("z")
    expect(field).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" k 1 daily")
    page.keyboard.press("Escape")
    page.keyboard.press("k")

    page.locator("#review .machine").wait_for()
    expect(page.get_by_test_id("agrees")).to_have_text("It took this for a claim.")
    page.wait_for_selector(SETTLED)
    page.keyboard.press("k")
    expect(page.locator("#review")).not_to_have_attribute("data-item", claim)
    expect(field).to_have_count(0)
    (annotation,) = reader.annotations()
    assert annotation.judgement == Judgement(
        support=Unfit.NOT_A_CLAIM, source_id=None, correction=f"{text} k 1 daily"
    )
    assert reader.visit.faults == []


def test_what_is_typed_into_a_search_or_a_note_decides_nothing(
    reader: Reader,
) -> None:
    page = reader.page

    page.keyboard.press("/")
    page.keyboard.type("potassium 4.6 1 2 3 q y k")
    expect(page.locator(".find input")).to_have_value("potassium 4.6 1 2 3 q y k")
    page.keyboard.press("Escape")
    press(page, "n", "textarea")
    page.locator("textarea").click()
    page.keyboard.type("1 2 3 4 q w y x k u p")
    page.keyboard.press("Tab")

    def note() -> str | None:
        item = reader.made.desk(reader.name).next_item()
        return item.draft.rationale if item and item.draft else None

    until(page, lambda: note() == "1 2 3 4 q w y x k u p")
    expect(page.locator(NEXT)).to_contain_text("Answer all three")
    assert reader.annotations() == []


def test_a_word_is_found_in_whatever_source_holds_it(reader: Reader) -> None:
    page = reader.page

    page.keyboard.press("/")
    page.keyboard.type("Invented Cardiology")

    expect(page.locator(".tab.chosen")).to_contain_text("get_pubmed_article_metadata")
    expect(page.locator("mark.hit.here")).to_have_text("Invented Cardiology")
    expect(page.locator(".find-count")).to_have_text("1 of 1")


def test_guideline_and_keys_are_one_key_away_and_go_again(reader: Reader) -> None:
    page = reader.page

    press(page, "g", ".drawer .guideline")
    expect(page.locator(".drawer")).to_contain_text("1. Judge the claim against the tool outputs")
    expect(page.locator(f"{CLAIM} .claim-text")).to_be_in_viewport(ratio=1)  # it lies beside it
    page.keyboard.press("Escape")
    expect(page.locator(".drawer")).to_be_hidden()
    press(page, "h", ".drawer .keys")
    expect(page.locator(".drawer")).to_contain_text("Take back my last verdict")
    page.keyboard.press("h")
    expect(page.locator(".drawer")).to_be_hidden()


def test_the_last_verdict_is_taken_back_with_one_key(reader: Reader) -> None:
    page = reader.page
    claim = item(page)
    for key, name in (("3", "v_contradicted"), ("0", "own_none")):
        page.keyboard.press(key)
        chosen(page, name)
    decide(page, "y")
    page.keyboard.press("k")
    expect(page.locator("#review")).not_to_have_attribute("data-item", claim)
    page.wait_for_selector(
        SETTLED
    )  # a key pressed before the claim's own buttons are there is lost

    page.keyboard.press("u")

    expect(page.locator("#review")).to_have_attribute("data-item", claim)
    expect(page.get_by_test_id("stToast")).to_contain_text("open again")
    assert len(reader.annotations()) == 1


def test_while_a_claim_is_given_back_no_key_decides_it(reader: Reader) -> None:
    page = reader.page
    claim = item(page)

    press(page, "p", ".st-key-row-decline")
    expect(page.locator(".st-key-v_supported")).to_have_count(0)
    page.keyboard.press("q")
    page.keyboard.press("y")
    page.keyboard.press("3")

    expect(page.locator("#review")).not_to_have_attribute("data-item", claim)
    assert reader.annotations() == []


def test_quick_keys_all_count_for_their_claim_and_none_for_the_next(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = an_office_at(tmp_path / "quick.db", verifications=[showcase()])
    with serve(tmp_path / "quick.db") as url:
        visit = a_visit(chromium, url)
        page = visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        page.wait_for_selector(SETTLED)  # a key pressed before the buttons are there is lost
        page.get_by_text("Answer all three").wait_for()

        for key in "1wx":
            page.keyboard.press(key)
        page.locator("#review .machine").wait_for()
        # A key counts from the moment its button is there.
        page.locator(".st-key-keep button:not([disabled])").first.wait_for()
        for key in "k0y":
            page.keyboard.press(key)
        page.locator("#review .machine").wait_for(state="detached")
        page.wait_for_selector(SETTLED)
        page.context.close()

    (annotation,) = annotations(made)
    assert annotation.first is None or annotation.first.support is VerdictLabel.SUPPORTED
    assert (
        annotation.judgement.support,
        annotation.judgement.source_id,
        annotation.judgement.conflation,
    ) == (
        VerdictLabel.SUPPORTED,
        "search#1",
        True,
    )


def test_keys_of_one_instant_count_in_the_order_in_which_they_were_pressed(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = an_office_at(tmp_path / "instant.db", verifications=[showcase()])
    with serve(tmp_path / "instant.db") as url:
        visit = a_visit(chromium, url)
        page = visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        page.wait_for_selector(SETTLED)
        page.get_by_text("Answer all three").wait_for()
        for key, name in (("1", "v_supported"), ("q", "own_1")):
            page.keyboard.press(key)
            chosen(page, name)
        decide(page, "x")
        page.locator(".st-key-keep button:not([disabled])").first.wait_for()
        opened = page.locator("#review [role=tab][aria-selected=true]").get_attribute("data-source")
        assert opened == "search#1"  # not the first, which was chosen

        # Contradicted, supported after all, contradicted; by the source that is open; kept. What
        # follows is meant for the next claim.
        page.evaluate(IN_TURN, list("313bk0y"))
        page.locator("#review .machine").wait_for(state="detached")
        page.wait_for_selector(SETTLED)
        page.context.close()

    (annotation,) = annotations(made)
    assert (annotation.judgement.support, annotation.judgement.conflation) == (
        VerdictLabel.CONTRADICTED,
        True,
    )
    assert annotation.judgement.source_id == "search#1"


@pytest.mark.journey
def test_a_hostile_trace_is_shown_to_the_letter_and_fetches_nothing(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    made = an_office_at(tmp_path / "hostile.db", verifications=[hostile()])
    with serve(tmp_path / "hostile.db") as url:
        visit = a_visit(chromium, url)
        page = visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        page.wait_for_selector(SETTLED)  # a key pressed before the buttons are there is lost
        for key, name in (("1", "v_supported"), ("q", "own_1")):
            page.keyboard.press(key)
            chosen(page, name)
        decide(page, "y")

        for place in (".claim-text", ".asked", ".arguments", ".because"):
            assert HOSTILE[:30] in page.locator(f"#review {place}").first.inner_text(), place
        assert visit.outside() == []
        assert visit.faults == []
        assert page.evaluate("window.hacked") is None
        page.context.close()


# ---------------------------------------------------------------- blind


def test_no_byte_of_the_first_readers_name_or_note_reaches_the_second_reader(
    chromium: Browser, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_TRUSTED_USER_HEADERS", '{"X-Login": "email"}')
    made = an_office_at(
        tmp_path / "blind.db", verifications=[showcase()], reviewers=(NAME,), reads_per_claim=2
    )
    while made.read(NAME, HOLDS, rationale=NOTE, confidence=2):
        pass
    workspace_of(made.store).people.add(
        "Second", {Role.REVIEWER}, by=made.people["Lea"], email="second@example.org"
    )
    received: list[bytes] = []
    login = "X-Login: second@example.org"
    with serve(tmp_path / "blind.db") as app, proxied(app, login) as url:
        visit = a_visit(chromium, url)
        page = visit.page

        def keep(payload: str | bytes) -> None:
            received.append(payload.encode() if isinstance(payload, str) else payload)

        page.on("websocket", lambda socket: socket.on("framereceived", keep))
        visit.open("review", CLAIM)
        for key, name in (("2", "v_unsupported"), ("0", "own_none")):
            page.keyboard.press(key)
            chosen(page, name)
        decide(page, "y")
        page.keyboard.press("k")
        expect(page.locator("#review .machine")).to_have_count(0)
        for path in PAGES:
            page.goto(f"{url}/{path}")
            page.wait_for_selector(SETTLED)
            received.append(page.content().encode())
        page.context.close()

    sent = b"\n".join(received)
    assert b"empagliflozin" in sent, "nothing was recorded"
    for secret in (NAME, NAME.split()[0], NAME.split()[1], NOTE):
        assert secret.encode() not in sent, secret


def test_a_stranger_with_a_login_sees_no_claim(
    chromium: Browser, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMLIT_SERVER_TRUSTED_USER_HEADERS", '{"X-Login": "email"}')
    an_office_at(tmp_path / "stranger.db", verifications=[showcase()])
    login = "X-Login: nobody@example.org"
    with serve(tmp_path / "stranger.db") as app, proxied(app, login) as url:
        visit = a_visit(chromium, url)
        page = visit.page
        page.goto(f"{url}/review?as=2")

        expect(page.get_by_text("Nobody who can log in leads this workbench yet")).to_be_visible()
        assert page.locator(CLAIM).count() == 0
        page.context.close()


# ---------------------------------------------------------------- three people


def read_around(page: Page, asked: str, said: str) -> None:
    """What a tool was called with stands over its output; what was said before is a key away."""
    page.keyboard.press("Shift+W")
    call = page.locator("#review .call-line")
    expect(call).to_have_text("Called withqueryempagliflozin heart failure")
    expect(call).to_be_in_viewport(ratio=1)
    press(page, "m", ".drawer .asked-before")
    expect(page.locator(".drawer .guideline")).to_have_text([asked, said])
    page.keyboard.press("m")
    expect(page.locator(".drawer")).to_be_hidden()
    page.get_by_role("button", name="Said before").click()
    expect(page.locator(".drawer")).to_contain_text(said)
    page.keyboard.press("Escape")


@pytest.mark.journey
def test_two_reviewers_disagree_and_a_third_decides(
    chromium: Browser, serve: Serve, tmp_path: Path
) -> None:
    said, asked = "Her potassium was <b>4.6</b> mmol/L.", "What was her potassium?"
    made = an_office_at(
        tmp_path / "three.db", verifications=[showcase(earlier=(said,))], reviewers=("Ada", "Ben"),
        reads_per_claim=2,
    )  # fmt: skip
    turn = replace(showcase().trace, trace_id="clin-0042::t1", question=asked, answer=said)
    fill(made.store, unverified=[turn])
    with serve(tmp_path / "three.db") as url:
        claims = []
        for name, answers, last in (
            ("Ada", (("1", "v_supported"), ("q", "own_1")), "y"),
            ("Ben", (("3", "v_contradicted"), ("0", "own_none")), "x"),
        ):
            visit = a_visit(chromium, url)
            page = visit.open(f"review?as={made.people[name].person_id}", CLAIM)
            claims.append(page.locator(f"{CLAIM} .claim-text").inner_text())
            read_around(page, asked, said)
            for key, answer in answers:
                page.keyboard.press(key)
                chosen(page, answer)
            decide(page, last)
            page.keyboard.press("k")
            expect(page.locator("#review .machine")).to_have_count(0)
            page.context.close()
        assert claims[0] == claims[1]

        visit = a_visit(chromium, url)
        page = visit.open(f"?as={made.people['Dora'].person_id}", "#cards")
        page.get_by_role("button", name="Adjudicate").click()
        page.locator("#review .readings").wait_for()
        page.locator(".st-key-save").wait_for()
        page.wait_for_selector(SETTLED)
        expect(page.locator("#review .reading")).to_have_count(3)
        read_around(page, asked, said)
        expect(page.locator(f"{CLAIM} .claim-text")).to_have_text(claims[0])
        for key, name in (("1", "v_supported"), ("w", "own_2"), ("y", "rightly_credited")):
            page.keyboard.press(key)
            chosen(page, name)
        page.keyboard.press("6")
        chosen(page, "cause_guideline_gap")
        expect(page.locator(".st-key-save button")).to_be_enabled()
        page.wait_for_selector(SETTLED)
        page.keyboard.press("k")
        expect(page.get_by_text("No disagreement waits for you")).to_be_visible()
        page.context.close()
        (reviewed,) = workspace_of(made.store).labels.reviewed()
        for name in (
            "Ada",
            "Ben",
        ):  # the other claim that is shown to be wrong; the rest stays open
            desk = made.desk(name)
            while (held := desk.next_item()) is not None:
                made.clock.at = utc_now()
                if held.claim_id == "clin-0042::c04":
                    made.decide(name, held, HOLDS)
                    break
                desk.decline(held.assignment_id, "left open", desk.show(held.assignment_id))
        visit = a_visit(chromium, url)
        page = visit.open(f"traces?as={made.people['Lea'].person_id}", "#traces tbody tr")
        expect(page.locator("#traces .badge-needs_review")).to_have_count(1)
        page.locator("#traces .badge-needs_review").click()
        expect(page.locator("#evidence .badge")).to_contain_text("Needs review")
        page.context.close()

    assert reviewed.resolution.status.value == "adjudicated"
    assert reviewed.resolution.final == Judgement(
        support=VerdictLabel.SUPPORTED, source_id="search#1", conflation=False
    )
    assert [annotation.judgement.support.value for annotation in reviewed.annotations] == [
        "supported",
        "contradicted",
    ]


# ---------------------------------------------------------------- looks


@pytest.fixture(scope="module")
def show(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Office]]:
    """A workbench with a tie, and claims that wait for a second annotation."""
    file = tmp_path_factory.mktemp("show") / "show.db"
    made = an_office_at(file, verifications=[showcase()], reads_per_claim=2)
    made.read("Ada", HOLDS, rationale="Rule 2.")
    made.read("Ben", FAILS, rationale="Rule 4.")
    with serve(file) as url:
        yield url, made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["", "review", "adjudicate", "people"])
def test_every_text_stands_out_and_nothing_needs_scrolling(
    chromium: Browser, show: tuple[str, Office], scheme: str, path: str
) -> None:
    url, made = show
    who = {"review": "Cleo", "adjudicate": "Dora"}.get(path, "Lea")
    visit = a_visit(chromium, url, scheme)
    shown = CLAIM if path == "review" else "#review, #cards"
    page = visit.open(f"{path}?as={made.people[who].person_id}", shown)
    page.wait_for_selector(SETTLED)
    if path == "review":
        for key, name in (("1", "v_supported"), ("q", "own_1")):
            page.keyboard.press(key)
            chosen(page, name)
        decide(page, "y")

    weak, scrolls = low_contrast(page), page.evaluate(SCROLLS)
    page.context.close()

    assert weak == []
    assert not scrolls
    assert visit.faults == []


# ---------------------------------------------------------------- an output that was cut short

INSIDE = """(found, outer) => {
  const [a, b] = [found, found.closest(outer)].map((node) => node.getBoundingClientRect());
  const whole = found.scrollWidth <= found.clientWidth + 1 && a.width > 0;
  return whole && a.left >= b.left && a.right <= b.right;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("status", [SourceStatus.TRUNCATED, SourceStatus.NOT_CAPTURED])
def test_what_an_output_lacks_is_never_cut_off_itself(
    chromium: Browser, serve: Serve, tmp_path: Path, scheme: str, status: SourceStatus
) -> None:
    base = showcase("clin-0042")
    sources = tuple(replace(each, status=status) for each in base.trace.sources)
    made = an_office_at(
        tmp_path / "cut.db",
        verifications=[replace(base, trace=replace(base.trace, sources=sources))],
    )
    with serve(tmp_path / "cut.db") as url:
        visit = a_visit(chromium, url, scheme)
        page = visit.open(f"review?as={made.people['Ada'].person_id}", CLAIM)
        page.wait_for_selector(SETTLED)
        words = {"truncated": "cut short", "not_captured": "not captured"}[status.value]

        expect(page.locator("#review .title-row .status")).to_have_text(words)
        expect(page.locator("#review .tab .status").first).to_have_text(words)
        for inner, outer in ((".title-row .status", ".output-bar"), (".tab .status", ".tab")):
            assert page.locator(f"#review {inner}").first.evaluate(INSIDE, outer)
        page.context.close()
