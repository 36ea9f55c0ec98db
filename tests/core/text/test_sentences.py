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
@pytest.mark.parametrize(
    "behind",
    [
        "Ole Berg's sodium is 128 mmol/L.",
        "Metformin was stopped.",
        "Bob has read it.",
        "Dr. House operated on her.",
        "The patient is well.",
        "**Ole Berg** is well.",
    ],
)
def test_a_letter_that_is_no_initial_ends_its_sentence(before: str, behind: str) -> None:
    text = f"{before} {behind}"

    assert [span.cut(text) for span in sentence_spans(text)] == [before, behind]


@pytest.mark.parametrize(
    "sentence",
    [
        "J. R. Smith wrote it.",
        "It was written by J. R. Smith in 2020.",
        "The film has Michael J. Fox in it.",
        "She saw Dr. B. Miller and Prof. A. Jones.",
        "It was read by J. Brown and R. Miller.",
        "In 2020 J. Smith wrote it.",
        "J. Le Graet, F. De Paolis, Pavel Kos, J. Ignacio Cirac.",
        "Author: J. Smith, R. Brown",
        "S. Brown, C. A. J. Duncan and L. A. Popa wrote it.",
        "E. coli grew in the urine.",
        "He joined the U.S. Army in 1990.",
        "J.K. Rowling wrote it.",
        "See No. 5 and p. 3 of it.",
        "A. Metformin is first-line.",
        "Roe v. Wade was decided.",
    ],
)
def test_an_initial_ends_no_sentence(sentence: str) -> None:
    assert [span.cut(sentence) for span in sentence_spans(sentence)] == [sentence]


def test_a_no_break_space_before_a_full_stop_is_read_like_a_plain_one() -> None:
    text = "**Total:** $1,234.50 | **Tax:** $12\nF\t{space}.\u00f6\x93n\nIs 7 enough?"

    wide, plain = (sentence_spans(text.format(space=space)) for space in ("\u00a0", " "))

    assert wide == plain
