"""Original pairs in which one word decides: status, subject, binding, certainty, direction, numbers.

``templates/meaning.toml`` holds what a source says and what may be told of it. A source line stands
alone, or as one relevant line among others, in prose, lists and records, so that a reader learns to
find it. Rounded, converted and computed numbers are made here, because they must be right.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from training.clinical_words import FIRST
from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL, SyntheticPair

_TEMPLATES = Path(__file__).parent / "templates" / "meaning.toml"
_LABELS = {"true": ENTAILMENT, "false": CONTRADICTION, "open": NEUTRAL}

CONDITIONS = (
    "asthma|type 2 diabetes|heart failure|atrial fibrillation|gout|osteoarthritis of the knee|"
    "pneumonia|a pulmonary embolism|migraine|hypothyroidism|psoriasis|chronic kidney disease|"
    "coeliac disease|anaemia|a peptic ulcer|COPD|depression|glaucoma|epilepsy|sleep apnoea|"
    "deep vein thrombosis|hypertension|acute bronchitis|a hip fracture|gallstones"
).split("|")
DRUGS = (
    "metformin|lisinopril|amlodipine|warfarin|apixaban|atorvastatin|omeprazole|levothyroxine|"
    "sertraline|prednisone|allopurinol|furosemide|bisoprolol|empagliflozin|ibuprofen|naproxen|"
    "amoxicillin|doxycycline|gabapentin|salbutamol|penicillin|clopidogrel|insulin glargine"
).split("|")
DOSES = "2.5 mg|5 mg|10 mg|20 mg|25 mg|40 mg|50 mg|75 mg|100 mg|250 mg|500 mg|850 mg|1 g".split("|")
SCHEDULES = (
    "once daily|twice daily|three times a day|at bedtime|every 8 hours|weekly|as needed".split("|")
)
EXPOSURES = (
    "vitamin D|semaglutide|glucosamine|coffee|statin therapy|a low-salt diet|yoga|metformin|"
    "night-shift work|fish oil|the new vaccine|early mobilisation|aspirin|curcumin|acupuncture"
).split("|")
OUTCOMES = (
    "falls|stroke|back pain|weight gain|mortality|infection|headache|nausea|bleeding|fatigue|"
    "hospital admission|cognitive decline|inflammation|tumour growth|blood pressure|cough"
).split("|")
RELATIVES = "mother|father|sister|brother|grandmother|aunt|uncle".split("|")


def meaning_pairs(count: int, seed: int) -> list[SyntheticPair]:
    """Return ``count`` pairs; the same seed gives the same ones."""
    rng = random.Random(f"meaning-{seed}")
    kinds = _kinds()
    made: list[SyntheticPair] = []
    while len(made) < count:
        made.append(_number_pair(rng) if rng.random() < 0.25 else _pair(rng.choice(kinds), rng))
    return made


@lru_cache(maxsize=1)
def _kinds() -> Sequence[Mapping[str, Sequence[str]]]:
    return tuple(tomllib.loads(_TEMPLATES.read_text(encoding="utf-8"))["kind"])


def _pair(kind: Mapping[str, Sequence[str]], rng: random.Random) -> SyntheticPair:
    slots = _slots(rng)
    tone = rng.choices(("true", "false", "open"), (0.45, 0.35, 0.20))[0]
    claim = rng.choice(kind[tone]).format(**slots)
    source = rng.choice(kind["source"]).format(**slots)
    return SyntheticPair(
        premise=_placed(_capital(source), claim, slots["p"], rng),
        hypothesis=_capital(claim),
        label=_LABELS[tone],
    )


def _slots(rng: random.Random) -> dict[str, str]:
    c, c2 = rng.sample(CONDITIONS, 2)
    d, d2 = rng.sample(DRUGS, 2)
    a, a2 = rng.sample(DOSES, 2)
    f, f2 = rng.sample(SCHEDULES, 2)
    o, o2 = rng.sample(OUTCOMES, 2)
    y, y2 = rng.sample(range(1998, 2025), 2)
    n, n2 = rng.sample(range(3, 240), 2)
    person = rng.choice((rng.choice(FIRST), "The patient", "The patient", "Mr. Lindqvist", "She"))
    return {
        "p": person, "c": c, "c2": c2, "d": d, "d2": d2, "a": a, "a2": a2, "f": f, "f2": f2,
        "o": o, "o2": o2, "y": str(y), "y2": str(y2), "n": str(n), "n2": str(n2),
        "x": rng.choice(EXPOSURES), "r": rng.choice(RELATIVES),
    }  # fmt: skip


def _placed(source: str, claim: str, person: str, rng: random.Random) -> str:
    """Return the line alone, under its patient's name, or among lines about other things."""
    if person not in ("The patient", "She") and person not in source:
        source = rng.choice((f"Patient: {person}\n{source}", f"{person}. {source}"))
    if rng.random() < 0.35:
        return source
    others = []
    for _ in range(rng.randint(1, 6)):
        slots = _slots(rng) | {"p": person}
        kind = rng.choice(_kinds())
        others.append(_capital(rng.choice(kind["source"]).format(**slots)))
    # Another line about the same thing would change the label.
    own = _content(source) | _content(claim)
    others = [text for text in others if not own & _content(text)]
    place = rng.randint(0, len(others))
    lines = [*others[:place], source, *others[place:]]
    joint = rng.choice(("\n", " ", "\n- ", "\n\n"))
    return ("- " if joint == "\n- " else "") + joint.join(lines)


