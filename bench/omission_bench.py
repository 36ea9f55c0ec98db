"""Omissions found when one important fact is taken out of an answer, and listed when none is.

``python bench/omission_bench.py`` makes 40 original charts as FHIR with a faithful answer to each, and
takes out an allergy, a stop order or an abnormal result in turn.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from core.evaluation.frozen import readable  # noqa: E402
from core.evidence.chart.checks import read_chart_facts  # noqa: E402
from core.provenance.omissions import find_omissions, packaged_weights  # noqa: E402
from core.provenance.records import Omission, RiskLevel  # noqa: E402
from core.records import Source, Trace  # noqa: E402

NAMES = ("Ilse Brandt", "Tomas Okafor", "Mirela Dinu", "Jonas Hale", "Priya Nand", "Aaro Lehto")
ALLERGENS = (
    "Penicillin V",
    "Latex",
    "Peanut",
    "Ibuprofen",
    "Sulfamethoxazole",
    "Shellfish",
    "Codeine",
)
DRUGS = ("Metformin", "Lisinopril", "Amlodipine", "Atorvastatin", "Omeprazole", "Sertraline")
STOPPED = ("Warfarin", "Naproxen", "Prednisone", "Clopidogrel", "Digoxin", "Methotrexate")
RESULTS = (
    ("Potassium", "6.1", "mmol/L", "HH"),
    ("Creatinine", "2.4", "mg/dL", "H"),
    ("Hemoglobin", "7.9", "g/dL", "L"),
    ("Troponin I", "1.8", "ng/mL", "HH"),
    ("Sodium", "121", "mmol/L", "LL"),
)
CONDITIONS = ("Asthma", "Essential hypertension", "Gout", "Hypothyroidism")
QUESTIONS = (
    "Summarise this patient's chart for the handover.",
    "Give an overview of {who} before the visit.",
    "Review {who}'s record: medication, allergies, results.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A chart, a question, and the sentences of a faithful answer by what each tells."""

    source: Source
    question: str
    told: dict[str, str]


def cases(count: int = 40) -> list[Case]:
    """Original charts; the same every time."""
    return [_case(random.Random(f"omission-{number}"), number) for number in range(count)]


def _case(rng: random.Random, number: int) -> Case:
    who = rng.choice(NAMES)
    allergen, stopped, drug = rng.choice(ALLERGENS), rng.choice(STOPPED), rng.choice(DRUGS)
    condition = rng.choice(CONDITIONS)
    test, value, unit, flag = rng.choice(RESULTS)
    entries = [
        {"resourceType": "Patient", "id": f"p{number}", "name": who, "birthDate": "1961-03-09"},
        {"resourceType": "AllergyIntolerance", "code": f"Allergy to {allergen}",
         "clinicalStatus": "active"},
        {"resourceType": "MedicationRequest", "status": "stopped",
         "medicationCodeableConcept": f"{stopped} 5 MG Oral Tablet", "authoredOn": "2021-02-03"},
        {"resourceType": "MedicationRequest", "status": "active",
         "medicationCodeableConcept": f"{drug} 10 MG Oral Tablet", "authoredOn": "2022-05-01"},
        {"resourceType": "Condition", "code": condition, "clinicalStatus": "active"},
        {"resourceType": "Observation", "code": test, "effectiveDateTime": "2023-06-01",
         "valueQuantity": {"value": float(value), "unit": unit}, "interpretation": flag},
    ]  # fmt: skip
    rng.shuffle(entries)
    text = json.dumps({"resourceType": "Bundle", "type": "searchset",
                       "entry": [{"resource": entry} for entry in entries]})  # fmt: skip
    told = {
        "allergy": f"{who} is allergic to {allergen.lower()}.",
        "stop order": f"{stopped} was stopped; it is no longer taken.",
        "current medication": f"{who} takes {drug.lower()} 10 mg.",
        "condition": f"{condition} is active.",
        "abnormal result": f"{test} was abnormal at {value} {unit} ({flag}).",
    }
    return Case(
        source=readable(Source(source_id="chart#0", tool_name="get_ehr", text=text)),
        question=rng.choice(QUESTIONS).format(who=who),
        told=told,
    )


def omitted(case: Case, without: str | None = None) -> tuple[Omission, ...]:
    """What is listed when the answer leaves out one thing, or nothing."""
    answer = " ".join(text for name, text in case.told.items() if name != without)
    trace = Trace(trace_id="t", question=case.question, answer=answer, sources=(case.source,))
    return find_omissions(trace, read_chart_facts(trace), packaged_weights())[0]


def main() -> None:
    """Print the share found as HIGH or CRITICAL, and what faithful answers are listed with."""
    kinds = ("allergy", "stop order", "abnormal result")
    found = {kind: [0, 0] for kind in kinds}
    listed = []
    for number, case in enumerate(cases()):
        kind = kinds[number % len(kinds)]
        serious = [o for o in omitted(case, kind)
                   if o.severity in (RiskLevel.HIGH, RiskLevel.CRITICAL)]  # fmt: skip
        found[kind][0] += any(o.category == kind for o in serious)
        found[kind][1] += 1
        listed.append(len(omitted(case)))
    for kind, (right, whole) in found.items():
        print(f"{kind:18} {right} of {whole} found as HIGH or CRITICAL")
    print(f"{'all':18} {sum(r for r, _ in found.values())} of {sum(w for _, w in found.values())}")
    print(
        f"faithful answers: {sum(listed) / len(listed):.2f} listed on average, {max(listed)} at most"
    )


if __name__ == "__main__":
    main()
