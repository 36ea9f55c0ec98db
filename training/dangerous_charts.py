"""A drawn patient and the same chart in six formats: FHIR, JSON, lists, a letter, two tables."""

from __future__ import annotations

import csv
import io
import json
import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

WORDINGS = tomllib.loads(Path(__file__).with_name("dangerous_wordings.toml").read_text("utf-8"))
_DRUGS = (
    "metformin|amlodipine|lisinopril|sertraline|omeprazole|atorvastatin|warfarin|gabapentin|losartan|"
    "bisoprolol|furosemide|allopurinol|levothyroxine|ramipril|montelukast|citalopram|apixaban|digoxin"
).split("|")
_DISORDERS = (
    "gout|asthma|epilepsy|psoriasis|atrial fibrillation|type 2 diabetes|rheumatoid arthritis|"
    "hypothyroidism|sarcoidosis|ulcerative colitis|chronic kidney disease|glaucoma|migraine|"
    "heart failure|pulmonary embolism|multiple sclerosis|hepatitis C|diverticulitis"
).split("|")
SYMPTOMS = "fever|chest pain|cough|dizziness|nausea|hemoptysis|headache|vomiting".split("|")
_DOSES = (
    "5 mg",
    "10 mg",
    "20 mg",
    "25 mg",
    "40 mg",
    "50 mg",
    "75 mg",
    "100 mg",
    "250 mg",
    "500 mg",
)
_SCHEDULES = (
    "four times daily",
    "twice daily",
    "three times daily",
    "at bedtime",
    "every other day",
    "weekly",
)
_PEOPLE = (
    ("Ilse Brandt", "Ms Brandt", "her"),
    ("Omar Haddad", "Mr Haddad", "his"),
    ("Nora Lindqvist", "Ms Lindqvist", "her"),
    ("Piotr Zielinski", "Mr Zielinski", "his"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A drug of the chart."""

    name: str
    dose: str
    schedule: str
    start: str
    status: str = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A statement of the chart beside its orders: what of, as which kind, its status or its words."""

    of: str
    about: str  # "condition", "drug" or "symptom"
    kind: str
    prose: str


class Writer:
    """The charts and claims of one seeded draw."""

    def __init__(self, draw: random.Random, half: str) -> None:
        self.draw, self.half = draw, half
        self.name, self.who, self.his = draw.choice(_PEOPLE)
        years = draw.sample(range(2008, 2024), 4)
        parts = zip(
            draw.sample(_DRUGS, 4),
            draw.sample(_DOSES, 4),
            draw.sample(_SCHEDULES, 4),
            years,
            strict=True,
        )
        self.orders = [
            Order(name=drug, dose=dose, schedule=schedule, start=_date(draw, year))
            for drug, dose, schedule, year in parts
        ]
        taken = [order.name for order in self.orders]
        self.other_drug = draw.choice([drug for drug in _DRUGS if drug not in taken])
        self.disorders = draw.sample(_DISORDERS, 3)
        self.allergen = draw.choice(("penicillin", "codeine", "trimethoprim", "ibuprofen"))

    def wording(self, *path: str) -> str:
        """One wording of the half, with the person filled in."""
        found: object = WORDINGS
        for part in path:
            assert isinstance(found, Mapping)
            found = found[part]
        assert isinstance(found, list)
        return str(self.draw.choice(found))

    def fill(self, wording: str, **values: str) -> str:
        """The wording with its slots filled and a capital at its start."""
        told = {"who": self.who, "who_his": f"{self.who}'s", **values}
        text = wording.format(**told)
        return text[0].upper() + text[1:]

    def said(self, about: str, kind: str, of: str) -> Said:
        """A statement about ``of`` in the half's words."""
        wording = self.wording(about, kind, self.half)
        return Said(of=of, about=about, kind=kind, prose=self.fill(wording, x=of, dose="30 mg"))

    def claim(self, kind: str, **values: str) -> str:
        """What an answer says, in the half's words."""
        return self.fill(self.wording("claims", kind, self.half), **values)


def _date(draw: random.Random, year: int) -> str:
    return f"{year}-{draw.randint(1, 12):02}-{draw.randint(10, 28)}"


def render(writer: Writer, form: str, said: list[Said]) -> str:
    """The writer's chart with these statements, in one format."""
    if form in ("list", "letter"):
        return _list(writer, said) if form == "list" else _letter(writer, said)
    if form in ("markdown_table", "csv_table"):
        return _table(writer, said, form)
    return _fhir(writer, said) if form == "fhir" else _nested(writer, said)


def _code(item: Said) -> str:
    if item.about == "symptom":
        return "denied"
    return str(WORDINGS[item.about][item.kind]["code"])


def _fhir(writer: Writer, said: list[Said]) -> str:
    who = {"display": writer.name}
    entries: list[dict[str, object]] = [
        {"resourceType": "Patient", "name": [{"text": writer.name}], "birthDate": "1961-04-07"}
    ]
    for order in writer.orders:
        entries.append(_order(order, who))
    entries.append(
        {
            "resourceType": "AllergyIntolerance",
            "clinicalStatus": {"coding": [{"code": "active"}]},
            "code": {"text": writer.allergen.capitalize()},
            "patient": who,
        }
    )
    for item in said:
        entries.append(_resource(item, who))
    bundle = {
        "resourceType": "Bundle",
        "type": "searchset",
        "entry": [{"resource": e} for e in entries],
    }
    return json.dumps(bundle)


def _order(order: Order, who: Mapping[str, str]) -> dict[str, object]:
    return {
        "resourceType": "MedicationRequest",
        "status": order.status,
        "intent": "order",
        "medicationCodeableConcept": {
            "text": f"{order.name.capitalize()} {order.dose.upper()} Oral Tablet"
        },
        "subject": who,
        "authoredOn": order.start,
        "dosageInstruction": [{"text": f"{order.dose} {order.schedule}"}],
    }


def _resource(item: Said, who: Mapping[str, str]) -> dict[str, object]:
    code = _code(item)
    if item.about == "drug" and code not in ("spouse", "hypothetical"):
        status = code.replace(" ", "-")
        order = Order(
            name=item.of, dose="30 mg", schedule="once daily", start="2018-05-05", status=status
        )
        return _order(order, who)
    if item.kind == "family":
        member = {"resourceType": "FamilyMemberHistory", "status": "completed", "patient": who}
        return {
            **member,
            "relationship": {"text": "mother"},
            "condition": [{"code": {"text": item.of}}],
        }
    if item.about == "condition" and item.kind == "present":
        standing: dict[str, object] = {"clinicalStatus": {"coding": [{"code": "active"}]}}
    else:
        told = str(WORDINGS[item.about][item.kind].get("fhir", "note"))
        label, _, value = told.partition(": ")
        if not value:
            note = {"resourceType": "DocumentReference", "status": "current", "subject": who}
            return {**note, "description": item.prose}
        standing = {"clinicalStatus": {"coding": [{"code": "active"}]}}
        standing[label] = {"coding": [{"code": value}]}
    return {"resourceType": "Condition", **standing, "code": {"text": item.of}, "subject": who}


def _nested(writer: Writer, said: list[Said]) -> str:
    chart: dict[str, object] = {"patient": {"name": writer.name, "dob": "1961-04-07"}}
    medications = [
        {
            "name": o.name,
            "dose": o.dose,
            "frequency": o.schedule,
            "started": o.start,
            "status": o.status,
        }
        for o in writer.orders
    ]
    problems, family, notes = [], [], []
    for item in said:
        code = _code(item)
        if item.kind == "family":
            family.append({"relation": "mother", "condition": item.of})
        elif code in ("spouse", "hypothetical", "template") or item.about == "symptom":
            notes.append(item.prose)
        elif item.about == "drug":
            medications.append(
                {
                    "name": item.of,
                    "dose": "30 mg",
                    "frequency": "once daily",
                    "started": "2018-05-05",
                    "status": code,
                }
            )
        else:
            problems.append({"condition": item.of, "status": code})
    chart |= {"medications": medications, "allergies": [{"substance": writer.allergen}]}
    for key, held in (("problems", problems), ("family_history", family), ("notes", notes)):
        if held:
            chart[key] = held
    return json.dumps(chart)


def _list(writer: Writer, said: list[Said]) -> str:
    numbered = writer.draw.random() < 0.5
    lines = [f"Patient: {writer.name}, born 1961-04-07", "", "Medications"]
    for index, order in enumerate(writer.orders, 1):
        mark = f"{index}." if numbered else "-"
        lines.append(
            f"{mark} {order.name.capitalize()} {order.dose} {order.schedule} (started {order.start})"
        )
    lines += [f"- {item.prose}" for item in said if item.about == "drug"]
    lines += ["", "Allergies", f"- {writer.allergen.capitalize()}", "", "Problems"]
    rest = [item.prose for item in said if item.about != "drug"]
    lines += [f"- {prose}" for prose in rest] or ["- none listed"]
    return "\n".join(lines) + "\n"


def _letter(writer: Writer, said: list[Said]) -> str:
    told = []
    for order in writer.orders:
        pattern = writer.draw.choice(
            (
                "{who} takes {x} {dose} {schedule}, started in {start}.",
                "{x} {dose} {schedule} was started in {start}.",
            )
        )
        told.append(
            writer.fill(
                pattern,
                x=order.name,
                dose=order.dose,
                schedule=order.schedule,
                start=order.start[:4],
            )
        )
    prose = " ".join(
        item.prose if item.prose.endswith((".", "]")) else f"{item.prose}." for item in said
    )
    return (
        f"Dear colleague,\n\nThank you for seeing {writer.name}, born 7 April 1961. {' '.join(told)} "
        f"{writer.who} is allergic to {writer.allergen}.\n\n{prose}\n\nWith kind regards\n"
    )


def _table(writer: Writer, said: list[Said], form: str) -> str:
    orders = [["Medication", "Dose", "Schedule", "Start", "Status"]]
    orders += [[o.name, o.dose, o.schedule, o.start, o.status] for o in writer.orders]
    problems = [["Problem", "Status", "Person"]]
    notes = []
    for item in said:
        code = _code(item)
        if code in ("hypothetical", "template"):
            notes.append(item.prose)
        elif item.about == "drug" and code != "spouse":
            orders.append([item.of, "30 mg", "once daily", "2018-05-05", code])
        elif item.about == "drug":
            notes.append(item.prose)
        else:
            person = {"family history": "mother", "spouse": "spouse"}.get(code, "patient")
            problems.append([item.of, code if person == "patient" else "active", person])
    allergies = [["Allergy", "Status"], [writer.allergen, "active"]]
    tables = [table for table in (orders, allergies, problems) if len(table) > 1]
    written = _markdown if form == "markdown_table" else _csv
    body = "\n\n".join(written(table) for table in tables)
    tail = ("\n\nNotes: " + " ".join(notes)) if notes else ""
    return f"Patient: {writer.name}, born 1961-04-07\n\n{body}{tail}\n"


def _markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _csv(rows: list[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().rstrip("\n")
