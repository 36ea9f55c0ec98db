"""Records in the shape that tool output has: their fields, and what can be said of them.

Every kind of record is a table of `templates/clinical_records.toml` and a function here that draws
its values. The order of the draws is part of what a seed means.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from training.clinical_kinds import (
    Field,
    Kind,
    Row,
    Said,
    Words,
    only_present,
    record_row,
    slots_of,
)
from training.clinical_words import (
    ALLERGENS,
    CITIES,
    CONDITIONS,
    DOSES,
    DRUGS,
    FINDINGS,
    FREQUENCIES,
    LABS,
    LAST,
    PROCEDURES,
    REACTIONS,
    ROUTES,
    SITES,
    VACCINES,
    VITALS,
    but,
    draw_date,
    identifier,
    iso,
    limit_near,
    near_numbers,
    other_dates,
    other_people,
    spoken_dates,
)
from training.tool_records import article, count, finding, formulary, service


def _with_person(person: str, rng: random.Random) -> tuple[list[Field], Said, Said]:
    fields = [Kind(name="person", rng=rng).field("name", person)] if rng.random() < 0.75 else []
    spoken: Said = {"name": (person,) if fields else ("the patient",)}
    others: Said = {"name": other_people(rng, person) if fields else ()}
    return fields, spoken, others


def _condition(person: str, rng: random.Random) -> Row:
    kind = Kind(name="condition", rng=rng)
    fields, spoken, others = _with_person(person, rng)
    label, day = rng.choice(CONDITIONS), draw_date(rng)
    status = rng.choices(("active", "resolved", "inactive", "in remission"), (6, 3, 1, 1))[0]
    grades = ("mild", "moderate", "severe")
    severity = rng.choice(grades)
    fields += [kind.field("label", label, in_case=True), kind.field("status", status)]
    if rng.random() < 0.6:
        fields.append(kind.field("onset", iso(day)))
        spoken["onset"], others["onset"] = spoken_dates(day), other_dates(day, rng)
        spoken["year"], others["year"] = (str(day[0]),), (str(day[0] - 2), str(day[0] + 1))
    if rng.random() < 0.35:
        fields.append(kind.field("severity", severity))
        spoken["severity"], others["severity"] = (severity,), but(grades, severity)
    if rng.random() < 0.4:
        ident = identifier(rng)
        fields.insert(0, kind.field("id", ident))
        spoken["id"], others["id"] = (ident,), (identifier(rng), identifier(rng))
    spoken |= {"label": (label,), "status": (status,)}
    others["label"] = but(CONDITIONS, label)
    others["status"] = but(("active", "resolved", "inactive"), status)
    words: Words = {
        "owner": person if others["name"] else spoken["name"][0].capitalize(),
        "label": label,
        "any_drug": lambda: rng.choice(DRUGS),
        "any_proof": lambda: rng.choice(("biopsy", "imaging", "blood tests")),
    }
    truths = {"resolved": status == "resolved", "active": status == "active"}
    has = "says_active" if status == "active" else "says_past"
    return record_row(kind, fields, spoken, others, words, truths, says=[has, "says"])


def _medication(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    drug, dose = rng.choice(DRUGS), rng.choice(DOSES)
    often, route = rng.choice(FREQUENCIES), rng.choice(ROUTES)
    status = rng.choices(("active", "stopped", "on-hold", "completed"), (6, 2, 1, 1))[0]
    day = draw_date(rng)
    takes = "is taking" if status == "active" else "was prescribed"
    kind = Kind(name="medication", rng=rng, marks={"takes": takes})
    fields += [kind.field("drug", drug, in_case=True)]
    optional = [
        kind.field("dose", dose),
        kind.field("often", often),
        kind.field("route", route),
        kind.field("status", status),
        kind.field("start", iso(day)),
    ]
    fields += [field for field in optional if rng.random() < 0.7]
    spoken |= {
        "drug": (drug,),
        "dose": (dose, dose.replace(" ", "")),
        "often": (often,),
        "route": (route,),
        "status": (status,),
        "start": spoken_dates(day),
    }
    others |= {
        "drug": but(DRUGS, drug),
        "dose": but(DOSES, dose),
        "often": but(FREQUENCIES[:7], often),
        "route": but(ROUTES, route),
        "status": but(("active", "stopped", "completed"), status),
        "start": other_dates(day, rng),
    }
    words: Words = {
        "drug": drug,
        "any_condition": lambda: rng.choice(CONDITIONS),
        "any_reaction": lambda: rng.choice(REACTIONS),
    }
    truths = {"stopped": status == "stopped"}
    return record_row(kind, fields, only_present(spoken, fields), others, words, truths)


def _lab(person: str, rng: random.Random) -> Row:
    kind = Kind(name="lab", rng=rng)
    fields, spoken, others = _with_person(person, rng)
    name, unit, low, high, normal_low, normal_high = rng.choice(LABS)
    digits = 1 if high < 100 else 0
    value = round(rng.uniform(low, high), digits)
    text, day = f"{value:.{digits}f}", draw_date(rng)
    fields += [kind.field("lab", name), kind.field("value", text), kind.field("unit", unit)]
    if rng.random() < 0.2:
        fields[-2:] = [kind.field_of(kind.table["joined"], f"{text} {unit}")]
    if rng.random() < 0.65:
        fields.append(kind.field("day", iso(day)))
    if rng.random() < 0.4:
        fields.append(kind.field("range", f"{normal_low}-{normal_high} {unit}"))
    spoken |= {
        "lab": (name, name.lower() if len(name) > 5 and name != "LDL cholesterol" else name),
        "value": (text,),
        "unit": (unit,),
        "day": spoken_dates(day),
    }
    others |= {
        "lab": tuple(lab[0] for lab in LABS if lab[0] != name),
        "value": near_numbers(value, digits),
        "day": other_dates(day, rng),
    }
    limit = limit_near(value, digits, rng)
    words: Words = {
        "lab": name,
        "limit": limit,
        "unit": unit,
        "any_last": lambda: rng.choice(LAST),
        "any_drug": lambda: rng.choice(DRUGS),
    }
    truths = {
        "over": value > float(limit),
        "inside": normal_low <= value <= normal_high,
        "high": value > normal_high,
    }
    return record_row(kind, fields, only_present(spoken, fields, "unit"), others, words, truths)


def _vital(person: str, rng: random.Random) -> Row:
    kind = Kind(name="vital", rng=rng)
    fields, spoken, others = _with_person(person, rng)
    name, unit, low, high = rng.choice(VITALS)
    value, day = rng.randint(low, high), draw_date(rng)
    fields += [
        kind.field("vital", name),
        kind.field("value", f"{value} {unit}"),
        kind.field("day", iso(day)),
    ]
    name = name.lower()
    spoken |= {"vital": (name,), "value": (str(value),), "unit": (unit,), "day": spoken_dates(day)}
    others |= {
        "vital": tuple(v[0].lower() for v in VITALS if v[0].lower() != name),
        "value": near_numbers(value, 0),
        "day": other_dates(day, rng),
    }
    limit = limit_near(value, 0, rng)
    words = {"vital": name, "limit": limit, "unit": unit}
    return record_row(kind, fields, spoken, others, words, {"over": value > float(limit)})


def _allergy(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    if rng.random() < 0.15:
        kind = Kind(name="no_allergy", rng=rng)
        fields.append(kind.field("none", rng.choice(kind.table["values"])))
        return record_row(kind, fields, spoken, others, {"allergen": rng.choice(ALLERGENS)})
    kind, grades = Kind(name="allergy", rng=rng), ("mild", "moderate", "severe")
    allergen, reaction = rng.choice(ALLERGENS), rng.choice(REACTIONS)
    severity = rng.choice(grades)
    fields += [kind.field("allergen", allergen, in_case=True), kind.field("reaction", reaction)]
    if rng.random() < 0.6:
        fields.append(kind.field("severity", severity))
    spoken |= {"allergen": (allergen,), "reaction": (reaction,), "severity": (severity,)}
    others |= {
        "allergen": but(ALLERGENS, allergen),
        "reaction": but(REACTIONS, reaction),
        "severity": but(grades, severity),
    }
    return record_row(kind, fields, only_present(spoken, fields), others, {"allergen": allergen})


def _demographics(person: str, rng: random.Random) -> Row:
    kind = Kind(name="demographics", rng=rng)
    day, city, ident = draw_date(rng), rng.choice(CITIES), identifier(rng)
    day = (rng.randint(1932, 2015), day[1], day[2])
    gender = rng.choice(("female", "male"))
    doctor = f"Dr. {rng.choice(LAST)}"
    fields = [
        kind.field("id", ident),
        kind.field("who", person),
        kind.field("gender", gender),
        kind.field("birth", iso(day)),
        kind.field("city", city),
        kind.field("doctor", doctor),
    ]
    fields = fields[:2] + [field for field in fields[2:] if rng.random() < 0.7]
    spoken = {
        "id": (ident,),
        "who": (person,),
        "gender": (gender,),
        "birth": spoken_dates(day),
        "year": (str(day[0]),),
        "city": (city,),
        "doctor": (doctor,),
        "sex": ("woman" if gender == "female" else "man",),
    }
    follows = {"birth": "year", "gender": "sex"}
    more = [follows[slot] for slot in slots_of(fields) if slot in follows]
    others = {
        "id": (identifier(rng), identifier(rng)),
        "who": other_people(rng, person),
        "gender": but(("female", "male"), gender),
        "birth": other_dates(day, rng),
        "year": (str(day[0] + 4), str(day[0] - 7), str(day[0] + 10)),
        "city": but(CITIES, city),
        "doctor": (f"Dr. {rng.choice(LAST)}y", "Dr. Abara"),
        "sex": ("man" if gender == "female" else "woman",),
    }
    words: Words = {"person": person, "any_condition": lambda: rng.choice(CONDITIONS)}
    return record_row(kind, fields, only_present(spoken, fields, *more), others, words)


def _event(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    what, pool, base, past = rng.choice(
        (
            ("procedure", PROCEDURES, "Procedure", "underwent"),
            ("vaccine", VACCINES, "Immunization", "received the vaccine for"),
        )
    )
    kind = Kind(name="event", rng=rng, marks={"what": what, "base": base, "past": past})
    thing, day = rng.choice(pool), draw_date(rng)
    doctor, city = f"Dr. {rng.choice(LAST)}", rng.choice(CITIES)
    status = rng.choice(("completed", "completed", "not-done"))
    fields += [
        kind.field("thing", thing, in_case=True),
        kind.field("day", iso(day)),
        kind.field("status", status),
    ]
    if rng.random() < 0.5:
        fields.append(kind.field("doctor", doctor))
    if rng.random() < 0.4:
        fields.append(kind.field("city", f"{city} General Hospital"))
    spoken |= {
        "thing": (thing,),
        "day": spoken_dates(day),
        "status": (status,),
        "doctor": (doctor,),
        "year": (str(day[0]),),
        "city": (city,),
    }
    others |= {
        "thing": but(pool, thing),
        "day": other_dates(day, rng),
        "status": but(("completed", "not-done"), status),
        "doctor": ("Dr. Abara", "Dr. Quill"),
        "year": (str(day[0] - 3), str(day[0] + 2)),
        "city": but(CITIES, city),
    }
    variant = "done" if status == "completed" else "not_done"
    spoken = only_present(spoken, fields, "year")
    return record_row(
        kind,
        fields,
        spoken,
        others,
        {"thing": thing},
        says=["says", f"says_{variant}"],
        denies=["denies", f"denies_{variant}"],
    )


def _imaging(person: str, rng: random.Random) -> Row:
    kind, modalities = Kind(name="imaging", rng=rng), ("X-ray", "CT", "MRI", "ultrasound")
    fields, spoken, others = _with_person(person, rng)
    modality, site = rng.choice(modalities), rng.choice(SITES)
    finding, day = rng.choice(FINDINGS), draw_date(rng)
    fields += [
        kind.field("modality", modality),
        kind.field("site", site),
        kind.field("finding", finding, in_case=True),
        kind.field("day", iso(day)),
    ]
    spoken |= {
        "modality": (modality,),
        "site": (site,),
        "finding": (finding,),
        "day": spoken_dates(day),
    }
    others |= {
        "modality": but(modalities, modality),
        "site": but(SITES, site),
        "finding": but(FINDINGS, finding),
        "day": other_dates(day, rng),
    }
    words = {"modality": modality, "finding": finding}
    return record_row(
        kind, fields, spoken, others, words, {"clear": finding.startswith("no acute")}
    )


CLINICAL: tuple[Callable[[str, random.Random], Row], ...] = (
    _condition,
    _medication,
    _lab,
    _vital,
    _allergy,
    _event,
    _imaging,
)
ALONE = (finding, article, count, formulary, service, _demographics)
KINDS: tuple[tuple[Callable[[str, random.Random], Row], float], ...] = (
    (_condition, 16),
    (_medication, 15),
    (_lab, 14),
    (_vital, 5),
    (_allergy, 7),
    (_event, 8),
    (_imaging, 4),
    (_demographics, 9),
    (article, 10),
    (count, 6),
    (formulary, 4),
    (service, 7),
    (finding, 16),
)
