"""Sentence spans: exact, complete, and not fooled by clinical abbreviations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import sentence_spans


@given(st.text(max_size=300))
def test_nothing_but_white_space_is_outside_the_sentences(text: str) -> None:
    spans = sentence_spans(text)

    assert "".join("".join(span.cut(text).split()) for span in spans) == "".join(text.split())
    assert all(one.end <= other.start for one, other in zip(spans, spans[1:], strict=False))
    assert all(span.cut(text) == span.cut(text).strip() != "" for span in spans)


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith saw Ms. Lee on 3 Jan. 2024.",
        "She takes metformin 500 mg b.i.d. and e.g. aspirin.",
        "The pH was 7.4 vs. 7.2 before.",
        "See Fig. 2 and ref. 14 for details.",
        "J. R. Brown et al. reported a ratio of 0.68.",
        "Give approx. 5 mg in max. 3 doses.",
        "1. Metformin is first-line.",
        "It was seen at www.example.org/a.b and in report.pdf today.",
        "\ud800 is a lone surrogate.",
    ],
)
def test_a_stop_that_ends_no_sentence_is_not_a_boundary(sentence: str) -> None:
    assert [span.cut(sentence) for span in sentence_spans(sentence)] == [sentence]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("She takes vitamin C. She is well.", 2),
        ("Take 10 mg p.o. Her doctor agreed.", 2),
        ("The patient is stable.Next visit in May.", 2),
        ("他有哮喘。他住在杭州。", 2),
        ("Is it? Yes! It is.", 3),
        ("", 0),
        (" \n ", 0),
    ],
)
def test_sentences_are_parted_where_they_end(text: str, count: int) -> None:
    assert len(sentence_spans(text)) == count


def test_a_no_break_space_before_a_full_stop_is_read_like_a_plain_one() -> None:
    text = "**Total:** $1,234.50 | **Tax:** $12\nF\t{space}.\u00f6\x93n\nIs 7 enough?"

    wide, plain = (sentence_spans(text.format(space=space)) for space in ("\u00a0", " "))

    assert wide == plain
