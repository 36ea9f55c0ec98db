"""What of a long text is sent, and that nothing lit is left out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.records import Span
from pages.widgets.excerpts import (
    BEGINNING_CHARACTERS,
    SHOWN_WHOLE_CHARACTERS,
    choose_excerpts,
    merge_spans,
)


@st.composite
def lit(draw: st.DrawFn, length: int) -> list[Span]:
    starts = draw(st.lists(st.integers(0, length), max_size=5))
    return [Span(start=at, end=min(length, at + draw(st.integers(0, 3_000)))) for at in starts]


@given(st.data(), st.integers(0, 900_000))
def test_every_lit_span_lies_within_one_excerpt(data: st.DataObject, length: int) -> None:
    spans = data.draw(lit(length))

    excerpts = choose_excerpts(length, spans)

    for span in spans:
        assert span.start == span.end or any(
            e.start <= span.start and span.end <= e.end for e in excerpts
        )
    assert all(0 <= e.start < e.end <= length for e in excerpts) or length == 0
    assert all(a.end < b.start for a, b in zip(excerpts, excerpts[1:], strict=False))


def test_a_short_text_is_sent_whole_and_a_long_one_by_its_beginning() -> None:
    short, long = SHOWN_WHOLE_CHARACTERS, SHOWN_WHOLE_CHARACTERS + 1

    assert choose_excerpts(short, []) == (Span(start=0, end=short),)
    assert choose_excerpts(long, []) == (Span(start=0, end=BEGINNING_CHARACTERS),)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=8))
def test_merging_spans_keeps_the_same_ground(pairs: list[tuple[int, int]]) -> None:
    spans = [Span(start=start, end=start + length) for start, length in pairs]

    merged = merge_spans(spans)

    ground = {at for span in spans for at in range(span.start, span.end)}
    assert {at for span in merged for at in range(span.start, span.end)} == ground
    assert sum(span.end - span.start for span in merged) == len(ground)
