"""Browser offsets against the encodings themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pages.widgets.offsets import Offsets

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def utf16(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text.encode("utf-16-le")) // 2


@given(TEXTS)
def test_a_code_point_offset_becomes_the_length_of_what_is_before_it_in_utf16(text: str) -> None:
    offsets = Offsets(text)

    assert [offsets.of_point(n) for n in range(len(text) + 1)] == [
        utf16(text[:n]) for n in range(len(text) + 1)
    ]


@given(TEXTS)
def test_a_byte_offset_becomes_the_same_place_in_utf16(text: str) -> None:
    offsets = Offsets(text)

    for point in range(len(text) + 1):
        byte = len(text[:point].encode("utf-8"))
        assert offsets.point_of_byte(byte) == point
        assert offsets.of_byte(byte) == utf16(text[:point])


@given(TEXTS, st.integers(-5, 400))
def test_offsets_outside_the_text_stay_at_its_ends(text: str, at: int) -> None:
    assert 0 <= Offsets(text).of_point(at) <= utf16(text)
    assert 0 <= Offsets(text).of_byte(max(0, at)) <= utf16(text)
