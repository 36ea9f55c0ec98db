"""Marks of citation in answers, and the sources that they name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.records import Source
from core.text.marks import citations_in

SOURCES = (
    Source(
        source_id="https://lit.example/a",
        tool_name="search",
        text="A trial.",
        uri="https://lit.example/a",
    ),
    Source(source_id="chart#1", tool_name="load_chart", text="Takes metformin."),
    Source(
        source_id="fetch#2",
        tool_name="fetch",
        text="…",
        arguments='{"url": "https://lit.example/b"}',
    ),
)


def cited(answer: str) -> list[tuple[str, str | None]]:
    return [(c.span.cut(answer), c.source_id) for c in citations_in(answer, SOURCES)]


def test_a_markdown_link_cites_for_the_sentence_it_stands_in():
    answer = "She is well. The [trial](https://lit.example/a) found a benefit. So it goes."

    assert cited(answer) == [("The [trial](https://lit.example/a)", "https://lit.example/a")]


def test_a_mark_behind_a_full_stop_closes_the_sentence_before_it():
    answer = (
        "She takes metformin. Mortality fell. [1][2]\n\nSources:\n"
        "1. https://lit.example/a\n2. the load_chart record\n"
    )

    assert cited(answer) == [
        ("Mortality fell. [1]", "https://lit.example/a"),
        ("Mortality fell. [1][2]", "chart#1"),
    ]


@pytest.mark.parametrize("style", ["[1]: {}", "[1] {}", "[^1]: {}", "- [1] Title, {}"])
def test_lists_of_references_are_read_in_their_usual_styles(style):
    mark = "[^1]" if "^" in style else "[1]"
    answer = f"Mortality fell {mark}.\n\n" + style.format("https://lit.example/b")

    assert cited(answer) == [(f"Mortality fell {mark}", "fetch#2")]


def test_an_address_that_is_no_source_is_kept_without_one():
    assert cited("See [here](https://elsewhere.example/x).") == [
        ("See [here](https://elsewhere.example/x)", None)
    ]


@pytest.mark.parametrize(
    "answer",
    ["Mortality fell [1].", "A list [a] and ![picture](https://lit.example/a)", "x[0] = 1", ""],
)
def test_what_names_no_source_is_no_citation(answer):
    assert cited(answer) == []


@given(st.text(alphabet="ab [].()1,:\n#https://Sources-^", max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_answer_gives_spans_inside_it(answer):
    for citation in citations_in(answer, SOURCES):
        assert 0 <= citation.span.start < citation.span.end <= len(answer)
