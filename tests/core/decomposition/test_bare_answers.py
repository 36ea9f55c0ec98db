"""A bare answer claims what was asked, and a block of data what its fields say: neither passes unread."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.config import Config
from core.decomposition.claims import decompose
from core.records import Claim, ClaimType, Trace


def claims(question: str, answer: str) -> tuple[Claim, ...]:
    return decompose(Trace(trace_id="t", question=question, answer=answer, sources=()), Config())


def factual(question: str, answer: str) -> list[str]:
    return [one.text for one in claims(question, answer) if one.claim_type is ClaimType.FACTUAL]


@cases
def test_a_bare_answer_is_the_statement_of_what_was_asked(
    question: str, answer: str, claim: str
) -> None:
    assert factual(question, answer) == [claim]
    assert factual(question, f"{answer} The carrier is DHL.")[0] == claim or answer in "✅❌"


@cases
def test_a_bare_answer_is_read_beside_statements_that_do_not_say_it(
    question: str, answer: str, claim: str
) -> None:
    assert factual(question, f"{answer} The record was opened on 3 May 2024.")[0] == claim


@pytest.mark.parametrize(
    "answer", ["Done.", "Yes.", "No.", "✅", "👍", "…", "Correct", "Yes, done!"]
)
@pytest.mark.parametrize(
    "question",
    ["Cancel order SO-1.", "Which carrier?", "Is DHL the carrier?", "Can you cancel it?"],
)
def test_an_answer_without_words_of_its_own_never_passes_unread(question: str, answer: str) -> None:
    (claim,) = claims(question, answer)

    assert claim.claim_type is ClaimType.FACTUAL
    assert answer.strip(" .!") in claim.said


@cases
def test_a_courtesy_and_a_question_back_claim_nothing(question: str, answer: str) -> None:
    assert factual(question, answer) == []


LEAVES = st.one_of(
    st.integers(-1_000, 1_000),
    st.booleans(),
    st.from_regex(r"[a-z]{3,8}( [a-z]{3,8})?", fullmatch=True),
)
NAMES = st.from_regex(r"[a-z]{2,6}_[a-z]{2,6}", fullmatch=True)
DATA = st.dictionaries(
    NAMES,
    st.one_of(
        LEAVES,
        st.lists(LEAVES, min_size=1, max_size=3),
        st.dictionaries(NAMES, LEAVES, min_size=1),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value if isinstance(value, str) else json.dumps(value)]


@given(
    DATA, st.sampled_from(["```json\n{}\n```", "```\n{}\n```", "{}"]), st.sampled_from([None, 2])
)
def test_every_field_of_json_is_a_claim_fenced_and_bare(
    data: dict[str, object], form: str, indent: int | None
) -> None:
    answer = "Here it is:\n\n" + form.replace("{}", json.dumps(data, indent=indent))

    found = factual("What is known?", answer)

    assert [text.rsplit(": ", 1)[-1] for text in found] == leaves(data)


@cases
def test_every_line_of_a_block_of_data_is_a_claim(
    language: str, block: str, said: list[str]
) -> None:
    found = factual("What is known?", f"Here it is:\n\n```{language}\n{block}\n```")

    assert found == said


def test_a_sentence_with_marks_in_it_is_no_data() -> None:
    sentence = "<b>Aspirin</b> was given at 5 mg daily."

    assert factual("What did she take?", sentence) == [sentence]


@pytest.mark.parametrize(
    "text", ["[" * 30_000, '{"a": ' * 10_000, "<a " * 30_000, "<" + "a" * 60_000]
)
def test_a_broken_block_of_data_costs_no_more_than_its_length(text: str) -> None:
    assert claims("What is known?", f"```json\n{text}\n```")
