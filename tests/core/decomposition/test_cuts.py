"""Where a sentence may be cut, and what the cuts leave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decomposition.cuts import candidates, scene_of, segments
from core.records import Span

WORDS = st.lists(
    st.sampled_from(
        ["the", "pump", "failed", "in", "May", ",", "(", ")", "and", "12", "homes", ";", "with", "a",
         "leak", "-", "cost:", "no", "or", "\u00e9t\u00e9", "\u5317\u4eac"]
    ),
    min_size=1,
    max_size=24,
)  # fmt: skip


def cuts_of(text: str) -> list[str]:
    whole = Span(start=0, end=len(text))
    return [text[cut.right :] for cut in candidates(text, whole, scene_of(text))]


@given(WORDS)
def test_every_letter_and_digit_is_in_one_segment_except_words_that_only_join(
    words: list[str],
) -> None:
    text = " ".join(words)
    whole = Span(start=0, end=len(text))

    left = segments(text, whole, candidates(text, whole, scene_of(text)))

    places = [span for each in left for span in each.stretches]
    assert all(not a.overlaps(b) for a in places for b in places if a is not b)
    lost = {at for at, letter in enumerate(text) if letter.isalnum()} - {
        at for span in places for at in range(span.start, span.end)
    }
    assert not any(text[at].isdigit() for at in lost)
    assert {text[at] for at in lost} <= set("andbutplusthensoyetalso")


@given(WORDS)
def test_segments_are_in_order_and_each_says_something_within_the_stretch(
    words: list[str],
) -> None:
    text = " ".join(words)
    whole = Span(start=0, end=len(text))

    left = segments(text, whole, candidates(text, whole, scene_of(text)))

    assert [each.span.start for each in left] == sorted(each.span.start for each in left)
    assert all(0 <= each.span.start < each.span.end <= len(text) for each in left)
    assert all(each.opened is not None for each in left[1:])


@pytest.mark.parametrize(
    "sentence",
    [
        "If the dose is raised, stop it, and call the clinic.",
        "Unless it rains, the match starts at 3, as planned.",
        "The dose, the route or the drug was wrong.",
        "No fever, cough and rash.",
        "He did not take aspirin, ibuprofen and codeine.",
        "Men and women had 3 and 4 falls, respectively.",
        "Sales rose between May and June, by 4 %.",
        "As the report puts it, sales fell by 4 %.",
        "Outside London, no fall was seen.",
        "The reading of March 14, 2025 was high.",
        "The ratio was 1.32 (95% CI 1.05 to 1.66).",
        "Date of birth - May 24, 1947",
    ],
)
def test_what_is_denied_scoped_or_one_value_has_no_cut(sentence: str) -> None:
    assert cuts_of(sentence) == []


def test_a_subject_is_not_cut_off_its_verb() -> None:
    assert not any(
        behind.startswith("has") for behind in cuts_of("The hotel, opened in May, has 12 rooms.")
    )
