"""What a source is about, in a few words."""

from __future__ import annotations

import pytest
from builders import a_source
from hypothesis import given
from hypothesis import strategies as st

from pages.widgets.identities import identity_of, plain_tool_name


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("id: SYN-1; name: Elena Marchetti; sex: female\nProblems: none", "Elena Marchetti"),
        (
            "[1] PMID: 90000001\nTitle: A trial of an invented drug in adults.\n"
            "[2] PMID: 90000002\nTitle: Another trial of it.",
            "A trial of an invented drug in adults + 1 more",
        ),
        (
            '{"pmid": "90000003", "title": "One invented article", "year": 2020}',
            "One invented article",
        ),
        ("PMID 90000004. No other line says what this is.", "PMID 90000004"),
        ("Sodium 138 mmol/L", "“sodium”"),
    ],
)
def test_a_source_is_named_by_whom_or_what_it_is_about(text: str, identity: str) -> None:
    assert identity_of(a_source(text, arguments='{"query": "sodium"}')) == identity


def test_a_source_that_says_nothing_has_no_identity() -> None:
    assert identity_of(a_source("")) == ""
    assert identity_of(a_source("Error: timeout", arguments="not JSON")) == ""


@given(st.text(max_size=200))
def test_no_tool_name_is_markup_on_a_button(name: str) -> None:
    plain = plain_tool_name(name)

    assert plain
    assert all(letter.isalnum() or letter == " " for letter in plain)
