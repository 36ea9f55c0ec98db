"""What is left of a claim beside the facts of its checks, and what that lets a check say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from core.attribution.families import load_families
from core.evaluation.frozen import freeze
from core.evaluation.packets import PacketRow, read_packet
from core.evidence.accounting import account
from core.evidence.checks import check_claim, read_trace_facts
from core.evidence.stated_whole import WHOLE
from core.records import Check, Outcome, Source
from tests.builders import a_claim, a_source, a_trace

PACKETS = Path(__file__).parents[4] / "shared" / "data" / "packets"
CHART = a_source(
    """Patient: Ada Lind
birthDate: 1984-07-02

Body Weight: 81.7 kg
effectiveDateTime: 2015-09-14

Body Weight: 86.83 kg
effectiveDateTime: 2018-09-17

High Density Lipoprotein Cholesterol: 73.98 mg/dL
effectiveDateTime: 2015-09-14

High Density Lipoprotein Cholesterol: 68.25 mg/dL
effectiveDateTime: 2018-09-17

Potassium: 7.9 mmol/L
status: entered-in-error
effectiveDateTime: 2018-09-17

MedicationRequest: Naproxen 220 MG Oral Tablet
authoredOn: 2015-04-16
status: stopped
"""
)
TABLE = a_source(
    "test,result,unit,taken\nINR,1.8,,4 Jul 2024\nweight,62.3,kg,9 Aug 2024\nweight,89.1,kg,17 Mar 2023\n",
    source_id="table",
)


def checks(text: str, *sources: Source) -> tuple[Check, ...]:
    """All checks of a claim against the sources."""
    facts = read_trace_facts(a_trace(None, *(sources or (CHART,))))
    return check_claim(a_claim(text), facts)


def is_whole(text: str, *sources: Source) -> bool:
    """Whether the claim is found to be stated whole."""
    return any(check.check == WHOLE for check in checks(text, *sources))


@cases
def test_a_claim_whose_every_word_a_field_answers_for_is_stated_whole(claim: str) -> None:
    assert is_whole(claim)


@cases
def test_a_claim_is_not_stated_whole_where_a_word_a_date_or_a_record_says_otherwise(
    claim: str,
) -> None:
    assert not is_whole(claim)


def test_the_latest_row_of_a_table_is_told_by_the_day_that_fills_a_cell() -> None:
    assert is_whole("The most recent weight was 62.3.", TABLE)
    assert not is_whole("The most recent weight was 89.1.", TABLE)


@given(
    word=st.sampled_from("severe untreated despite unlike twice probably worse bilateral".split())
)
def test_one_more_word_of_content_is_always_left(word: str) -> None:
    claim = a_claim(f"Ada Lind's {word} HDL was 68 mg/dL in September 2018.")
    facts = read_trace_facts(a_trace(None, CHART))

    found = account(claim, check_claim(claim, facts), facts.values)

    assert word in found.left


def test_a_contradiction_vetoes_only_where_it_is_all_that_the_claim_says() -> None:
    plain = checks("Ada Lind takes naproxen 220 mg.")
    told = checks(
        "Ada Lind's stomach has been calm ever since somebody mentioned naproxen tablets to her."
    )

    assert any(check.veto for check in plain)
    assert not any(check.veto for check in told)


@pytest.mark.stress
def test_on_clinical_answers_hardly_anything_stated_whole_is_wrong() -> None:
    path = PACKETS / "clinical_dev.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    rows = [row for row in read_packet(path).rows if row.scored]

    whole = [row for row in rows if _is_whole(row)]

    assert len(whole) >= 150
    assert sum(row.should_block for row in whole) <= len(whole) // 50


_READ: dict[str, object] = {}


def _is_whole(row: PacketRow) -> bool:
    trace, claim = freeze(row, _FAMILIES)
    if _READ.get("trace") != trace.sources:
        _READ.update(trace=trace.sources, facts=read_trace_facts(trace))
    found = check_claim(claim, _READ["facts"])  # type: ignore[arg-type]
    return any(check.check == WHOLE and check.outcome is Outcome.SUPPORTS for check in found)


_FAMILIES = load_families()
