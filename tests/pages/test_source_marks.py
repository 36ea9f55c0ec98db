"""The words of the source that the claim's words looked at are marked in steps, in their places."""

from __future__ import annotations

from dataclasses import replace

from builders import a_source, a_trace
from verdicts import Said, a_verification

from core.records import Judged, Span, TokenScore, VerdictLabel
from pages.widgets.source_marks import source_marks
from pages.widgets.source_view import sources_sent

TEXT = "🩺 Elena Marchetti\nempagliflozin 10 mg once daily\neGFR 58"


def test_words_that_were_looked_at_are_marked_by_their_share_of_the_highest() -> None:
    trace = a_trace("Elena takes empagliflozin.", a_source(TEXT, source_id="chart"))
    said = Said(
        said="Elena takes empagliflozin.",
        verdict=VerdictLabel.SUPPORTED,
        source="chart",
        premise="empagliflozin 10 mg once daily",
    )
    verification = a_verification(trace, {"chart": "patient_record"}, [said])
    verdict = verification.claims[0]
    assert isinstance(verdict.outcome, Judged)
    scores = {"empagliflozin": 0.8, "once": 0.5, "daily": 0.3, "mg": 0.1}
    looked = tuple(
        TokenScore(span=Span(start=TEXT.index(word), end=TEXT.index(word) + len(word)), score=score)
        for word, score in scores.items()
    )
    alignment = replace(verdict.outcome.alignment, source_tokens=looked)
    verdict = replace(verdict, outcome=replace(verdict.outcome, alignment=alignment))

    marks = source_marks(verdict, sources_sent(verification, []), {"chart": "patient_record"})

    found = {}
    for mark in marks["chart"]:
        if str(mark["kind"]).startswith("looked"):
            units = TEXT.encode("utf-16-le")[2 * mark["start"] : 2 * mark["end"]]
            found[units.decode("utf-16-le")] = mark["kind"]
    assert found == {
        "empagliflozin": "looked looked-4", "once": "looked looked-3", "daily": "looked looked-2"
    }  # fmt: skip
