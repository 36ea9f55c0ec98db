"""What the facts say of each value of a claim: supported, contradicted, or silent."""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest
from tables import cases

from core.evaluation.frozen import readable
from core.evaluation.packets import PacketRow, read_packet
from core.evidence.checks import TraceFacts, check_claim, read_trace_facts
from core.records import Check, Outcome, Source, SourceStatus, Trace, VerdictLabel
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

Glucose: 100 mg/dL
effectiveDateTime: 2018-09-17

Immunization: Td (adult)
date: 2015-09-14

MedicationRequest: Naproxen 220 MG Oral Tablet
authoredOn: 2015-04-16
status: stopped

Condition: Viral sinusitis (disorder)
onsetDateTime: 2016-04-26
abatementDateTime: 2016-05-17
"""
)
QUOTES = a_source(
    "symbol: ABCD\nprofitMargins: 0.24301\ntotalRevenue: 400366010368\nmarketCap: 3173558779904\n\n"
    "summary.distance: 1798054.2\nsummary.duration: 73070.5",
    source_id="quotes",
    tool_name="get_ticker",
)
SHEET = a_source(
    "hero_id,win_rate,pick_rate\n166,0.517322,0.0278566\n517,0.498668,0.12322\n90,0.512659,0.0626746",
    source_id="sheet",
    tool_name="lol_positions",
)


def checks(text: str, *sources: Source) -> list[Check]:
    """All checks of a claim against the sources."""
    facts = read_trace_facts(a_trace(None, *(sources or (CHART,))))
    return list(check_claim(a_claim(text), facts))


def outcomes(text: str, *sources: Source) -> set[Outcome]:
    """What the checks of the claim's values, dates and absences found."""
    kinds = ("value", "date", "absence")
    return {check.outcome for check in checks(text, *sources) if check.check in kinds}


@cases
def test_a_claim_and_its_twin_are_told_apart(true: str, false: str) -> None:
    assert outcomes(true) == {Outcome.SUPPORTS}
    assert outcomes(false) != {Outcome.SUPPORTS}


SETTINGS = a_source(
    "idle_timeout_s = 15\nbackoff_ms: [100, 250, 400]\ncontract.arr_gbp: 86400\ntank.temp_F: 101.1",
    source_id="settings", tool_name="read_file",
)  # fmt: skip
STOCK = a_source(
    "sku,name,on_hand,reserved,free\nT-1,Bath towel,1840,600,1240\nT-2,Hand towel,420,0,420\n"
    "T-3,Bath mat,310,0,310",
    source_id="stock", tool_name="read_csv",
)  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The idle timeout is 15 s.", SETTINGS),
        ("The backoff goes up to 400 ms.", SETTINGS),
        ("The contract is worth £86,400 a year.", SETTINGS),
        ("The tank temperature was 38.4 °C.", SETTINGS),
    ],
)
def test_the_unit_at_the_end_of_a_fields_name_is_its_unit(claim: str, source: Source) -> None:
    assert outcomes(claim, source) == {Outcome.SUPPORTS}


@cases
def test_a_value_that_the_attribute_does_not_belong_to_contradicts_nothing(claim: str) -> None:
    assert Outcome.CONTRADICTS not in outcomes(claim, STOCK)


def test_a_drug_that_a_record_names_nowhere_is_a_sign_and_no_veto_and_a_condition_is_none() -> None:
    letter = a_source("Dear Dr Roe, Ms Ada Lind takes ramipril for gout.")

    (named,) = [c for c in checks("Ms Lind takes warfarin.", letter) if c.check == "name"]
    assert named.outcome is Outcome.CONTRADICTS and not named.veto
    assert not [c for c in checks("Ms Lind has kidney failure.", letter) if c.check == "name"]


def test_what_says_more_than_a_check_is_about_is_not_told_against() -> None:
    note = a_source("Patient: Ada Lind\nMedication: apixaban 5 mg\nstatus: active")

    assert [c.outcome for c in checks("Ms Lind's apixaban was stopped.", note) if c.veto]
    said = "Ms Lind's apixaban was stopped because she is over eighty and weighs little."
    assert Outcome.CONTRADICTS not in {check.outcome for check in checks(said, note)}


