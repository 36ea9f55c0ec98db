"""A text's fields and sentences stand where they say, and hold all that a structured output says."""

from __future__ import annotations

import csv
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from core.capture.readable.structured import unfold_output
from core.text.fields import Said, fields_of

WORDS = st.text("abcdefgh", min_size=8, max_size=8)
KEYS = st.sampled_from(["id", "name", "value", "unit", "visit_date", "unité", "a b", "labs", "x.y"])
LEAVES = WORDS | st.integers(10**7, 10**8 - 1) | st.lists(WORDS, min_size=1, max_size=3)
RECORDS = st.recursive(
    st.dictionaries(KEYS, LEAVES, min_size=1, max_size=4),
    lambda inner: st.dictionaries(
        KEYS, LEAVES | inner | st.lists(inner, max_size=3), min_size=1, max_size=4
    ),
    max_leaves=12,
)


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in leaves(part)]
    return [str(value)]


@settings(max_examples=60)
@given(RECORDS)
def test_every_leaf_of_a_record_is_in_a_field_of_what_is_read(value):
    (part,) = unfold_output(json.dumps(value)).parts

    held = [field.value for field in fields_of(part.text).fields if field.said is Said.VALUE]

    assert [leaf for leaf in leaves(value) if not any(leaf in each for each in held)] == []


@settings(max_examples=200)
@given(
    st.text(
        alphabet=st.sampled_from('ab1 .:=|,-*#{}[]"\n<>trd/mgé'),
        max_size=120,
    )
)
def test_every_field_stands_at_its_span_and_inside_its_record(text):
    read = fields_of(text)

    for field in read.fields:
        cut = field.span.cut(text)
        assert field.value.startswith(cut) if field.number else _bare(cut, field.value)
        record = read.records[field.record]
        assert record.span.start <= field.span.start <= field.span.end <= record.span.end


CELLS = st.lists(
    st.sampled_from(["8 Lane, Lewes", "Lind, Ada", "T-88120", "08:15", "walker"]),
    min_size=3,
    max_size=3,
)


@given(st.lists(CELLS, min_size=2, max_size=5))
def test_a_cell_in_quotes_holds_its_comma(rows):
    header = ["reference", "place", "state"]
    told = io.StringIO()
    csv.writer(told).writerows([header, *rows])

    read = fields_of(told.getvalue())

    assert [(field.path, field.value) for field in read.fields] == [
        pair for row in rows for pair in zip(header, row, strict=True)
    ]


def _bare(cut: str, value: str) -> bool:
    """Whether a cell's value is what stands there, marks that frame it left out."""
    return cut == value or value in cut.replace("*", "").replace('"', "") or "<" in cut
