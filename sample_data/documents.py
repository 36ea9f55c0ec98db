"""Tool outputs as tools write them: the same facts in sections, records, JSON, FHIR or a letter."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from random import Random
from typing import Any

from world import Fact, Patient, Study, cap, flag_of

MONTHS = (
    "January February March April May June July August September October November December".split()
)
MARK = "[Synthetic record. All findings are invented.]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One tool output, what it says, and whether it can be evidence."""

    source_id: str
    tool_name: str
    family: str
    credit: str
    text: str
    facts: tuple[Fact, ...]
    lost: tuple[Fact, ...] = ()
    status: str = "ok"
    citation: dict[str, str] | None = None
    patient: Patient | None = None


def long_date(day: date) -> str:
    """12 March 2024."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def plain(value: str | date) -> str:
    """A slot as a structured output writes it."""
    return value.isoformat() if isinstance(value, date) else value


# ---------------------------------------------------------------- charts


LONGEST_CHART = 2_500
DROPPED_FIRST = ("weight", "smoking", "procedure", "resolved", "encounter")


def chart_text(rng: Random, patient: Patient, facts: list[Fact]) -> tuple[str, str, list[Fact]]:
    """A chart in one of its layouts: the tool that answers so, the text, the facts it keeps."""
    layouts: list[tuple[str, Callable[[Random, Patient, list[Fact]], str]]] = [
        ("load_patient_history", chart_sections),
        ("load_patient_history", chart_records),
        ("get_patient_chart", chart_json),
        ("get_clinic_letter", chart_letter),
        ("get_fhir_bundle", chart_fhir),
    ]
    tool, layout = rng.choice(layouts)
    kept, text = facts, layout(rng, patient, facts)
    for kind in DROPPED_FIRST:
        if len(text) > LONGEST_CHART:
            kept = [fact for fact in kept if fact.kind != kind]
            text = layout(rng, patient, kept)
    return tool, text, kept


def chart_line(fact: Fact) -> str:
    """A fact as a line of a problem-oriented record."""
    s = {key: plain(value) for key, value in fact.slots.items()}
    match fact.kind:
        case "condition":
            return f"{s['cond']} ({s['icd']}) - active since {s['onset']}"
        case "resolved":
            return f"{s['cond']} - RESOLVED {s['end']}"
        case "medication":
            return f"{s['drug']} {s['dose']} {s['freq']} (started {s['start']}, active)"
        case "allergy":
            return f"{s['substance']}: {s['reaction']} ({s['severity']})"
        case "encounter":
            return f"{s['date']} {s['site']}, {s['doctor']}; reason: {s['reason']}"
        case "blood_pressure":
            return f"BP {s['bp']} mmHg ({s['date']})"
        case "weight":
            return f"Weight {s['kg']} kg ({s['date']})"
        case "negative":
            return f"No history of {s['cond']}."
        case "suspected":
            return (
                f"Possible {s['cond']} - suspected by {s['doctor']}, unconfirmed, work-up pending."
            )
        case "smoking":
            return f"Former smoker, {s['py']} pack-years, quit {s['quit']}."
        case "procedure":
            return f"{s['date']} {s['proc']}"
        case "plan":
            return f"Return visit with {s['doctor']} in {s['interval']}."
    raise ValueError(fact.kind)


SECTIONS = (
    ("PROBLEM LIST", ("condition",)),
    ("PAST PROBLEMS", ("resolved",)),
    ("MEDICATIONS", ("medication",)),
    ("ALLERGIES AND INTOLERANCES", ("allergy",)),
    ("VITALS", ("blood_pressure", "weight")),
    ("ENCOUNTERS", ("encounter",)),
    ("PROCEDURES", ("procedure",)),
    ("NOTES", ("negative", "suspected", "smoking", "plan")),
)


def chart_sections(rng: Random, patient: Patient, facts: list[Fact]) -> str:
    """A printed summary under headings."""
    sex = "F" if patient.female else "M"
    rows = [
        rng.choice(["PATIENT SUMMARY (synthetic)", "== Chart extract, synthetic patient =="]),
        f"Name: {patient.name}   Sex: {sex}   DOB: {patient.born}   MRN: {patient.mrn}",
    ]
    bullet = rng.choice(["- ", "* ", "  "])
    for heading, kinds in SECTIONS:
        lines = [bullet + chart_line(fact) for fact in facts if fact.kind in kinds]
        if lines:
            rows += ["", heading, *lines]
    return "\n".join(rows)


def chart_records(rng: Random, patient: Patient, facts: list[Fact]) -> str:
    """One record a line, ``field: value`` pairs."""
    who = f"id: {patient.mrn}; name: {patient.name}"
    sex = "female" if patient.female else "male"
    rows = [f"Complete tool output for load_patient_history.\n{who}; sex: {sex}; birth_date: "
            f"{patient.born}; record: synthetic."]  # fmt: skip
    for number, fact in enumerate((f for f in facts if f.kind != "birth"), start=1):
        fields = "; ".join(
            f"{key}: {plain(value)}" for key, value in fact.slots.items() if key != "name"
        )
        status = {
            "condition": "; status: active", "resolved": "; status: resolved",
            "medication": "; status: active", "suspected": "; status: suspected, unconfirmed",
            "negative": "; status: absent, no history", "smoking": "; status: former smoker",
            "plan": "; status: follow-up planned", "blood_pressure": "; unit: mmHg",
        }.get(fact.kind, "")  # fmt: skip
        named = {"cond": "label", "bp": "blood_pressure", "kg": "weight_kg", "py": "pack_years",
                 "quit": "quit_year", "proc": "procedure", "icd": "code"}  # fmt: skip
        for short, full in named.items():
            fields = fields.replace(f"{short}: ", f"{full}: ") if fields.startswith(short) else (
                fields.replace(f"; {short}: ", f"; {full}: "))  # fmt: skip
        rows.append(f"[{number}] {who}; type: {fact.kind}; {fields}{status}.")
    return "\n".join(rows)


def chart_json(rng: Random, patient: Patient, facts: list[Fact]) -> str:
    """A record as one JSON object."""
    body: dict[str, Any] = {
        "synthetic": True,
        "patient": {
            "name": patient.name,
            "gender": "female" if patient.female else "male",
            "birthDate": patient.born.isoformat(),
            "mrn": patient.mrn,
        },
    }
    groups = {
        "condition": "problems", "resolved": "pastProblems", "medication": "medications",
        "allergy": "allergies", "encounter": "encounters", "procedure": "procedures",
        "negative": "pertinentNegatives", "suspected": "underInvestigation",
    }  # fmt: skip
    names = {"cond": "display", "icd": "icd10", "onset": "onsetDate", "end": "resolvedDate",
             "drug": "medication", "freq": "schedule", "start": "startDate", "proc": "procedure",
             "site": "setting", "doctor": "clinician", "bp": "bloodPressure_mmHg",
             "kg": "weight_kg", "py": "packYears", "quit": "quitYear"}  # fmt: skip
    extra = {"condition": {"status": "active"}, "resolved": {"status": "resolved"},
             "medication": {"status": "active"}, "suspected": {"status": "possible, unconfirmed"},
             "negative": {"history": "none"}, "smoking": {"status": "former smoker"}}  # fmt: skip
    for fact in facts:
        if fact.kind == "birth":
            continue
        row = {names.get(key, key): plain(value) for key, value in fact.slots.items()}
        row |= extra.get(fact.kind, {})
        if fact.kind in groups:
            body.setdefault(groups[fact.kind], []).append(row)
        elif fact.kind in ("blood_pressure", "weight"):
            body.setdefault("vitals", {}).update(row)
        else:
            body[{"smoking": "tobacco", "plan": "followUp"}[fact.kind]] = row
    return json.dumps(body, ensure_ascii=False, indent=rng.choice([1, 2, None]))


def chart_letter(rng: Random, patient: Patient, facts: list[Fact]) -> str:
    """A clinic letter in prose."""
    rows: list[str] = [
        f"CLINIC LETTER (synthetic)\nRe: {patient.name}, born {long_date(patient.born)}, record "
        f"{patient.mrn}\n\nDear colleague,\n"
    ]
    told = [letter_sentence(rng, patient, fact) for fact in facts if fact.kind != "birth"]
    cut = len(told) // 2
    rows += [" ".join(told[:cut]), "", " ".join(told[cut:]), "\nKind regards"]
    return "\n".join(rows)


def letter_sentence(rng: Random, patient: Patient, fact: Fact) -> str:
    """A fact as the writer of a letter puts it."""
    s = {k: long_date(v) if isinstance(v, date) else v for k, v in fact.slots.items()}
    she = "She" if patient.female else "He"
    who = f"{'Ms.' if patient.female else 'Mr.'} {patient.last}"
    match fact.kind:
        case "condition":
            return rng.choice([
                f"{who} is known for {s['cond']} ({s['icd']}), active since {s['onset']}.",
                f"The active problem {s['cond']} ({s['icd']}) goes back to {s['onset']}.",
                f"{s['onset']} marks the onset of {s['cond']} ({s['icd']}), which stays active.",
            ])  # fmt: skip
        case "resolved":
            return f"An earlier {s['cond']} resolved by {s['end']}."
        case "medication":
            return rng.choice([
                f"{she} continues {s['drug']} {s['dose']} {s['freq']}, begun {s['start']}.",
                f"On the medication card: {s['drug']} {s['dose']} {s['freq']} since {s['start']}.",
            ])  # fmt: skip
        case "allergy":
            return (
                f"Note the {s['severity']} allergy to {s['substance']}, which gave {s['reaction']}."
            )
        case "encounter":
            return (
                f"I saw {who} on {s['date']} in the {s['site']} because of {s['reason']} "
                f"({s['doctor']})."
            )
        case "blood_pressure":
            return f"On {s['date']} the blood pressure read {s['bp']} mmHg."
        case "weight":
            return f"Weight was {s['kg']} kg on {s['date']}."
        case "negative":
            return f"There is no history of {s['cond']}."
        case "suspected":
            return (
                f"{s['doctor']} raised possible {s['cond']}; this is suspected only, not "
                f"confirmed, and the work-up is pending."
            )
        case "smoking":
            return f"{she} is a former smoker ({s['py']} pack-years) who quit in {s['quit']}."
        case "procedure":
            return f"{she} had {s['proc']} on {s['date']}."
        case "plan":
            return f"{s['doctor']} will review {who} in {s['interval']}."
    raise ValueError(fact.kind)


def chart_fhir(rng: Random, patient: Patient, facts: list[Fact]) -> str:
    """A FHIR searchset; facts that have no resource of their own become notes."""
    ref = {"reference": f"Patient/{patient.mrn}"}
    first, last = patient.name.split()[0], patient.last
    items: list[dict[str, Any]] = [
        {
            "resourceType": "Patient", "id": patient.mrn,
            "name": [{"family": last, "given": [first], "text": patient.name}],
            "gender": "female" if patient.female else "male",
            "birthDate": patient.born.isoformat(),
        }
    ]  # fmt: skip
    for fact in facts:
        s = {key: plain(value) for key, value in fact.slots.items()}
        match fact.kind:
            case "condition" | "resolved":
                active = fact.kind == "condition"
                item: dict[str, Any] = {
                    "resourceType": "Condition",
                    "clinicalStatus": {"coding": [{"code": "active" if active else "resolved"}]},
                    "code": {"text": s["cond"]}
                    | ({"coding": [{"code": s["icd"]}]} if active else {}),
                    "subject": ref,
                    **(
                        {"onsetDateTime": s["onset"]} if active else {"abatementDateTime": s["end"]}
                    ),
                }
            case "medication":
                item = {
                    "resourceType": "MedicationRequest", "status": "active",
                    "medicationCodeableConcept": {"text": s["drug"]}, "subject": ref,
                    "authoredOn": s["start"],
                    "dosageInstruction": [{"text": f"{s['dose']} {s['freq']}"}],
                }  # fmt: skip
            case "allergy":
                item = {
                    "resourceType": "AllergyIntolerance", "code": {"text": s["substance"]},
                    "patient": ref,
                    "reaction": [{"manifestation": [{"text": s["reaction"]}],
                                  "severity": s["severity"]}],
                }  # fmt: skip
            case "encounter":
                item = {
                    "resourceType": "Encounter", "class": {"display": s["site"]}, "subject": ref,
                    "period": {"start": s["date"]}, "reasonCode": [{"text": s["reason"]}],
                    "participant": [{"individual": {"display": s["doctor"]}}],
                }  # fmt: skip
            case "procedure":
                item = {
                    "resourceType": "Procedure", "status": "completed",
                    "code": {"text": s["proc"]}, "subject": ref, "performedDateTime": s["date"],
                }  # fmt: skip
            case "blood_pressure":
                high, low = s["bp"].split("/")
                item = {
                    "resourceType": "Observation", "code": {"text": "Blood pressure"},
                    "subject": ref, "effectiveDateTime": s["date"],
                    "valueString": f"{high}/{low} mmHg",
                }  # fmt: skip
            case "weight":
                item = {
                    "resourceType": "Observation", "code": {"text": "Body weight"},
                    "subject": ref, "effectiveDateTime": s["date"],
                    "valueString": f"{s['kg']} kg",
                }  # fmt: skip
            case "birth":
                continue
            case _:
                item = {"resourceType": "Communication", "subject": ref,
                        "payload": [{"contentString": chart_line(fact)}]}  # fmt: skip
        items.append(item)
    bundle = {"resourceType": "Bundle", "type": "searchset", "total": len(items),
              "meta": {"tag": [{"code": "synthetic"}]},
              "entry": [{"resource": item} for item in items]}  # fmt: skip
    return json.dumps(bundle, ensure_ascii=False, separators=(",", ":"))


# ---------------------------------------------------------------- laboratory


def labs_text(rng: Random, patient: Patient, facts: list[Fact]) -> tuple[str, str]:
    """Results as a table, JSON rows or FHIR observations, with a fitting tool name."""
    rows: list[dict[str, str]] = []
    for fact in facts:
        s = {key: plain(value) for key, value in fact.slots.items()}
        if fact.kind == "lab":
            rows.append(s)
        else:
            flag = flag_of(float(s["before"]), s["ref"])
            rows.append({**s, "value": s["before"], "date": s["earlier"], "flag": flag})
    rows.sort(key=lambda row: (row["test"], row["date"]))
    layout = rng.choice(["table", "json", "fhir", "lines"])
    if layout == "table":
        out = [f"Laboratory report (synthetic) for {patient.name}, MRN {patient.mrn}", "",
               "Test | Result | Unit | Reference | Flag | Collected"]  # fmt: skip
        out += [
            f"{r['test']} | {r['value']} | {r['unit']} | {r['ref']} | {r['flag']} | {r['date']}"
            for r in rows
        ]
        return "get_lab_results", "\n".join(out)
    if layout == "lines":
        out = [f"LIS EXPORT synthetic; patient {patient.name}; id {patient.mrn}"]
        out += [
            f"{r['date']} {r['test']} (LOINC {r['loinc']}): {r['value']} {r['unit']}"
            f" [ref {r['ref']}] flagged {r['flag']}"
            for r in rows
        ]
        return "get_lab_results", "\n".join(out)
    if layout == "json":
        body = {
            "synthetic": True,
            "patient": {"name": patient.name, "mrn": patient.mrn},
            "results": [
                {"test": r["test"], "loinc": r["loinc"], "value": r["value"], "unit": r["unit"],
                 "referenceRange": r["ref"], "interpretation": r["flag"], "collected": r["date"]}
                for r in rows
            ],
        }  # fmt: skip
        return "get_lab_results", json.dumps(body, ensure_ascii=False, indent=1)
    items = [
        {"resource": {
            "resourceType": "Observation", "status": "final",
            "code": {"coding": [{"system": "http://loinc.org", "code": r["loinc"]}],
                     "text": r["test"]},
            "subject": {"reference": f"Patient/{patient.mrn}", "display": patient.name},
            "effectiveDateTime": r["date"],
            "valueQuantity": {"value": "@" + r["value"] + "@", "unit": r["unit"]},
            "interpretation": [{"text": r["flag"]}],
            "referenceRange": [{"text": r["ref"]}],
        }}
        for r in rows
    ]  # fmt: skip
    text = json.dumps(
        {"resourceType": "Bundle", "type": "searchset", "total": len(items), "entry": items},
        ensure_ascii=False, separators=(",", ":"),
    )  # fmt: skip
    # FHIR values are numbers, and a number keeps the digits that the laboratory wrote.
    return "get_fhir_observations", text.replace('"@', "").replace('@"', "")


# ---------------------------------------------------------------- literature


def abstract(rng: Random, study: Study) -> str:
    """The abstract of a study, running or under headings."""
    s: dict[str, str] = {}
    for fact in study.facts:
        s |= {f"{fact.kind}.{key}": plain(value) for key, value in fact.slots.items()}
    base = {key: plain(value) for key, value in study.facts[0].slots.items()}
    drug, comp, outcome, other = base["drug"], base["comp"], base["outcome"], s["subgroup.outcome"]
    background = rng.choice([
        f"Whether {drug} alters {outcome} in {base['pop']} has remained open.",
        f"{cap(drug)} is widely prescribed, yet its influence on {outcome} is debated.",
        f"We tested {drug} against {comp} with {outcome} as the main concern.",
        f"Earlier reports on {drug} and {outcome} were small and inconsistent.",
    ])  # fmt: skip
    methods = rng.choice([
        f"In this randomized trial, {base['n']} {base['pop']} from {base['nsites']} sites were "
        f"assigned to {drug} or {comp}; median follow-up was {base['months']} months.",
        f"At {base['nsites']} centers we randomized {base['n']} participants ({base['pop']}) to "
        f"{drug} or {comp} and followed them for a median of {base['months']} months.",
        f"{base['n']} {base['pop']} entered the study at {base['nsites']} centers and received "
        f"either {drug} or {comp}. The median follow-up was {base['months']} months.",
    ])  # fmt: skip
    e = {k.split(".")[1]: v for k, v in s.items() if k.startswith("effect.")}
    r = {k.split(".")[1]: v for k, v in s.items() if k.startswith("rates.")}
    n = {k.split(".")[1]: v for k, v in s.items() if k.startswith("null_effect.")}
    results = " ".join([
        rng.choice([
            f"{cap(drug)} {e['verbed']} {outcome} compared with {comp} (hazard ratio {e['hr']}; "
            f"95% CI {e['ci']}).",
            f"The hazard ratio for {outcome} was {e['hr']} (95% CI {e['ci']}) with {drug} versus "
            f"{comp}: {drug} {e['verbed']} {outcome}, making it {e['lessmore']}.",
        ]),
        rng.choice([
            f"{cap(outcome)} occurred in {r['r1']}% of the {drug} group and {r['r2']}% of the "
            f"{comp} group.",
            f"Rates were {r['r1']}% with {drug} and {r['r2']}% with {comp} for {outcome}.",
        ]),
        rng.choice([
            f"No significant difference was seen in {other} (HR {n['hr']}, 95% CI {n['ci']}; "
            f"P = {n['p']}).",
            f"{cap(other)} did not differ significantly between groups (HR {n['hr']}, 95% CI "
            f"{n['ci']}, P = {n['p']}).",
        ]),
        rng.choice([
            f"A benefit on {other} was seen only in {s['subgroup.sub']}, not in other "
            f"participants.",
            f"In prespecified analyses, {other} improved only in {s['subgroup.sub']} and not in "
            f"the rest.",
        ]),
        rng.choice([
            f"The most common adverse event with {drug} was {s['adverse.event']} "
            f"({s['adverse.pct']}%).",
            f"Among adverse events, {s['adverse.event']} was most common, reported by "
            f"{s['adverse.pct']}% of patients on {drug}.",
        ]),
    ])  # fmt: skip
    conclusion = rng.choice([
        f"{cap(drug)} {e['verbed']} {outcome}. Limitations include {s['limitation.limit']}.",
        f"In {base['pop']}, {drug} {e['verbed']} {outcome}; {s['limitation.limit']} is a "
        f"limitation of the work.",
        f"These data, limited by {s['limitation.limit']}, show that {drug} {e['verbed']} "
        f"{outcome}.",
    ])  # fmt: skip
    if rng.random() < 0.5:
        return " ".join([background, methods, results, conclusion])
    return f"BACKGROUND: {background}\nMETHODS: {methods}\nRESULTS: {results}\nCONCLUSION: {conclusion}"


def article_text(rng: Random, study: Study) -> tuple[str, str]:
    """A search result with its abstract; title and year stand with it, the rest is metadata."""
    c, body = study.citation, abstract(rng, study)
    layout = rng.choice(["pubmed", "json", "plain"])
    if layout == "json":
        row = {"pmid": c["pmid"], "title": c["title"], "authors": [f"{c['author']} et al."],
               "year": c["year"], "abstract": body, "synthetic": True}  # fmt: skip
        return "search_pubmed_key_words", json.dumps(
            {"query": study.drug, "count": 1, "articles": [row]}, ensure_ascii=False
        )
    if layout == "pubmed":
        return "search_pubmed_key_words", (
            f"Complete tool output for search_pubmed_key_words.\n[1] PMID: {c['pmid']}\n"
            f"Title: {c['title']}\nAuthors: {c['author']} et al. ({c['year']})\nAbstract: {body}\n"
            f"{MARK}"
        )
    return "get_pubmed_abstract", (
        f"{c['title']}\n{c['author']} and colleagues, {c['year']}. PMID {c['pmid']}.\n\n{body}\n"
        f"{MARK}"
    )


def metadata_text(rng: Random, study: Study) -> str:
    """The citation record without the abstract."""
    c = study.citation
    names = rng.choice([f"{c['author']} et al.", f"{c['author']} R, et al"])
    layout = rng.choice(["json", "ris", "lines"])
    if layout == "json":
        return json.dumps(
            {"pmid": c["pmid"], "title": c["title"], "journal": c["journal"], "year": c["year"],
             "volume": c["vol"], "first_author": c["author"],
             "publication_types": ["Journal Article", "Randomized Controlled Trial"],
             "language": "eng", "synthetic": True},
            ensure_ascii=False, indent=2,
        )  # fmt: skip
    if layout == "ris":
        return "\n".join([
            "TY  - JOUR", f"AN  - {c['pmid']} (PMID)", f"TI  - {c['title']}", f"AU  - {names}",
            f"JO  - {c['journal']}", f"PY  - {c['year']}", f"VL  - {c['vol']}", "LA  - eng",
            f"N1  - {MARK}", "ER  -",
        ])  # fmt: skip
    return (
        f"Complete tool output for get_pubmed_article_metadata.\n[1] Title: {c['title']}\n"
        f"Journal: {c['journal']}\nPublished: {c['year']}; volume {c['vol']}\nPMID: {c['pmid']}\n"
        f"First author: {names}\nLanguage: English\nArticle type: randomized controlled trial\n"
        f"{MARK}"
    )


# ---------------------------------------------------------------- reference documents


def label_text(rng: Random, facts: list[Fact]) -> str:
    """An invented drug label."""
    s: dict[str, str] = {}
    for fact in facts:
        s |= {key: plain(value) for key, value in fact.slots.items()}
    drug = s["drug"]
    if rng.random() < 0.4:
        return json.dumps(
            {"synthetic": True, "openfda_like": True, "generic_name": drug,
             "dosage_and_administration": f"Titrate to effect. Maximum recommended dose: {s['max']}"
             f" per day. Renal impairment: halve the starting dose when eGFR is below {s['cut']}.",
             "contraindications": f"{cap(drug)} is contraindicated in patients with {s['contra']}.",
             "adverse_reactions": f"{cap(s['event'])} occurred in {s['pct']}% of treated patients.",
             "drug_interactions": f"{cap(s['other'])} increases exposure to {drug}; monitor."},
            ensure_ascii=False, indent=1,
        )  # fmt: skip
    return (
        f"DRUG LABEL (invented text for demonstration): {drug.upper()}\n"
        f"2 DOSAGE AND ADMINISTRATION\nThe maximum recommended dose of {drug} is {s['max']} per day."
        f" In patients with an eGFR below {s['cut']}, reduce the starting dose by half.\n"
        f"4 CONTRAINDICATIONS\n{cap(drug)} is contraindicated in patients with {s['contra']}.\n"
        f"6 ADVERSE REACTIONS\nA common adverse reaction was {s['event']}, seen in {s['pct']}% of "
        f"patients treated with {drug} in pooled studies.\n"
        f"7 DRUG INTERACTIONS\n{cap(s['other'])} raises {drug} concentrations; use together with "
        f"caution."
    )


def formulary_text(rng: Random, facts: list[Fact]) -> str:
    """An invented formulary entry."""
    s = {key: plain(value) for key, value in facts[0].slots.items()}
    if rng.random() < 0.5:
        return json.dumps(
            {"plan": s["plan"], "drug": s["drug"], "status": "covered", "tier": int(s["tier"]),
             "prior_authorization": "required", "step_therapy": f"trial of {s['other']} first",
             "quantity_limit": f"{s['qty']} units per {s['days']} days",
             "copay_usd": int(s["copay"]), "supply_days": int(s["days"]), "synthetic": True},
            ensure_ascii=False, indent=2,
        )  # fmt: skip
    return (
        f"{s['plan']} - formulary entry (invented)\nDrug: {s['drug']}\nCoverage: covered, tier "
        f"{s['tier']}\nPrior authorization: required before dispensing\nStep therapy: a documented "
        f"trial of {s['other']} is required first\nQuantity limit: {s['qty']} units per "
        f"{s['days']} days\nMember copay: ${s['copay']} for a {s['days']}-day supply"
    )


def guideline_text(rng: Random, facts: list[Fact]) -> str:
    """An invented guideline excerpt."""
    s = {key: plain(value) for key, value in facts[0].slots.items()}
    second = plain(facts[-1].slots["drug"])
    number = rng.randrange(2, 9)
    return (
        f"{cap(s['body'].removeprefix('the '))}: practice guideline, excerpt (invented text)\n"
        f"Section {number}. Pharmacological treatment\n"
        f"{number}.1 For {s['pop']}, we recommend {s['drug']} ({s['grade']} recommendation).\n"
        f"{number}.2 When {s['first']} is not tolerated, {second} is suggested as an alternative.\n"
        f"{number}.3 Recheck {s['monitor']} every {s['interval']} once treatment is stable.\n"
        f"{number}.4 Shared decisions should be documented."
    )


def registry_text(rng: Random, facts: list[Fact]) -> str:
    """An invented trial registration."""
    s = {key: plain(value) for key, value in facts[0].slots.items()}
    title = f"{s['acronym']}: a randomized study of {s['drug']}"
    if rng.random() < 0.5:
        return json.dumps(
            {"nct_id": s["nct"], "brief_title": title, "overall_status": s["status"],
             "phase": f"Phase {s['phase']}", "enrollment": {"count": int(s["n"]),
             "type": "planned"}, "sponsor": s["sponsor"],
             "primary_outcome": {"measure": s["outcome"], "time_frame": f"{s['months']} months"},
             "primary_completion": s["done"], "synthetic": True},
            ensure_ascii=False, indent=1,
        )  # fmt: skip
    return (
        f"Registry entry {s['nct']} (invented)\nTitle: {title}\nStatus: {s['status']}\n"
        f"Phase: {s['phase']}\nSponsor: {s['sponsor']}\nPlanned enrollment: {s['n']} participants\n"
        f"Primary outcome: {s['outcome']} at {s['months']} months\n"
        f"Primary completion (expected): {s['done']}\nAllocation: randomized"
    )


def counts_text(rng: Random, patient: Patient, facts: list[Fact]) -> str:
    """Resource counts of one patient."""
    pairs = {plain(f.slots["resource"]): int(plain(f.slots["n"])) for f in facts}
    if rng.random() < 0.5:
        return json.dumps(
            {"patient": patient.name, "mrn": patient.mrn, "synthetic": True,
             "resource_counts": pairs, "total": sum(pairs.values())},
            ensure_ascii=False,
        )  # fmt: skip
    rows = "\n".join(f"{name:<22}{n:>5}" for name, n in pairs.items())
    return f"Resource summary for {patient.name} ({patient.mrn}), synthetic store\n{rows}"


# ---------------------------------------------------------------- outputs that went wrong

FAILURES = (
    "Error: request to the upstream service timed out after 30 s (HTTP 504).",
    "Error executing tool {tool}: connection reset by peer",
    '{{"isError": true, "error": {{"code": 503, "message": "service temporarily unavailable"}}}}',
    "Traceback (most recent call last):\n  ...\nValueError: patient identifier could not be resolved",
    "Error: rate limit exceeded, retry later.",
    "Permission denied: scope observation.read is missing for {tool}.",
)
NOTHING = ("", "[]", "No results found.", '{"count": 0, "articles": []}')


def failed(rng: Random, document: Document) -> Document:
    """The call of a document, had it failed."""
    text = rng.choice(FAILURES).format(tool=document.tool_name)
    return replace(document, text=text, status="error", facts=(), lost=document.facts)


def emptied(rng: Random, document: Document) -> Document:
    """The call of a document, had it found nothing."""
    return replace(
        document, text=rng.choice(NOTHING), status="empty", facts=(), lost=document.facts
    )


def truncated(rng: Random, document: Document) -> Document:
    """The document cut in the middle; facts that are not fully in the rest are lost."""
    cut = int(len(document.text) * rng.uniform(0.5, 0.66))
    rest = document.text[:cut]
    text = rest + f"\n… [output truncated at {cut} of {len(document.text)} characters]"
    kept = tuple(fact for fact in document.facts if holds(rest, fact))
    lost = tuple(fact for fact in document.facts if fact not in kept)
    return replace(document, text=text, status="truncated", facts=kept, lost=lost)


def holds(text: str, fact: Fact) -> bool:
    """Whether every word that the wordings of a fact may use stands in the text."""
    derived = ("verbed", "antiverbed", "lessmore", "moreless", "moved", "unmoved", "flag", "loinc")
    low = text.lower()
    for key, value in fact.slots.items():
        if key in derived:
            continue
        forms = [value.isoformat(), long_date(value)] if isinstance(value, date) else [value]
        if not any(form.lower() in low for form in forms):
            return False
    return True
