"""Marks of citation in answers, and the sources that they name."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.records import Source
from core.text.citation_marks import citations_in, order_doubt

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


@cases
def test_what_names_no_source_is_no_citation(answer):
    assert cited(answer) == []


@given(st.text(alphabet="ab [].()1,:\n#https://Sources-^", max_size=80))
def test_any_answer_gives_spans_inside_it(answer):
    for citation in citations_in(answer, SOURCES):
        assert 0 <= citation.span.start < citation.span.end <= len(answer)


def three(**changes: object) -> list[Source]:
    texts = ("Takes metformin.", "eGFR is 58.", "The usual dose is 500 mg.")
    sources = [
        Source(source_id=f"s{n}", tool_name=f"tool_{n}", call_id=f"c{n}", text=text)
        for n, text in enumerate(texts, start=1)
    ]
    return [*sources[:2], dataclasses.replace(sources[2], **changes)]


def test_a_number_without_a_list_of_references_counts_the_sources_in_their_order():
    sources = three()

    found = citations_in("She takes it [1]. The dose is usual [3], eGFR is 58 [2].", sources)

    assert [(c.text, c.source_id) for c in found] == [("[1]", "s1"), ("[3]", "s3"), ("[2]", "s2")]
    assert order_doubt("So it is [1].", sources) is None


@cases
def test_a_number_that_may_stand_for_something_else_names_no_source_and_says_why(
    answer, changes, reason
):
    sources = three(**changes)

    found = citations_in(answer, sources)

    assert found
    assert {citation.source_id for citation in found} == {None}
    assert reason in order_doubt(answer, sources)


def test_entries_of_a_list_may_share_a_line():
    answer = "She is well [2]. It works [1].\n\n[1] https://lit.example/a, [2] chart#1"

    assert cited(answer) == [
        ("She is well [2]", "chart#1"),
        ("It works [1]", "https://lit.example/a"),
    ]
