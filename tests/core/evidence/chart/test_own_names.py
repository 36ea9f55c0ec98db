"""Findings that only the chart's own words name, and what stands beside an entry in its own stretch."""

from __future__ import annotations

import pytest
from tables import cases

from core.evidence.checks import check_claim, read_trace_facts
from core.records import Check, Claim, Outcome, Span, Trace
from tests.builders import a_source

LETTER = """Dear Dr Holm,

Re: Mrs Ana Ruiz, born 1961-04-07

She reports jaw clicking but denies scalp soreness. Her roommate, Lena Okafor, has HIV infection.
Bisoprolol was stopped in February 2021 on account of cold fingers. Hydroxychloroquine is suspected of
causing the rash. If the ferritin falls below 15, start iron sucrose.

Medication: metformin 500 mg twice daily, sodium bicarbonate [75] 500 mg three times daily.

Allergic to nitrofurantoin (pneumonitis).
Checklist (blank): pacemaker Y/N, cochlear implant Y/N.
"""
FIELDS = """patient: Ana Ruiz
Orthopnoea: Absent
status: final

patient: Ana Ruiz
Legionella antigen: not detected
status: final
"""


def checks(text: str, chart: str) -> tuple[Check, ...]:
    trace = Trace(trace_id="t", question="", answer=text, sources=(a_source(chart),))
    claim = Claim(claim_id="t::c01", text=text, span=Span(start=0, end=len(text)), said=text)
    return check_claim(claim, read_trace_facts(trace))


def whole(found: tuple[Check, ...]) -> bool:
    return any(c.outcome is Outcome.SUPPORTS and c.binding == 1.0 for c in found) and not any(
        c.outcome is Outcome.CONTRADICTS for c in found
    )


@pytest.mark.parametrize(
    ("text", "chart"),
    [
        ("Ana Ruiz reports jaw clicking.", LETTER),
        ("She denies scalp soreness.", LETTER),
        ("Bisoprolol was stopped in February 2021 because of cold fingers.", LETTER),
        ("Iron sucrose would be started if the ferritin fell below 15.", LETTER),
        ("Mrs Ruiz takes sodium bicarbonate 500 mg three times daily.", LETTER),
        ("She is allergic to nitrofurantoin.", LETTER),
        ("Orthopnoea is absent.", FIELDS),
    ],
)
def test_what_a_stretch_says_in_all_its_words_is_shown(text: str, chart: str) -> None:
    assert whole(checks(text, chart))


@pytest.mark.parametrize(
    ("text", "chart"),
    [
        ("Ana Ruiz has scalp soreness.", LETTER),
        ("She has a pacemaker.", LETTER),
        ("She has orthopnoea.", FIELDS),
        ("She has Legionella.", FIELDS),
    ],
)
def test_what_the_chart_denies_or_leaves_blank_is_a_shown_contradiction(
    text: str, chart: str
) -> None:
    assert any(check.veto for check in checks(text, chart))


@cases
def test_what_differs_in_one_word_is_not_shown(text: str) -> None:
    assert not whole(checks(text, LETTER))


def test_the_month_of_may_takes_nothing_back() -> None:
    chart = LETTER.replace("in February 2021", "in May 2021")

    assert whole(checks("Bisoprolol was stopped in May 2021 because of cold fingers.", chart))


@cases
def test_an_earlier_or_void_result_is_not_the_latest(text: str, chart: str) -> None:
    assert any(check.veto for check in checks(text, chart))


def test_somebody_is_as_old_as_a_birth_date_and_a_date_of_the_record_say() -> None:
    chart = "Patient: Ana Ruiz, DOB 1961-04-07\nSeen 2021-05-02\n\nProblems\n- Gout (active)\n"

    assert whole(checks("This 60-year-old woman has gout.", chart))
    assert not whole(checks("This 65-year-old woman has gout.", chart))