@pytest.mark.parametrize(
    ("said", "told"), [("every six hours", False), ("every eight hours", True)]
)
def test_a_schedule_in_letters_is_that_of_its_words(said: str, told: bool) -> None:
    note = a_source("Patient: Ada Lind\nMedication: flucloxacillin 2 g QDS\nstatus: active")

    found = checks(f"Ms Lind takes flucloxacillin {said}.", note)
    assert any(check.check == "schedule" and check.veto for check in found) is told


def test_a_table_of_doses_that_names_nobody_is_no_record_beside_one_that_does() -> None:
    record = a_source("Patient: Ada Lind\nMedication: oxycodone 40 mg twice daily\nstatus: active")
    table = a_source(
        "CONVERSION CHART\nIf the drug is morphine, do not give oxycodone; dose ratio 1.5 : 1",
        source_id="reference", tool_name="get_document",
    )  # fmt: skip

    assert not any(c.veto for c in checks("Ms Lind takes oxycodone 40 mg.", record, table))


@cases
def test_what_is_denied_proposed_or_worked_out_is_no_contradiction(claim: str) -> None:
    record = a_source(
        "Patient: Ada Lind\nMedication: simvastatin 40 mg\nstatus: active\n\n"
        "Medication: oxycodone 40 mg\nstatus: active\n\n"
        "Letter: She has never had heart failure. I would like to begin adalimumab."
    )

    assert not any(check.veto for check in checks(claim, record))


@cases
def test_what_dated_records_show_otherwise_is_a_veto_with_its_place(claim: str, told: str) -> None:
    against = [check for check in checks(claim) if check.outcome is Outcome.CONTRADICTS]

    assert [check.reason for check in against] == ([told] if told else [])
    assert all(check.veto and check.facts for check in against)


@pytest.mark.parametrize(
    "claim",
    ["Ms Lind's sodium was 141 mmol/L.", "The trial enrolled 412 dogs.", "It was 31 °C in Oslo."],
)
def test_a_value_that_is_nowhere_is_silent_and_no_veto(claim: str) -> None:
    assert outcomes(claim) == {Outcome.SILENT}
    assert not any(check.veto for check in checks(claim))


def test_a_bound_is_checked_as_a_bound() -> None:
    assert outcomes("Ms Lind's weight is over 80 kg.") == {Outcome.SUPPORTS}
    assert outcomes("Ms Lind's weight is under 60 kg.") == {Outcome.SILENT}


@cases
def test_a_bare_field_is_read_in_the_unit_of_the_claim(claim: str) -> None:
    assert outcomes(claim, QUOTES) == {Outcome.SUPPORTS}


def test_a_value_of_another_row_is_not_the_row_that_the_claim_names() -> None:
    right = checks("The hero with ID 517 has a pick rate of 12.3%.", SHEET)
    wrong = checks("The hero with ID 517 has a pick rate of 2.8%.", SHEET)

    assert {check.outcome for check in right if check.check == "value"} == {Outcome.SUPPORTS}
    assert Outcome.CONTRADICTS in {check.outcome for check in wrong} or Outcome.SILENT in {
        check.outcome for check in wrong
    }


def test_a_value_of_the_call_is_found_in_its_arguments() -> None:
    call = a_source("done", arguments='{"params": {"path": "/root/out/plan.md", "slide_count": 8}}')

    found = checks("The file /root/out/plan.md has 8 slides.", call)

    assert {check.outcome for check in found} == {Outcome.SUPPORTS}
    assert all(place.span is None for check in found for place in check.facts)


def test_an_absence_says_what_was_searched() -> None:
    (check,) = checks("There is no potassium in Ms Lind's record.")

    assert check.outcome is Outcome.SUPPORTS
    assert "entries searched" in check.reason


def test_an_absence_is_contradicted_by_what_is_on_record() -> None:
    (check,) = checks("There is no glucose in Ms Lind's record.")

    assert (check.outcome, check.veto) == (Outcome.CONTRADICTS, True)


def test_the_name_of_a_list_is_nothing_on_record() -> None:
    found = a_source(
        '{"advisories": [{"id": "ADV-7", "package": "fastsheaf", "severity": "high"}]}'
    )

    assert outcomes("No advisory was found on record for rowan.", found) == {Outcome.SILENT}


