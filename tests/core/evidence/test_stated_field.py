"""A claim without a value that one field of a record says, word for word and no more."""

from __future__ import annotations

from tables import cases

from core.evidence.checks import check_claim, read_trace_facts
from core.evidence.stated_whole import WHOLE
from core.records import Source
from core.verification.candidates import shown_sources
from tests.builders import a_claim, a_source, a_trace

CHART = a_source(
    """Patient: Ada Lind

Observation: Tobacco smoking status
effectiveDateTime: 2015-09-14
value: Former smoker

Observation: Tobacco smoking status
effectiveDateTime: 2019-02-01
value: Never smoker

Observation: Cause of Death
effectiveDateTime: 2020-03-03
value: Sudden Cardiac Death

Observation: Mobility
value: Not independent
"""
)


def is_shown(text: str, *sources: Source) -> bool:
    """Whether the claim is shown to be stated whole, by a source that may carry it."""
    facts = read_trace_facts(a_trace(None, *(sources or (CHART,))))
    checks = check_claim(a_claim(text), facts)
    assert all(check.binding == 1.0 for check in checks if check.check == WHOLE)
    return bool(shown_sources(checks)) and any(check.check == WHOLE for check in checks)


@cases
def test_a_field_says_it(claim: str) -> None:
    assert is_shown(claim)


@cases
def test_less_more_or_other_than_the_field_is_not_said_by_it(claim: str) -> None:
    assert not is_shown(claim)


def test_a_field_in_chinese_is_said_in_english() -> None:
    record = a_source("颜色: 红色\n材料: 木头\n", source_id="map")
    assert is_shown("The color is red.", record)
    assert not is_shown("The color is green.", record)
