"""The verdict page in a real browser."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode, urlparse

import pytest
from browsing import SCREENSHOTS, Visit, watched
from playwright.sync_api import Browser, Page, expect
from verdicts import ABSTRACTS, HOSTILE, METADATA, PATIENT, SEARCH

READY = "#evidence .answer"
HOSTILE_PLACES = (
    ".trace-id", ".facts", ".asked", ".source-name", ".because", ".arguments", ".place-link",
)  # fmt: skip
CLAIM = "clin-0042::c{:02d}"


# Parts that reach out of the window, or whose content is wider than they are.
SPILLED = """root => [...root.querySelectorAll(
    ".bar, .question-line, .pane, .why, .pane-bar, .why-words"
  )].filter(node => {
    const box = node.getBoundingClientRect();
    const outside = box.right > innerWidth || box.bottom > innerHeight + 1;
    return outside || node.scrollWidth > node.clientWidth + 1;
  }).map(node => node.className)"""
SCROLLS = """() => {
  const page = document.documentElement;
  return [page.scrollWidth > innerWidth, page.scrollHeight > innerHeight];
}"""


def verdict(trace: str = "clin-0042", **more: str) -> str:
    """The address of a verdict."""
    return f"verdict?{urlencode({'trace': trace, **more})}"


def is_inside(page: Page, inner: str, outer: str) -> bool:
    """Whether an element lies within the visible part of a box, top and bottom."""
    box, frame = page.locator(inner).first.bounding_box(), page.locator(outer).bounding_box()
    assert box and frame
    return box["y"] >= frame["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"] + 1


def query(page: Page) -> dict[str, str]:
    """The address's parameters."""
    return {key: values[0] for key, values in parse_qs(urlparse(page.url).query).items()}


def choose(page: Page, number: int) -> None:
    """Click the claim's mark and wait until it is the chosen one."""
    page.locator(f".flag[data-claim='{number - 1}']").click()
    expect(page.locator(".place").first).to_have_text(f"claim {number} of 9")


@pytest.mark.journey
def test_a_clicked_claim_scrolls_its_source_to_the_premise(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(2)), READY)

    page.get_by_text("Her last potassium was").first.click()

    premise = page.locator(".output mark.premise")
    expect(premise.first).to_contain_text("Laboratory summary 2024-06-03")
    assert is_inside(page, ".output mark.premise", ".output")
    assert page.locator(".output").evaluate("box => box.scrollTop") > 100
    assert page.evaluate("window.scrollY") == 0


def test_every_verdict_has_its_own_mark_word_and_underline(visit: Visit) -> None:
    page = visit.open(verdict(), READY)

    looks = page.locator(".said").evaluate_all(
        "nodes => nodes.map(n => [n.title, getComputedStyle(n).textDecorationStyle,"
        " getComputedStyle(n).textDecorationLine, getComputedStyle(n).backgroundImage !== 'none'])"
    )

    by_word = {look[0].split(": ")[1]: tuple(look[1:]) for look in looks}
    assert by_word["supported"] == ("solid", "underline", False)
    assert by_word["wrong source credited"] == ("double", "underline", False)
    assert by_word["contradicted"] == ("wavy", "underline", False)
    assert by_word["needs a person"] == ("dashed", "underline", False)
    counts = page.locator(".verdict").inner_text().split()
    assert counts[-1] == "Blocked"
    # Three states, and what is shown to be wrong by how it is; a count leads to what it counts.
    words = page.locator(".count").all_inner_texts()
    assert [" ".join(each.split()) for each in words] == [
        "✕ 1 contradicted", "⇄ 1 wrong source credited", "◐ 3 needs a person", "✓ 3 supported",
    ]  # fmt: skip
    for number in (6, 8, 2):
        page.locator(".count.kind-person").click()
        expect(page.locator(".place").first).to_have_text(f"claim {number} of 9")


