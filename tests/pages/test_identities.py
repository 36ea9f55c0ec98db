"""What a source is about, in a few words."""

from __future__ import annotations

from builders import a_source
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from pages.widgets.identities import identity_of, plain_tool_name


@cases
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
