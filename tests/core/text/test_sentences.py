"""Sentence spans: exact, complete, and not fooled by clinical abbreviations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.text.sentences import sentence_spans


@given(st.text(max_size=300))
def test_nothing_but_white_space_is_outside_the_sentences(text: str) -> None:
    spans = sentence_spans(text)

    assert "".join("".join(span.cut(text).split()) for span in spans) == "".join(text.split())
    assert all(one.end <= other.start for one, other in zip(spans, spans[1:], strict=False))
    assert all(span.cut(text) == span.cut(text).strip() != "" for span in spans)


@cases
def test_a_stop_that_ends_no_sentence_is_not_a_boundary(sentence: str) -> None:
    assert [span.cut(sentence) for span in sentence_spans(sentence)] == [sentence]


@cases
def test_sentences_are_parted_where_they_end(text: str, count: int) -> None:
    assert len(sentence_spans(text)) == count


@pytest.mark.parametrize(
    "before",
    [
        "Ines Park's potassium is 5.6 mmol/L.",
        "The dose is 500 mL/h.",
        "The reading was 38.5 C.",
        "The cable is 5 m.",
        "The log is in /tmp/a.",
        "She is in Unit B.",
        "He has Hepatitis C.",
        "See Fig. A.",
        "Her grade is A.",
        "She takes vitamin D.",
        "Blood type: O.",
        "He went from A to B.",
        "It came to him and I.",
        "Take it b.i.d.",
    ],
)
@cases
def test_a_letter_that_is_no_initial_ends_its_sentence(before: str, behind: str) -> None:
    text = f"{before} {behind}"

    assert [span.cut(text) for span in sentence_spans(text)] == [before, behind]


@cases
def test_an_initial_ends_no_sentence(sentence: str) -> None:
    assert [span.cut(sentence) for span in sentence_spans(sentence)] == [sentence]


def test_a_no_break_space_before_a_full_stop_is_read_like_a_plain_one() -> None:
    text = "**Total:** $1,234.50 | **Tax:** $12\nF\t{space}.\u00f6\x93n\nIs 7 enough?"

    wide, plain = (sentence_spans(text.format(space=space)) for space in ("\u00a0", " "))

    assert wide == plain
