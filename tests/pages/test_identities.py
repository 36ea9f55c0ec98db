"""What a source is about, in a few words."""

from __future__ import annotations

import json

from builders import a_source
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from pages.widgets.identities import arguments_of, identity_of


@cases
def test_a_source_is_named_by_whom_or_what_it_is_about(text: str, identity: str) -> None:
    assert identity_of(a_source(text, arguments='{"query": "sodium"}')) == identity


def test_a_source_that_says_nothing_has_no_identity() -> None:
    assert identity_of(a_source("")) == ""
    assert identity_of(a_source("Error: timeout", arguments="not JSON")) == ""


def test_what_a_tool_looked_for_is_told_and_not_how_to_sort_it() -> None:
    asked = {
        "_count": 1,
        "_sort": "-date",
        "code": "potassium",
        "patient": "p-2041",
        "body": "x" * 999,
    }

    assert identity_of(a_source("", arguments=json.dumps(asked))) == "“potassium”"


@given(st.dictionaries(st.text(max_size=9), st.text(max_size=30), max_size=5))
def test_what_a_tool_was_called_with_is_told_name_by_name_to_the_letter(
    given: dict[str, str],
) -> None:
    assert arguments_of(a_source("x", arguments=json.dumps(given))) == list(given.items())


def test_no_argument_is_changed_or_lost_where_it_is_no_plain_text() -> None:
    asked = '{"id": 12345678901234567890, "at": {"dose": 1.10, "of": ["ä"]}}'

    assert arguments_of(a_source("x", arguments=asked)) == [
        ("id", "12345678901234567890"),
        ("at", '{"dose": 1.10, "of": ["ä"]}'),
    ]
    for whole in ('{"a": 1, "a": 2}', "SELECT *", "[1]", "[" * 9999, ""):
        assert arguments_of(a_source("x", arguments=whole)) == [("", whole)]
    assert arguments_of(a_source("x")) is None