def test_arrows_and_letters_step_through_the_claims_and_say_so(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(1)), READY)
    place = page.locator(".place").first

    page.keyboard.press("ArrowDown")
    expect(place).to_have_text("claim 2 of 9")
    page.keyboard.press("j")
    expect(place).to_have_text("claim 3 of 9")
    page.keyboard.press("k")
    expect(place).to_have_text("claim 2 of 9")
    page.keyboard.press("ArrowUp")
    expect(place).to_have_text("claim 1 of 9")
    page.keyboard.press("ArrowUp")
    expect(place).to_have_text("claim 1 of 9")

    expect(page.get_by_role("status").last).to_contain_text(
        "Claim 1 of 9: True, but not in the patient record"
    )


def test_arrows_scroll_the_source_while_it_has_the_focus(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(2)), READY)
    page.locator(".output").focus()

    page.keyboard.press("ArrowDown")
    expect(page.locator(".place").first).to_have_text("claim 2 of 9")
    page.keyboard.press("j")

    expect(page.locator(".place").first).to_have_text("claim 3 of 9")


def test_a_link_restores_claim_and_source_and_the_address_follows_what_is_chosen(
    visit: Visit,
) -> None:
    page = visit.open(verdict(claim=CLAIM.format(2), source=SEARCH), READY)
    expect(page.locator(".place").first).to_have_text("claim 2 of 9")
    expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", SEARCH)
    assert page.title() == "clin-0042 · ProvenanceGuard"

    choose(page, 6)
    assert query(page) == {"trace": "clin-0042", "claim": CLAIM.format(6)}
    page.locator(f".source-row[data-source='{METADATA}']").click()
    assert query(page)["source"] == METADATA
    page.reload()
    page.locator(READY).wait_for()

    expect(page.locator(".place").first).to_have_text("claim 6 of 9")
    expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", METADATA)


def test_a_wrong_value_is_boxed_in_the_claim_and_beside_its_nearest_in_the_source(
    visit: Visit,
) -> None:
    page = visit.open(verdict(claim=CLAIM.format(2)), READY)

    assert "".join(page.locator(".claim-text .value.missing").all_inner_texts()) == "25 mg"
    expect(page.locator(".nearest-note")).to_have_text("source: 10 mg")
    expect(page.locator(".output mark.nearest")).to_have_text("10 mg")
    claim, source = (
        page.locator(where).first.evaluate("node => getComputedStyle(node).borderTopColor")
        for where in (".claim-text .value.missing", ".output mark.nearest")
    )
    assert claim == source


def test_a_conflation_names_what_was_stated_and_what_supports_it(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(1)), READY)

    expect(page.locator(".headline-text")).to_have_text(
        "True, but not in the patient record: it is in search_pubmed_key_words #1"
    )
    expect(page.locator(".why .credit-line")).to_have_text(
        "The answer credits:“According to the patient's chart” (patient record)"
    )
    # Both sources stand open, each at its place; L goes back to one, with the list of all.
    for side, role, place in (
        ("left", "The answer credits", "mark.near"),
        ("right", "Says it", "mark.premise"),
    ):
        expect(page.locator(f".side-{side} .side-role")).to_contain_text(role)
        assert is_inside(page, f".side-{side} {place}", f".side-{side} .output")
    page.keyboard.press("l")
    expect(page.locator(f".source-row[data-source='{PATIENT}']")).to_contain_text("credited")
    expect(page.locator(f".source-row[data-source='{SEARCH}']")).to_contain_text("checked against")
    assert query(page)["beside"] == "none"


