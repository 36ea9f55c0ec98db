"""Derivations: what follows from stated facts, shown as one line."""

from __future__ import annotations

import datetime

from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.evidence.derivations import months_between, years_between
from core.evidence.fact_index import index_trace
from core.evidence.value_checks import check_values
from core.records import Check, Outcome
from tests.builders import a_claim, a_source, a_trace

CHART = """Patient: Ada Lind
birthDate: 1984-07-02

Body Weight: 81.7 kg
effectiveDateTime: 2015-09-14

Body Weight: 86.83 kg
effectiveDateTime: 2018-09-17

Body Height: 170 cm
effectiveDateTime: 2018-09-17

Observation: Blood Pressure
effectiveDateTime: 2018-09-17
Diastolic Blood Pressure: 86.9 mm[Hg]
Systolic Blood Pressure: 122.5 mm[Hg]

Immunization: Influenza, seasonal
date: 2012-09-10

Immunization: Influenza, seasonal
date: 2015-09-14

Immunization: Td (adult)
date: 2015-09-14

Condition: Viral sinusitis
onsetDateTime: 2016-04-26
clinicalStatus: resolved
abatementDateTime: 2016-05-17
"""


def checks(text: str, source: str = CHART) -> list[Check]:
    """The checks of a claim's values against one chart."""
    index = index_trace(a_trace(None, a_source(source)))
    return [
        check for check in check_values(a_claim(text), index) if check.check in ("value", "date")
    ]


@cases
def test_a_value_that_follows_is_supported_with_its_derivation(
    claim: str, operation: str, line: str
) -> None:
    (check,) = checks(claim)

    assert check.outcome is Outcome.SUPPORTS
    assert check.derivation is not None
    assert check.derivation.operation == operation
    assert line in check.derivation.text
    assert check.derivation.inputs


@cases
def test_its_twin_with_another_number_or_direction_is_not(claim: str) -> None:
    assert all(check.outcome is not Outcome.SUPPORTS for check in checks(claim))


def test_a_derivation_is_the_same_every_time() -> None:
    first, second = checks("Ms Lind was 34 in 2018."), checks("Ms Lind was 34 in 2018.")

    assert first == second


DAYS = st.dates(min_value=datetime.date(1900, 1, 1), max_value=datetime.date(2100, 1, 1))


@given(DAYS, DAYS)
def test_full_years_and_months_grow_with_time(one: datetime.date, other: datetime.date) -> None:
    first, last = min(one, other), max(one, other)

    assert 0 <= years_between(first, last) <= (last - first).days / 365
    assert months_between(first, last) // 12 == years_between(first, last)


@given(st.integers(min_value=0, max_value=110), st.integers(min_value=1, max_value=27))
def test_a_person_is_a_year_older_only_on_the_birthday(age: int, day: int) -> None:
    born = datetime.date(1950, 6, day)

    assert years_between(born, datetime.date(1950 + age, 6, day)) == age
    assert years_between(born, datetime.date(1950 + age, 6, day) - datetime.timedelta(1)) == age - 1
