"""What an entry of a chart states whole: true twins, and nothing that says a word more or less."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables import cases

from core.evaluation.frozen import readable
from core.evaluation.packets import row_from_json
from core.evidence.chart.checks import chart_checks, read_chart_facts
from core.evidence.chart.covering import one_person
from core.records import Claim, Outcome, Source, Span, Trace
from tests.builders import a_source
from training.packets import Pair, chart_row, pairs

SAMPLE = (*pairs("looked_at", seed=21), *pairs("kept", seed=22))
TWINS = [pair for pair in SAMPLE if not pair.dangerous]
CHART = """Patient: Ana Ruiz, born 1961-04-07

Medications
- Gabapentin 300 mg three times daily (started 2019-12-21)
- Bisoprolol 5 mg daily (started 2008-07-17), stopped 2021-02-03
- Metformin 500 mg twice daily (started 2015-05-02)

Allergies
- Ibuprofen

Problems
- Chronic kidney disease (active)
- Gout (resolved)
- Epilepsy was ruled out.
- Family history: asthma (mother)
"""


def shown(text: str, *sources: Source) -> bool:
    trace = Trace(trace_id="t", question="", answer=text, sources=sources)
    claim = Claim(claim_id="t::c01", text=text, span=Span(start=0, end=len(text)), said=text)
    checks = chart_checks(claim, read_chart_facts(trace))
    return any(
        check.outcome is Outcome.SUPPORTS and check.binding == 1.0 for check in checks
    ) and not any(check.outcome is Outcome.CONTRADICTS for check in checks)


def of_pair(pair: Pair) -> bool:
    row = row_from_json(chart_row(0, pair))
    return shown(pair.claim, *(readable(source) for source in row.sources))


@pytest.fixture(scope="module")
def stated() -> list[bool]:
    return [of_pair(pair) for pair in TWINS]


@pytest.mark.stress
def test_no_dangerous_claim_is_taken_for_one_that_the_chart_states() -> None:
    assert not [pair for pair in SAMPLE if pair.dangerous and of_pair(pair)]


def test_most_true_twins_are_stated_whole(stated) -> None:
    assert stated.count(True) >= 0.8 * len(stated)


@pytest.mark.parametrize("word", ["probably", "severe", "because", "Thomas", "effective", "70"])
def test_one_word_more_is_not_stated_any_more(stated, word) -> None:
    sample = [pair for pair, so in zip(TWINS, stated, strict=True) if so][::25]

    assert sample
    for pair in sample:
        longer = replace(pair, claim=f"{pair.claim.rstrip('.')} {word}.")
        assert not of_pair(longer)


@cases
def test_what_an_entry_states_is_shown(text: str) -> None:
    assert shown(text, a_source(CHART))


@cases
def test_what_no_entry_states_whole_is_not_shown(text: str) -> None:
    assert not shown(text, a_source(CHART))


def test_beside_another_persons_chart_nothing_is_shown() -> None:
    text = "Ana Ruiz takes metformin 500 mg twice daily."
    own, other = a_source(CHART), a_source(CHART.replace("Ana", "Juan"))
    other = replace(other, source_id="other#0")

    assert shown(text, own)
    assert not shown(text, own, other)


def test_names_of_one_person_are_parts_of_the_longest() -> None:
    assert one_person(["Ana Ruiz", "Ms Ruiz"])
    assert one_person([])
    assert not one_person(["Ana Ruiz", "Juan Ruiz"])
