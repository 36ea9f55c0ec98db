"""Charts of many shapes: tables, keyed records, notes, other people's entries and measurements."""

from __future__ import annotations

import pytest
from tables import cases

from core.evidence.chart.checks import chart_checks, read_chart_facts
from core.evidence.chart.labels import attribute_of, is_section, section_status
from core.evidence.chart.layout import read_rows
from core.evidence.chart.phrases import without_lead
from core.evidence.chart.quantities import find_frequencies
from core.evidence.chart.records import Status
from core.records import Claim, Outcome, Span, Trace
from tests.builders import a_claim, a_source, a_trace

NOTE = """12 May 2023 clinic note - Ana Ruiz 61F
FHx: brother - gout.
DH: Bisoprolol 5 mg OD (started 3 Jan 2020); Ranolazine 375 mg BID (proposed; start after the scan)
ADRs: Codeine - rash
O: CRP 12 mg/L (1 May 2023), sodium 141 mmol/L (1 May 2023)
A: Asthma (active); ? sarcoidosis.
"""
TABLE = """patient;Leo Brandt;48;M

record;item;detail;flag;remark
MED;apixaban;5 mg twice daily;current;
MED;digoxin;125 micrograms daily;off;stopped 2 Mar 2022
DX;lupus;;REJECTED;second opinion
FAMILY;sister;coeliac disease;;
LAB;ferritin;18 ug/L;final;2023-04-02
LAB;ferritin;61 ug/L;final;2021-04-02
"""
KEYED = """pt.name: Mara Olsen
pt.age: 40
intake.seizure disorder: denied
meds.current.atenolol.dose: 25 mg
meds.current.atenolol.sig: BID
meds.past.naproxen.dose: 250 mg
meds.past.naproxen.stopped: 2020-01-05
"""
LETTER = """Re: Mr Omar Haddad, DOB 4 May 1960

He takes amlodipine 5 mg at night, ramipril 10 mg daily and metformin 500 mg twice daily.
His niece has epilepsy and takes lamotrigine.
His lodger, Karl Voss, has tuberculosis.
"""


def outcome(text: str, chart: str) -> str:
    """What the checks say of a claim: veto, shown or open."""
    source = a_source(chart)
    trace = Trace(trace_id="t", question="", answer=text, sources=(source,))
    claim = Claim(claim_id="t::c01", text=text, span=Span(start=0, end=len(text)), said=text)
    checks = chart_checks(claim, read_chart_facts(trace))
    if any(check.veto for check in checks):
        return "veto"
    shown = any(check.outcome is Outcome.SUPPORTS and check.binding == 1.0 for check in checks)
    against = any(check.outcome is Outcome.CONTRADICTS for check in checks)
    return "shown" if shown and not against else "open"


@pytest.mark.parametrize(
    ("chart", "claim", "wanted"),
    [
        (NOTE, "Ana Ruiz takes bisoprolol 5 mg once daily.", "shown"),
        (NOTE, "She takes bisoprolol 10 mg once daily.", "veto"),
        (NOTE, "She takes ranolazine 375 mg twice daily.", "veto"),
        (NOTE, "She has gout.", "veto"),
        (NOTE, "Her CRP was 12 mg/L.", "shown"),
        (NOTE, "Her CRP was 141 mg/L.", "veto"),
        (TABLE, "According to the record, Leo Brandt takes apixaban 5 mg twice daily.", "shown"),
        (TABLE, "He takes digoxin.", "veto"),
        (TABLE, "He has lupus.", "veto"),
        (TABLE, "His latest ferritin is 18 ug/L.", "shown"),
        (TABLE, "His latest ferritin is 61 ug/L.", "veto"),
        (KEYED, "She takes atenolol 25 mg twice daily.", "shown"),
        (KEYED, "She takes naproxen.", "veto"),
        (KEYED, "She has a seizure disorder.", "veto"),
        (LETTER, "He takes ramipril 10 mg daily.", "shown"),
        (LETTER, "He takes amlodipine 5 mg at night.", "shown"),
        (LETTER, "He takes lamotrigine.", "veto"),
        (LETTER, "Omar Haddad has tuberculosis.", "veto"),
    ],
)
def test_a_claim_is_read_against_the_entry_it_is_about(chart: str, claim: str, wanted: str) -> None:
    assert outcome(claim, chart) == wanted


