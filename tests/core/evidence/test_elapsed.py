"""The time between two moments: derived to the minute, and never said from days alone."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.evidence.derivations import stretch_of
from core.evidence.fact_index import index_trace
from core.evidence.quantities import read_quantities
from core.evidence.value_checks import check_values
from core.records import Check, Outcome
from tests.builders import a_claim, a_source, a_trace

SAME_DAY = (
    "job: nightly-backup\nstarted: 2026-02-02T01:00:00\nended: 2026-02-02T01:48:00\nstatus: ok"
)
MIDNIGHT = "job: nightly-backup\nstarted: 2026-02-01T23:50:00Z\nended: 2026-02-02T00:20:00Z"
ZONES = "job: nightly-backup\nstart: 2026-02-02T09:00:00+09:00\nend: 2026-02-02T08:30:00Z"
DAYS = "job: nightly-backup\nstarted: 2026-02-02\nended: 2026-02-02"
MIXED = "job: nightly-backup\nstarted: 2026-02-02T01:00:00\nended: 2026-02-02T01:48:00Z"
SEVERAL = (
    f"{SAME_DAY}\n\njob: weekly-report\nstarted: 2026-02-02T03:00:00\nended: 2026-02-02T05:05:00"
)


def value_checks(text: str, source: str) -> list[Check]:
    """The checks of a claim's values against one source."""
    found = check_values(a_claim(text), index_trace(a_trace(None, a_source(source))))
    return [check for check in found if check.check == "value"]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The nightly-backup job ran for 48 minutes.", SAME_DAY),
        ("The nightly-backup job ran for 0.8 hours.", SAME_DAY),
        ("The nightly-backup job took about 50 minutes.", SAME_DAY),
        ("The nightly-backup job took 2,880 seconds.", SAME_DAY),
        ("The nightly-backup job took 30 minutes.", MIDNIGHT),
        ("The nightly-backup job took 8.5 hours.", ZONES),
        ("The nightly-backup job took 8 hours and 30 minutes.", ZONES),
        ("The weekly-report job took 2 hours 5 minutes.", SEVERAL),
        ("The nightly-backup job took 48 minutes.", SEVERAL),
    ],
)
def test_a_time_between_two_moments_is_derived(claim: str, source: str) -> None:
    (check,) = value_checks(claim, source)

    assert check.outcome is Outcome.SUPPORTS
    assert check.derivation is not None
    assert check.derivation.operation == "duration"


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The nightly-backup job ran for 84 minutes.", SAME_DAY),
        ("The nightly-backup job took 3 hours.", SAME_DAY),
        ("The nightly-backup job took 48 seconds.", SAME_DAY),
        ("The nightly-backup job took 23 hours 30 minutes.", MIDNIGHT),
        ("The nightly-backup job took 30 hours.", ZONES),
        ("The nightly-backup job took 2 hours 5 minutes.", SEVERAL),
    ],
)
def test_another_time_is_contradicted_from_both_moments(claim: str, source: str) -> None:
    (check,) = value_checks(claim, source)

    assert check.outcome is Outcome.CONTRADICTS
    assert "0 days" not in check.reason


@pytest.mark.parametrize("source", [DAYS, MIXED])
@pytest.mark.parametrize("length", ["48 minutes", "8 hours", "90 seconds", "1 hour 48 minutes"])
def test_without_times_of_day_nothing_is_said_of_hours_and_minutes(
    source: str, length: str
) -> None:
    (check,) = value_checks(f"The nightly-backup job ran for {length}.", source)

    assert check.outcome is Outcome.SILENT


@cases
def test_a_time_of_day_is_no_length(field: str, outcome: Outcome) -> None:
    (check,) = value_checks("The LH400 flight takes 8 hours 40 minutes.", f"flight: LH400\n{field}")

    assert check.outcome is outcome


@given(
    st.datetimes(datetime.datetime(1990, 1, 1), datetime.datetime(2090, 1, 1)),
    st.integers(0, 10_000),
    st.integers(-12, 12),
    st.integers(-12, 12),
)
def test_a_stretch_is_as_long_in_every_zone(
    first: datetime.datetime, minutes: int, zone: int, other: int
) -> None:
    begun = first.replace(microsecond=0, tzinfo=datetime.UTC)
    ended = begun + datetime.timedelta(minutes=minutes)
    at = [datetime.timezone(datetime.timedelta(hours=hours)) for hours in (zone, other)]
    text = (
        f"start: {begun.astimezone(at[0]).isoformat()}\nend: {ended.astimezone(at[1]).isoformat()}"
    )

    stretch = stretch_of(text, named=True)

    assert stretch is not None
    assert (stretch[1] - stretch[0]).total_seconds() == minutes * 60


@cases
def test_a_time_in_two_units_is_one_quantity(text: str, amount: float, unit: str) -> None:
    (one,) = read_quantities(f"It took {text}.")

    assert (one.text, one.amount, one.unit) == (text, amount, unit)
