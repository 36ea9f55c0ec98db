"""What the record shows of a claim: one line a fact, its exact place, and what needs a person."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from verdicts import CHART, PATIENT, SEARCH, showcase, with_checks, with_support

from core.codec import verdict_document, verification_from_document
from core.records import (
    Check,
    CheckedValue,
    Derivation,
    FactPlace,
    Judged,
    Outcome,
    ProtectedValue,
    Span,
    Verification,
)
from core.workflows.provenance_report import report_of
from pages.screens.verdict.provenance import lay_out_provenance
from pages.widgets.palette import Kind
from pages.widgets.source_view import TEXTS_SENT_CHARACTERS
from pages.widgets.verdict_view import lay_out

View = dict[str, Any]
NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
DOSE = "empagliflozin 10 mg"


def laid_out(verification: Verification, **more: Any) -> View:
    """The view's data as the browser gets it: stored, read again, laid out, as JSON."""
    stored = verification_from_document(json.loads(json.dumps(verdict_document(verification))))
    view = lay_out(stored, verification.trace, verified_at=NOW, **more)
    return cast(View, json.loads(json.dumps(view)))


def a_check(reason: str, outcome: Outcome = Outcome.SUPPORTS, **more: Any) -> Check:
    """A check of the kind value."""
    return Check(check="value", outcome=outcome, reason=reason, **more)


def stated(verification: Verification, words: str, source_id: str = PATIENT) -> FactPlace:
    """Where a source says these words."""
    at = verification.trace.source(source_id).text.index(words)
    return FactPlace(source_id=source_id, span=Span(start=at, end=at + len(words)))


def test_a_derivation_is_the_line_and_every_place_is_exactly_its_words() -> None:
    base = showcase()
    places = (stated(base, "2024-02-12"), stated(base, "2024-06-03"))
    line = "2024-06-03 minus 2024-02-12 = 112 days"
    derivation = Derivation(
        operation="duration", inputs=places, result="112 days", tolerance=None, text=line
    )

    view = laid_out(
        with_checks(base, 2, a_check("as computed", facts=places, derivation=derivation))
    )

    (shown,) = view["claims"][1]["checks"]
    assert shown["text"] == line
    assert shown["sources"] == [PATIENT]
    text = view["texts"][PATIENT]["readable"]["parts"][0]["text"]
    cuts = [text[place["start"] : place["end"]] for place in shown["places"]]
    assert cuts == ["2024-02-12", "2024-06-03"]


@pytest.mark.parametrize(
    ("found", "quoted"),
    [
        (DOSE, "- empagliflozin 10 mg once daily, started 2024-02-12"),
        # Of a record over several lines those that speak of the claim.
        (
            CHART[CHART.index("Medications") : CHART.index("Last visit")],
            "- empagliflozin 10 mg once daily, started 2024-02-12 … "
            "- metformin 1,000 mg twice daily",
        ),
    ],
)
def test_the_panel_quotes_what_tells_most_of_the_claim(found: str, quoted: str) -> None:
    base = showcase()
    lines = {"listed": found, "headed": "Problem list"}
    checks = [a_check(told, facts=(stated(base, words),)) for told, words in lines.items()]
    checked = with_checks(base, 2, *checks)
    report = report_of(checked, checked.trace, "sha256:x")

    panel = cast(View, lay_out_provenance(report, checked, checked.trace))

    (link,) = next(one for one in panel["claims"] if one["id"].endswith("::c02"))["chain"]
    place = link["place"]
    assert place["before"] + place["words"] + place["after"] == quoted


@given(st.text(alphabet="a😀é ", max_size=12))
def test_a_place_behind_wide_characters_is_still_exactly_its_words(before: str) -> None:
    base = showcase()
    sources = tuple(
        replace(source, text=before + source.text) if source.source_id == PATIENT else source
        for source in base.trace.sources
    )
    moved = replace(base, trace=replace(base.trace, sources=sources))
    checked = with_checks(moved, 2, a_check("10 mg", facts=(stated(moved, DOSE),)))

    view = laid_out(checked)

    (place,) = view["claims"][1]["checks"][0]["places"]
    units = (before + base.trace.source(PATIENT).text).encode("utf-16-le")
    assert units[place["start"] * 2 : place["end"] * 2].decode("utf-16-le") == DOSE