def test_a_claim_about_another_person_in_the_record_is_read_as_theirs() -> None:
    assert outcome("Karl Voss has tuberculosis.", LETTER) != "veto"


@pytest.mark.parametrize(
    "claim", ["His haemoglobin was 120 g/L.", "His ferritin fell to 18 ug/L.", "Ferritin is low."]
)
def test_a_measurement_that_the_chart_has_not_or_says_otherwise_is_left_open(claim: str) -> None:
    assert outcome(claim, TABLE) == "open"


@cases
def test_a_negative_result_is_shown_where_the_chart_has_just_that(claim: str, wanted: str) -> None:
    chart = (
        "Patient: Ana Ruiz\n\nResults\n- HIV antibody negative\n- Hepatitis B antigen positive\n"
    )

    assert outcome(claim, chart) == wanted


def test_a_value_rounded_as_the_claim_writes_it_is_the_chart_s() -> None:
    chart = "Patient: Ana Ruiz\n\nLabs\n- total cholesterol: 184.88 mg/dL (2017-03-02)\n"

    assert outcome("Her total cholesterol was 185 mg/dL.", chart) == "shown"
    assert outcome("Her total cholesterol was 186 mg/dL.", chart) == "veto"


def test_headings_of_several_shapes_head_what_follows() -> None:
    rows = read_rows("== Meds on record ==\n* aspirin 75 mg\n\n# Sensitivities\nlatex - hives\n")

    assert [(row.section, row.text) for row in rows] == [
        ("meds on record", "aspirin 75 mg"),
        ("sensitivities", "latex - hives"),
    ]


def test_a_resource_s_name_is_no_heading() -> None:
    assert is_section("Allergies / intolerances")
    assert not is_section("AllergyIntolerance")


def test_a_path_by_status_says_status_and_names_no_status_field() -> None:
    assert attribute_of("conditionsByStatus.ruledOut.display") == "name"
    assert section_status("conditionsByStatus.ruledOut") is Status.ABSENT


@pytest.mark.parametrize("lead", ["In short, ", "The notes say that ", "Yes: ", "On review, "])
def test_what_leads_up_to_a_claim_says_nothing(lead: str) -> None:
    assert without_lead(f"{lead}she takes aspirin.") == "she takes aspirin."


@pytest.mark.parametrize("whose", ["patient: os-ruiz-1961\n", "patient: RUIZ:ab3:0017\n"])
def test_a_record_without_a_name_is_read_beside_a_named_one_and_another_names_is_not(
    whose: str,
) -> None:
    named = a_source("patient: Ana Ruiz\nname: Latex allergy\nstatus: active\n", "allergies#1")
    claim = a_claim("Ana Ruiz takes omeprazole.")

    def told(who: str) -> list[tuple[str, Outcome]]:
        record = a_source(f"{who}name: Omeprazole 20 mg\nsig: od\nstatus: active\n", "drugs#1")
        facts = read_chart_facts(a_trace(claim.text, named, record))
        return [(check.check, check.outcome) for check in chart_checks(claim, facts)]

    assert told(whose) == [("status", Outcome.SUPPORTS)]
    assert told("patient: Ben Ruiz\n") == [("subject", Outcome.CONTRADICTS)]
    assert ("status", Outcome.SUPPORTS) not in told("patient: Ben508 Ortega866\n")


@pytest.mark.parametrize(
    ("text", "per_day"),
    [
        ("1000 mg by mouth twice daily with meals", 2),
        ("1 tablet every morning with meals", 1),
        ("500 mg with meals", 3),
        ("500 mg with meals and at bedtime", 4),
    ],
)
def test_meals_say_how_often_only_where_nothing_else_does(text: str, per_day: int) -> None:
    (found,) = find_frequencies(text)

    assert found.per_day == per_day
