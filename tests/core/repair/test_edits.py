"""Span edits: applying, chaining, and the diff that a reviewer reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.records import Span
from core.repair.edits import (
    Edit,
    apply_edits,
    chain_edits,
    edited_ranges,
    narrowed,
    share_of_words_kept,
    word_diff,
)

TEXTS = st.text("ab .\n", max_size=24)


def edits_of(length: int) -> st.SearchStrategy[list[Edit]]:
    """Edits without overlap, and at most one at each place."""

    def build(cuts: list[int], afters: list[str]) -> list[Edit]:
        edits: list[Edit] = []
        for (start, end), after in zip(
            zip(sorted(cuts)[::2], sorted(cuts)[1::2], strict=False), afters, strict=False
        ):
            if not edits or start > edits[-1].span.end:
                edits.append(Edit(span=Span(start=start, end=end), after=after))
        return edits

    return st.builds(
        build,
        st.lists(st.integers(0, length), max_size=8),
        st.lists(st.text("xyz", max_size=3), min_size=4, max_size=4),
    )


@given(st.data())
def test_chained_edits_do_what_the_two_steps_did(data: st.DataObject) -> None:
    text = data.draw(TEXTS)
    first = data.draw(edits_of(len(text)))
    middle = apply_edits(text, first)
    second = data.draw(edits_of(len(middle)))

    chained = chain_edits(text, first, second)

    assert apply_edits(text, [one.edit for one in chained]) == apply_edits(middle, second)
    assert sorted(i for one in chained for i in one.first) == list(range(len(first)))
    assert sorted(j for one in chained for j in one.second) == list(range(len(second)))


@given(st.data())
def test_every_edit_stands_where_it_is_said_to_stand(data: st.DataObject) -> None:
    text = data.draw(TEXTS)
    edits = data.draw(edits_of(len(text)))

    edited = apply_edits(text, edits)

    assert [place.cut(edited) for place in edited_ranges(edits)] == [edit.after for edit in edits]


@given(TEXTS)
def test_no_edits_give_the_same_text(text: str) -> None:
    assert apply_edits(text, []) == text


@given(st.text("ab 1.", max_size=30), st.text("ab 1.", max_size=30))
def test_the_diff_holds_both_texts_whole(before: str, after: str) -> None:
    pieces = word_diff(before, after)

    assert "".join(piece.text for piece in pieces if piece.old) == before
    assert "".join(piece.text for piece in pieces if piece.new) == after


@given(st.text("ab ", min_size=1, max_size=20), st.text("ab ", max_size=20))
def test_a_narrowed_edit_does_the_same_with_whole_words(before: str, after: str) -> None:
    whole = Edit(span=Span(start=0, end=len(before)), after=after)

    small = narrowed(before, whole)

    assert apply_edits(before, [small]) == after
    assert small.span.end - small.span.start <= len(before)


def test_a_narrowed_edit_never_cuts_a_word() -> None:
    text = "Empagliflozin helped."

    small = narrowed(text, Edit(span=Span(start=0, end=13), after="According to it, empagliflozin"))

    assert small.span.cut(text) == "Empagliflozin"


@cases
def test_a_value_is_shown_and_edited_whole(old: str, new: str) -> None:
    before, after = f"It was {old} then.", f"It was {new} then."

    pieces = word_diff(before, after)
    small = narrowed(before, Edit(span=Span(start=0, end=len(before)), after=after))

    assert [piece.text for piece in pieces if piece.old != piece.new] == [old, new]
    assert (small.span.cut(before), small.after) == (old, new)


def test_overlapping_edits_are_refused() -> None:
    edits = [Edit(span=Span(start=0, end=3), after=""), Edit(span=Span(start=2, end=4), after="")]

    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcdef", edits)


def test_words_kept_counts_words_in_order_and_says_nothing_of_an_empty_text() -> None:
    assert share_of_words_kept("one two three four", "one three four") == 0.75
    assert share_of_words_kept("one two", "") == 0.0
    assert share_of_words_kept(" . ", "x") is None