def test_what_contradicts_comes_first_and_then_the_order_of_the_claim() -> None:
    base = showcase()
    late, early = Span(start=30, end=35), Span(start=0, end=5)

    view = laid_out(
        with_checks(
            base,
            2,
            a_check("late", claim_span=late),
            a_check("early", claim_span=early),
            a_check("against", Outcome.CONTRADICTS, claim_span=late),
        )
    )

    assert [line["text"] for line in view["claims"][1]["checks"]] == ["Against", "Early", "Late"]


def test_a_fact_that_two_checks_tell_is_one_line() -> None:
    base = showcase()
    told = base.claims[1].reasons[0]
    against = a_check(told, Outcome.CONTRADICTS, veto=True)

    view = laid_out(with_checks(base, 2, against, replace(against, check="dose")))

    claim = view["claims"][1]
    assert len(claim["checks"]) == 1
    assert claim["reasons"] == [told]


def test_not_found_names_the_words_that_nothing_settles_and_never_what_is_there() -> None:
    base = showcase()
    text = base.claims[1].claim.text
    dose = Span(start=text.index("25 mg"), end=text.index("25 mg") + 5)
    name = Span(start=text.index("empa"), end=text.index("empa") + 13)
    silent = a_check("no fact states 25 mg", Outcome.SILENT, claim_span=dose)
    unsure = a_check(
        "may be an allergy", Outcome.SILENT, claim_span=name, facts=(stated(base, DOSE),)
    )

    nothing = laid_out(with_checks(base, 2, silent, unsure))["claims"][1]["not_found"]
    found = laid_out(with_checks(base, 2, silent, a_check("10 mg twice", claim_span=dose)))

    assert nothing == {"words": ["25 mg"], "elsewhere": [], "open": ["May be an allergy"]}
    assert found["claims"][1]["not_found"] == {"words": [], "elsewhere": [], "open": []}


@pytest.mark.parametrize("present", [True, False])
@pytest.mark.parametrize(
    ("outcomes", "missed", "elsewhere"),
    [
        ((), False, False),
        ((Outcome.SUPPORTS,), False, False),
        ((Outcome.SILENT,), True, True),
        ((Outcome.CONTRADICTS,), False, True),
        ((Outcome.SILENT, Outcome.SUPPORTS), False, False),
        ((Outcome.SUPPORTS, Outcome.CONTRADICTS), False, True),
    ],
)
def test_a_value_in_the_text_is_not_called_found_where_no_check_found_it_of_this(
    present: bool, outcomes: tuple[Outcome, ...], missed: bool, elsewhere: bool
) -> None:
    base = showcase()
    verdict = base.claims[0]
    assert isinstance(verdict.outcome, Judged)
    span = Span(start=0, end=5)
    words = span.cut(verdict.claim.text)
    value = CheckedValue(
        value=ProtectedValue(
            text=words, span=span, kind="number", normalised=words, identity=False
        ),
        present=present,
    )
    literals = replace(verdict.outcome.literals, values=(value,))
    checks = tuple(a_check(f"reason {n}", each, claim_span=span) for n, each in enumerate(outcomes))
    judged = replace(verdict, outcome=replace(verdict.outcome, literals=literals, checks=checks))

    claim = laid_out(replace(base, claims=(judged, *base.claims[1:])))["claims"][0]

    (shown,) = claim["values"]
    assert shown["elsewhere"] == elsewhere
    assert claim["not_found"]["elsewhere"] == ([words] if missed and present else [])
    assert claim["not_found"]["words"] == ([words] if missed and not present else [])


def test_a_place_in_a_source_that_is_not_at_hand_comes_once_its_text_is_fetched() -> None:
    base = showcase()
    sources = tuple(
        replace(source, text=source.text.ljust(TEXTS_SENT_CHARACTERS))
        if source.source_id == PATIENT
        else source
        for source in base.trace.sources
    )
    # Many long outputs: the first fill what the browser holds, and the last must be asked for.
    late = replace(base.trace.source(SEARCH), source_id="late", text="Dose 10 mg. " * 20_000)
    many = tuple(replace(late, source_id=f"long-{n}") for n in range(12))
    trace = replace(base.trace, sources=(*sources, *many, late))
    families = dict(base.families) | dict.fromkeys(
        (s.source_id for s in (*many, late)), "literature"
    )
    place = FactPlace(source_id="late", span=Span(start=5, end=10))
    checked = with_checks(
        replace(base, trace=trace, families=families), 2, a_check("10 mg", facts=(place,))
    )

    before, after = laid_out(checked), laid_out(checked, opened=["late"])

    assert "late" not in before["texts"]
    assert before["claims"][1]["checks"][0]["sources"] == ["late"]
    assert before["claims"][1]["checks"][0]["places"] == []
    assert after["claims"][1]["checks"][0]["places"] == [{"source": "late", "start": 5, "end": 10}]


