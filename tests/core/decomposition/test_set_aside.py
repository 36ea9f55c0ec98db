"""Setting aside is the one way past every check: it fails towards checking, in every form (III.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.config import Config
from core.decomposition.claim_type import claim_type_of
from core.decomposition.claims import decompose
from core.decomposition.markdown import plain
from core.decomposition.remarks import read_weights, shipped_weights
from core.errors import ConfigError
from core.records import ClaimType, Trace
from training.texts import text_folder

FACTS = (
    "Share prices fell sharply after the merger",
    "Stop codon loss causes the disease",
    "Plan members pay nothing for insulin",
    "Metformin cures kidney failure",
    "Her brother died of leukaemia",
    "The bridge has collapsed",
    "She is allergic to aspirin",
    "The ferry sank last night",
    "Record rainfall flooded the coast",
    "Grapefruit doubles the drug level",
    "Test strips expire within days",
    "Order sets reduce prescribing errors",
    "Water boards refund late fees",
    "Nurses abandoned the ward",
    "Lithium batteries ignite when wet",
)
# {f} is the fact, {l} the fact with a small first letter, {c} the fact in letters in circles.
FORMS = (
    "{f}.", "{f}:", "{f}?", "{f}, right?", "Did you know that {l}?", "Isn't it true that {l}?",
    "Please note that {l}.", "It is important to note that {l}.", "I believe {l}.",
    "I believe that {l}.", "In my opinion, {l}.", "It seems to me that {l}.", "Remember: {l}.",
    "Keep in mind that {l}.", "Let me tell you that {l}.", "You should know {l}.",
    "You may want to consider that {l}.", "It is worth mentioning that {l}.", "I understand that {l}.",
    "Do not worry, because {l}.", "Consult your doctor because {l}.", "I'd suggest caution: {l}.",
    "You should talk to your doctor, since {l}.", "Let me know if you need more, as {l}.",
    "I hope this helps; {l}.", "I apologize, but {l}.", "If you want my view, {l}.",
    "This is not medical advice, but {l}.", "As an AI I cannot advise; {l}.", "Disclaimer: {l}.",
    "For informational purposes only: {l}.", "Thanks! {f}!", "Here is what I found: {l}.",
    "# {f}", "### {f}\n\nThanks!", "## Note: {l}", "**{f}**", "{f}\n===\n", "- {f}:\n", "> {f}.",
    "```\n{f}.\n```", "```python\n# {f}.\nx = 1\n```", '```python\nprint("{f}.")\n```',
    '```json\n{{"note": "{f}."}}\n```', "```mermaid\ngraph TD\nA[{f}] --> B[End]\n```",
    "| {f} |\n|---|\n| \u2713 |", "| Item | {f} |\n|---|---|\n| A | \u2705 |", "{c}.", "\u3010{f}\u3011",
    "<!-- {f}. -->", "![{f}](x.png)", '[here](http://x.org "{f}")', "See it.[^1]\n\n[^1]: {f}.",
    "{f}:\n```\nx = 1\n```", "{f}:\n\n| | |\n|---|---|\n", "{f}:\n1. \n2. ", "- **{f}**\n  - \n",
    "{f}:\n\n---",
    'See [it].\n\n[it]: http://x.org "{f}"', "<details><summary>{f}</summary></details>", "~~{f}.~~",
)  # fmt: skip


def factual(answer: str) -> list[str]:
    trace = Trace(trace_id="t", question="", answer=answer, sources=())
    return [
        claim.text for claim in decompose(trace, Config()) if claim.claim_type is ClaimType.FACTUAL
    ]


def in_circles(text: str) -> str:
    small, large = ord("\u24d0") - ord("a"), ord("\u24b6") - ord("A")
    return "".join(
        chr(ord(each) + (large if each.isupper() else small)) if each.isalpha() else each
        for each in text
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_fact_is_checked_in_whatever_form_it_comes(form: str) -> None:
    passed = []
    for fact in FACTS:
        answer = form.format(f=fact, l=fact[0].lower() + fact[1:], c=in_circles(fact))
        wanted = fact.casefold().split()
        found = [sum(word in text.casefold() for word in wanted) for text in factual(answer)]
        if max(found, default=0) < len(wanted) - 1:
            passed.append(answer)

    assert passed == []


@cases
def test_what_was_done_and_what_concerns_the_reader_is_checked(answer: str) -> None:
    assert factual(answer)


@cases
def test_offers_advice_and_courtesies_are_no_claims(answer: str) -> None:
    assert factual(answer) == []


@given(st.text(max_size=200))
def test_the_probabilities_of_any_text_sum_to_one(text: str) -> None:
    assert sum(shipped_weights().probabilities(text).values()) == pytest.approx(1.0)


@cases
def test_damaged_weights_are_refused_by_name(text: str) -> None:
    with pytest.raises(ConfigError, match="weights.json"):
        read_weights(text, "weights.json")


@cases
def test_a_plain_request_is_advice_and_one_that_tells_something_is_checked(
    text: str, asks: bool
) -> None:
    kind, _ = claim_type_of(text, credited=False)

    assert (kind is ClaimType.ADVICE) is asks


@cases
def test_a_line_before_a_list_is_checked_where_nothing_under_it_repeats_it(answer: str) -> None:
    first = answer.splitlines()[0].strip("-* :")
    said = " ".join(factual(answer))

    assert all(word in said for word in first.split() if word.isalpha())


def test_a_line_before_a_list_that_its_items_repeat_is_no_claim_of_its_own() -> None:
    answer = "Her tablets were changed by the clinic:\n- Metformin 500 mg\n- Aspirin 75 mg"

    assert factual(answer) == [
        "Her tablets were changed by the clinic: Metformin 500 mg",
        "Her tablets were changed by the clinic: Aspirin 75 mg",
    ]


@cases
def test_an_opening_of_advice_hides_no_fact_that_stands_behind_it(answer: str) -> None:
    assert factual(answer)


@pytest.mark.parametrize("label", ["Flight Option 2", "Day 3", "Second Scenario 1"])
def test_a_numbered_label_is_no_claim_and_what_stands_under_it_is(label: str) -> None:
    claims = factual(f"- **{label}:**\n  - Seats: 4\n  - Gate: B12")

    assert claims[-1].endswith("Gate: B12")
    assert not any(claim.strip(" :") == label for claim in claims)


@cases
def test_what_was_done_is_checked_though_its_details_follow(said: str) -> None:
    assert any(said in claim for claim in factual(f"{said}:\n\n- Seats: 4\n- Gate: B12"))


def test_lines_of_an_author_who_taught_nothing_are_told_apart() -> None:
    def aside(kind: bool) -> list[str]:
        lines = [
            plain(text).rstrip(": ")
            for line in (text_folder() / "remark_authors" / "f.txt").read_text("utf-8").splitlines()
            if line and not line.startswith("#")
            for name, text in [line.split("\t", 1)]
            if (ClaimType(name) is ClaimType.FACTUAL) is kind
        ]
        assert len(lines) == 130
        return [
            text
            for text in lines
            if claim_type_of(text, credited=False)[0] is not ClaimType.FACTUAL
        ]

    assert len(aside(False)) >= 55  # of 130 remarks
    assert len(aside(True)) <= 5  # of 130 facts, all of them made to look like remarks
