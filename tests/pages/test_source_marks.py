"""The words of the source that the claim's words looked at are marked in steps, in their places."""

from __future__ import annotations

from dataclasses import replace

from builders import a_source, a_trace
from verdicts import Said, a_verification

from core.evidence.calls import call_lines
from core.records import (
    Check,
    CheckedValue,
    FactPlace,
    Judged,
    Outcome,
    ProtectedValue,
    Span,
    TokenScore,
    VerdictLabel,
)
from pages.widgets.source_marks import call_marks, source_marks
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


def test_where_a_check_found_what_the_claim_says_is_lit_whole_and_boxed() -> None:
    said, text = (
        "The invoice is due on 10 December.",
        "client: Loft\ninvoice: 7\ndue: 2025-12-10\nnet: 9",
    )
    trace = a_trace(said, a_source(text, source_id="books"))
    stated = Said(
        said=said,
        verdict=VerdictLabel.SUPPORTED,
        source="books",
        premise="client: Loft\ninvoice: 7",
    )
    verification = a_verification(trace, {"books": "other"}, [stated])
    verdict = verification.claims[0]
    assert isinstance(verdict.outcome, Judged)
    day = Span(start=said.index("10"), end=len(said) - 1)
    at = Span(start=text.index("2025"), end=text.index("2025") + 10)
    value = ProtectedValue(text="10 December", span=day, kind="date", normalised="--12-10")
    check = Check(
        check="date",
        outcome=Outcome.SUPPORTS,
        claim_span=day,
        facts=(FactPlace(source_id="books", span=at),),
        reason="due: 2025-12-10 gives 10 December",
    )
    literals = replace(
        verdict.outcome.literals, values=(CheckedValue(value=value, present=False, settles=True),)
    )
    verdict = replace(verdict, outcome=replace(verdict.outcome, checks=(check,), literals=literals))

    marks = source_marks(verdict, sources_sent(verification, []), {"books": "other"})

    found = [(text[mark["start"] : mark["end"]], mark["kind"]) for mark in marks["books"]]
    assert found == [
        ("invoice: 7", "premise"), ("due: 2025-12-10", "premise"), ("2025-12-10", "value")
    ]  # fmt: skip


def test_of_a_record_that_speaks_against_the_claim_the_field_that_says_so_is_lit() -> None:
    said = "Elena takes empagliflozin."
    text = "drug: empagliflozin\nid: mr-202\nstatus: stopped\n\ndrug: aspirin\nstatus: active"
    trace = a_trace(said, a_source(text, source_id="chart"))
    stated = Said(said=said, verdict=VerdictLabel.CONTRADICTED, source="chart", premise=text)
    verification = a_verification(trace, {"chart": "patient_record"}, [stated])
    verdict = verification.claims[0]
    assert isinstance(verdict.outcome, Judged)
    record = Span(start=0, end=text.index("\n\n"))
    check = Check(
        check="status",
        outcome=Outcome.CONTRADICTS,
        facts=(FactPlace(source_id="chart", span=record),),
        reason="The chart has empagliflozin as past (status: stopped), not as current",
    )
    verdict = replace(verdict, outcome=replace(verdict.outcome, checks=(check,)))

    marks = source_marks(verdict, sources_sent(verification, []), {"chart": "patient_record"})

    found = [(text[mark["start"] : mark["end"]], mark["kind"]) for mark in marks["chart"]]
    assert found == [
        ("drug: empagliflozin", "premise"),
        ("status: stopped", "premise"),
        ("status: stopped", "against"),
    ]


def test_of_a_call_the_arguments_that_speak_of_the_claim_are_lit_and_none_of_our_own_words() -> (
    None
):
    said = "The call for papers on café trials succeeded."
    asked = replace(
        a_source("done", source_id="mail"), arguments='{"topic": "café trials", "n": 3}'
    )
    trace = a_trace(said, asked)
    stated = Said(said=said, verdict=VerdictLabel.SUPPORTED, source="mail", premise="done")
    judged = a_verification(trace, {"mail": "other"}, [stated]).claims[0].outcome
    assert isinstance(judged, Judged)

    def lit(call: str) -> list[str]:
        premise = replace(judged.premise, text=call, spans=(), call=call)
        marks = call_marks(said, replace(judged, premise=premise))
        return [call[mark["start"] : mark["end"]] for mark in marks]

    whole = call_lines(asked)
    assert whole.splitlines()[1:] == ["The call succeeded.", "topic: café trials", "n: 3"]
    assert lit(whole) == ["topic: café trials"]
    assert lit("\n".join(whole.splitlines()[:2])) == lit("") == []