def test_a_place_deep_in_a_long_output_is_among_what_is_sent_of_it() -> None:
    base = showcase()
    text = "x " * 200_000 + "weight 71.4 kg" + " y" * 200_000
    sources = tuple(
        replace(source, text=text) if source.source_id == SEARCH else source
        for source in base.trace.sources
    )
    moved = replace(base, trace=replace(base.trace, sources=sources))
    place = stated(moved, "weight 71.4 kg", SEARCH)

    parts = laid_out(with_checks(moved, 2, a_check("71.4 kg", facts=(place,))))["texts"][SEARCH]

    assert any("weight 71.4 kg" in part["text"] for part in parts["readable"]["parts"])


def test_an_absence_has_no_single_place_and_a_calls_argument_is_what_was_asked() -> None:
    base = showcase()
    whole = FactPlace(source_id=SEARCH, span=None)
    absent = replace(a_check("none has it", facts=(whole,)), check="absence")
    asked = a_check("stands in the call's arguments", facts=(whole,))

    lines = laid_out(with_checks(base, 2, absent, asked))["claims"][1]["checks"]

    assert [line["asked"] for line in lines] == [False, True]
    assert all(line["places"] == [] and line["sources"] == [SEARCH] for line in lines)


def test_what_does_not_pass_and_is_not_shown_wrong_needs_a_person() -> None:
    alone = with_support(showcase(), 6, probability=0.5, review_from=0.3)
    clear = with_support(showcase(), 6, probability=0.2, review_from=0.3)
    blocked = with_support(showcase(), 6, probability=0.5, review_from=0.3, reasons=2)

    kinds = [laid_out(each)["claims"][5]["kind"] for each in (alone, clear, blocked)]

    assert kinds == [Kind.PERSON] * 3
    view = laid_out(alone)
    assert {"kind": "person", "mark": "◐", "word": "needs a person", "n": 3} in view["counts"]
    assert view["claims"][5]["headline"] == "Needs a person"


def test_a_value_that_a_check_found_is_not_called_missing_unless_another_contradicts_it() -> None:
    base = showcase()
    text = base.claims[1].claim.text
    dose = Span(start=text.index("25 mg"), end=text.index("25 mg") + 5)
    found = a_check("25.1 mg gives 25 mg (rounded)", claim_span=dose)
    against = a_check("10 mg, not 25 mg", Outcome.CONTRADICTS, claim_span=dose)

    views = [laid_out(with_checks(base, 2, *checks)) for checks in ((), (found,), (found, against))]

    for view, kind in zip(views, ("missing", "present", "missing"), strict=True):
        claim = view["claims"][1]
        assert {p["value"] for p in claim["pieces"] if "value" in p} == {kind}
        assert [value["present"] for value in claim["values"]] == [kind == "present"]
        nearest = [mark for mark in claim["marks"][PATIENT] if mark["kind"] == "nearest"]
        assert bool(nearest) == (kind == "missing")


def test_a_fields_own_name_stays_as_the_record_writes_it() -> None:
    # And a value that stands there as the claim has it is told once.
    checks = (
        a_check("onsetDateTime: 2018-09-17"),
        a_check("weight: 71.4 kg on 2024-06-03 gives 71.4 kg"),
        a_check("height: 1.71 m gives 171 cm"),
    )

    lines = laid_out(with_checks(showcase(), 2, *checks))["claims"][1]["checks"]

    assert {line["text"] for line in lines} == {
        "onsetDateTime: 2018-09-17",
        "Weight: 71.4 kg on 2024-06-03",
        "Height: 1.71 m gives 171 cm",
    }


def test_a_claim_without_checks_has_no_lines() -> None:
    view = laid_out(showcase())

    assert all(not claim["checks"] for claim in view["claims"] if claim["word"] != "contradicted")
