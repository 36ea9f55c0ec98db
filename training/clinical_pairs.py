"""Original synthetic pairs in the shape that tool output has: records, lab rows, article metadata,
short findings.

No text here was copied from a data set. Names, identifiers, values and dates are drawn from the
lists below.

A template is a sentence with slots, `{slot@effect}`. With the record's own values it has the
template's base label; with another value in one slot, the slot's effect is the label: `c`
contradiction (the record says otherwise), `n` neutral (the record is about somebody or something
else), `e` entailment (a denial of the wrong value), `-` never changed. A field that is dropped
from the record makes every statement about it neutral.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL, SyntheticPair

_EFFECT_LABEL = {"c": CONTRADICTION, "n": NEUTRAL, "e": ENTAILMENT}
_SLOT = re.compile(r"\{(\w+)@([cne-])\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A sentence with slots and the label it has when every slot holds the record's own value."""

    text: str
    base: str = ENTAILMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value of a record: its slot, a plain key, a dotted path, and the value as the record
    writes it."""

    slot: str
    key: str
    path: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One record: fields, the values as a sentence would say them, other possible values, and what
    can be said."""

    fields: tuple[Field, ...]
    spoken: Mapping[str, tuple[str, ...]]
    others: Mapping[str, tuple[str, ...]]
    templates: tuple[Template, ...]
    extra: tuple[tuple[str, str, str], ...] = ()  # (sentence, label, slot it depends on)


FIRST = (
    "Ana Felipe Carla Marek Ingrid Tomas Leila Yusuf Nadia Oskar Priya Rohan Mei Haruto Grace "
    "Samuel Lucia Diego Hanna Piotr Aisha Omar Chloe Victor Elena Marco Sofia Anders Kwame "
    "Zainab Ruth Daniel Irina Pavel Noor Emil Teresa Hugo Fatima Liam Olivia Jonas Marta Ravi "
    "Sunita Chen Linh Amara Joseph Miriam"
).split()
LAST = (
    "Ruiz Costa Mendoza Novak Lind Moreau Haddad Demir Petrova Berg Sharma Iyer Tanaka Okafor "
    "Boateng Silva Rossi Fischer Kowalski Larsen Ortega Vega Castillo Nguyen Park Kim Adeyemi "
    "Mbeki Cohen Levy Schmidt Keller Dubois Laurent Murphy Walsh Grant Hughes Patel Khan "
    "Rahman Yilmaz Santos Pereira Jansen Visser Nilsson Virtanen Horvat Popescu"
).split()
CONDITIONS = (
    "asthma|type 2 diabetes mellitus|essential hypertension|chronic kidney disease stage 3|"
    "atrial fibrillation|migraine|hypothyroidism|iron deficiency anaemia|"
    "gastro-oesophageal reflux disease|rheumatoid arthritis|osteoarthritis of the knee|"
    "major depressive disorder|generalised anxiety disorder|"
    "chronic obstructive pulmonary disease|heart failure|hyperlipidaemia|"
    "obstructive sleep apnoea|psoriasis|eczema|epilepsy|gout|osteoporosis|ulcerative colitis|"
    "Crohn disease|coeliac disease|acute bronchitis|pneumonia|urinary tract infection|"
    "deep vein thrombosis|coronary artery disease|multiple sclerosis|Parkinson disease|"
    "glaucoma|type 1 diabetes mellitus|allergic rhinitis|sinusitis|prediabetes"
).split("|")
DRUGS = (
    "metformin lisinopril atorvastatin levothyroxine amlodipine omeprazole salbutamol "
    "budesonide warfarin apixaban sertraline fluoxetine gabapentin prednisolone amoxicillin "
    "doxycycline ibuprofen paracetamol insulin-glargine empagliflozin furosemide bisoprolol "
    "losartan clopidogrel methotrexate montelukast tamsulosin allopurinol semaglutide "
    "spironolactone rosuvastatin escitalopram"
).split()
DOSES = (
    "5 mg|10 mg|20 mg|25 mg|40 mg|50 mg|75 mg|100 mg|200 mg|250 mg|500 mg|850 mg|1000 mg|"
    "2.5 mg|12.5 mg"
).split("|")
FREQUENCIES = (
    "once daily|twice daily|three times daily|every 8 hours|every 12 hours|once weekly|"
    "at bedtime|as needed|every morning"
).split("|")
ROUTES = "oral|intravenous|subcutaneous|inhaled|topical|intramuscular".split("|")
LABS = (
    ("Hemoglobin A1c", "%", 4.8, 11.5, 4.0, 5.6),
    ("Glucose", "mg/dL", 62, 260, 70, 99),
    ("Creatinine", "mg/dL", 0.5, 3.2, 0.6, 1.3),
    ("Potassium", "mmol/L", 2.9, 6.1, 3.5, 5.1),
    ("Sodium", "mmol/L", 124, 152, 135, 145),
    ("Hemoglobin", "g/dL", 7.5, 18.2, 12.0, 16.0),
    ("LDL cholesterol", "mg/dL", 48, 220, 0, 130),
    ("TSH", "mIU/L", 0.1, 12.0, 0.4, 4.0),
    ("Ferritin", "ng/mL", 4, 480, 15, 200),
    ("ALT", "U/L", 8, 190, 7, 56),
    ("eGFR", "mL/min/1.73m2", 18, 118, 60, 120),
    ("C-reactive protein", "mg/L", 0.3, 140, 0, 5),
    ("White blood cell count", "10^9/L", 2.1, 19.5, 4.0, 11.0),
    ("Platelet count", "10^9/L", 60, 540, 150, 400),
    ("Vitamin D", "ng/mL", 8, 80, 30, 100),
    ("INR", "ratio", 0.9, 4.6, 0.8, 1.2),
)
VITALS = (
    ("Heart rate", "beats/min", 48, 132),
    ("Body temperature", "C", 35, 40),
    ("Respiratory rate", "breaths/min", 10, 30),
    ("Oxygen saturation", "%", 86, 100),
    ("Body weight", "kg", 44, 132),
    ("Body height", "cm", 148, 198),
    ("Systolic blood pressure", "mmHg", 92, 188),
)
ALLERGENS = (
    "penicillin|peanut|latex|shellfish|aspirin|sulfonamide|egg|bee venom|codeine|cow milk|"
    "iodinated contrast"
).split("|")
REACTIONS = "hives|anaphylaxis|rash|wheezing|nausea|facial swelling|itching|vomiting".split("|")
PROCEDURES = (
    "colonoscopy|appendectomy|total knee replacement|cataract surgery|coronary angiography|"
    "upper endoscopy|hip replacement|laparoscopic cholecystectomy|skin biopsy|"
    "cardiac catheterisation|tonsillectomy|bronchoscopy|spirometry"
).split("|")
VACCINES = "influenza|hepatitis B|tetanus|pneumococcal|MMR|HPV|COVID-19|zoster".split("|")
CITIES = (
    "Leeds|Porto|Austin|Gdansk|Nairobi|Lyon|Osaka|Toronto|Bergen|Seville|Denver|Cork|Malmo|"
    "Utrecht|Boston"
).split("|")
SITES = (
    "chest|left knee|right shoulder|lumbar spine|abdomen|head|right hip|left ankle|pelvis".split(
        "|"
    )
)
FINDINGS = (
    "no acute abnormality|a small pleural effusion|a right lower lobe opacity|"
    "mild degenerative change|a 6 mm nodule|a non-displaced fracture|moderate joint effusion|"
    "a fatty liver"
).split("|")
JOURNALS = (
    "Annals of Ward Medicine|Northern Journal of Cardiology|Journal of Applied Nephrology|"
    "Respiratory Care Letters|Clinical Endocrine Reports|European Primary Care Review|"
    "Archives of Trial Methods|Open Neurology"
).split("|")
OUTCOMES = (
    "hospital readmission|exacerbations|systolic blood pressure|pain scores|"
    "all-cause mortality|relapse|fatigue|HbA1c|length of stay|fasting glucose|sleep quality|"
    "fracture risk|stroke|adverse events|depressive symptoms|body weight"
).split("|")
INTERVENTIONS = (
    *DRUGS[:20],
    "cognitive behavioural therapy",
    "supervised exercise",
    "a low-salt diet",
    "vitamin D supplementation",
    "telephone follow-up",
    "pulmonary rehabilitation",
    "a plant-based diet",
    "mindfulness training",
)
MONTHS = (
    "January February March April May June July August September October November December".split()
)
PREFIXES = (
    "According to the chart, ",
    "According to the patient's record, ",
    "The record shows that ",
    "Per the tool output, ",
    "The chart states that ",
    "Based on the record, ",
    "In the medical record, ",
)


