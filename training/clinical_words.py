"""The words of clinical pairs, and values drawn from them: people, dates, numbers, identifiers."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WORDS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "templates" / "clinical_words.toml").read_text(encoding="utf-8")
)


def _words(name: str) -> tuple[str, ...]:
    return tuple(_WORDS[name])


FIRST = _words("first")
LAST = _words("last")
CONDITIONS = _words("conditions")
DRUGS = _words("drugs")
DOSES = _words("doses")
FREQUENCIES = _words("frequencies")
ROUTES = _words("routes")
ALLERGENS = _words("allergens")
REACTIONS = _words("reactions")
PROCEDURES = _words("procedures")
VACCINES = _words("vaccines")
CITIES = _words("cities")
SITES = _words("sites")
FINDINGS = _words("findings")
JOURNALS = _words("journals")
OUTCOMES = _words("outcomes")
MONTHS = _words("months")
PREFIXES = _words("prefixes")
INTERVENTIONS = (*DRUGS[:20], *_words("therapies"))
# Name, unit, lowest and highest drawn, lowest and highest normal.
LABS: tuple[tuple[str, str, float, float, float, float], ...] = tuple(map(tuple, _WORDS["labs"]))
# Name, unit, lowest and highest drawn.
VITALS: tuple[tuple[str, str, int, int], ...] = tuple(map(tuple, _WORDS["vitals"]))


def full_name(rng: random.Random) -> str:
    """A name."""
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def other_people(rng: random.Random, name: str) -> tuple[str, ...]:
    """Names that are like this one, and two that are not."""
    first, last = name.split(" ", 1)
    near = [
        f"{rng.choice(FIRST)} {last}",
        f"{first} {rng.choice(LAST)}",
        full_name(rng),
        full_name(rng),
    ]
    return tuple(other for other in near if other != name)


def but(values: Sequence[str], value: str) -> tuple[str, ...]:
    """The values without this one."""
    return tuple(other for other in values if other != value)


def draw_date(rng: random.Random) -> tuple[int, int, int]:
    """Year, month and day."""
    return rng.randint(2009, 2026), rng.randint(1, 12), rng.randint(1, 28)


def iso(day: tuple[int, int, int]) -> str:
    """The day as records write it."""
    return f"{day[0]}-{day[1]:02d}-{day[2]:02d}"


def spoken_dates(day: tuple[int, int, int]) -> tuple[str, ...]:
    """The day as sentences write it."""
    year, month, number = day
    return (
        iso(day),
        f"{number} {MONTHS[month - 1]} {year}",
        f"{MONTHS[month - 1]} {number}, {year}",
    )


def other_dates(day: tuple[int, int, int], rng: random.Random) -> tuple[str, ...]:
    """Days that are near, and one that is not."""
    year, month, number = day
    moved = [
        (year + rng.choice((-3, -2, -1, 1, 2)), month, number),
        (year, month % 12 + 1, number),
        (year, month, number % 28 + 1),
        draw_date(rng),
    ]
    return tuple(rng.choice(spoken_dates(other)) for other in moved if other != day)


def near_numbers(value: float, digits: int) -> tuple[str, ...]:
    """Numbers that are near, as texts."""
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


def identifier(rng: random.Random) -> str:
    """An identifier of one of four shapes."""
    return rng.choice(
        (
            f"bench-{rng.randint(1, 99)}",
            f"P{rng.randint(1000, 9999)}",
            f"MRN-{rng.randint(10000, 99999)}",
            f"{rng.randint(10**6, 10**7 - 1)}",
        )
    )


def cased(text: str, rng: random.Random) -> str:
    """The text, seven times in ten with a capital."""
    return text[0].upper() + text[1:] if rng.random() < 0.7 else text


def limit_near(value: float, digits: int, rng: random.Random) -> str:
    """A number that the value is clearly above or below."""
    factor = rng.choice((0.6, 0.75, 0.85, 1.2, 1.35, 1.6))
    limit = f"{value * factor:.{digits}f}"
    return limit if float(limit) != value else f"{value + 1:.{digits}f}"