def _content(text: str) -> set[str]:
    words = set(re.findall(r"[a-z0-9]{3,}", text.lower()))
    return words - _EVERYDAY


# Words that lines about quite different things share.
_EVERYDAY = frozenset(
    "the was for and with not has had have that this were than but are patient status active code "
    "medication date from daily once twice mrs lindqvist she her his".split()
)

_MEASURES = (
    ("Body weight", "kg", 45.0, 130.0, 2), ("eGFR", "mL/min/1.73 m2", 18.0, 110.0, 1),
    ("Hemoglobin A1c", "%", 5.0, 11.0, 2), ("Serum potassium", "mmol/L", 3.0, 6.0, 2),
    ("Total cholesterol", "mg/dL", 120.0, 290.0, 2), ("Revenue", "USD", 1_000.0, 9e6, 2),
    ("Response time", "ms", 12.0, 900.0, 3), ("Distance", "km", 1.0, 900.0, 2),
)  # fmt: skip


def _number_pair(rng: random.Random) -> SyntheticPair:
    """Return a rounded, computed or compared number, rightly or wrongly told."""
    name, unit, low, high, digits = rng.choice(_MEASURES)
    before, after = (round(rng.uniform(low, high), digits) for _ in range(2))
    first, last = sorted(rng.sample(range(2008, 2025), 2))
    record = rng.choice((
        f"{name}: {before} {unit} ({first}-03-14)\n{name}: {after} {unit} ({last}-05-02)",
        f"- code: {name}, date: {first}-03-14, value: {before}, unit: {unit}\n"
        f"- code: {name}, date: {last}-05-02, value: {after}, unit: {unit}",
        f'{{"name": "{name}", "unit": "{unit}", "values": [{{"{first}-03-14": {before}}}, '
        f'{{"{last}-05-02": {after}}}]}}',
        f"On 14 March {first} {name.lower()} was {before} {unit}; on 2 May {last} it was {after}.",
    ))  # fmt: skip
    rounded = round(after, max(0, digits - 1))
    shown = f"{rounded:.{max(0, digits - 1)}f}"
    wrong = f"{after * rng.choice((0.8, 0.9, 1.1, 1.25)):.{max(0, digits - 1)}f}"
    way, other = ("rose", "fell") if after > before else ("fell", "rose")
    told = {
        ENTAILMENT: (
            f"The latest {name.lower()} was {shown} {unit}.",
            f"{name} was about {shown} {unit} in {last}.",
            f"{name} {way} between {first} and {last}.",
            f"The two measurements of {name.lower()} lie {last - first} years apart.",
            f"{name} changed by {abs(after - before):.{digits}f} {unit}.",
        ),
        CONTRADICTION: (
            f"The latest {name.lower()} was {wrong} {unit}.",
            f"{name} {other} between {first} and {last}.",
            f"{name} was {wrong} {unit} in {last}.",
            f"In {first} {name.lower()} was {shown} {unit}.",
            f"The two measurements of {name.lower()} lie {last - first + 2} years apart.",
        ),
        NEUTRAL: (
            f"{name} was {shown} {unit} in {last + 1}.",
            f"{name} is expected to be {shown} {unit} next year.",
        ),
    }
    label = rng.choices((ENTAILMENT, CONTRADICTION, NEUTRAL), (0.5, 0.4, 0.1))[0]
    return SyntheticPair(premise=record, hypothesis=rng.choice(told[label]), label=label)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