def clinical_pairs(count: int, seed: int) -> list[SyntheticPair]:
    """Return `count` synthetic pairs, the three labels about equally often; the same seed gives
    the same pairs."""
    rng = random.Random(f"clinical-{seed}")
    pairs: list[SyntheticPair] = []
    wanted = 0
    while len(pairs) < count:
        label = (ENTAILMENT, NEUTRAL, CONTRADICTION)[wanted % 3]
        pair = _one_pair(label, rng)
        if pair is not None:
            pairs.append(pair)
            wanted += 1
    return pairs


def _one_pair(label: str, rng: random.Random) -> SyntheticPair | None:
    """Draw one record and try to say something about it that has the label; None when it cannot be
    said."""
    person = _person(rng)
    make = rng.choices([kind for kind, _ in KINDS], [weight for _, weight in KINDS])[0]
    row = make(person, rng)
    rows = [row]
    if make not in ALONE and rng.random() < 0.45:
        rows += _company(row, make, person, rng)
    statement = _statement(row, label, rng)
    if statement is None:
        return None
    sentence, dropped = statement
    kept = [
        Row(
            fields=tuple(f for f in r.fields if r is not row or f.slot not in dropped),
            spoken=r.spoken,
            others=r.others,
            templates=r.templates,
        )
        for r in rows
    ]
    rng.shuffle(kept)
    if not any(r.fields for r in kept):
        return None
    premise = _layout([r for r in kept if r.fields], rng)
    if rng.random() < 0.08:
        start = rng.choice(PREFIXES)
        sentence = start + (
            sentence if sentence.split(" ")[0] in _NAMES else sentence[0].lower() + sentence[1:]
        )
    return SyntheticPair(premise=premise, hypothesis=sentence, label=label)


_NAMES = frozenset(FIRST) | {f"{name}'s" for name in FIRST}


def _company(
    row: Row, make: Callable[[str, random.Random], Row], person: str, rng: random.Random
) -> list[Row]:
    """Return one to four more rows of the same person that do not speak about the same subject."""
    subject = _subject(row)
    found: list[Row] = []
    for _ in range(rng.randint(1, 4)):
        other = (make if rng.random() < 0.6 else rng.choice(CLINICAL))(person, rng)
        taken = {_subject(r) for r in (row, *found)}
        if _subject(other) not in taken and not (set(_values(other)) & {subject}):
            found.append(other)
    others = {value for alternatives in row.others.values() for value in alternatives}
    return [r for r in found if not others & {v for vs in r.spoken.values() for v in vs} - {person}]


def _subject(row: Row) -> str:
    return row.fields[0].value if row.fields[0].slot != "name" else row.fields[1].value


def _values(row: Row) -> list[str]:
    return [field.value for field in row.fields]


def _statement(row: Row, label: str, rng: random.Random) -> tuple[str, frozenset[str]] | None:
    """Return a sentence with the wanted label and the slots to drop from the record for it."""
    if row.extra and rng.random() < 0.35:
        fitting = [(text, slot) for text, relation, slot in row.extra if relation == label]
        if fitting:
            return rng.choice(fitting)[0], frozenset()
        if label == NEUTRAL:
            text, _, slot = rng.choice(row.extra)
            return (text, frozenset({slot})) if slot != "-" else None
    template = rng.choice(row.templates)
    slots = _SLOT.findall(template.text)
    present = {field.slot for field in row.fields}
    if any(slot not in row.spoken for slot, _ in slots):
        return None
    if template.base == label and (label != NEUTRAL):
        return _say(template, row, {}, rng), frozenset()
    options: list[tuple[str, str]] = [
        (slot, "swap")
        for slot, effect in slots
        if _EFFECT_LABEL.get(effect) == label and row.others.get(slot)
    ]
    if label == NEUTRAL:
        options += [(slot, "drop") for slot, effect in slots if effect in "ce" and slot in present]
    if not options:
        return None
    slot, how = rng.choice(options)
    if how == "drop":
        return _say(template, row, {}, rng), frozenset({slot})
    return _say(template, row, {slot: rng.choice(row.others[slot])}, rng), frozenset()


def _say(template: Template, row: Row, changed: Mapping[str, str], rng: random.Random) -> str:
    def fill(match: re.Match[str]) -> str:
        slot = match.group(1)
        return changed[slot] if slot in changed else rng.choice(row.spoken[slot])

    sentence = _SLOT.sub(fill, template.text)
    return sentence[0].upper() + sentence[1:]