def test_weakly_grounded_words_are_dotted_under_an_honest_caption(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(4)), READY)
    expect(page.locator(".claim-text .weak")).to_have_text("lower")
    # It is one of the figures: nothing is shaded, dotted or scored until they are asked for.
    for each in (".look-legend", ".score", ".role.read"):
        expect(page.locator(each).first).to_be_hidden()
    assert (
        page.locator(".claim-text .weak").evaluate("n => getComputedStyle(n).textDecorationLine")
        == "none"
    )

    page.keyboard.press("-")

    expect(page.locator(".score").first).to_be_visible()
    style = page.locator(".claim-text .weak").evaluate(
        "n => getComputedStyle(n).textDecorationStyle"
    )
    assert style == "dotted"
    expect(page.locator(".caption").first).to_contain_text(
        "where the model looked: a hint, not a reason why"
    )
    expect(page.locator(".caption").first).to_have_attribute("title", re.compile("^Heuristic: "))
    shades = page.locator(".swatch").evaluate_all(
        "nodes => new Set(nodes.map(n => getComputedStyle(n).backgroundColor)).size"
    )
    assert shades == 4


def test_alignment_values_can_be_read_as_a_table(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(4)), READY)

    page.get_by_text("Reasons and figures").click()
    page.get_by_text("Values for each word").click()

    row = page.locator(".alignment tr").filter(has_text="lower")
    expect(row).to_have_text("lower0.0200few")


def test_a_link_to_a_claim_that_is_not_there_says_so(visit: Visit) -> None:
    page = visit.open(verdict(claim="clin-0042::c77"), READY)

    expect(page.locator(".notice")).to_contain_text("a claim that this verdict does not have")
    expect(page.locator(".place").first).to_have_text("claim 4 of 9")


def test_a_source_can_be_given_more_room(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(2)), READY)
    before = page.locator(".output").bounding_box()

    page.get_by_role("button", name="Widen").click()
    page.get_by_role("button", name="Narrow").wait_for()
    after = page.locator(".output").bounding_box()

    assert before and after and after["width"] > 1.3 * before["width"]
    assert is_inside(page, ".output mark.premise", ".output")


def test_the_raw_output_lights_the_bytes_behind_the_premise(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(7)), READY)
    expect(page.locator(".output mark.premise").first).to_contain_text("journal: ")

    page.get_by_role("button", name="Raw", exact=True).click()

    # The raw text holds characters of two and four bytes before the place.
    expect(page.locator(".output mark.premise")).to_have_text('"Journal of Invented Cardiology"')


def test_unjudged_and_set_aside_stretches_keep_their_reason(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(8)), READY)
    expect(page.locator(".headline-text")).to_have_text("Needs a person")
    expect(page.locator(".because")).to_contain_text("the NLI model gave no usable reading")

    choose(page, 9)

    expect(page.locator(".headline-text")).to_have_text("No claim")
    expect(page.locator(".because")).to_contain_text("a general disclaimer")


def test_every_claim_stands_with_its_source_and_the_others(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(3)), READY)

    page.keyboard.press("v")

    rows = page.get_by_test_id("chain")
    expect(rows.locator(".reason-claim")).to_have_text(
        [f"{mark} claim {n}" for mark, n in zip("✕⇄◐◐◐✓✓✓", (4, 1, 2, 6, 8, 3, 5, 7), strict=True)]
    )
    credited = rows.nth(1)
    expect(credited).to_contain_text("The answer credits:“According to the patient's chart”")
    expect(credited.locator("td > .place-link")).to_have_text("search_pubmed_key_words #1")
    expect(credited).to_contain_text("True, but not in the patient record")
    expect(page.get_by_test_id("auditors").locator("table")).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".place").first).to_have_text("claim 3 of 9")
    credited.locator("summary").click()
    other = credited.locator("li").filter(has_text="load_patient_history")
    expect(other).to_contain_text("the model reads it as silent")
    other.get_by_role("button").click()

    expect(page.locator(".drawer")).to_be_hidden()
    expect(page.locator(".place").first).to_have_text("claim 1 of 9")
    expect(page.locator(".source-row.chosen")).to_have_attribute("data-source", PATIENT)
    assert query(page)["source"] == PATIENT