def test_a_panel_is_not_absent_where_a_member_of_it_is_on_record() -> None:
    assert outcomes("There are no lipids in Ms Lind's record.") == {Outcome.SILENT}


def test_nothing_is_absent_from_an_output_that_was_cut() -> None:
    cut = replace(CHART, status=SourceStatus.TRUNCATED)

    assert outcomes("There is no potassium in Ms Lind's record.", cut) == {Outcome.SILENT}


def test_a_list_of_tools_states_no_fact() -> None:
    catalogue = a_source(
        "- tool_name: a\n  tool_description: pages of 45 rows\n  inputschema: {}\n"
        "- tool_name: b\n  tool_description: x\n  inputschema: {}"
    )

    assert outcomes("The page has 45 rows.", catalogue) == {Outcome.SILENT}


def test_every_place_lies_in_its_source() -> None:
    for claim in (
        "Her HDL slipped from 74 to 68.",
        "Ms Lind gained 5.1 kg.",
        "Ms Lind was 34 in 2018.",
    ):
        for check in checks(claim):
            for place in check.facts:
                assert place.source_id == CHART.source_id
                assert place.span is None or place.span.end <= len(CHART.text)


@pytest.mark.stress
def test_a_claim_is_checked_in_a_few_milliseconds_on_a_record_of_100_kb() -> None:
    rows = "".join(
        f"Test {n % 90}: {n * 0.37:.2f} mg/dL\neffectiveDateTime: 20{n % 20:02d}-0{n % 9 + 1}-11\n\n"
        for n in range(1_900)
    )
    facts = read_trace_facts(a_trace(None, a_source("Patient: Ada Lind\n\n" + rows)))
    claims = [
        "Test 7 was 2.59 mg/dL.",
        "Test 12 rose by 33.3 mg/dL.",
        "She has had four tests in 2019.",
    ]
    spent = []
    for claim in claims * 3:
        started = time.perf_counter()
        check_claim(a_claim(claim), facts)
        spent.append(time.perf_counter() - started)

    assert statistics.median(spent) < 0.25  # 20 ms on an idle machine; this one may be busy


# ---------------------------------------------------------------- real claims


def measured(name: str) -> dict[str, list[tuple[PacketRow, list[Check]]]]:
    """The packet's claims with their checks, by how they are supported."""
    path = PACKETS / f"{name}.jsonl.gz"
    if not path.exists():
        pytest.skip("the development packets are not on this machine")
    found: dict[str, list[tuple[PacketRow, list[Check]]]] = defaultdict(list)
    read: dict[str, TraceFacts] = {}
    for row in read_packet(path).rows:
        if row.trace_id not in read:
            sources = tuple(readable(source) for source in row.sources)
            trace = Trace(trace_id=row.trace_id, question="", answer=None, sources=sources)
            read = {row.trace_id: read_trace_facts(trace)}
        kinds = ("value", "date", "absence")
        every = check_claim(a_claim(row.claim), read[row.trace_id])
        found[str(row.extra["how"])].append((row, [c for c in every if c.check in kinds]))
    return found


@pytest.mark.parametrize("name", ["clinical_dev", "livemcp_dev"])
@pytest.mark.stress
def test_on_real_claims_values_are_found_and_vetoes_are_right(name: str) -> None:
    found = measured(name)
    good_vetoed = bad_vetoed = 0
    for how in ("rounded", "computed", "format", "unit_conversion", "arguments"):
        good = [
            checks for row, checks in found[how] if checks and row.label is VerdictLabel.SUPPORTED
        ]
        if not good:
            continue
        whole = [all(check.outcome is Outcome.SUPPORTS for check in checks) for checks in good]
        assert statistics.mean(whole) >= (0.8 if how == "computed" else 0.85), how
    for row, checks in (pair for pairs in found.values() for pair in pairs):
        if any(check.veto for check in checks):
            good_vetoed += row.label is VerdictLabel.SUPPORTED
            bad_vetoed += row.label is not VerdictLabel.SUPPORTED
    assert good_vetoed <= 1
    assert bad_vetoed >= good_vetoed
