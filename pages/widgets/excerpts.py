"""Which stretches of a long text are sent to the browser: its beginning and what is to be lit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.records import Span

SHOWN_WHOLE_CHARACTERS = 150_000
BEGINNING_CHARACTERS = 20_000
AROUND_CHARACTERS = 6_000


def choose_excerpts(text_length: int, lit: Iterable[Span]) -> tuple[Span, ...]:
    """The whole text when it is short, else its beginning and what surrounds each lit span.

    The spans come in order and neither touch nor overlap; what lies between them is not shown.
    """
    if text_length <= SHOWN_WHOLE_CHARACTERS:
        return (Span(start=0, end=text_length),)
    wanted = [Span(start=0, end=BEGINNING_CHARACTERS)]
    for span in lit:
        start = max(0, span.start - AROUND_CHARACTERS)
        wanted.append(Span(start=start, end=min(text_length, span.end + AROUND_CHARACTERS)))
    return merge_spans(wanted)


def merge_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The same ground as ``spans``, in order, with touching ones joined and empty ones gone."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda each: (each.start, each.end)):
        if span.end <= span.start:
            continue
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(start=merged[-1].start, end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)
