"""Where a sentence may be cut, and what the cuts leave."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tables import cases

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


@cases
def test_what_is_denied_scoped_or_one_value_has_no_cut(sentence: str) -> None:
    assert cuts_of(sentence) == []


def test_a_subject_is_not_cut_off_its_verb() -> None:
    assert not any(
        behind.startswith("has") for behind in cuts_of("The hotel, opened in May, has 12 rooms.")
    )
