"""What stands before a claim is kept beside it: as written, and nothing that stands elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import Config
from core.decomposition.claims import decompose
from core.records import Claim, ClaimType, Trace
from core.text.tokens import content_terms

WARD = """# Bay C

**C1 – Ada Lind.** Day 2 after a new hip. Pain 5/10 at rest. He slept badly.

**C2 – Bo Ek.** Cellulitis of the left leg. Temperature was 38.4 °C. He is allergic to penicillin.

**1. Halloran et al., 2023 – trial**
- Falls were rare.

**2. Moretti & Kuhn, 2021 – cohort**
- 90 patients walked on day 1.

| Child | Drug | Dose |
|---|---|---|
| Ottilie | Gentamicin | 113 mg every 24 h |
| | Ibuprofen | 150 mg three times a day |
"""
LINES = st.lists(st.sampled_from(WARD.splitlines()), max_size=12).map("\n".join)


def claims(answer: str) -> list[Claim]:
    trace = Trace(trace_id="t", question="", answer=answer, sources=())
    return [one for one in decompose(trace, Config()) if one.claim_type is ClaimType.FACTUAL]


def context(answer: str, said: str) -> str:
    return " › ".join(next(one.context for one in claims(answer) if said in one.text))


@given(LINES)
def test_context_is_as_written_comes_first_and_says_something_new(answer: str) -> None:
    for claim in claims(answer):
        before = content_terms(answer[: claim.span.end])
        for stretch in claim.context:
            assert content_terms(stretch) <= before
            assert content_terms(stretch) - content_terms(claim.text)


@pytest.mark.parametrize(
    ("said", "of", "not_of"),
    [
        ("Temperature", "Bo Ek", "Ada Lind"),
        ("allergic", "Bo Ek", "Ada Lind"),
        ("slept", "Ada Lind", "Bo Ek"),
        ("Falls", "Halloran", "Bo Ek"),
        ("walked", "Moretti", "Halloran"),
        ("Ibuprofen", "Ottilie", "Moretti & Kuhn, 2021 – cohort › 90"),
    ],
)
def test_a_claim_keeps_whom_and_what_it_is_about(said: str, of: str, not_of: str) -> None:
    assert of in context(WARD, said)
    assert not_of not in context(WARD, said)


def test_the_sentence_before_is_kept_and_the_claim_says_its_own_words() -> None:
    answer = "The CT showed a lesion of 11 mm. By 5 February it had reached 19 mm, and bled."

    grown = claims(answer)[1]

    assert grown.context == ("The CT showed a lesion of 11 mm.",)
    assert grown.text == "By 5 February it had reached 19 mm"


def test_an_item_says_what_its_list_says_of_it() -> None:
    answer = "The clinic stopped two tablets:\n- Metformin 500 mg\n- Aspirin 75 mg"

    assert [one.text for one in claims(answer)] == [
        "The clinic stopped two tablets: Metformin 500 mg",
        "The clinic stopped two tablets: Aspirin 75 mg",
    ]
