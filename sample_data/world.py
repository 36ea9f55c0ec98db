"""The invented world behind the sample traces: patients, studies, labels, plans, guidelines."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

FACTS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "facts.toml").read_text(encoding="utf-8")
)
WANTED_HIGH = (
    "remission", "response", "freedom", "normalization", "rise", "distance", "density",
    "resolution", "below 6", "quality",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing a document says: ``slots`` fill the wordings of ``kind`` in phrases.toml."""

    kind: str
    slots: dict[str, str | date]
    patient: Patient | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """An invented person."""

    name: str
    female: bool
    born: date
    mrn: str
    profile: dict[str, Any] = field(hash=False)

    @property
    def last(self) -> str:
        """The family name."""
        return self.name.split()[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """An invented trial report."""

    facts: tuple[Fact, ...]
    citation: dict[str, str]
    drug: str


def split(entry: str) -> list[str]:
    """The parts of a ``a|b|c`` entry."""
    return entry.split("|")


def lower_first(text: str) -> str:
    """The text with a small first letter, unless it opens with an abbreviation."""
    return text if text[:2].isupper() else text[:1].lower() + text[1:]


def some_day(rng: Random, first: int, last: int) -> date:
    """A day between two years."""
    start = date(first, 1, 1)
    return start + timedelta(days=rng.randrange((date(last, 12, 28) - start).days))


def make_patient(rng: Random, taken: set[str], profile: dict[str, Any]) -> Patient:
    """A person whose name is not yet taken."""
    people = FACTS["people"]
    while True:
        female = profile["short"] == "osteoporosis" or rng.random() < 0.5
        first = rng.choice(people["first_f" if female else "first_m"])
        name = f"{first} {rng.choice(people['last'])}"
        if name not in taken and name.split()[1] not in {n.split()[1] for n in taken}:
            break
    taken.add(name)
    mrn = f"SYN-{rng.randrange(10000, 99999)}"
    born = some_day(rng, 1938, 1958 if profile["short"] == "osteoporosis" else 1994)
    return Patient(name=name, female=female, born=born, mrn=mrn, profile=profile)


def pick_drug(rng: Random, entry: str) -> dict[str, str]:
    """A drug with one of its doses and schedules."""
    drug, doses, freqs = split(entry)
    return {
        "drug": drug,
        "dose": rng.choice(doses.split(",")),
        "freq": rng.choice(freqs.split(",")),
    }


def chart_facts(rng: Random, patient: Patient, rich: bool = True) -> list[Fact]:
    """What the chart of a patient says."""
    common, profile = FACTS["common"], patient.profile
    found: list[Fact] = []

    def add(kind: str, **slots: str | date) -> None:
        found.append(Fact(kind=kind, slots=slots, patient=patient))

    add("birth", born=patient.born, mrn=patient.mrn, name=patient.name)
    add("condition", cond=profile["cond"], icd=profile["icd"], onset=some_day(rng, 2006, 2021))
    sides = [c for c in common["side_conditions"] if c.split("|")[0] not in profile["cond"]]
    for entry in rng.sample(sides, 1 + rich):
        cond, icd = split(entry)
        add("condition", cond=cond, icd=icd, onset=some_day(rng, 2010, 2023))
    drugs = rng.sample(profile["drugs"], min(len(profile["drugs"]), 1 + rich))
    drugs += rng.sample(common["side_drugs"], 1)
    for entry in drugs:
        add("medication", **pick_drug(rng, entry), start=some_day(rng, 2016, 2025))
    substance, reaction = split(rng.choice(common["allergies"]))
    severity = rng.choice(common["reactions_severity"])
    add("allergy", substance=substance, reaction=reaction, severity=severity)
    doctor = rng.choice(FACTS["people"]["clinician"])
    seen = some_day(rng, 2025, 2025)
    add(
        "encounter",
        date=seen,
        site=rng.choice(FACTS["places"]["sites"]),
        reason=rng.choice(profile["reasons"]),
        doctor=doctor,
    )
    bp = f"{rng.randrange(112, 172)}/{rng.randrange(58, 92)}"
    add("blood_pressure", bp=bp, date=seen)
    add("negative", cond=rng.choice(common["negatives"]))
    add("suspected", cond=rng.choice(common["suspected"]), doctor=doctor)
    if rich:
        add("weight", kg=f"{rng.randrange(480, 1160) / 10:.1f}", date=seen)
        add("resolved", cond=rng.choice(common["resolved"]), end=some_day(rng, 2012, 2024))
        add("procedure", proc=rng.choice(common["procedures"]), date=some_day(rng, 2008, 2024))
        add("smoking", py=str(rng.randrange(4, 48)), quit=str(rng.randrange(1996, 2022)))
    add("plan", interval=rng.choice(common["intervals"]), doctor=doctor)
    return found


def lab_facts(rng: Random, patient: Patient) -> list[Fact]:
    """Results of a patient: some with an earlier value."""
    found: list[Fact] = []
    day = some_day(rng, 2025, 2025)
    for key in rng.sample(patient.profile["labs"], min(4, len(patient.profile["labs"]))):
        test, loinc, unit, low, high, decimals, ref, bad = split(FACTS["labs"][key])
        value, before = (f"{rng.uniform(float(low), float(high)):.{decimals}f}" for _ in "ab")
        flag = flag_of(float(value), ref)
        slots: dict[str, str | date] = {
            "test": test, "loinc": loinc, "unit": unit, "value": value, "ref": ref, "flag": flag,
            "date": day,
        }  # fmt: skip
        found.append(Fact(kind="lab", slots=slots, patient=patient))
        if rng.random() < 0.5 and before != value:
            up = float(value) > float(before)
            trend: dict[str, str | date] = {
                **slots,
                "before": before,
                "earlier": day - timedelta(days=rng.randrange(60, 300)),
                "moved": "rose" if up else "fell",
                "unmoved": "fell" if up else "rose",
            }
            found.append(Fact(kind="lab_change", slots=trend, patient=patient))
    return found


def flag_of(value: float, ref: str) -> str:
    """Whether a value is high, low or normal against ``a-b``, ``<a`` or ``>=a``."""
    if ref.startswith("<"):
        return "high" if value >= float(ref[1:]) else "normal"
    if ref.startswith(">="):
        return "low" if value < float(ref[2:]) else "normal"
    low, high = (float(part) for part in ref.split("-"))
    return "low" if value < low else "high" if value > high else "normal"


def make_study(
    rng: Random, profile: dict[str, Any], drug: str, main: int, taken: set[str]
) -> Study:
    """A trial of ``drug``: outcomes 0 and 1 carry an effect, 2 and 3 none, so studies agree."""
    outcome, other = profile["outcomes"][main % 2], profile["outcomes"][2 + main % 2]
    good = any(word in outcome for word in WANTED_HIGH)
    hr = rng.uniform(1.14, 1.62) if good else rng.uniform(0.58, 0.88)
    width = rng.uniform(0.06, 0.11)
    low, high = hr * (1 - width), min(hr * (1 + width), 0.98 if not good else 9)
    comp = rng.choice([c for c in profile["comparators"] if c != drug])
    rate = rng.uniform(6, 31)
    r1, r2 = (f"{r:.1f}" for r in (rate * hr, rate))
    nul = rng.uniform(0.93, 1.07)
    pop, months = (
        rng.choice(profile["populations"]),
        str(rng.choice([6, 9, 12, 18, 24, 30, 36, 42])),
    )
    n, nsites = f"{rng.randrange(212, 6900):,}", str(rng.randrange(9, 240))
    author = rng.choice([a for a in FACTS["people"]["author"] if a not in taken])
    taken.add(author)
    acronym = rng.choice(FACTS["places"]["trial_words"])
    year = str(rng.randrange(2014, 2026))
    title = rng.choice([
        f"{cap(drug)} and {outcome} in {pop}",
        f"Effect of {drug} on {outcome}: the {acronym} trial",
        f"{cap(drug)} versus {comp} for {outcome}",
        f"{cap(outcome)} with {drug} in {pop}: a randomized comparison",
        f"The {acronym} study of {drug} in {profile['short']}",
    ])  # fmt: skip
    citation = {
        "title": title, "journal": rng.choice(FACTS["places"]["journals"]), "year": year,
        "pmid": str(rng.randrange(91_000_000, 99_999_999)), "author": author,
        "vol": str(rng.randrange(3, 78)), "acronym": acronym,
    }  # fmt: skip
    words = {
        "verbed": "increased" if good else "reduced",
        "antiverbed": "reduced" if good else "increased",
        "lessmore": "more frequent" if good else "less frequent",
        "moreless": "less frequent" if good else "more frequent",
    }
    base: dict[str, str | date] = {
        "drug": drug, "comp": comp, "pop": pop, "months": months, "n": n, "nsites": nsites, **words,
    }  # fmt: skip
    ci, ci2 = f"{low:.2f}-{high:.2f}", f"{nul * 0.86:.2f}-{nul * 1.17:.2f}"
    pct, p = f"{rng.uniform(2.1, 19):.1f}", f"0.{rng.randrange(12, 88)}"
    event = rng.choice(profile["adverse"])
    sub, limit = rng.choice(profile["subgroups"]), rng.choice(FACTS["common"]["limits"])
    own: dict[str, dict[str, str]] = {
        "effect": {"outcome": outcome, "hr": f"{hr:.2f}", "ci": ci},
        "rates": {"outcome": outcome, "r1": r1, "r2": r2},
        "population": {},
        "adverse": {"event": event, "pct": pct},
        "followup": {},
        "null_effect": {"outcome": other, "hr": f"{nul:.2f}", "ci": ci2, "p": p},
        "subgroup": {"outcome": other, "sub": sub},
        "limitation": {"limit": limit},
    }
    facts = tuple(Fact(kind=kind, slots={**base, **slots}) for kind, slots in own.items())
    return Study(facts=facts, citation=citation, drug=drug)


def label_facts(rng: Random, profile: dict[str, Any], drug: str, dose: str) -> list[Fact]:
    """What the invented label of a drug says."""
    number = dose.split()[0].split("-")[0]
    unit = dose.split()[-1] if " " in dose else "mg"
    top = f"{float(number) * rng.choice([2, 3, 4]):g} {unit}"
    other = rng.choice(
        ["clarithromycin", "rifampin", "fluconazole", "verapamil", "grapefruit juice"]
    )
    return [
        Fact(kind="label_dose", slots={"drug": drug, "max": top}),
        Fact(kind="label_contra", slots={"drug": drug, "contra": profile["contra"]}),
        Fact(
            kind="label_renal",
            slots={"drug": drug, "cut": str(rng.choice([15, 20, 25, 30, 45, 50]))},
        ),
        Fact(
            kind="label_adverse",
            slots={
                "drug": drug,
                "event": rng.choice(profile["adverse"]),
                "pct": f"{rng.uniform(1.2, 17):.1f}",
            },
        ),
        Fact(kind="label_interaction", slots={"drug": drug, "other": other}),
    ]


def formulary_facts(rng: Random, profile: dict[str, Any], drug: str) -> list[Fact]:
    """What an invented plan covers."""
    rivals = [split(entry)[0] for entry in profile["drugs"] if not entry.startswith(drug)]
    base: dict[str, str | date] = {
        "drug": drug,
        "plan": rng.choice(FACTS["places"]["plans"]),
        "tier": str(rng.choice([1, 2, 3, 4, 5])),
        "qty": str(rng.choice([14, 28, 45, 56, 84, 120])),
        "days": str(rng.choice([30, 60, 90])),
        "copay": str(rng.randrange(6, 95)),
        "other": rng.choice(rivals),
    }
    kinds = ("formulary_tier", "formulary_pa", "formulary_limit", "formulary_step")
    return [Fact(kind=kind, slots=base) for kind in kinds]


def guideline_facts(rng: Random, profile: dict[str, Any], drug: str) -> list[Fact]:
    """What an invented guideline recommends."""
    rivals = [split(entry)[0] for entry in profile["drugs"] if not entry.startswith(drug)]
    base: dict[str, str | date] = {
        "drug": drug,
        "body": "the " + rng.choice(FACTS["places"]["bodies"]),
        "pop": rng.choice(profile["populations"]),
        "grade": rng.choice(["strong", "conditional", "weak"]),
        "monitor": profile["monitor"],
        "interval": rng.choice(FACTS["common"]["intervals"]),
        "first": rng.choice(rivals),
    }
    second = {**base, "drug": rng.choice([r for r in rivals if r != base["first"]] or [drug])}
    return [
        Fact(kind="guideline_rec", slots=base),
        Fact(kind="guideline_monitor", slots=base),
        Fact(kind="guideline_second", slots=second),
    ]


def registry_facts(rng: Random, profile: dict[str, Any], drug: str) -> list[Fact]:
    """An invented registration."""
    base: dict[str, str | date] = {
        "drug": drug,
        "nct": f"NCT9{rng.randrange(1_000_000, 9_999_999)}",
        "acronym": rng.choice(FACTS["places"]["trial_words"]),
        "status": rng.choice(["recruiting", "active, not recruiting", "not yet recruiting"]),
        "n": str(rng.randrange(60, 990)),
        "phase": rng.choice(["2", "3", "4"]),
        "sponsor": rng.choice(FACTS["places"]["sponsors"]),
        "done": some_day(rng, 2026, 2029),
        "outcome": rng.choice(profile["outcomes"]),
        "months": str(rng.choice([3, 6, 12, 18, 24])),
    }
    kinds = ("registry_status", "registry_design", "registry_outcome")
    return [Fact(kind=kind, slots=base) for kind in kinds]


def count_facts(rng: Random, patient: Patient) -> list[Fact]:
    """How many resources are stored for a patient."""
    most = {"Condition": 45, "Observation": 420, "MedicationRequest": 130, "Encounter": 95,
            "Immunization": 24, "Procedure": 70, "DiagnosticReport": 88, "AllergyIntolerance": 9,
            "CarePlan": 7, "DocumentReference": 140}  # fmt: skip
    names = rng.sample(sorted(most), rng.randrange(5, 8))
    return [
        Fact(
            kind="count",
            slots={"resource": name, "n": str(rng.randrange(2, most[name]))},
            patient=patient,
        )
        for name in names
    ]


def cap(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]