def _layout(rows: Sequence[Row], rng: random.Random) -> str:
    style = rng.choices(
        ("lines", "paths", "semicolons", "json", "dashes", "table"), (22, 30, 24, 9, 8, 7)
    )[0]
    if style == "semicolons":
        return "\n".join("; ".join(f"{f.key}: {f.value}" for f in r.fields) + "." for r in rows)
    if style == "paths":
        return "\n".join("\n".join(f"{f.path}: {f.value}" for f in r.fields) for r in rows)
    if style == "json":
        inner = ["{" + ", ".join(f'"{f.key}": "{f.value}"' for f in r.fields) + "}" for r in rows]
        return inner[0] if len(inner) == 1 else "[" + ", ".join(inner) + "]"
    if style == "dashes":
        return "\n\n".join(
            "\n".join(f"- {f.key.capitalize()}: {f.value}" for f in r.fields) for r in rows
        )
    if style == "table":
        return "\n".join(" | ".join(f"{f.key}: {f.value}" for f in r.fields) for r in rows)
    return "\n".join("\n".join(f"{f.key}: {f.value}" for f in r.fields) for r in rows)


def _person(rng: random.Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def _people(rng: random.Random, name: str) -> tuple[str, ...]:
    first, last = name.split(" ", 1)
    near = [
        f"{rng.choice(FIRST)} {last}",
        f"{first} {rng.choice(LAST)}",
        _person(rng),
        _person(rng),
    ]
    return tuple(other for other in near if other != name)


def _but(values: Sequence[str], value: str) -> tuple[str, ...]:
    return tuple(other for other in values if other != value)


def _date(rng: random.Random) -> tuple[int, int, int]:
    return rng.randint(2009, 2026), rng.randint(1, 12), rng.randint(1, 28)


def _iso(day: tuple[int, int, int]) -> str:
    return f"{day[0]}-{day[1]:02d}-{day[2]:02d}"


def _spoken_dates(day: tuple[int, int, int]) -> tuple[str, ...]:
    year, month, number = day
    return (
        _iso(day),
        f"{number} {MONTHS[month - 1]} {year}",
        f"{MONTHS[month - 1]} {number}, {year}",
    )


def _other_dates(day: tuple[int, int, int], rng: random.Random) -> tuple[str, ...]:
    year, month, number = day
    moved = [
        (year + rng.choice((-3, -2, -1, 1, 2)), month, number),
        (year, month % 12 + 1, number),
        (year, month, number % 28 + 1),
        _date(rng),
    ]
    return tuple(rng.choice(_spoken_dates(other)) for other in moved if other != day)


def _near_number(value: float, digits: int, rng: random.Random) -> tuple[str, ...]:
    shift = [
        value * 1.1,
        value * 0.8,
        value * 1.5,
        value + 1,
        value - 1 if value > 1 else value + 2,
        value * 2,
    ]
    texts = {f"{other:.{digits}f}" for other in shift} - {f"{value:.{digits}f}"}
    return tuple(sorted(texts))


def _name_field(person: str, rng: random.Random) -> Field:
    return Field(
        slot="name",
        key=rng.choice(("name", "patient", "subject")),
        path=rng.choice(("Patient.name", "subject.display", "Patient.name.text")),
        value=person,
    )


def _ident(rng: random.Random) -> str:
    return rng.choice(
        (
            f"bench-{rng.randint(1, 99)}",
            f"P{rng.randint(1000, 9999)}",
            f"MRN-{rng.randint(10000, 99999)}",
            f"{rng.randint(10**6, 10**7 - 1)}",
        )
    )


def _with_person(
    person: str, rng: random.Random
) -> tuple[list[Field], dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    fields = [_name_field(person, rng)] if rng.random() < 0.75 else []
    spoken: dict[str, tuple[str, ...]] = {"name": (person,) if fields else ("the patient",)}
    others: dict[str, tuple[str, ...]] = {"name": _people(rng, person) if fields else ()}
    return fields, spoken, others


def _templates(*texts: str, denied: Sequence[str] = ()) -> tuple[Template, ...]:
    said = tuple(Template(text=text) for text in texts)
    return said + tuple(Template(text=text, base=CONTRADICTION) for text in denied)


# Dense on purpose: each record kind reads as a table of fields, values and sentences.
# fmt: off
def _condition(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    label, day = rng.choice(CONDITIONS), _date(rng)
    status = rng.choices(("active", "resolved", "inactive", "in remission"), (6, 3, 1, 1))[0]
    severity = rng.choice(("mild", "moderate", "severe"))
    key = rng.choice(("label", "condition", "diagnosis", "code", "problem"))
    fields += [Field(slot="label", key=key, path="Condition.code.text", value=_cased(label, rng)),
               Field(slot="status", key=rng.choice(("status", "clinical status", "clinicalStatus")),
                     path="Condition.clinicalStatus", value=status)]
    if rng.random() < 0.6:
        fields.append(Field(slot="onset", key=rng.choice(("onset", "onset date", "recorded")),
                            path="Condition.onsetDateTime", value=_iso(day)))
        spoken["onset"], others["onset"] = _spoken_dates(day), _other_dates(day, rng)
        spoken["year"], others["year"] = (str(day[0]),), (str(day[0] - 2), str(day[0] + 1))
    if rng.random() < 0.35:
        fields.append(Field(slot="severity", key="severity", path="Condition.severity.text",
            value=severity))
        spoken["severity"], others["severity"] = (severity,), _but(("mild", "moderate", "severe"),
            severity)
    if rng.random() < 0.4:
        ident = _ident(rng)
        fields.insert(0, Field(slot="id", key="id", path="Condition.id", value=ident))
        spoken["id"], others["id"] = (ident,), (_ident(rng), _ident(rng))
    spoken |= {"label": (label,), "status": (status,)}
    others |= {"label": _but(CONDITIONS, label), "status": _but(("active", "resolved", "inactive"),
        status)}
    has = ("{name@n} has {label@n}.", "{name@n} has a diagnosis of {label@n}.",
        "{name@n} has active {label@n}.") \
        if status == "active" else ("{name@n} has a history of {label@n}.",
            "{name@n} was diagnosed with {label@n}.")
    texts = [*has, "{name@n}'s {label@n} is {status@c}.", "The status of the {label@n} is {status@c}.",
             "The {label@n} is recorded as {status@c}.",
             "{name@n} ({id@-}) has {label@c} with status {status@c}.",
             "Record {id@-} lists {label@c}.", "The onset of {label@n} was {onset@c}.",
             "{name@n}'s {label@n} began in {year@c}.", "{name@n} has had {label@n} since {year@c}.",
             "The {label@n} is {severity@c}.", "{name@n} has {severity@c} {label@n}."]
    denied = ["{name@n}'s {label@n} is not {status@e}.",
        "{name@n} has never been diagnosed with {label@-}.",
              "There is no record of {label@-}.", "The {label@n} is not {severity@e}."]
    extra = [(f"{spoken['name'][0].capitalize() if not others['name'] else person}'s {label} has resolved.",
              ENTAILMENT if status == "resolved" else CONTRADICTION, "status"),
             (f"The {label} is still active.", ENTAILMENT if status == "active" else CONTRADICTION,
             "status"),
             (f"The {label} is being treated with {rng.choice(DRUGS)}.", NEUTRAL, "-"),
             (f"The patient's father also had {label}.", NEUTRAL, "-"),
             (f"The {label} was confirmed by {rng.choice(('biopsy', 'imaging', 'blood tests'))}.",
             NEUTRAL, "-")]
    return Row(fields=tuple(fields), spoken=spoken, others=others, templates=_templates(*texts,
        denied=denied),
               extra=tuple(extra))


def _cased(text: str, rng: random.Random) -> str:
    return text[0].upper() + text[1:] if rng.random() < 0.7 else text


def _medication(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    drug, dose = rng.choice(DRUGS), rng.choice(DOSES)
    often, route = rng.choice(FREQUENCIES), rng.choice(ROUTES)
    status = rng.choices(("active", "stopped", "on-hold", "completed"), (6, 2, 1, 1))[0]
    day = _date(rng)
    fields += [Field(slot="drug", key=rng.choice(("medication", "drug", "medicine")),
                     path="MedicationRequest.medicationCodeableConcept.text", value=_cased(drug, rng))]
    optional = [Field(slot="dose", key="dose", path="dosageInstruction.doseAndRate.doseQuantity",
        value=dose),
                Field(slot="often", key=rng.choice(("frequency", "timing")),
                path="dosageInstruction.timing.code.text",
                      value=often),
                Field(slot="route", key="route", path="dosageInstruction.route.text", value=route),
                Field(slot="status", key="status", path="MedicationRequest.status", value=status),
                Field(slot="start", key=rng.choice(("start", "authored on", "prescribed")),
                      path="MedicationRequest.authoredOn", value=_iso(day))]
    fields += [field for field in optional if rng.random() < 0.7]
    spoken |= {"drug": (drug,), "dose": (dose, dose.replace(" ", "")), "often": (often,),
        "route": (route,),
               "status": (status,), "start": _spoken_dates(day)}
    others |= {"drug": _but(DRUGS, drug), "dose": _but(DOSES, dose), "often": _but(FREQUENCIES[:7],
        often),
               "route": _but(ROUTES, route), "status": _but(("active", "stopped", "completed"), status),
               "start": _other_dates(day, rng)}
    spoken = _only_present(spoken, fields)
    takes = "is taking" if status == "active" else "was prescribed"
    texts = [f"{{name@n}} {takes} {{drug@n}}.", f"{{name@n}} {takes} {{drug@n}} {{dose@c}}.",
             f"{{name@n}} {takes} {{drug@n}} {{dose@c}} {{often@c}}.",
             "The dose of {drug@n} is {dose@c}.",
             "{drug@n} is given {often@c}.", "The route of {drug@n} is {route@c}.",
             "The prescription for {drug@n} is {status@c}.", "{drug@n} was prescribed on {start@c}.",
             "{name@n} was started on {drug@n} on {start@c}.",
             "{drug@n} {dose@c} {often@c} is listed as {status@c}."]
    denied = ["{name@n} was never prescribed {drug@-}.",
        "The prescription for {drug@n} is not {status@e}.",
              "The dose of {drug@n} is not {dose@e}."]
    extra = [(f"{drug} was prescribed for {rng.choice(CONDITIONS)}.".capitalize(), NEUTRAL, "-"),
             (f"The patient tolerates {drug} well.", NEUTRAL, "-"),
             (f"{drug} caused {rng.choice(REACTIONS)}.".capitalize(), NEUTRAL, "-")]
    if any(field.slot == "status" for field in fields):
        extra += [(f"{drug} has been discontinued.".capitalize(),
                   ENTAILMENT if status == "stopped" else CONTRADICTION, "status")]
    return Row(fields=tuple(fields), spoken=spoken, others=others, templates=_templates(*texts,
        denied=denied),
               extra=tuple(extra))


def _only_present(spoken: dict[str, tuple[str, ...]], fields: Sequence[Field]) -> dict[str, tuple[str,
    ...]]:
    present = {field.slot for field in fields} | {"name"}
    return {slot: said for slot, said in spoken.items() if slot in present}


def _lab(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    name, unit, low, high, normal_low, normal_high = rng.choice(LABS)
    digits = 1 if high < 100 else 0
    value = round(rng.uniform(low, high), digits)
    text, day = f"{value:.{digits}f}", _date(rng)
    fields += [Field(slot="lab", key=rng.choice(("test", "observation", "lab", "label")),
        path="Observation.code.text",
                     value=name),
               Field(slot="value", key="value", path="Observation.valueQuantity.value", value=text),
               Field(slot="unit", key="unit", path="Observation.valueQuantity.unit", value=unit)]
    if rng.random() < 0.2:
        fields[-2:] = [Field(slot="value", key=rng.choice(("result", "value")),
            path="Observation.value",
                             value=f"{text} {unit}")]
    if rng.random() < 0.65:
        fields.append(Field(slot="day", key=rng.choice(("date", "effective date", "collected")),
                            path="Observation.effectiveDateTime", value=_iso(day)))
    with_range = rng.random() < 0.4
    if with_range:
        fields.append(Field(slot="range", key="reference range", path="Observation.referenceRange.text",
                            value=f"{normal_low}-{normal_high} {unit}"))
    spoken |= {"lab": (name, name.lower() if len(name) > 5 and name not in ("LDL cholesterol",) else name),
               "value": (text,), "unit": (unit,), "day": _spoken_dates(day)}
    others |= {"lab": tuple(lab[0] for lab in LABS if lab[0] != name), "value": _near_number(value,
        digits, rng),
               "day": _other_dates(day, rng)}
    spoken = _only_present(spoken, fields) | {"unit": (unit,)}
    texts = ["{name@n}'s {lab@n} was {value@c} {unit@-}.", "The {lab@n} result is {value@c} {unit@-}.",
             "{lab@n} was measured at {value@c} {unit@-} on {day@c}.",
             "The {lab@n} test was done on {day@c}.",
             "{name@n} had a {lab@n} of {value@c} on {day@c}.",
             "The most recent {lab@n} value in the record is {value@c}.",
             "The record includes a {lab@n} result.", "{name@n} had their {lab@n} measured on {day@c}."]
    denied = ["The {lab@n} was not {value@e} {unit@-}.", "No {lab@-} result is on record.",
              "{lab@n} has never been measured."]
    limit = _limit(value, digits, rng)
    above = ENTAILMENT if value > float(limit) else CONTRADICTION
    below = CONTRADICTION if value > float(limit) else ENTAILMENT
    extra = [(f"The {name} was above {limit} {unit}.", above, "value"),
             (f"The {name} was below {limit} {unit}.", below, "value"),
             (f"The {name} is higher than it was at the last visit.", NEUTRAL, "-"),
             (f"The {name} test was ordered by Dr. {rng.choice(LAST)}.", NEUTRAL, "-"),
             (f"The {name} improved after treatment with {rng.choice(DRUGS)}.", NEUTRAL, "-")]
    if with_range:
        inside = normal_low <= value <= normal_high
        extra += [(f"The {name} is within the reference range.",
            ENTAILMENT if inside else CONTRADICTION, "range"),
                  (f"The {name} is above the reference range.",
                  ENTAILMENT if value > normal_high else CONTRADICTION, "range"),
                  (f"The {name} is abnormal.", CONTRADICTION if inside else ENTAILMENT, "range")]
    return Row(fields=tuple(fields), spoken=spoken, others=others, templates=_templates(*texts,
        denied=denied),
               extra=tuple(extra))


def _limit(value: float, digits: int, rng: random.Random) -> str:
    factor = rng.choice((0.6, 0.75, 0.85, 1.2, 1.35, 1.6))
    limit = f"{value * factor:.{digits}f}"
    return limit if float(limit) != value else f"{value + 1:.{digits}f}"


def _vital(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    name, unit, low, high = rng.choice(VITALS)
    value, day = rng.randint(low, high), _date(rng)
    fields += [Field(slot="vital", key=rng.choice(("vital", "observation", "measure")),
        path="Observation.code.text", value=name),
               Field(slot="value", key="value", path="Observation.valueQuantity.value",
               value=f"{value} {unit}"),
               Field(slot="day", key="date", path="Observation.effectiveDateTime", value=_iso(day))]
    spoken |= {"vital": (name.lower(),), "value": (str(value),), "unit": (unit,),
        "day": _spoken_dates(day)}
    others |= {"vital": tuple(v[0].lower() for v in VITALS if v[0] != name),
        "value": _near_number(value, 0, rng),
               "day": _other_dates(day, rng)}
    limit = _limit(value, 0, rng)
    over = value > float(limit)
    extra = [(f"The {name.lower()} was over {limit} {unit}.", ENTAILMENT if over else CONTRADICTION,
        "value"),
             (f"The {name.lower()} was under {limit} {unit}.", CONTRADICTION if over else ENTAILMENT,
             "value"),
             (f"The {name.lower()} was taken while standing.", NEUTRAL, "-")]
    return Row(fields=tuple(fields), spoken=spoken, others=others, extra=tuple(extra),
        templates=_templates(
        "{name@n}'s {vital@n} was {value@c} {unit@-}.",
        "The {vital@n} recorded on {day@c} was {value@c} {unit@-}.",
        "A {vital@n} of {value@c} {unit@-} was recorded.", "The {vital@n} was measured on {day@c}.",
        denied=["The {vital@n} was not {value@e} {unit@-}."]))


def _allergy(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    if rng.random() < 0.15:
        fields.append(Field(slot="none", key="allergies", path="AllergyIntolerance.code.text",
                            value=rng.choice(("No known allergies", "none recorded", "NKDA"))))
        allergen = rng.choice(ALLERGENS)
        extra = (("The patient has no known allergies.", ENTAILMENT, "none"),
                 (f"The patient is allergic to {allergen}.", CONTRADICTION, "none"),
                 (f"An allergy to {allergen} is recorded.", CONTRADICTION, "none"),
                 (f"The patient avoids {allergen}.", NEUTRAL, "-"))
        return Row(fields=tuple(fields), spoken=spoken, others=others, extra=extra,
                   templates=_templates("{name@n} has no recorded allergies."))
    allergen, reaction, severity = rng.choice(ALLERGENS), rng.choice(REACTIONS), rng.choice(("mild",
        "moderate", "severe"))
    fields += [Field(slot="allergen", key=rng.choice(("allergen", "substance", "allergy")),
                     path="AllergyIntolerance.code.text", value=_cased(allergen, rng)),
               Field(slot="reaction", key="reaction",
               path="AllergyIntolerance.reaction.manifestation.text", value=reaction)]
    if rng.random() < 0.6:
        fields.append(Field(slot="severity", key="severity",
            path="AllergyIntolerance.reaction.severity", value=severity))
    spoken |= {"allergen": (allergen,), "reaction": (reaction,), "severity": (severity,)}
    others |= {"allergen": _but(ALLERGENS, allergen), "reaction": _but(REACTIONS, reaction),
               "severity": _but(("mild", "moderate", "severe"), severity)}
    return Row(fields=tuple(fields), spoken=_only_present(spoken, fields), others=others,
               extra=((f"The {allergen} allergy was confirmed by skin testing.", NEUTRAL, "-"),
                      (f"The {allergen} allergy began in childhood.", NEUTRAL, "-")),
               templates=_templates(
        "{name@n} is allergic to {allergen@n}.", "{name@n} has an allergy to {allergen@n}.",
        "The reaction to {allergen@n} was {reaction@c}.",
        "{allergen@n} causes {reaction@c} in this patient.",
        "The {allergen@n} allergy is {severity@c}.",
        "{name@n} has a {severity@c} {allergen@n} allergy.",
        denied=["{name@n} is not allergic to {allergen@-}.", "{name@n} has no allergies.",
                "The {allergen@n} allergy is not {severity@e}."]))


def _demographics(person: str, rng: random.Random) -> Row:
    day, city, ident = _date(rng), rng.choice(CITIES), _ident(rng)
    day = (rng.randint(1932, 2015), day[1], day[2])
    gender = rng.choice(("female", "male"))
    doctor = f"Dr. {rng.choice(LAST)}"
    fields = [Field(slot="id", key=rng.choice(("id", "mrn", "patient id")), path="Patient.id",
        value=ident),
              Field(slot="who", key="name", path="Patient.name", value=person),
              Field(slot="gender", key=rng.choice(("gender", "sex")), path="Patient.gender",
              value=gender),
              Field(slot="birth", key=rng.choice(("birth date", "dob", "birthDate")),
              path="Patient.birthDate", value=_iso(day)),
              Field(slot="city", key="city", path="Patient.address.city", value=city),
              Field(slot="doctor", key="general practitioner",
              path="Patient.generalPractitioner.display", value=doctor)]
    fields = fields[:2] + [field for field in fields[2:] if rng.random() < 0.7]
    spoken = {"id": (ident,), "who": (person,), "gender": (gender,), "birth": _spoken_dates(day),
              "year": (str(day[0]),), "city": (city,), "doctor": (doctor,),
              "sex": ("woman" if gender == "female" else "man",)}
    present = {field.slot for field in fields}
    spoken = {slot: said for slot, said in spoken.items()
              if slot in present or (slot == "year" and "birth" in present)
              or (slot == "sex" and "gender" in present)}
    others = {"id": (_ident(rng), _ident(rng)), "who": _people(rng, person), "gender": _but(("female",
        "male"), gender),
              "birth": _other_dates(day, rng), "year": (str(day[0] + 4), str(day[0] - 7),
              str(day[0] + 10)),
              "city": _but(CITIES, city), "doctor": (f"Dr. {rng.choice(LAST)}y", "Dr. Abara"),
              "sex": ("man" if gender == "female" else "woman",)}
    return Row(fields=tuple(fields), spoken=spoken, others=others,
               extra=((f"{person} is married.", NEUTRAL, "-"), (f"{person} smokes.", NEUTRAL, "-"),
                      (f"{person} has {rng.choice(CONDITIONS)}.", NEUTRAL, "-"),
                      (f"{person} has two children.", NEUTRAL, "-")),
               templates=_templates(
        "The patient is {who@c}.", "The patient's name is {who@c}.", "Patient {id@-} is {who@c}.",
        "{who@n} is {gender@c}.", "{who@n} is a {sex@c}.", "{who@n} was born on {birth@c}.",
        "{who@n} was born in {year@c}.",
        "{who@n} lives in {city@c}.", "The record belongs to {who@c}.",
        "{who@n}'s general practitioner is {doctor@c}.",
        "The patient ID of {who@n} is {id@c}.",
        denied=["{who@n} is not {gender@e}.", "{who@n} was not born in {year@e}.",
            "{who@n} does not live in {city@e}."]))


def _event(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    what, pool, base, past = rng.choice((("procedure", PROCEDURES, "Procedure", "underwent"),
                                         ("vaccine", VACCINES, "Immunization",
                                         "received the vaccine for")))
    thing, day = rng.choice(pool), _date(rng)
    doctor, city = f"Dr. {rng.choice(LAST)}", rng.choice(CITIES)
    status = rng.choice(("completed", "completed", "not-done", "entered-in-error")[:3])
    fields += [Field(slot="thing", key=what, path=f"{base}.code.text", value=_cased(thing, rng)),
               Field(slot="day", key="date", path=f"{base}.performedDateTime", value=_iso(day)),
               Field(slot="status", key="status", path=f"{base}.status", value=status)]
    if rng.random() < 0.5:
        fields.append(Field(slot="doctor", key="performer", path=f"{base}.performer.display",
            value=doctor))
    if rng.random() < 0.4:
        fields.append(Field(slot="city", key="location", path=f"{base}.location.display",
            value=f"{city} General Hospital"))
    spoken |= {"thing": (thing,), "day": _spoken_dates(day), "status": (status,), "doctor": (doctor,),
               "year": (str(day[0]),), "city": (city,)}
    others |= {"thing": _but(pool, thing), "day": _other_dates(day, rng), "status": _but(("completed",
        "not-done"), status),
               "doctor": ("Dr. Abara", "Dr. Quill"), "year": (str(day[0] - 3), str(day[0] + 2)),
               "city": _but(CITIES, city)}
    present = {field.slot for field in fields} | {"name", "year"}
    spoken = {slot: said for slot, said in spoken.items() if slot in present}
    done = status == "completed"
    texts = ["The {thing@n} status is {status@c}.", "The record lists a {thing@n} entry dated {day@c}."]
    denied = ["The {thing@n} status is not {status@e}."]
    if done:
        texts += [f"{{name@n}} {past} {{thing@n}}.", f"{{name@n}} {past} {{thing@n}} on {{day@c}}.",
                  f"{{name@n}} {past} {{thing@n}} in {{year@c}}.",
                  "The {thing@n} was performed by {doctor@c}.",
                  "The {thing@n} took place in {city@c}."]
        denied += [f"{{name@n}} never {past} {{thing@-}}.", "The {thing@-} was not done."]
    else:
        texts += ["The {thing@n} was not done."]
        denied += ["The {thing@n} was completed."]
    return Row(fields=tuple(fields), spoken=spoken, others=others, templates=_templates(*texts,
        denied=denied),
               extra=((f"The {thing} was followed by complications.", NEUTRAL, "-"),
                      (f"The {thing} was well tolerated.", NEUTRAL, "-")))


def _imaging(person: str, rng: random.Random) -> Row:
    fields, spoken, others = _with_person(person, rng)
    modality, site = rng.choice(("X-ray", "CT", "MRI", "ultrasound")), rng.choice(SITES)
    finding, day = rng.choice(FINDINGS), _date(rng)
    fields += [Field(slot="modality", key="modality", path="ImagingStudy.modality", value=modality),
               Field(slot="site", key="body site", path="ImagingStudy.bodySite", value=site),
               Field(slot="finding", key=rng.choice(("conclusion", "impression", "finding")),
                     path="DiagnosticReport.conclusion", value=_cased(finding, rng)),
               Field(slot="day", key="date", path="ImagingStudy.started", value=_iso(day))]
    spoken |= {"modality": (modality,), "site": (site,), "finding": (finding,),
        "day": _spoken_dates(day)}
    others |= {"modality": _but(("X-ray", "CT", "MRI", "ultrasound"), modality), "site": _but(SITES,
        site),
               "finding": _but(FINDINGS, finding), "day": _other_dates(day, rng)}
    clear = finding.startswith("no acute")
    return Row(fields=tuple(fields), spoken=spoken, others=others, extra=(
        ("The imaging found no acute abnormality.", ENTAILMENT if clear else CONTRADICTION, "finding"),
        (f"The {modality} showed {finding}.", ENTAILMENT, "finding"),
        (f"The {modality} was compared with an earlier study.", NEUTRAL, "-"),
        ("Surgery was recommended.", NEUTRAL, "-")),
        templates=_templates("{name@n} had a {modality@c} of the {site@c}.",
            "The {site@c} was imaged on {day@c}.",
                             "The imaging was done on {day@c}.",
                             "The study was a {modality@c} of the {site@c}.",
                             denied=["The imaging was not done on {day@e}."]))


def _article(person: str, rng: random.Random) -> Row:
    drug, outcome, condition = rng.choice(INTERVENTIONS), rng.choice(OUTCOMES), rng.choice(CONDITIONS)
    title = rng.choice((f"Effect of {drug} on {outcome} in adults with {condition}",
        f"{drug} and {outcome}: a cohort study",
                        f"{_cased(outcome, rng)} in {condition}: a systematic review",
                        f"Long-term {drug} for {condition}"))
    journal, year, pmid, author = rng.choice(JOURNALS), rng.randint(1998, 2026), str(rng.randint(10**7,
        4 * 10**7)), person
    doi = f"10.{rng.randint(1000, 9999)}/{rng.choice('abcdefgh')}{rng.randint(100, 9999)}"
    fields = [Field(slot="title", key="title", path="article.title", value=_cased(title, rng)),
              Field(slot="journal", key="journal", path="article.journal", value=journal),
              Field(slot="year", key=rng.choice(("year", "published", "publication year")),
              path="article.year", value=str(year)),
              Field(slot="pmid", key=rng.choice(("pmid", "PMID")), path="article.pmid", value=pmid),
              Field(slot="author", key=rng.choice(("first author", "authors")),
              path="article.authors[0]", value=author),
              Field(slot="doi", key="doi", path="article.doi", value=doi)]
    fields = [fields[0]] + [field for field in fields[1:] if rng.random() < 0.75]
    spoken = _only_present({"title": (f'"{title}"', title), "journal": (journal,), "year": (str(year),),
        "pmid": (pmid,),
                            "author": (author,), "doi": (doi,)}, fields)
    others = {"journal": _but(JOURNALS, journal), "year": tuple(str(year + d) for d in (-5, -2, -1, 1,
        2)),
              "pmid": (str(int(pmid) + 7), str(rng.randint(10**7, 4 * 10**7))), "author": _people(rng,
              author),
              "title": (f"Trends in {rng.choice(OUTCOMES)} among {rng.choice(CONDITIONS)} patients",),
              "doi": (doi + "1",)}
    return Row(fields=tuple(fields), spoken=spoken, others=others, extra=(
        (f"The article reports that {drug} reduced {outcome}.", NEUTRAL, "-"),
        (f"The study enrolled {rng.randint(40, 900)} participants.", NEUTRAL, "-"),
        ("The article has been retracted.", NEUTRAL, "-"), ("The study was funded by its manufacturer.",
        NEUTRAL, "-")),
        templates=_templates(
        "The article was published in {year@c}.", "The article appeared in {journal@c}.",
        "The PMID is {pmid@c}.",
        "The study {title@n} was published in {journal@c} in {year@c}.",
        "{author@c} is the first author.",
        "{author@n} published an article in {journal@c}.",
        "The article with PMID {pmid@n} was published in {year@c}.",
        "The title of the article is {title@c}.", "The DOI of the article is {doi@c}.",
        denied=["The article was not published in {year@e}.",
            "The article did not appear in {journal@e}."]))


def _count(person: str, rng: random.Random) -> Row:
    total = rng.choice((0, 0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 20, 34, 57, 120, 238))
    what = rng.choice(("results", "articles", "observations", "conditions", "records", "encounters",
        "prescriptions", "trials",
                       "matches", "appointments"))
    query = rng.choice((*CONDITIONS, *DRUGS))
    fields = [Field(slot="query", key=rng.choice(("query", "search")), path="request.query",
        value=query),
              Field(slot="total", key=rng.choice(("total", "count", "total results")),
              path="Bundle.total", value=str(total)),
              Field(slot="kind", key=rng.choice(("type", "resource")), path="Bundle.entry.type",
              value=what)]
    if rng.random() < 0.5:
        fields.append(Field(slot="status", key="status", path="response.status", value="ok"))
    others = {"query": _but(CONDITIONS, query), "total": tuple(str(total + d) for d in (1, 2, 5, 10))}
    more = rng.choice((1, 2, 5, 10, 25, 100))
    extra = ((f"No {what} were found.", ENTAILMENT if total == 0 else CONTRADICTION, "total"),
             (f"At least one of the {what} was found.", ENTAILMENT if total else CONTRADICTION,
             "total"),
             (f"More than {more} {what} were found.", ENTAILMENT if total > more else CONTRADICTION,
             "total"),
             (f"Fewer than {more} {what} were found.", ENTAILMENT if total < more else CONTRADICTION,
             "total"),
             (f"Most of the {what} are from the last year.", NEUTRAL, "-"),
             (f"The {what} were sorted by date.", NEUTRAL, "-"))
    return Row(fields=tuple(fields), spoken={"query": (query,), "total": (str(total),),
        "what": (what,)}, others=others,
               extra=extra, templates=_templates(
        "The search for {query@n} returned {total@c} {what@-}.", "There are {total@c} {what@-}.",
        "A total of {total@c} {what@-} were found.", "The search term was {query@c}.",
        denied=["The search did not return {total@e} {what@-}."]))


def _formulary(person: str, rng: random.Random) -> Row:
    drug, tier, limit = rng.choice(DRUGS), rng.choice(("1", "2", "3", "4")), rng.choice(DOSES[3:13])
    prior = rng.choice(("required", "not required"))
    use = rng.choice(CONDITIONS)
    fields = [Field(slot="drug", key="drug", path="formulary.drug", value=drug),
              Field(slot="tier", key="tier", path="formulary.tier", value=tier),
              Field(slot="prior", key="prior authorization", path="formulary.priorAuthorization",
              value=prior),
              Field(slot="limit", key="maximum daily dose", path="formulary.maximumDailyDose",
              value=limit),
              Field(slot="use", key="indication", path="formulary.indication", value=use)]
    fields = [fields[0]] + [field for field in fields[1:] if rng.random() < 0.75]
    spoken = _only_present({"drug": (drug,), "tier": (tier,), "prior": (prior,), "limit": (limit,),
        "use": (use,)}, fields)
    others = {"drug": _but(DRUGS, drug), "tier": _but(("1", "2", "3", "4"), tier),
              "prior": _but(("required", "not required"), prior), "limit": _but(DOSES, limit),
              "use": _but(CONDITIONS, use)}
    extra: list[tuple[str, str, str]] = [(f"{_cased(drug, rng)} is cheaper than {rng.choice(DRUGS)}.",
        NEUTRAL, "-"),
                                         (f"{_cased(drug, rng)} is in short supply.", NEUTRAL, "-")]
    if any(field.slot == "prior" for field in fields):
        extra += [(f"{drug} needs prior authorization.",
            ENTAILMENT if prior == "required" else CONTRADICTION, "prior"),
                  (f"{drug} can be dispensed without prior authorization.",
                   CONTRADICTION if prior == "required" else ENTAILMENT, "prior")]
    return Row(fields=tuple(fields), spoken=spoken, others=others, extra=tuple(extra),
        templates=_templates(
        "{drug@n} is on tier {tier@c}.", "{drug@n} is a tier {tier@c} drug.",
        "Prior authorization is {prior@c} for {drug@n}.",
        "The maximum daily dose of {drug@n} is {limit@c}.", "{drug@n} is indicated for {use@c}.",
        denied=["{drug@n} is not on tier {tier@e}.",
            "The maximum daily dose of {drug@n} is not {limit@e}."]))


def _service(person: str, rng: random.Random) -> Row:
    """Return a record of an everyday tool: a booking, an order, an issue or a forecast."""
    day, city, other, ident = _date(rng), rng.choice(CITIES), rng.choice(CITIES), _ident(rng)
    amount, status = rng.randint(12, 980), rng.choice(("confirmed", "cancelled", "pending"))
    kind = rng.choice(("booking", "order", "issue", "forecast"))
    if kind == "booking" and city != other:
        pairs = [("id", "reservation", ident), ("who", "passenger", person), ("a", "origin", city),
            ("b", "destination", other),
                 ("day", "departure", _iso(day)), ("n", "price", f"{amount} USD"), ("s", "status",
                 status)]
        texts = ["{who@n} flies from {a@c} to {b@c}.", "The flight leaves on {day@c}.",
            "The reservation costs {n@c} USD.",
                 "Reservation {id@n} is {s@c}.", "The destination is {b@c}."]
    elif kind == "order":
        pairs = [("id", "order id", ident), ("who", "customer", person), ("a", "ship to", city), ("n",
            "quantity", str(amount)),
                 ("s", "status", status), ("day", "ordered", _iso(day))]
        texts = ["Order {id@n} is {s@c}.", "{who@n} ordered {n@c} items.",
            "The order was placed on {day@c}.",
                 "The order ships to {a@c}."]
    elif kind == "issue":
        pairs = [("id", "issue", ident), ("who", "assignee", person), ("s", "state", status), ("n",
            "comments", str(amount)),
                 ("day", "opened", _iso(day))]
        texts = ["Issue {id@n} is assigned to {who@c}.", "The issue has {n@c} comments.",
            "The issue was opened on {day@c}.",
                 "The state of the issue is {s@c}."]
    else:
        pairs = [("a", "city", city), ("day", "date", _iso(day)), ("n", "high", f"{amount % 38} C"),
                 ("s", "alert", status)]
        texts = ["The forecast for {a@n} on {day@c} is a high of {n@c} C.",
            "The forecast is for {a@c}.",
                 "A high of {n@c} C is expected in {a@n}."]
        amount = amount % 38
    fields = tuple(Field(slot=slot, key=key, path=f"{kind}.{key.replace(' ', '_')}",
        value=value) for slot, key, value in pairs)
    spoken = {"id": (ident,), "who": (person,), "a": (city,), "b": (other,), "day": _spoken_dates(day),
        "n": (str(amount),),
              "s": (status,)}
    others = {"id": (_ident(rng), _ident(rng)), "who": _people(rng, person),
        "a": tuple(c for c in CITIES if c not in (city, other)),
              "b": tuple(c for c in CITIES if c not in (city, other)), "day": _other_dates(day, rng),
              "n": _near_number(amount, 0, rng), "s": _but(("confirmed", "cancelled", "pending"),
              status)}
    return Row(fields=fields, spoken=_only_present(spoken, fields), others=others,
        templates=_templates(*texts))


def _finding(person: str, rng: random.Random) -> Row:
    """Return one result sentence of an abstract as a record of a single text field."""
    drug, outcome, condition = rng.choice(INTERVENTIONS), rng.choice(OUTCOMES), rng.choice(CONDITIONS)
    size, percent = rng.randint(24, 2400), rng.randint(4, 68)
    way = rng.choice(("reduced", "increased", "none"))
    control = rng.choice(("placebo", "usual care", "no treatment", "standard therapy"))
    p_value = f"0.0{rng.randint(1, 49):02d}" if way != "none" else f"0.{rng.randint(12, 94)}"
    group = rng.choice(("adults", "patients", "older adults", "women", "outpatients", "children"))
    if way == "none":
        result = rng.choice((
            f"{drug} had no significant effect on {outcome} compared with {control} (p = {p_value})",
            f"there was no significant difference in {outcome} between {drug} and {control} "
            f"(p = {p_value})"))
    else:
        verb = {"reduced": ("reduced", "lowered", "was associated with lower"),
                "increased": ("increased", "raised", "was associated with higher")}[way]
        chosen = rng.choice(verb)
        result = f"{drug} {chosen} {outcome} by {percent}% compared with {control} (p = {p_value})" \
            if not chosen.startswith("was") else f"{drug} {chosen} {outcome} than {control} (p = {p_value})"
        if chosen.startswith("was"):
            percent = 0
    place = rng.choice((f"In a randomised trial of {size} {group} with {condition}, ",
        f"Among {size} {group} with {condition}, ",
                        f"In this cohort of {size} {group} with {condition}, "))
    text = place + result + "."
    fields = (Field(slot="text", key=rng.choice(("abstract", "text", "snippet", "conclusion")),
        path="article.abstract", value=text),)
    d = _cased(drug, rng)
    effect = {"reduced": (ENTAILMENT, CONTRADICTION, CONTRADICTION), "increased": (CONTRADICTION,
        ENTAILMENT, CONTRADICTION),
              "none": (CONTRADICTION, CONTRADICTION, ENTAILMENT)}[way]
    another_drug = rng.choice(_but(INTERVENTIONS, drug))
    another_outcome = rng.choice(_but(OUTCOMES, outcome))
    wrong_size = size + rng.choice((-9, 10, 40, 100))
    extra = [(f"{d} reduced {outcome} in {group} with {condition}.", effect[0], "text"),
             (f"{d} lowers {outcome}.", effect[0], "text"),
             (f"{d} increased {outcome} compared with {control}.", effect[1], "text"),
             (f"{d} raises {outcome}.", effect[1], "text"),
             (f"{d} did not significantly change {outcome}.", effect[2], "text"),
             (f"There was no significant difference in {outcome} between {drug} and {control}.",
             effect[2], "text"),
             (f"The study included {size} {group}.", ENTAILMENT, "text"),
             (f"The study included {wrong_size} {group}.", CONTRADICTION, "text"),
             (f"The participants had {condition}.", ENTAILMENT, "text"),
             (f"{_cased(another_drug, rng)} reduced {outcome}.", NEUTRAL, "-"),
             (f"{d} reduced {another_outcome}.", NEUTRAL, "-"),
             (f"{d} did not affect {another_outcome}.", NEUTRAL, "-"),
             (f"{d} increased {another_outcome}.", NEUTRAL, "-"),
             (f"{d} is recommended as first-line treatment for {condition}.", NEUTRAL, "-"),
             (f"The effect of {drug} on {outcome} lasted for a year.", NEUTRAL, "-")]
    if percent and way != "none":
        extra += [(f"{d} {way} {outcome} by {percent}%.", ENTAILMENT, "text"),
                  (f"{d} {way} {outcome} by {percent + rng.choice((5, 10, 12, -3))}%.", CONTRADICTION,
                  "text")]
    return Row(fields=fields, spoken={}, others={}, extra=tuple(extra),
        templates=_templates("{text@-}"))
# fmt: on


CLINICAL: tuple[Callable[[str, random.Random], Row], ...] = (
    _condition,
    _medication,
    _lab,
    _vital,
    _allergy,
    _event,
    _imaging,
)
ALONE = (_finding, _article, _count, _formulary, _service, _demographics)
KINDS: tuple[tuple[Callable[[str, random.Random], Row], float], ...] = (
    (_condition, 16),
    (_medication, 15),
    (_lab, 14),
    (_vital, 5),
    (_allergy, 7),
    (_event, 8),
    (_imaging, 4),
    (_demographics, 9),
    (_article, 10),
    (_count, 6),
    (_formulary, 4),
    (_service, 7),
    (_finding, 16),
)
