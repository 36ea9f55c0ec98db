"""What people marked in sources, beside the focused premise that the verifier read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.codec import record_document
from core.evaluation.predictions import prediction_from_json, prediction_to_json
from core.records import Source, Span
from core.review.assignment import passage_of
from core.workflows.evaluate import passage_counts
from tests.core.evaluation.test_metrics import made

TEXT = "Dose: 10 mg daily.\nIndication: gout."


@pytest.mark.parametrize(
    ("spans", "inside"),
    [
        ([(0, 18)], 1),
        ([(0, 8), (9, 18)], 1),  # what lies between is a space
        ([(0, 8), (10, 18)], 0),
        ([(19, 36)], 0),
        ([], 0),
    ],
)
def test_a_passage_counts_where_the_premise_holds_each_word_of_it(
    spans: list[tuple[int, int]], inside: int
) -> None:
    (row,), (found,) = made(1, seed=3)
    chart = Source(source_id="chart", tool_name="load_chart", text=TEXT)
    marked = [
        record_document(passage_of("chart", TEXT, 0, 18)),
        record_document(passage_of("paper", TEXT, 0, 4)) | {"source_id": "paper"},
        record_document(passage_of("chart", TEXT, 0, 18)) | {"start": 1},  # not what it says there
    ]
    row = replace(
        row,
        sources=(chart, replace(chart, source_id="paper")),
        extra={"adjudication": {"final": {"passages": marked}}},
    )
    found = replace(
        found,
        routed_source_id="chart",
        premise=tuple(Span(start=start, end=end) for start, end in spans),
    )

    assert passage_counts([row], [found]) == {
        "marked": 2,
        "in_premise": inside,
        "another_source": 1,
    }
    assert prediction_from_json(prediction_to_json(found)) == found


@pytest.mark.parametrize("extra", [{}, {"adjudication": {"final": {"passages": "no"}}}])
def test_a_packet_in_which_nobody_marked_anything_has_no_figure(extra: dict[str, object]) -> None:
    (row,), (found,) = made(1, seed=3)

    assert passage_counts([replace(row, extra=extra)], [found]) is None
