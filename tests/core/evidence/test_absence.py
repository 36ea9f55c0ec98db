"""What is denied as "not on record": the entries of its sort decide, what narrows it only silences."""

from __future__ import annotations

import json

import pytest
from tables import cases

from core.evaluation.frozen import readable
from core.evidence.checks import check_claim, read_trace_facts
from core.records import Check, Outcome, Source
from tests.builders import a_claim, a_source, a_trace


def absences(claim: str, *texts: str) -> list[Check]:
    sources: tuple[Source, ...] = tuple(
        readable(a_source(text, source_id=f"s{at}")) for at, text in enumerate(texts)
    )
    found = check_claim(a_claim(claim), read_trace_facts(a_trace(claim, *sources)))
    return [check for check in found if check.check == "absence"]


def outcome(claim: str, *texts: str) -> Outcome:
    (check,) = absences(claim, *texts)
    return check.outcome


def bundle(*resources: dict[str, object]) -> str:
    patient = {"resourceType": "Patient", "name": [{"text": "Mary Lee"}]}
    order = {
        "resourceType": "MedicationRequest",
        "status": "active",
        "medicationCodeableConcept": {"text": "atorvastatin 40 mg"},
    }
    entries = [{"resource": each} for each in (patient, *resources, order)]
    return json.dumps({"resourceType": "Bundle", "entry": entries})


def allergy(**fields: object) -> dict[str, object]:
    return {"resourceType": "AllergyIntolerance", "code": {"text": "penicillin"}, **fields}


def status(code: str) -> dict[str, object]:
    return {"coding": [{"code": code}]}


LISTED = {
    "prose": "Patient: Mary Lee. Medications: warfarin 5 mg daily. Allergies: penicillin (anaphylaxis). "
    "LDL 5.1 mmol/L on 2025-03-01. No history of stroke. INR 2.4.",
    "line": "Patient: Mary Lee.\nMedications: warfarin 5 mg daily.\nAllergies: penicillin (anaphylaxis).\n"
    "No history of stroke.\nINR 2.4.",
    "short": "72F with HTN. Meds: lisinopril 10 mg daily. All: penicillin. BP 142/88.",
    "list": "Patient: Mary Lee\n\nAllergies\n- penicillin (anaphylaxis)\n\nHistory\n- No history of stroke",
    "markdown": "# Mary Lee\n\n## Allergies\n\n- penicillin (anaphylaxis)\n\n## Plan\n\nNo change.",
    "table": "| Allergen | Reaction |\n|---|---|\n| penicillin | anaphylaxis |",
    "json": json.dumps({"patient": "Mary Lee", "allergies": [{"substance": "penicillin"}]}),
    "fhir": bundle(allergy(clinicalStatus=status("active"))),
    "fhir with a severity": bundle(allergy(reaction=[{"description": "no anaphylaxis"}])),
    "one of two refuted": bundle(
        allergy(verificationStatus=status("refuted")),
        {**allergy(), "code": {"text": "amoxicillin"}},
    ),
}
DENIALS = [
    "She has no known drug allergies.",
    "She has no known allergies.",
    "The chart lists no allergies.",
    "The chart lists no drug allergies.",
    "She has no documented allergies.",
    "She has no relevant allergies on record.",
    "She has no history of drug allergies.",
    "She has no drug allergies on record.",
    "No known drug allergies.",
]


@pytest.mark.parametrize("claim", DENIALS)
@pytest.mark.parametrize("chart", LISTED.values(), ids=LISTED)
def test_no_allergies_are_never_supported_beside_a_listed_one(claim: str, chart: str) -> None:
    assert outcome(claim, chart) in (Outcome.CONTRADICTS, Outcome.SILENT)


@pytest.mark.parametrize("chart", ["prose", "line", "list", "markdown", "json", "fhir"])
def test_the_listed_allergy_contradicts_and_is_shown(chart: str) -> None:
    (check,) = absences("She has no known drug allergies.", LISTED[chart])

    assert (check.outcome, check.veto) == (Outcome.CONTRADICTS, True)
    assert "penicillin" in check.reason


NONE_LISTED = {
    "none": "Patient: Mary Lee\nAllergies: none\nMedications: warfarin 5 mg daily",
    "none, in prose": "Patient: Mary Lee. Allergies: none known. Takes warfarin 5 mg daily.",
    "NKDA": "72F with HTN. NKDA. Meds: lisinopril 10 mg daily.",
    "NKDA under its label": "72F with HTN. Allergies: NKDA. Meds: lisinopril 10 mg daily.",
    "the same words": "Mary Lee, 72.\nNo known drug allergies.\nMedications: warfarin 5 mg daily",
    "a list": "Allergies\n- No known drug allergies\n\nMedications\n- warfarin 5 mg daily",
    "markdown": "## Allergies\n\nNone known.\n\n## Medications\n\n- warfarin 5 mg daily",
    "refuted": bundle(allergy(verificationStatus=status("refuted"))),
    "entered in error": bundle(allergy(verificationStatus=status("entered-in-error"))),
    "coded": bundle({**allergy(), "code": {"text": "No known allergy (situation)"}}),
    "nothing": bundle(),
    "a condition's name": "Condition: Perennial allergic rhinitis\nclinicalStatus: active",
}


@pytest.mark.parametrize(
    "claim", ["She has no known drug allergies.", "The chart lists no allergies."]
)
@pytest.mark.parametrize("chart", NONE_LISTED.values(), ids=NONE_LISTED)
def test_no_allergies_are_supported_where_none_is_listed(claim: str, chart: str) -> None:
    assert outcome(claim, chart) is Outcome.SUPPORTS


@pytest.mark.parametrize(
    "chart",
    [
        *LISTED.values(),
        "Allergies: peanuts (hives)",
        "Allergies: unknown",
        "Allergies: see list",
        "## Allergies\n\n## Plan\n\nRest.",
        "Allergies: none known, penicillin",
        "He is allergic to penicillin.",
    ],
)
def test_a_class_that_entries_do_not_name_is_neither_supported_nor_contradicted(chart: str) -> None:
    assert outcome("She has no known food allergies.", chart) is Outcome.SILENT


@cases
def test_other_sorts_of_entry_are_judged_alike(claim: str, chart: str, expected: Outcome) -> None:
    assert outcome(claim, f"Patient: Mary Lee\nDOB: 1950-02-01\n{chart}") is expected


def test_nothing_is_absent_from_a_record_too_long_to_be_kept_whole() -> None:
    long = "Seen today. " * 200 + "Allergies: penicillin (anaphylaxis)."

    assert outcome("She has no known drug allergies.", long) is Outcome.SILENT
