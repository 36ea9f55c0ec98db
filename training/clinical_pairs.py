"""Original synthetic pairs in the shape that tool output has: records, lab rows, article metadata,
short findings.

No text here was copied from a data set. Names, identifiers, values and dates are drawn from the
lists and templates of `templates/`.

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

from training.clinical_kinds import Row, Template
from training.clinical_records import ALONE, CLINICAL, KINDS
from training.clinical_words import FIRST, PREFIXES, full_name
from training.synthetic import CONTRADICTION, ENTAILMENT, NEUTRAL, SyntheticPair

_EFFECT_LABEL = {"c": CONTRADICTION, "n": NEUTRAL, "e": ENTAILMENT}
_SLOT = re.compile(r"\{(\w+)@([cne-])\}")


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
    person = full_name(rng)
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
