"""Word lists: what people type becomes words, each once."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.review.word_lists import MOST_WORDS, WordLists, read_words


def test_words_come_one_a_line_or_between_commas_and_each_once() -> None:
    assert read_words(" mg ,heart \t failure\n\nMG; <b>x</b>") == (
        "mg",
        "heart failure",
        "<b>x</b>",
    )


def test_ones_own_words_come_first_and_none_twice() -> None:
    assert WordLists(mine=("b", "a"), team=("A", "c")).all == ("b", "a", "c")


@pytest.mark.parametrize("text", ["x" * 81, "\n".join(map(str, range(MOST_WORDS + 1)))])
def test_too_much_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_words(text)