def test_a_blocked_answer_leads_to_its_repair_and_to_review(visit: Visit) -> None:
    page = visit.open(verdict(), READY)
    expect(page.get_by_role("button", name="Review")).to_be_visible()

    page.get_by_role("button", name="Repair").click()

    page.wait_for_url("**/repair?trace=clin-0042")


def test_link_and_reason_can_be_copied(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(4)), READY)

    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    page.locator(".headline").hover()
    page.get_by_role("button", name="Copy reason").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    reason = page.evaluate("navigator.clipboard.readText()")

    assert parse_qs(urlparse(link).query) == {"trace": ["clin-0042"], "claim": [CLAIM.format(4)]}
    assert reason.startswith("Trace clin-0042, claim 4: All-cause mortality")
    assert "says otherwise" in reason


def test_the_focus_can_be_seen_on_every_control(visit: Visit) -> None:
    page = visit.open(verdict(), READY)
    page.get_by_role("button", name="Previous claim").focus()

    page.keyboard.press("Tab")

    outline = page.evaluate(
        """() => {
          let node = document.activeElement;
          while (node.shadowRoot) node = node.shadowRoot.activeElement;
          const style = getComputedStyle(node);
          return [node.getAttribute("aria-label"), style.outlineStyle, style.outlineWidth];
        }"""
    )
    assert outline == ["Next claim (arrow down or J)", "solid", "2px"]


def test_hostile_text_is_shown_verbatim_and_fetches_nothing(visit: Visit) -> None:
    page = visit.open(verdict(HOSTILE), READY)
    evidence = page.locator("#evidence")
    answer = page.get_by_test_id("answer").evaluate("node => node.textContent")
    source = page.get_by_test_id("source-text").evaluate("node => node.textContent")
    page.get_by_role("button", name="Raw", exact=True).click()
    raw = page.get_by_test_id("source-text").evaluate("node => node.textContent")
    page.keyboard.press("v")
    page.locator(".chain").wait_for()

    assert answer == f"{HOSTILE} is what it says. And once more: {HOSTILE} indeed."
    assert source == f"Before. {HOSTILE} is what it says. After."
    assert raw == f'{{"x": "{HOSTILE}"}}'
    for where in HOSTILE_PLACES:
        texts = evidence.locator(where).evaluate_all("nodes => nodes.map(node => node.textContent)")
        assert any(HOSTILE in text for text in texts), where
    assert page.title().startswith(HOSTILE[:40])
    assert evidence.locator("img, script, a, iframe, svg, style, b, strong > b").count() == 0
    assert page.evaluate("window.hacked") is None
    assert visit.outside() == []
    assert visit.faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "size", [(1280, 800), pytest.param((1600, 1000), marks=pytest.mark.stress)]
)
def test_nothing_overflows_and_both_themes_are_finished(
    chromium: Browser, app_url: str, scheme: str, size: tuple[int, int]
) -> None:
    width, height = size
    context = chromium.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    visit = watched(context, app_url)
    page = visit.open(verdict(claim=CLAIM.format(1)), READY)

    spilled = page.locator("#evidence").evaluate(SPILLED)
    background = page.locator("[data-testid='stApp']").evaluate(
        "n => getComputedStyle(n).backgroundColor"
    )
    colour = page.locator(".headline").evaluate("n => getComputedStyle(n).color")
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"verdict-{scheme}-{width}.png")
    scrolls = page.evaluate(SCROLLS)
    context.close()

    assert spilled == []
    assert scrolls == [False, False]
    assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)")
    assert colour == ("rgb(142, 58, 125)" if scheme == "light" else "rgb(226, 155, 208)")
    assert visit.outside() == []
    assert visit.faults == []


def test_the_source_of_a_claim_is_whole_and_exact(visit: Visit) -> None:
    page = visit.open(verdict(claim=CLAIM.format(4)), READY)

    shown = page.get_by_test_id("source-text").evaluate("node => node.textContent")

    assert shown == ABSTRACTS
